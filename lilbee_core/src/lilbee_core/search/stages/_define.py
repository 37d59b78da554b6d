"""Who types nothing but a name of the code looks for its definition."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from lilbee_core.protocols import ChunkReader, SearchContext
from lilbee_core.types import Chunk, Hit, Part, SearchState

_NAME = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|#|->)[^\W\d][\w$]*)*(?:\(\))?")
_PARTS = re.compile(r"\.|::|#|->")
_DEFINES = (
    r"(?:class|def|defn|defmodule|enum|fn|func|fun|function|impl|interface|macro|method|mod|module|namespace|object|package"
    r"|proc|procedure|protocol|record|struct|sub|trait|type|union|var|let|const|val)\s+(?:\w+\.)?{}\b"
)
_PROSE = frozenset(f"text/x-{kind}" for kind in ("rst", "asciidoc", "org", "tex", "bibtex", "diff"))
_LEAST_CHARS = 3


@dataclass(frozen=True, slots=True)
class Define:
    """Put the definition of a name first where the query is that name and nothing else (``Store.open``, ``open()``).

    All candidates are looked at, also those behind the best: a name that is used everywhere has better hits than its
    definition. Of a definition that was cut into pieces the one with its head comes first. A small definition that
    shares a chunk with others counts by the word in front of its name. The exact case goes before another one.
    """

    reader: ChunkReader
    name: str = "define"
    reads: frozenset[Part] = field(default=frozenset({Part.RANKINGS, Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        wanted = state.query.text.strip("\"'` \n\t")
        if len(wanted) < _LEAST_CHARS or not _NAME.fullmatch(wanted) or not state.rankings:
            return replace(state, note="the query is no name")
        parts = tuple(_PARTS.split(wanted.removesuffix("()")))
        hits = [*state.hits, *self._further(state)]
        found = [(how, hit) for hit in hits if (how := _how(hit.chunk, parts)) is not None]
        if not found:
            return replace(state, note="no definition of that name")
        best = min(how for how, _ in found)
        heads = _heads([hit for how, hit in found if how == best])
        return _first(state, heads)

    def _further(self, state: SearchState) -> list[Hit]:
        """Return the candidates that were not fetched."""
        here = {hit.chunk.id for hit in state.hits}
        rest = {one.chunk_id: one.score for one in state.rankings[-1].entries if one.chunk_id not in here}
        chunks = self.reader.get(list(rest)) if rest else ()
        return [Hit(chunk=chunk, score=rest[chunk.id]) for chunk in chunks]


def _how(chunk: Chunk, wanted: tuple[str, ...]) -> int | None:
    """Return how surely a chunk defines a name, 0 is best; None if it does not."""
    symbol = tuple(_PARTS.split(chunk.symbol))[-len(wanted) :] if chunk.symbol is not None else ()
    if symbol == wanted:
        return 0
    if _is_code(chunk) and _says_so(chunk, wanted):
        return 1
    return 2 if symbol and tuple(map(str.casefold, symbol)) == tuple(map(str.casefold, wanted)) else None


def _is_code(chunk: Chunk) -> bool:
    return chunk.symbol is not None or (chunk.media_type.startswith("text/x-") and chunk.media_type not in _PROSE)


def _says_so(chunk: Chunk, wanted: tuple[str, ...]) -> bool:
    """Say whether a word of the language introduces the name, inside of what the name says it lies in."""
    around = set(_PARTS.split(chunk.symbol or ""))
    inside = all(part in around or re.search(_defining(part), chunk.text) for part in wanted[:-1])
    return inside and re.search(_defining(wanted[-1]), chunk.text) is not None


def _defining(name: str) -> str:
    return _DEFINES.replace("{}", re.escape(name))


def _heads(hits: list[Hit]) -> list[Hit]:
    """Return the first piece of each definition, the best definition first."""
    first: dict[tuple[str, str | None], Hit] = {}
    for hit in sorted(hits, key=lambda one: -one.score):
        key = (hit.chunk.document_id, hit.chunk.symbol)
        if key not in first or hit.chunk.ordinal < first[key].chunk.ordinal:
            # A later piece may be the better hit; the definition begins with this one.
            first[key] = hit
    return list(first.values())


def _first(state: SearchState, heads: list[Hit]) -> SearchState:
    top = max((hit.score for hit in (*state.hits, *heads)), default=0.0)
    ids = {hit.chunk.id for hit in heads}
    lifted = [replace(hit, score=top).with_score("define", 1.0) for hit in heads]
    rest = [hit for hit in state.hits if hit.chunk.id not in ids]
    return replace(state, hits=(*lifted, *rest), note=f"{len(heads)} definition(s)")
