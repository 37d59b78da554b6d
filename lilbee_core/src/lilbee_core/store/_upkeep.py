"""Upkeep: the word index, compaction and pruning, by thresholds; big tables in a process of their own.

``python -m lilbee_core.store DATA_DIR TABLE:KIND ...`` does the work for tables too big to be worked on in
the caller's process: the engine's memory peaks there and is given back when it ends. The caller holds the
writer lock meanwhile; the child ends when the caller does, which it sees by its standard input being closed.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import cast

from lilbee_core.errors import StoreError
from lilbee_core.store._engine import Table, words_index
from lilbee_core.store._schema import CHUNK_TABLES, DOCUMENTS, TABLES, WORDS
from lilbee_core.store._tables import Tables
from lilbee_core.types import StoreStats

log = logging.getLogger(__name__)

MAX_FRAGMENTS = 50
MAX_DELETED_SHARE = 0.10
MAX_UNINDEXED_SHARE = 0.02
MIN_UNINDEXED = 1_000
KEEP_VERSIONS = timedelta(seconds=60)
"""A reader may still be inside a version this old."""
CHILD_ROWS = 20_000
CHILD_TIMEOUT_S = 3_600.0


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of one table."""

    name: str
    rows: int
    fragments: int
    deleted: int
    unindexed: int
    indexed: int
    size_bytes: int

    @property
    def needs_words(self) -> bool:
        """Whether the word index should be built again."""
        return self.unindexed > max(MIN_UNINDEXED, MAX_UNINDEXED_SHARE * self.rows) or (
            self.deleted > MAX_DELETED_SHARE * max(self.indexed, 1) and self.indexed > 0
        )

    @property
    def needs_compaction(self) -> bool:
        """Whether its files should be put together and old versions deleted."""
        return self.fragments > MAX_FRAGMENTS or self.deleted > MAX_DELETED_SHARE * max(self.rows, 1)


@dataclass(frozen=True, slots=True)
class Work:
    """What to do for one table: put files together, and build the word index before when `words` is true."""

    name: str
    words: bool


def condition_of(name: str, table: Table) -> Condition:
    """Ask the engine for the state of a table."""
    stats = table.stats()
    fragments = stats["fragment_stats"]
    index = next((one for one in table.list_indices() if one.columns == [WORDS]), None)
    return Condition(
        name=name,
        rows=stats["num_rows"],
        fragments=fragments["num_fragments"],
        deleted=max(round(fragments["lengths"]["mean"] * fragments["num_fragments"]) - stats["num_rows"], 0),
        unindexed=index.num_unindexed_rows if index else stats["num_rows"] if name in CHUNK_TABLES else 0,
        indexed=index.num_indexed_rows if index else 0,
        size_bytes=stats["total_bytes"],
    )


def conditions(tables: Tables) -> list[Condition]:
    """Return the state of every table that holds something."""
    found = [tables.read(name, "look at the tables", partial(condition_of, name), None) for name in TABLES]
    return [one for one in found if one is not None and (one.rows or one.fragments)]


def stats(tables: Tables) -> StoreStats:
    """Return counts and sizes of the whole store."""
    found = {one.name: one for one in conditions(tables)}
    chunks = [found[name] for name in CHUNK_TABLES if name in found]
    embedded = sum(tables.read(one.name, "count vectors", lambda t: t.count_rows("has_vector"), 0) for one in chunks)
    return StoreStats(
        documents=found[DOCUMENTS].rows if DOCUMENTS in found else 0,
        chunks=sum(one.rows for one in chunks),
        embedded=embedded,
        size_bytes=folder_size(tables.index),
        fragments=sum(one.fragments for one in chunks),
        unindexed=sum(one.unindexed for one in chunks),
        version=tables.version(),
    )


def folder_size(folder: Path) -> int:
    """Return the bytes of all files below a folder; files that vanish meanwhile count nothing."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def maintain(tables: Tables, *, force: bool) -> tuple[str, ...]:
    """Do what the thresholds ask for, with `force` everything; return what was done, as sentences."""
    done: list[str] = []
    small: list[Work] = []
    big: list[Work] = []
    for one in conditions(tables):
        words = one.name in CHUNK_TABLES and one.rows > 0 and (force or one.needs_words)
        if words or force or one.needs_compaction:
            (big if one.rows > CHILD_ROWS else small).append(Work(one.name, words))
            done += _said(one, words)
    for work in small:
        work_on(tables, work)
    if big:
        _work_in_child(tables, big)
    return tuple(done)


def work_on(tables: Tables, work: Work) -> None:
    """Build the word index again where asked, then put files together and delete old versions.

    This order matters: the engine prunes before it looks at the indexes, so files of an index that is replaced
    afterwards would stay until the next time.
    """
    table = tables.require(work.name)
    with tables.engine(f"tidy the table {work.name}"):
        if work.words:
            table.create_index(WORDS, config=words_index(), replace=True)
        # Files that a killed writer left belong to no version. No other writer is at work: the lock is held.
        table.optimize(cleanup_older_than=KEEP_VERSIONS, delete_unverified=True)


def _said(one: Condition, words: bool) -> list[str]:
    said = [f"{one.name}: word index built over {one.rows:,} rows"] if words else []
    return [*said, f"{one.name}: {one.fragments:,} files put together, {one.deleted:,} deleted rows dropped"]


# --------------------------------------------------------------------------- the child


def _work_in_child(tables: Tables, works: Sequence[Work]) -> None:
    command = [sys.executable, "-m", "lilbee_core.store", str(tables.data_dir.resolve())]
    command += [f"{work.name}:{'words' if work.words else 'files'}" for work in works]
    environment = {**os.environ, "MALLOC_ARENA_MAX": "1"}  # noqa: TID251 - halves the child's memory (measured)
    try:
        child = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        log.warning("store: no process for upkeep (%s), working in this one", error)
        for work in works:
            work_on(tables, work)
        return
    try:
        output, _ = _wait(child)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
    if child.returncode:
        raise _failure(output, tables.data_dir)


def _wait(child: subprocess.Popen[bytes]) -> tuple[bytes, int]:
    """Wait with the child's standard input open, which tells it that we live."""
    with child:
        assert child.stdout is not None
        timer = threading.Timer(CHILD_TIMEOUT_S, child.kill)
        timer.daemon = True
        timer.start()
        try:
            return child.stdout.read(), child.wait()
        finally:
            timer.cancel()
            child.kill()


def _failure(output: bytes, place: Path) -> StoreError:
    try:
        said = cast("dict[str, str]", json.loads(output))
        return StoreError(said["message"], hint=said["hint"], code=said["code"])
    except (ValueError, KeyError, TypeError):
        return StoreError(
            f"the upkeep of the index in {place} ended before it was done",
            hint="the index is intact; run `lilbee sync` again, with more free memory if that was short",
        )


def main(arguments: Sequence[str]) -> int:
    """Work on the named tables; on failure print what happened as JSON."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    data_dir, *names = arguments
    tables = Tables(Path(data_dir))
    try:
        for name in names:
            table, _, kind = name.partition(":")
            work_on(tables, Work(table, kind == "words"))
    except StoreError as error:
        sys.stdout.write(json.dumps(error.to_dict()))
        return 1
    finally:
        tables.close()
    return 0


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(2)
