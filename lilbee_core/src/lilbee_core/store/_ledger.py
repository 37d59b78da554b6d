"""The ledger: one row per file ever seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lilbee_core.store._columns import pairs, strings
from lilbee_core.store._engine import upsert
from lilbee_core.store._filters import is_in, quote
from lilbee_core.store._rows import DOCUMENT_COLUMNS, document_rows, documents_from, stamps_from
from lilbee_core.store._schema import DOCUMENTS
from lilbee_core.store._tables import Tables
from lilbee_core.types import DocumentId, DocumentRow, DocumentState, FileStamp

if TYPE_CHECKING:
    import pyarrow as pa


IDS_PER_CALL = 2_000
_ROWS_AT_ONCE = 1_000


class LedgerTable:
    """Reads and writes ledger rows. Threads may share it; writing is done under the writer lock."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def row(self, document_id: DocumentId) -> DocumentRow | None:
        """Return the row of the document."""
        return next(self._select(f"id = {quote(document_id)}"), None)

    def find(self, collection: str, path: str) -> DocumentRow | None:
        """Return the row of the file."""
        if "\x00" in collection + path:
            return None
        return next(self._select(f"path = {quote(path)} AND collection = {quote(collection)}"), None)

    def rows(self, collection: str | None, states: Sequence[str]) -> Iterator[DocumentRow]:
        """Yield rows ordered by collection and path."""
        parts = [f"collection = {quote(collection)}"] if collection is not None else []
        if states:
            parts.append(is_in("state", [str(state) for state in states]))
        found = self._read(" AND ".join(parts) or None, DOCUMENT_COLUMNS)
        # UTF-8 sorts as its characters do. Rows are made when they are asked for: who shows a page needs few of them.
        order: list[tuple[str, Any]] = [("collection", "ascending"), ("path", "ascending")]
        return _in_parts(found.sort_by(order))  # pyright: ignore[reportUnknownMemberType]

    def rows_of(self, ids: Sequence[DocumentId]) -> dict[DocumentId, DocumentRow]:
        """Return the rows of those of the documents that have one."""
        found = (row for part in parts_of(dict.fromkeys(ids)) for row in self._select(is_in("id", part)))
        return {row.id: row for row in found}

    def stamps(self, collection: str) -> list[FileStamp]:
        """Return what a sync compares of every file of the collection."""
        return list(stamps_from(self._read(f"collection = {quote(collection)}", FileStamp._fields)))

    def stamps_of(self, ids: Sequence[DocumentId]) -> dict[DocumentId, tuple[str, FileStamp]]:
        """Return the collection and the stamp of those of the documents that have a row."""
        found: dict[DocumentId, tuple[str, FileStamp]] = {}
        for part in parts_of(dict.fromkeys(ids)):
            table = self._read(is_in("id", part), (*FileStamp._fields, "collection"))
            found.update(
                (stamp.id, (collection, stamp))
                for stamp, collection in zip(stamps_from(table), strings(table, "collection"), strict=True)
            )
        return found

    def counts(self) -> Counter[tuple[str, DocumentState]]:
        """Return the number of rows by collection and state."""
        found = Counter(pairs(self._read(None, ("collection", "state")), "collection", "state"))
        return Counter({(collection, DocumentState(state)): count for (collection, state), count in found.items()})

    def record(
        self, rows: Sequence[DocumentRow], revisions: Mapping[DocumentId, str] | None = None, *, are_new: bool = False
    ) -> None:
        """Write rows; a text revision that is not given stays as it was. Rows that are new are not looked for."""
        last = list({row.id: row for row in rows}.values())
        if not last:
            return
        table = self._tables.require(DOCUMENTS)
        given = dict(revisions or {})
        known = {**self.revisions([row.id for row in last if row.id not in given]), **given}
        with self._tables.engine("write the ledger", DOCUMENTS):
            if are_new:
                table.add(document_rows(last, known))
            else:
                upsert(table, document_rows(last, known))

    def forget(self, ids: Sequence[DocumentId]) -> None:
        """Delete rows."""
        if not ids or self._tables.find(DOCUMENTS) is None:
            return
        table = self._tables.require(DOCUMENTS)
        with self._tables.engine("write the ledger", DOCUMENTS):
            for part in parts_of(ids):
                table.delete(is_in("id", part))

    def revisions(self, ids: Sequence[DocumentId]) -> dict[DocumentId, str]:
        """Return the text revision of those of the documents that have a row with one."""
        found: dict[DocumentId, str] = {}
        for part in parts_of(ids):
            condition = is_in("id", part)
            table = self._read(condition, ("id", "revision"))
            found.update((DocumentId(id_), revision) for id_, revision in pairs(table, "id", "revision") if revision)
        return found

    def ids(self) -> frozenset[str]:
        """Return the ids of all documents."""
        return frozenset(strings(self._read(None, ("id",)), "id"))

    def _select(self, where: str | None) -> Iterator[DocumentRow]:
        return documents_from(self._read(where, DOCUMENT_COLUMNS))

    def _read(self, where: str | None, columns: tuple[str, ...]) -> pa.Table:
        return self._tables.select(DOCUMENTS, "read the ledger", columns, where)


def parts_of(ids: Iterable[str]) -> Iterator[list[str]]:
    """Yield the ids in pieces that make a condition of reasonable length."""
    listed = list(ids)
    for start in range(0, len(listed), IDS_PER_CALL):
        yield listed[start : start + IDS_PER_CALL]


def _in_parts(table: pa.Table) -> Iterator[DocumentRow]:
    for start in range(0, len(table), _ROWS_AT_ONCE):
        yield from documents_from(table.slice(start, _ROWS_AT_ONCE))
