"""Documents too big for one batch: written in parts that nobody sees until all of them are there.

The layout file names the revision that readers leave out; a text of that revision and the ledger row are written
when the parts are complete, and one replacement of the file then shows the new document. Killed anywhere, the
ledger says which revision counts: `settle` deletes the other one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from types import TracebackType

from lilbee_core.errors import LilbeeError
from lilbee_core.protocols import IndexedDocument
from lilbee_core.store._columns import pairs
from lilbee_core.store._engine import upsert
from lilbee_core.store._filters import quote
from lilbee_core.store._ledger import LedgerTable
from lilbee_core.store._rows import text_revision, text_rows
from lilbee_core.store._schema import CHUNK_CONCEPTS, CHUNK_TABLES, TEXTS
from lilbee_core.store._tables import Tables
from lilbee_core.types import DocumentId, DocumentRow, StoredText

Append = Callable[[Sequence[IndexedDocument], str], None]


class Staging:
    """One document on its way in. Use it in a ``with`` statement, inside the writer lock.

    Leaving the block before `publish` takes back all that was added; the document stays as it was.
    """

    def __init__(self, tables: Tables, ledger: LedgerTable, text: StoredText, append: Append) -> None:
        self._tables = tables
        self._ledger = ledger
        self._text = text
        self._append = append
        self._revision = ""
        self._chunks = self._embedded = 0
        self._published = False

    def __enter__(self) -> Staging:
        settle(self._tables, self._ledger)
        # The same text may be there already: its rows must be told from the new ones.
        self._revision = f"{text_revision(self._text)}.{self._tables.turns}"
        self._tables.hide((self._text.document_id, self._revision))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._published:
            return
        if kind is None:
            settle(self._tables, self._ledger)
            return
        with suppress(LilbeeError):  # what stopped us comes first; the next sync settles it
            settle(self._tables, self._ledger)

    def add(self, pieces: Sequence[IndexedDocument]) -> None:
        """Write more of its chunks, each piece with vectors for all of its chunks or for none."""
        self._append(pieces, self._revision)
        self._chunks += sum(len(one.chunks) for one in pieces)
        self._embedded += sum(len(one.chunks) for one in pieces if one.vectors is not None)

    def publish(self, row: DocumentRow) -> None:
        """Show the document in place of what was there; the counts of `row` become those of what was added."""
        revisions = {row.id: self._revision}
        with self._tables.engine("write the texts", TEXTS):
            upsert(self._tables.require(TEXTS), text_rows([self._text], revisions), on=["document_id", "revision"])
        self._ledger.record([replace(row, chunks=self._chunks, embedded=self._embedded)], revisions)
        settle(self._tables, self._ledger)
        self._published = True


def settle(tables: Tables, ledger: LedgerTable) -> None:
    """Finish, or take back, what a document in parts left; the ledger decides."""
    hidden = tables.hidden
    if hidden is None:
        return
    document_id, revision = hidden
    current = ledger.revisions([DocumentId(document_id)]).get(DocumentId(document_id))
    other = f"revision = {quote(revision)}"
    if current == revision:
        other = f"(revision IS NULL OR revision <> {quote(revision)})"
    _delete(tables, f"document_id = {quote(document_id)} AND {other}")
    tables.hide(None)


def settle_unknown(tables: Tables, ledger: LedgerTable) -> None:
    """Do as `settle` does where the layout was lost, which said what document was left; the ledger decides."""
    revisions: dict[str, set[str]] = {}
    for name in CHUNK_TABLES:
        found = tables.select(name, "look for leftovers", ("document_id", "revision"), hidden=True)
        for document_id, revision in pairs(found, "document_id", "revision"):
            revisions.setdefault(document_id, set()).add(revision)
    doubled = [DocumentId(id_) for id_, several in revisions.items() if len(several) > 1]
    for document_id, current in ledger.revisions(doubled).items():
        other = f"(revision IS NULL OR revision <> {quote(current)})"
        _delete(tables, f"document_id = {quote(document_id)} AND {other}")


def _delete(tables: Tables, condition: str) -> None:
    for name in (*CHUNK_TABLES, CHUNK_CONCEPTS, TEXTS):
        table = tables.require(name)
        with tables.engine("delete documents", name):
            if table.count_rows(condition):
                table.delete(condition)
