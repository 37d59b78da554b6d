"""Writing chunks: every batch becomes visible in one commit per table, the ledger row last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from lilbee_core.errors import InvalidArgument
from lilbee_core.protocols import IndexedDocument, Owed
from lilbee_core.store._columns import pairs, part_rows, strings, vector_column
from lilbee_core.store._concepts import append_mentions, mention_rows, put_mentions
from lilbee_core.store._engine import Table, update, upsert
from lilbee_core.store._filters import is_in, quote
from lilbee_core.store._ledger import LedgerTable, parts_of
from lilbee_core.store._lock import Present
from lilbee_core.store._marks import Mark
from lilbee_core.store._rows import (
    CHUNK_COLUMNS,
    check_vectors,
    chunk_rows,
    chunks_from,
    single_blanks,
    text_revision,
    text_rows,
    unique_chunks,
)
from lilbee_core.store._schema import (
    BY_DOCUMENT,
    CHUNK_TABLES,
    CHUNKS,
    DOCUMENTS,
    TEXTS,
    VECTOR,
    WIKI,
    WORDS,
    schemas,
)
from lilbee_core.store._staging import settle, settle_unknown
from lilbee_core.store._tables import Tables
from lilbee_core.types import Chunk, ChunkId, DocumentId, DocumentRow, Vector

if TYPE_CHECKING:
    import pyarrow as pa

    from lilbee_core.store._columns import Column


class Writer:
    """Writes batches. Every method is called under the writer lock.

    The order is texts, chunks, mentions of concepts, ledger. Killed in between, the ledger still has the old row (or
    none), so the next sync does the batch again, and `sweep` deletes what no row names.
    """

    def __init__(self, tables: Tables, ledger: LedgerTable, present: Present, *, dimension: int | None) -> None:
        self._tables = tables
        self._present = present
        self._ledger = ledger
        self._dimension = dimension
        self._swept = Mark(tables, "swept", (*BY_DOCUMENT, DOCUMENTS))

    # ------------------------------------------------------------------ documents

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        """Replace these documents."""
        batch = [unique_chunks(one) for one in {one.row.id: one for one in documents}.values()]
        if not batch:
            return
        ids = [one.row.id for one in batch]
        revisions = {one.row.id: text_revision(one.text) for one in batch}
        # All rows are made before the first is written: what does not fit is refused with nothing changed.
        texts = text_rows([one.text for one in batch], revisions)
        chunks = {
            name: self._chunk_rows(name, [one for one in batch if _scope(one) == scope], revisions)
            for name, scope in _SCOPES
        }
        mentions = mention_rows(batch, revisions)
        old = self._present.among(ids)
        self._present.add(ids)
        self._put_texts(texts, old)
        for name, rows in chunks.items():
            self._put_chunks(name, rows, old)
        put_mentions(self._tables, mentions, old)
        self._ledger.record([_counted(one) for one in batch], revisions, are_new=not old)
        self._drop_old_texts({id_: revisions[id_] for id_ in old})

    def append(self, pieces: Sequence[IndexedDocument], revision: str) -> None:
        """Write chunks of documents beside those that they have, as cut from a text of this revision."""
        kept = [unique_chunks(one) for one in pieces if one.chunks]
        self._present.add(one.row.id for one in kept)
        for name, scope in _SCOPES:
            found = [one for one in kept if _scope(one) == scope]
            if not found:
                continue
            rows = self._chunk_rows(name, found, {one.row.id: revision for one in found})
            table = self._tables.require(name)
            with self._tables.engine("write the chunks", name):
                table.add(rows, on_bad_vectors="null")
        append_mentions(self._tables, mention_rows(kept, {one.row.id: revision for one in kept}))

    def _put_texts(self, rows: pa.Table, old: Sequence[DocumentId]) -> None:
        table = self._tables.require(TEXTS)
        # An old text stays until the chunks that were cut from it are gone.
        with self._tables.engine("write the texts", TEXTS):
            if old:
                upsert(table, rows, on=["document_id", "revision"])
            else:
                table.add(rows)

    def _put_chunks(self, name: str, rows: pa.Table, replaced: Sequence[DocumentId]) -> None:
        if not rows.num_rows and not replaced:
            return
        table = self._tables.require(name)
        condition = is_in("document_id", replaced) if replaced else None
        with self._tables.engine("write the chunks", name):
            if condition is None:
                table.add(rows, on_bad_vectors="null")
            elif rows.num_rows or (table.count_rows() and table.count_rows(condition)):
                upsert(table, rows, replaced=condition)

    def _chunk_rows(
        self, name: str, documents: Sequence[IndexedDocument], revisions: Mapping[DocumentId, str]
    ) -> pa.Table:
        """Return the rows to write, and make the column of vectors when the first ones come."""
        dimension = self._dimension_for(name, documents)
        if dimension is not None:
            self._tables.require_vectors(name, dimension)
        return chunk_rows(documents, dimension, revisions)

    def _dimension_for(self, name: str, documents: Iterable[IndexedDocument]) -> int | None:
        given = {cast("int", one.vectors.shape[1]) for one in documents if one.vectors is not None and len(one.chunks)}
        if len(given) > 1:
            raise InvalidArgument(
                f"the vectors of one batch have the dimensions {sorted(given)}", hint="embed them with one model"
            )
        return given.pop() if given else self._tables.dimension(name) or self._dimension

    def _drop_old_texts(self, revisions: Mapping[DocumentId, str]) -> None:
        """Delete every text of these documents but the named one."""
        table = self._tables.require(TEXTS)
        with self._tables.engine("write the texts", TEXTS):
            for part in parts_of(revisions):
                if table.count_rows(is_in("document_id", part)) <= len(part):
                    continue
                old = (f"({is_in('document_id', [i])} AND revision <> {quote(revisions[DocumentId(i)])})" for i in part)
                table.delete(" OR ".join(old))

    def remove(self, ids: Sequence[DocumentId]) -> None:
        """Delete documents from every table; the ledger first, since what no row names is swept later."""
        if not ids or self._tables.layout() is None:
            return
        self._ledger.forget(ids)
        self._delete_rows(ids)

    def sweep(self) -> int:
        """Delete rows of documents that the ledger does not name, and texts that no chunk was cut from."""
        if self._tables.find(CHUNKS) is None:
            return 0
        self._tables.require(CHUNKS)  # a layout that was lost is written again
        settle(self._tables, self._ledger)
        known = self._ledger.ids()
        if self._swept.holds():
            self._present.start(known)
            return 0
        orphans: set[str] = set()
        for name in BY_DOCUMENT:
            found = self._tables.select(name, "look for leftovers", ("document_id",), hidden=True)
            orphans |= set(strings(found, "document_id"))
        orphans -= known
        if orphans:
            self._delete_rows(sorted(orphans))
        if self._tables.restored:
            settle_unknown(self._tables, self._ledger)
        self._sweep_texts()
        self._swept.set()
        self._present.start(known)
        return len(orphans)

    def _sweep_texts(self) -> None:
        """Delete texts that a killed writer left beside the ones that the chunks were cut from."""
        counts = Counter(strings(self._tables.select(TEXTS, "look for leftovers", ("document_id",)), "document_id"))
        doubled = [DocumentId(id_) for id_, count in counts.items() if count > 1]
        if doubled:
            self._drop_old_texts(self._revisions_in_use(doubled))

    def _revisions_in_use(self, ids: Sequence[DocumentId]) -> dict[DocumentId, str]:
        used = self._ledger.revisions(ids)
        for name in CHUNK_TABLES:
            for part in parts_of(ids):
                where = is_in("document_id", part)
                found = self._tables.select(name, "look for leftovers", ("document_id", "revision"), where)
                used.update((DocumentId(id_), text) for id_, text in pairs(found, "document_id", "revision"))
        return used

    def _delete_rows(self, ids: Sequence[str]) -> None:
        for name in BY_DOCUMENT:
            table = self._tables.require(name)
            with self._tables.engine("delete documents", name):
                for part in parts_of(ids):
                    condition = is_in("document_id", part)
                    if table.count_rows(condition):
                        table.delete(condition)

    # ------------------------------------------------------------------ chunks

    def relocate(self, rows: Sequence[DocumentRow], words: Mapping[ChunkId, str]) -> None:
        """Give documents a new collection, path or title; vectors and ids stay."""
        by_id = {row.id: row for row in rows}
        for name in CHUNK_TABLES:
            self._rewrite(name, by_id, words)
        self._ledger.record(list(by_id.values()))

    def _rewrite(self, name: str, rows: Mapping[DocumentId, DocumentRow], words: Mapping[ChunkId, str]) -> None:
        if self._tables.find(name) is None:
            return
        columns = (*CHUNK_COLUMNS, WORDS)
        for part in parts_of(rows):
            found = self._tables.select(name, "read chunks", columns, is_in("document_id", part))
            if not found.num_rows:
                continue
            chunks = [_moved(chunk, rows[chunk.document_id]) for chunk in chunks_from(found, "")]
            old = strings(found, WORDS)
            new = [single_blanks(words.get(chunk.id, kept)) for chunk, kept in zip(chunks, old, strict=True)]
            self._update(name, chunks, new)

    def _update(self, name: str, chunks: Sequence[Chunk], words: Sequence[str]) -> None:
        columns: dict[str, Sequence[object]] = {
            name: [getattr(chunk, name) for chunk in chunks]
            for name in ("id", "collection", "path", "title", "media_type", "date")
        }
        with self._tables.engine("move documents", name):
            update(self._tables.require(name), part_rows({**columns, WORDS: words}, CHUNKS))

    def owed(self, limit: int) -> tuple[Owed, ...]:
        """Return chunks without a vector."""
        found: list[Owed] = []
        for name in CHUNK_TABLES:
            found += self._owed(name, limit - len(found)) if len(found) < limit else []
        return tuple(found)

    def _owed(self, name: str, limit: int) -> list[Owed]:
        def use(table: Table) -> pa.Table:
            where = self._tables.visible(name, "NOT has_vector")
            return table.search().select(list(CHUNK_COLUMNS)).where(where or "").limit(limit).to_arrow()

        rows = self._tables.read(name, "look for missing vectors", use, schemas()[name].empty_table())
        return [
            Owed(chunk_id=one.id, document_id=one.document_id, text=one.text, context=one.context)
            for one in chunks_from(rows, "")
        ]

    def set_vectors(self, vectors: Mapping[ChunkId, Vector]) -> None:
        """Write vectors of chunks that exist; others are left out."""
        if not vectors:
            return
        import numpy as np

        ids = list(vectors)
        values = np.stack([np.asarray(vectors[id_], dtype=np.float32) for id_ in ids])
        check_vectors(values, len(ids), "the chunks")
        touched: set[DocumentId] = set()
        for name in CHUNK_TABLES:
            touched |= self._set_vectors(name, ids, values)
        self._recount(sorted(touched))

    def drop_vectors(self) -> None:
        """Forget every vector; all are owed afterwards."""
        if self._tables.find(CHUNKS) is None:
            return
        self._tables.drop_vectors()
        self._ledger.record([replace(row, embedded=0) for row in self._ledger.rows(None, ()) if row.embedded])

    def _set_vectors(self, name: str, ids: Sequence[ChunkId], values: Vector) -> set[DocumentId]:
        owners: dict[str, str] = {}
        for part in parts_of(ids):
            found = self._tables.select(name, "read chunks", ("id", "document_id"), is_in("id", part))
            owners.update(pairs(found, "id", "document_id"))
        kept = [i for i, id_ in enumerate(ids) if id_ in owners]
        if not kept:
            return set()
        dimension = values.shape[1]
        table = self._tables.require_vectors(name, dimension)
        columns: dict[str, Sequence[object] | Column] = {
            "id": [ids[i] for i in kept],
            "has_vector": [True] * len(kept),
            VECTOR: vector_column([(len(kept), values[kept])], dimension),
        }
        with self._tables.engine("write vectors", name):
            update(table, part_rows(columns, CHUNKS, dimension=dimension))
        return {DocumentId(owner) for owner in owners.values()}

    def _recount(self, ids: Sequence[DocumentId]) -> None:
        counts: dict[str, int] = dict.fromkeys(ids, 0)
        for name in CHUNK_TABLES:
            for part in parts_of(ids):
                where = f"has_vector AND {is_in('document_id', part)}"
                found = self._tables.select(name, "count vectors", ("document_id",), where)
                for id_ in strings(found, "document_id"):
                    counts[id_] += 1
        rows = [self._ledger.row(id_) for id_ in ids]
        changed = [replace(row, embedded=counts[row.id]) for row in rows if row and row.embedded != counts[row.id]]
        self._ledger.record(changed)


_SCOPES = ((CHUNKS, "raw"), (WIKI, "wiki"))


def _scope(document: IndexedDocument) -> str:
    return "wiki" if any(chunk.scope == "wiki" for chunk in document.chunks) else "raw"


def _counted(document: IndexedDocument) -> DocumentRow:
    count = len(document.chunks)
    return replace(document.row, chunks=count, embedded=0 if document.vectors is None else count)


def _moved(chunk: Chunk, row: DocumentRow) -> Chunk:
    return replace(
        chunk, collection=row.collection, path=row.path, title=row.title, media_type=row.media_type, date=row.date
    )
