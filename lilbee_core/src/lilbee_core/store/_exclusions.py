"""What somebody took out of the index, kept in `state.sqlite`: it outlives the index, which can be made again.

The ledger's rows of excluded documents follow what is kept here. `Exclusions.settle` brings them into agreement after
a kill between the two, and after the ledger was lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any, cast

from lilbee_core.errors import StoreError
from lilbee_core.store._ledger import LedgerTable
from lilbee_core.store._state import SqliteState
from lilbee_core.types import MEMORY, DocumentId, DocumentRow, DocumentState, Metadata

log = logging.getLogger(__name__)

_KIND = "excluded"
_KEPT = ("library", "exclusions")
"""Says that exclusions are kept in the state: an older version had them in the ledger alone."""
_FIELDS = frozenset(one.name for one in fields(DocumentRow)) - {"metadata", "warnings", "state"}


class Exclusions:
    """The documents that somebody took out. Every method is called under the writer lock."""

    def __init__(self, state: SqliteState, ledger: LedgerTable) -> None:
        self._state = state
        self._ledger = ledger

    def follow(self, rows: Iterable[DocumentRow]) -> None:
        """Keep those of the rows that say so as excluded, and the others as no longer excluded."""
        last = {row.id: row for row in rows}
        excluded = {id_: row for id_, row in last.items() if row.state is DocumentState.EXCLUDED}
        if excluded:
            with self._state.transaction():
                for id_, row in excluded.items():
                    self._state.save(_KIND, id_, _kept(row))
        self.forget([id_ for id_ in last if id_ not in excluded])

    def forget(self, ids: Sequence[DocumentId]) -> None:
        """Forget that these were excluded."""
        known = frozenset(self._state.keys(_KIND)) & frozenset(ids)
        if known:
            with self._state.transaction():
                for id_ in known:
                    self._state.delete(_KIND, id_)

    def settle(self, remove: Callable[[Sequence[DocumentId]], None]) -> None:
        """Make the ledger agree, and take out with `remove` what is in the index and should not be.

        A state that cannot be read changes nothing: then the ledger has the last word.
        """
        listed = {row.id: row for row in self._ledger.rows(None, (DocumentState.EXCLUDED,))}
        try:
            kept = {DocumentId(id_): _row(id_, value) for id_, value in self._state.items(_KIND)}
            if self._state.load(*_KEPT) is None:
                kept |= listed
                self.follow(listed.values())
                self._state.save(*_KEPT, {"kept": True})
        except StoreError as error:
            log.warning("store: %s; what is excluded is taken from the ledger", error.message)
            return
        self._ledger.forget([id_ for id_ in listed if id_ not in kept])
        missing = [row for id_, row in kept.items() if id_ not in listed]
        if missing:
            remove(self._in_place_of(missing))
            self._ledger.record(missing)

    def _in_place_of(self, rows: Sequence[DocumentRow]) -> list[DocumentId]:
        """Return the documents that the ledger has where these rows belong."""
        wanted = {(row.collection, row.raw_path or row.path, bool(row.raw_path)) for row in rows}
        return [
            stamp.id
            for collection in {row.collection for row in rows}
            for stamp in self._ledger.stamps(collection)
            if (collection, *stamp.key) in wanted and stamp.extractor != MEMORY
        ]


def _kept(row: DocumentRow) -> Mapping[str, object]:
    return {name: value for name, value in asdict(row).items() if name in _FIELDS}


def _row(id_: str, value: Mapping[str, object]) -> DocumentRow:
    known = cast("dict[str, Any]", {name: one for name, one in value.items() if name in _FIELDS})
    values: dict[str, Any] = {**known, "id": DocumentId(id_)}
    return DocumentRow(**values, state=DocumentState.EXCLUDED, metadata=Metadata())
