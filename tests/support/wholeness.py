"""Whether an index is whole: all that it holds, and a reader that looks at it all the while it is written."""

from __future__ import annotations

import random
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from lilbee_core import Lilbee
from lilbee_core.store import Store
from lilbee_core.store._columns import pairs
from lilbee_core.store._rows import CHUNK_COLUMNS, chunks_from, text_from
from lilbee_core.store._schema import CHUNKS, DOCUMENTS, TEXTS
from lilbee_core.types import Chunk, ChunkId, DocumentId, DocumentRow, Mention

Chunks = tuple[Chunk, ...]
_TEXT = (
    "document_id", "revision", "codec", "size", "data", "has_lines", "line_map", "segments", "headings", "body_start",
    "extractor",
)  # fmt: skip
_PAUSE_S = 0.05
"""A reader that never rests would take half of a small machine from the writer."""


@dataclass(frozen=True, slots=True)
class Edition:
    """All that an index holds of a document; times of reading are left out of its row."""

    row: DocumentRow | None
    text: str | None
    chunks: Chunks
    vectors: Mapping[ChunkId, bytes]
    mentions: Mapping[ChunkId, frozenset[Mention]]


Editions = Mapping[DocumentId, Edition]


def editions(store: Store) -> dict[DocumentId, Edition]:
    """Return every document of an index, and every file that is none. Each table is read once."""
    rows = {row.id: row for row in store.rows()}
    chunks: dict[DocumentId, list[Chunk]] = {}
    for chunk in chunks_from(store._tables.select(CHUNKS, "read all", CHUNK_COLUMNS), "raw"):
        chunks.setdefault(chunk.document_id, []).append(chunk)
    vectors = store.vectors([chunk.id for found in chunks.values() for chunk in found])
    mentions = store.concepts.mentions([chunk.id for found in chunks.values() for chunk in found])
    texts = {
        row["document_id"]: text_from(row).text for row in store._tables.select(TEXTS, "read all", _TEXT).to_pylist()
    }
    return {
        id_: Edition(
            replace(rows[id_], attempted_at="", indexed_at=None) if id_ in rows else None,
            texts.get(id_),
            tuple(sorted(chunks.get(id_, ()), key=lambda chunk: chunk.ordinal)),
            {chunk.id: vectors[chunk.id].tobytes() for chunk in chunks.get(id_, ()) if chunk.id in vectors},
            {chunk.id: frozenset(mentions[chunk.id]) for chunk in chunks.get(id_, ()) if chunk.id in mentions},
        )
        for id_ in {**rows, **chunks, **texts}
    }


def by_place(found: Editions) -> dict[DocumentId, Edition]:
    """Return documents under their places and without ids: two indexes of one folder agree on all but these."""
    named: dict[DocumentId, Edition] = {}
    for one in found.values():
        place = DocumentId(_name(one))
        if one.row is None or one.row.path.startswith(".lilbee"):
            continue
        named[place] = Edition(
            replace(one.row, id=place),
            one.text,
            tuple(replace(chunk, id=ChunkId(str(chunk.ordinal)), document_id=place) for chunk in one.chunks),
            {ChunkId(str(c.ordinal)): one.vectors[c.id] for c in one.chunks if c.id in one.vectors},
            {ChunkId(str(c.ordinal)): one.mentions[c.id] for c in one.chunks if c.id in one.mentions},
        )
    return named


def graph_of(store: Store) -> tuple[object, ...]:
    """Return the graph of concepts, all but its communities: these also depend on what was there before."""
    graph = store.concepts.load()
    if graph is None:
        return ()
    names = [one.id for one in graph.concepts]
    edges = zip(graph.sources.tolist(), graph.targets.tolist(), graph.counts.tolist(), strict=True)
    concepts = [replace(one, community=None) for one in graph.concepts]
    return graph.chunks, concepts, sorted((names[one], names[other], count) for one, other, count in edges)


def uncommitted(store: Store) -> set[str]:
    """Return the documents whose chunks that readers see were cut from a text which the ledger does not name."""
    committed = set(pairs(store._tables.select(DOCUMENTS, "read all", ("id", "revision")), "id", "revision"))
    seen = store._tables.select(CHUNKS, "read all", ("document_id", "revision"))
    return {one[0] for one in set(pairs(seen, "document_id", "revision")) - committed}


def differences(one: Editions, other: Editions) -> list[str]:
    """Name what two indexes do not agree on."""
    return [_difference(one.get(id_), other.get(id_)) for id_ in {**one, **other} if one.get(id_) != other.get(id_)]


def _difference(one: Edition | None, other: Edition | None) -> str:
    if one is None or other is None:
        only = one or other
        return f"{_name(only)} is only in {'the first' if one else 'the second'}"
    parts = [name for name in Edition.__slots__ if getattr(one, name) != getattr(other, name)]
    return f"{_name(one)} differs in {', '.join(parts)}"


def _name(edition: Edition | None) -> str:
    if edition is None:
        return "nothing"
    return edition.row.ref if edition.row else f"{edition.chunks[0].path if edition.chunks else 'a text'} without a row"


@dataclass(slots=True)
class Watcher:
    """Reads documents and searches, and keeps what was neither absent nor as one of `known` has it.

    A text may be read just before its chunks are replaced: it counts only where the chunks before and after it are
    the same.
    """

    bee: Lilbee
    known: Sequence[Editions]
    words: Sequence[str]
    seed: int = 0
    reads: int = 0
    searches: int = 0
    mixed: list[str] = field(default_factory=list[str])
    errors: list[str] = field(default_factory=list[str])
    _stop: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look on inside the block, from a thread."""
        thread = threading.Thread(target=self._work, name="watcher", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def _work(self) -> None:
        chance = random.Random(self.seed)
        documents = sorted({id_ for one in self.known for id_ in one})
        pieces = self._pieces()
        while not self._stop.wait(_PAUSE_S):
            try:
                for id_ in chance.sample(documents, min(8, len(documents))):
                    self._read(id_)
                self._search(chance.choice(self.words), pieces)
            except Exception as error:  # noqa: BLE001 - whatever a reader meets is what we look for
                self.errors.append(f"{type(error).__name__}: {error}")

    def _pieces(self) -> dict[ChunkId, set[Chunk]]:
        found: dict[ChunkId, set[Chunk]] = {}
        for one in self.known:
            for edition in one.values():
                for chunk in edition.chunks:
                    found.setdefault(chunk.id, set()).add(chunk)
        return found

    def _read(self, id_: DocumentId) -> None:
        store = self.bee._parts.store
        chunks, text, after = store.chunks_of(id_), store.text(id_), store.chunks_of(id_)
        self.reads += 1
        fitting = [one[id_] for one in self.known if id_ in one and one[id_].chunks == chunks]
        if chunks and not fitting:
            self.mixed.append(f"{id_}: {len(chunks)} chunks of no edition")
        elif chunks and chunks == after and (text.text if text else None) not in {one.text for one in fitting}:
            self.mixed.append(f"{id_}: chunks beside {'another' if text else 'no'} text")

    def _search(self, word: str, pieces: Mapping[ChunkId, Collection[Chunk]]) -> None:
        self.searches += 1
        for hit in self.bee.search(word).hits:
            if hit.chunk not in pieces.get(hit.chunk.id, ()):
                self.mixed.append(f"{hit.chunk.document_id}: a hit of no edition")
