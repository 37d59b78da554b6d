"""A store in memory: the whole protocol over dictionaries, BM25 over words, brute force over vectors."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lilbee_core.concepts import MemoryConcepts
from lilbee_core.errors import EmbedderMismatch, InvalidArgument, LibraryError
from lilbee_core.protocols import CancelToken, IndexedDocument, Owed
from lilbee_core.testing._filters import passes
from lilbee_core.types import (
    Chunk,
    ChunkId,
    DocumentId,
    DocumentRow,
    DocumentState,
    FileStamp,
    Filter,
    IndexMeta,
    Mention,
    Scope,
    Scored,
    StoredText,
    StoreStats,
    VectorIndexReport,
)

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery
    from lilbee_core.types import Vector

_K1, _B = 1.2, 0.75


@dataclass(slots=True)
class _Stored:
    """A chunk with all that is searched."""

    chunk: Chunk
    words: list[str]
    content: str
    vector: Vector | None = None


@dataclass(slots=True)
class _Content:
    """What is in a store, apart from its commit counter."""

    rows: dict[DocumentId, DocumentRow] = field(default_factory=dict[DocumentId, DocumentRow])
    texts: dict[DocumentId, StoredText] = field(default_factory=dict[DocumentId, StoredText])
    chunks: dict[ChunkId, _Stored] = field(default_factory=dict[ChunkId, _Stored])
    meta: IndexMeta | None = None


class MemoryLibraryConcepts(MemoryConcepts):
    """A `LibraryConcepts` without a disk."""

    def __init__(self) -> None:
        super().__init__()
        self._extractor: str | None = None

    def extractor(self) -> str | None:
        return self._extractor

    def set_extractor(self, fingerprint: str | None) -> None:
        self._extractor = fingerprint

    def clear(self) -> None:
        super().clear()
        self._extractor = None


class MemoryStore:
    """A `StoreLike` without a disk. Threads may share it.

    `commits` names every write, in order; `documents` given at the start are put at once.
    """

    def __init__(self, *documents: IndexedDocument) -> None:
        self.path = Path("memory")
        self.commits: list[str] = []
        self.concepts = MemoryLibraryConcepts()
        self._content = _Content()
        self._closed = False
        self._lock = threading.RLock()
        if documents:
            self.put(documents)

    # ------------------------------------------------------------------ reading chunks

    def get(self, ids: Sequence[ChunkId]) -> tuple[Chunk, ...]:
        stored = self._open().chunks
        return tuple(stored[one].chunk for one in ids if one in stored)

    def vectors(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, Vector]:
        stored = self._open().chunks
        found = ((one, stored[one].vector) for one in ids if one in stored)
        return {one: vector for one, vector in found if vector is not None}

    def vectors_by_content(self, contents: Sequence[str]) -> Mapping[str, Vector]:
        wanted = set(contents)
        found = {one.content: one.vector for one in self._open().chunks.values() if one.content in wanted}
        return {content: vector for content, vector in found.items() if vector is not None}

    def dense(
        self, vector: Vector, *, limit: int, filters: Filter = Filter(), scope: Scope = Scope.RAW
    ) -> tuple[Scored, ...]:
        near: list[Scored] = []
        for one in self._visible(filters, scope):
            if one.vector is not None:
                _check(vector, one.vector)
                lengths = float(one.vector @ one.vector) * float(vector @ vector)
                near.append(Scored(one.chunk.id, float(one.vector @ vector) / (lengths**0.5 or 1.0)))
        return _best(near, limit)

    def lexical(
        self, query: AnalyzedQuery, *, limit: int, filters: Filter = Filter(), scope: Scope = Scope.RAW
    ) -> tuple[Scored, ...]:
        # Rare words count by the whole scope, whatever the filter lets through, as in an index.
        everything = self._visible(Filter(), scope)
        common = Counter(word for one in everything for word in set(one.words))
        average = sum(len(one.words) for one in everything) / (len(everything) or 1)
        terms = list(zip(query.terms, query.weights, strict=True))
        found: list[Scored] = []
        for one in self._visible(filters, scope):
            counts = Counter(one.words)
            length = _K1 * (1 - _B + _B * len(one.words) / (average or 1))
            score = sum(
                weight * _idf(len(everything), common[term]) * counts[term] * (_K1 + 1) / (counts[term] + length)
                for term, weight in terms
                if counts[term]
            )
            if score > 0 and all(_holds(one.words, phrase) for phrase in query.phrases):
                found.append(Scored(one.chunk.id, score))
        return _best(found, limit)

    def neighbors(self, chunk: Chunk, *, before: int = 1, after: int = 1) -> tuple[Chunk, ...]:
        low, high = chunk.ordinal - max(before, 0), chunk.ordinal + max(after, 0)
        return tuple(one for one in self.chunks_of(chunk.document_id) if low <= one.ordinal <= high)

    def chunks_of(self, document_id: DocumentId) -> tuple[Chunk, ...]:
        found = [one.chunk for one in self._open().chunks.values() if one.chunk.document_id == document_id]
        return tuple(sorted(found, key=lambda one: one.ordinal))

    def text(self, document_id: DocumentId) -> StoredText | None:
        return self._open().texts.get(document_id)

    def newest(self, *, limit: int, filters: Filter = Filter(), scope: Scope = Scope.RAW) -> tuple[ChunkId, ...]:
        first = [one.chunk for one in self._visible(filters, scope) if one.chunk.ordinal == 0]
        by_date = sorted(sorted(first, key=lambda one: one.id), key=lambda one: one.date or "", reverse=True)
        return tuple(one.id for one in by_date[:limit])

    def count(self, *, filters: Filter = Filter(), scope: Scope = Scope.RAW) -> int:
        return len(self._visible(filters, scope))

    def languages(self) -> Mapping[str, float]:
        every = self._visible(Filter(), Scope.RAW)
        counts = Counter(one.chunk.language for one in every)
        return {language: count / len(every) for language, count in counts.most_common() if language}

    # ------------------------------------------------------------------ writing chunks

    @contextmanager
    def writing(self, *, timeout_s: float | None = None, cancel: CancelToken | None = None) -> Generator[None]:
        self._open()
        with self._lock:
            yield

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        with self._commit("put") as content:
            for document in {one.row.id: one for one in documents}.values():
                _check_fit(document)
                _erase(content, [document.row.id])
                embedded = 0 if document.vectors is None else len(document.chunks)
                content.texts[document.row.id] = document.text
                content.rows[document.row.id] = replace(document.row, chunks=len(document.chunks), embedded=embedded)
                _write_chunks(content, document)
                self.concepts.put({document.row.id: _mentions([document])})

    @contextmanager
    def stage(self, text: StoredText) -> Generator[_Staged]:
        with self.writing():
            yield _Staged(text, self._publish)

    def _publish(self, staged: _Staged, row: DocumentRow) -> None:
        with self._commit("publish") as content:
            _erase(content, [row.id])
            content.texts[row.id] = staged.text
            embedded = sum(len(one.chunks) for one in staged.pieces if one.vectors is not None)
            chunks = sum(len(one.chunks) for one in staged.pieces)
            content.rows[row.id] = replace(row, chunks=chunks, embedded=embedded)
            for one in staged.pieces:
                _write_chunks(content, one)
            self.concepts.put({row.id: _mentions(staged.pieces)})

    def relocate(self, rows: Sequence[DocumentRow], words: Mapping[ChunkId, str]) -> None:
        with self._commit("relocate") as content:
            by_id = {row.id: row for row in rows}
            for id_, one in content.chunks.items():
                row = by_id.get(one.chunk.document_id)
                if row is None:
                    continue
                one.chunk = replace(
                    one.chunk,
                    collection=row.collection,
                    path=row.path,
                    title=row.title,
                    media_type=row.media_type,
                    date=row.date,
                )
                one.words = words[id_].split() if id_ in words else one.words
            content.rows |= by_id

    def remove(self, ids: Sequence[DocumentId]) -> None:
        with self._commit("remove") as content:
            _erase(content, ids)
            self.concepts.remove(ids)
            for one in ids:
                content.rows.pop(one, None)

    def owed(self, *, limit: int) -> tuple[Owed, ...]:
        missing = [one.chunk for one in self._open().chunks.values() if one.vector is None]
        return tuple(
            Owed(chunk_id=one.id, document_id=one.document_id, text=one.text, context=one.context)
            for one in missing[: max(limit, 0)]
        )

    def set_vectors(self, vectors: Mapping[ChunkId, Vector]) -> None:
        with self._commit("set_vectors") as content:
            for id_, vector in vectors.items():
                if id_ in content.chunks:
                    content.chunks[id_].vector = vector
            have = Counter(one.chunk.document_id for one in content.chunks.values() if one.vector is not None)
            content.rows = {id_: replace(row, embedded=have[id_]) for id_, row in content.rows.items()}

    def drop_vectors(self) -> None:
        with self._commit("drop_vectors") as content:
            for one in content.chunks.values():
                one.vector = None
            content.rows = {id_: replace(row, embedded=0) for id_, row in content.rows.items()}

    def sweep(self) -> int:
        with self._commit("sweep") as content:
            owners = {*content.texts, *(one.chunk.document_id for one in content.chunks.values())}
            orphans = owners - set(content.rows)
            _erase(content, orphans)
            return len(orphans)

    # ------------------------------------------------------------------ the ledger

    def row(self, document_id: DocumentId) -> DocumentRow | None:
        return self._open().rows.get(document_id)

    def rows_of(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, DocumentRow]:
        rows = self._open().rows
        return {one: rows[one] for one in ids if one in rows}

    def stamps(self, collection: str) -> Sequence[FileStamp]:
        return [_stamp(row) for row in self._open().rows.values() if row.collection == collection]

    def stamps_of(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, tuple[str, FileStamp]]:
        return {one: (row.collection, _stamp(row)) for one, row in self.rows_of(ids).items()}

    def find(self, collection: str, path: str) -> DocumentRow | None:
        rows = self._open().rows.values()
        return next((row for row in rows if (row.collection, row.path) == (collection, path)), None)

    def rows(self, *, collection: str | None = None, states: Sequence[str] = ()) -> Iterator[DocumentRow]:
        wanted = {str(state) for state in states}
        found = [
            row
            for row in self._open().rows.values()
            if (collection is None or row.collection == collection) and (not wanted or str(row.state) in wanted)
        ]
        return iter(sorted(found, key=lambda row: (row.collection, row.path)))

    def counts(self) -> Mapping[tuple[str, DocumentState], int]:
        return Counter((row.collection, row.state) for row in self._open().rows.values())

    def record(self, rows: Sequence[DocumentRow]) -> None:
        with self._commit("record") as content:
            content.rows |= {row.id: row for row in rows}

    def forget(self, ids: Sequence[DocumentId]) -> None:
        with self._commit("forget") as content:
            for one in ids:
                content.rows.pop(one, None)

    # ------------------------------------------------------------------ upkeep

    @property
    def version(self) -> int:
        return len(self.commits)

    def meta(self) -> IndexMeta | None:
        return self._open().meta

    def set_meta(self, meta: IndexMeta) -> None:
        with self._commit("set_meta") as content:
            content.meta = meta

    def stats(self) -> StoreStats:
        content = self._open()
        every = list(content.chunks.values())
        return StoreStats(
            documents=len(content.rows),
            chunks=len(every),
            embedded=sum(one.vector is not None for one in every),
            size_bytes=sum(len(one.text.encode("utf-8", "surrogatepass")) for one in content.texts.values()),
            version=self.version,
        )

    def maintain(self, *, force: bool = False) -> tuple[str, ...]:
        self._open()
        return ("nothing to compact in memory",) if force else ()

    def repair(self) -> tuple[str, ...]:
        self._open()
        return ()

    def warnings(self) -> tuple[str, ...]:
        self._open()
        return ()

    def require_index(self) -> None:
        self._open()

    def build_vector_index(self) -> VectorIndexReport:
        vectors = self.stats().embedded
        if not vectors:
            raise InvalidArgument("there are no vectors to index", hint="put documents with vectors first")
        return VectorIndexReport(vectors=vectors, probes=0, recall=1.0, seconds=0.0)

    def check(self) -> tuple[str, ...]:
        content = self._open()
        have = Counter(one.chunk.document_id for one in content.chunks.values())
        wrong = [f"{row.ref} has {have[id_]} of {row.chunks} chunks" for id_, row in content.rows.items()
                 if row.state == "indexed" and have[id_] != row.chunks]  # fmt: skip
        lost = [f"document {one} has chunks but no row" for one in have if one not in content.rows]
        return (*wrong, *lost)

    def reset(self) -> None:
        with self._commit("reset"):
            excluded = {row.id: row for row in self.rows(states=(DocumentState.EXCLUDED,))}
            self._content = _Content(rows=excluded)
            self.concepts.clear()

    def close(self) -> None:
        self._closed = True

    # ------------------------------------------------------------------ inside

    def _open(self) -> _Content:
        if self._closed:
            raise LibraryError("this store is closed", hint="Open it again.", code="library.closed")
        return self._content

    @contextmanager
    def _commit(self, name: str) -> Generator[_Content]:
        """Change a copy and show it when it is whole, so that readers in other threads never see half of it."""
        with self._lock:
            old = self._open()
            chunks = {id_: replace(one) for id_, one in old.chunks.items()}
            fresh = _Content(dict(old.rows), dict(old.texts), chunks, old.meta)
            yield fresh
            self._content = fresh if self._content is old else self._content
            self.commits.append(name)

    def _visible(self, filters: Filter, scope: Scope) -> list[_Stored]:
        return [one for one in self._open().chunks.values() if passes(one.chunk, filters, Scope(scope))]


class _Staged:
    """A document on its way in."""

    def __init__(self, text: StoredText, show: Callable[[_Staged, DocumentRow], None]) -> None:
        self.text = text
        self.pieces: list[IndexedDocument] = []
        self._show = show

    def add(self, pieces: Sequence[IndexedDocument]) -> None:
        for one in pieces:
            _check_fit(one)
        self.pieces += pieces

    def publish(self, row: DocumentRow) -> None:
        self._show(self, row)


def _write_chunks(content: _Content, document: IndexedDocument) -> None:
    for at, chunk in enumerate(document.chunks):
        content.chunks[chunk.id] = _Stored(
            chunk,
            document.words[at].split(),
            document.contents[at] if document.contents else chunk.text,
            None if document.vectors is None else document.vectors[at],
        )


def _mentions(pieces: Sequence[IndexedDocument]) -> dict[ChunkId, tuple[Mention, ...]]:
    pairs = (zip(one.chunks, one.mentions, strict=True) for one in pieces if one.mentions)
    return {chunk.id: mentions for of in pairs for chunk, mentions in of}


def _erase(content: _Content, ids: Iterable[DocumentId]) -> None:
    gone = set(ids)
    content.chunks = {id_: one for id_, one in content.chunks.items() if one.chunk.document_id not in gone}
    content.texts = {id_: text for id_, text in content.texts.items() if id_ not in gone}


def _check(vector: Vector, stored: Vector) -> None:
    import numpy as np

    if not np.isfinite(vector).all():
        raise InvalidArgument("the vector holds numbers that are not finite", hint="Check the embedder.")
    if vector.shape != stored.shape:
        message = f"the vector has dimension {vector.size}, the index {stored.size}"
        raise EmbedderMismatch(message, hint="Use the embedder that built the index.")


def _check_fit(document: IndexedDocument) -> None:
    count = len(document.chunks)
    if len(document.words) != count or (document.vectors is not None and len(document.vectors) != count):
        raise InvalidArgument(f"{document.row.ref}: {count} chunks need as many words and vectors", hint="Give each.")


def _best(found: list[Scored], limit: int) -> tuple[Scored, ...]:
    return tuple(sorted(found, key=lambda one: (-one.score, one.chunk_id))[: max(limit, 0)])


def _idf(documents: int, holding: int) -> float:
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


def _holds(words: Sequence[str], phrase: Sequence[str]) -> bool:
    wanted = [word for word in phrase if word]
    size = len(wanted)
    return any(list(words[at : at + size]) == wanted for at in range(len(words) - size + 1))


class MemoryState:
    """A `StateStore` without a disk."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], dict[str, object]] = {}
        self._lock = threading.RLock()

    def load(self, kind: str, key: str) -> Mapping[str, object] | None:
        with self._lock:
            value = self._values.get((kind, key))
            return None if value is None else dict(value)

    def save(self, kind: str, key: str, value: Mapping[str, object]) -> None:
        with self._lock:
            self._values[kind, key] = dict(value)

    def delete(self, kind: str, key: str) -> bool:
        with self._lock:
            return self._values.pop((kind, key), None) is not None

    def items(self, kind: str) -> Iterator[tuple[str, Mapping[str, object]]]:
        with self._lock:
            found = [(key, cast("Mapping[str, object]", dict(value))) for (of, key), value in self._values.items()
                     if of == kind]  # fmt: skip
        return iter(sorted(found, key=lambda pair: pair[0]))

    def keys(self, kind: str) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted(key for of, key in self._values if of == kind))

    @contextmanager
    def transaction(self) -> Generator[None]:
        with self._lock:
            before = dict(self._values)
            try:
                yield
            except BaseException:
                self._values = before
                raise


def _stamp(row: DocumentRow) -> FileStamp:
    return FileStamp._make(getattr(row, name) for name in FileStamp._fields)
