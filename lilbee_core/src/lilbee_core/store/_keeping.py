"""Keeps the files of the tables few while a long sync writes batch after batch: every commit names all of them."""

from __future__ import annotations

from lilbee_core.store._engine import Table
from lilbee_core.store._schema import TABLES
from lilbee_core.store._tables import Tables
from lilbee_core.store._upkeep import Work, carry_out, has_unindexed_words

LOOK_EVERY = 25
"""Batches between two looks."""
FIRST_LIMIT, LAST_LIMIT = 100, 400
"""Files that make it worth putting them together; every time it takes twice as many, up to the last limit. Without
that, 100,000 tiny files left 1,500 files per table, and every batch took longer than the one before."""


class FileKeeper:
    """Puts files together in the middle of many batches."""

    def __init__(self) -> None:
        self._batches = 0
        self._limits: dict[str, int] = {}

    def keep_up(self, tables: Tables) -> None:
        """Look whether it is time; called under the writer lock after a batch was written."""
        self._batches += 1
        if self._batches % LOOK_EVERY:
            return
        for name in TABLES:
            limit = self._limits.get(name, FIRST_LIMIT)
            if tables.read(name, "look at the tables", _files_of, 0) > limit:
                words = tables.read(name, "look at the tables", has_unindexed_words, False)
                rows = tables.read(name, "count the rows", lambda table: table.count_rows(), 0)
                carry_out(tables, [(rows, Work(name, words=words, files=True))])
                self._limits[name] = min(2 * limit, LAST_LIMIT)


def _files_of(table: Table) -> int:
    return table.stats()["fragment_stats"]["num_fragments"]
