"""Stand-ins for the parts that search is made from, all in memory."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lilbee_core.errors import ProviderUnavailable
from lilbee_core.search import InlineExecutor, RunContext, SystemClock
from lilbee_core.types import (
    Chunk,
    ChunkId,
    DocumentId,
    Filter,
    Hit,
    Location,
    Part,
    Query,
    Scope,
    Scored,
    SearchState,
    Span,
    Vector,
)

CONTEXT = RunContext(clock=SystemClock(), executor=InlineExecutor())


@dataclass(frozen=True)
class FakeWords:
    """A query as a set of lower case words."""

    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.terms


class FakeAnalyzer:
    """Words are runs of letters and digits."""

    def query(self, text: str, *, languages: Sequence[str] = ()) -> FakeWords:
        return FakeWords(tuple(dict.fromkeys(re.findall(r"\w+", text.lower()))))

    def spans(self, text: str, query: FakeWords, *, language: str | None = None) -> list[tuple[int, int]]:
        return [m.span() for m in re.finditer(r"\w+", text.lower()) if m.group() in query.terms]

    def tokens(self, text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())


def a_chunk(
    text: str = "bees find home", *, key: str = "c1", document: str = "d1", path: str = "", **more: object
) -> Chunk:
    values: dict[str, object] = {
        "id": ChunkId(key), "document_id": DocumentId(document), "collection": "docs", "path": path or f"{document}.md",
        "ordinal": 0, "text": text, "span": Span(0, len(text)), "location": Location(line_start=1, line_end=1),
    }  # fmt: skip
    return Chunk(**{**values, **more})  # type: ignore[arg-type]


def a_hit(
    text: str = "bees find home", *, score: float = 1.0, scores: tuple[tuple[str, float], ...] = (), **more: object
) -> Hit:
    return Hit(chunk=a_chunk(text, **more), score=score, scores=scores)  # type: ignore[arg-type]


def a_state(*hits: Hit, text: str = "bees", top_k: int = 10) -> SearchState:
    return SearchState(query=Query(text=text, top_k=top_k), hits=hits)


def embed(text: str, dimension: int = 16) -> Vector:
    """Return a vector that depends on the words alone."""
    vector = np.zeros(dimension, np.float32)
    for word in re.findall(r"\w+", text.lower()):
        vector[sum(map(ord, word)) % dimension] += 1
    return vector / (np.linalg.norm(vector) or 1.0)


@dataclass
class FakeEmbedder:
    """Embeds words; `languages` and failures are set by the test."""

    languages: tuple[str, ...] = ()
    down: bool = False
    vector: Vector | None = None
    model: str = "fake/words"
    fingerprint: str = "fake"
    dimension: int = 16
    max_tokens: int = 256
    asked: list[str] = field(default_factory=list)

    def embed_query(self, text: str) -> Vector:
        self.asked.append(text)
        if self.down:
            raise ProviderUnavailable("fake/words does not answer at http://127.0.0.1:1", hint="Start it.")
        return embed(text) if self.vector is None else self.vector

    def embed_query_batch(self, texts: Sequence[str]) -> Vector:
        return np.stack([self.embed_query(text) for text in texts])

    def embed(self, text: str) -> Vector:
        return embed(text)

    def embed_batch(self, texts: Sequence[str]) -> Vector:
        if self.down:
            raise ProviderUnavailable("fake/words does not answer at http://127.0.0.1:1", hint="Start it.")
        return np.stack([embed(text) for text in texts])

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def token_starts(self, text: str) -> list[int]:
        return [m.start() for m in re.finditer(r"\S+", text)]

    def close(self) -> None:
        return


class FakeReader:
    """Chunks in a list; filters know paths (prefixes) and collections."""

    def __init__(self, *chunks: Chunk, languages: Mapping[str, float] | None = None) -> None:
        self.chunks = chunks
        self.shares = dict(languages or {"en": 1.0})
        self.lexical_limits: list[int] = []

    def _visible(self, filters: Filter) -> list[Chunk]:
        return [
            chunk for chunk in self.chunks
            if (not filters.paths or chunk.path.startswith(filters.paths))
            and (not filters.collections or chunk.collection in filters.collections)
        ]  # fmt: skip

    def get(self, ids: Sequence[ChunkId]) -> tuple[Chunk, ...]:
        by_id = {chunk.id: chunk for chunk in self.chunks}
        return tuple(by_id[one] for one in ids if one in by_id)

    def lexical(
        self, query: FakeWords, *, limit: int, filters: Filter = Filter(), scope: Scope = Scope.RAW
    ) -> tuple[Scored, ...]:
        self.lexical_limits.append(limit)
        found = []
        for chunk in self._visible(filters):
            words = re.findall(r"\w+", chunk.text.lower())
            score = float(sum(words.count(term) for term in set(query.terms)))
            if score:
                found.append(Scored(chunk.id, score))
        return tuple(sorted(found, key=lambda one: (-one.score, one.chunk_id))[:limit])

    def dense(
        self, vector: Vector, *, limit: int, filters: Filter = Filter(), scope: Scope = Scope.RAW
    ) -> tuple[Scored, ...]:
        found = [Scored(chunk.id, float(embed(chunk.text) @ vector)) for chunk in self._visible(filters)]
        return tuple(sorted(found, key=lambda one: (-one.score, one.chunk_id))[:limit])

    def count(self, *, filters: Filter = Filter(), scope: Scope = Scope.RAW) -> int:
        return len(self._visible(filters))

    def languages(self) -> Mapping[str, float]:
        return self.shares

    def vectors(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, Vector]:
        return {chunk.id: embed(chunk.text) for chunk in self.get(ids)}


class AnyStage:
    """A stage that does what the test says."""

    def __init__(self, run, *, name: str = "any", reads: Sequence[Part] = (), writes: Sequence[Part] = ()) -> None:
        self._run, self.name = run, name
        self.reads, self.writes = frozenset(reads), frozenset(writes)

    def run(self, state: SearchState, context: object) -> SearchState:
        return self._run(state, context)
