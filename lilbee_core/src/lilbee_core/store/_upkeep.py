"""Upkeep: the word index, compaction and pruning, by thresholds; big tables in a process of their own.

``python -m lilbee_core.store DATA_DIR TABLE:words:vectors:files ...`` does the work for tables too big to be
worked on in the caller's process: the engine's memory peaks there and is given back when it ends. The caller holds the
writer lock meanwhile; the child ends when the caller does, which it sees by its standard input being closed.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import cast

from lilbee_core.errors import InvalidArgument, StoreError
from lilbee_core.store._ann import MAX_GROWTH, MAX_SEGMENTS, CalibrationFile, build, finds_a_vector
from lilbee_core.store._check import finds_its_words
from lilbee_core.store._engine import IndexEntry, Table, words_index
from lilbee_core.store._health import Health
from lilbee_core.store._schema import CHUNK_TABLES, DOCUMENTS, TABLES, VECTOR, WORDS
from lilbee_core.store._sizes import folder_size
from lilbee_core.store._tables import Tables
from lilbee_core.types import StoreStats, VectorIndexReport

log = logging.getLogger(__name__)

MAX_FRAGMENTS = 50
MAX_DELETED_SHARE = 0.10
MAX_UNINDEXED_SHARE, MIN_UNINDEXED = 0.01, 100
"""Rows beside the word index are read one by one: 700 of them make a search three times as slow."""
MIN_UNINDEXED_VECTORS = 2_000
MIN_GROWTH = 8_000
"""While many batches come in, the word index is built again whenever it would double, from this size on..."""
BUILD_ROW_S, BUILD_SHARE = 0.0001, 0.03
"""... but only where that takes a small part of the time: not while batches come in faster than one can search."""
MAX_GARBAGE_SHARE, MIN_GARBAGE_BYTES = 0.12, 1_000_000
"""Of each table. So an index of 17 MB was 1.16 times a fresh one at the most in 120 small syncs, for no more work."""
KEEP_VERSIONS = timedelta(seconds=60)
"""A reader may still be inside a version this old."""
KEEP_ALL = timedelta(days=36_500)
KEEP_NOTHING = timedelta(milliseconds=1)
"""For when old versions are a large part of what lies on disk; readers that meet a missing file read again."""
CHILD_ROWS = 50_000
"""Up to here the work takes less memory (110 MB for 27,000 rows) than a process of its own does."""
CHILD_TIMEOUT_S = 3_600.0


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """The state of the vector index of a table."""

    indexed: int
    unindexed: int
    segments: int

    @classmethod
    def of(cls, entry: IndexEntry) -> VectorIndex:
        """Read what the engine says."""
        return cls(entry.num_indexed_rows, entry.num_unindexed_rows, entry.num_segments)

    @property
    def lags(self) -> bool:
        """Whether many vectors lie beside it."""
        return self.unindexed > max(MIN_UNINDEXED_VECTORS, MAX_UNINDEXED_SHARE * self.indexed)

    @property
    def is_worn(self) -> bool:
        """Whether it should be built again: cut for far fewer vectors, or in too many pieces."""
        return self.segments > MAX_SEGMENTS or self.unindexed > (MAX_GROWTH - 1) * self.indexed


@dataclass(frozen=True, slots=True)
class Condition:
    """The state of one table. `size_bytes` is what its newest version needs, `garbage_bytes` lies beside it."""

    name: str
    rows: int
    fragments: int
    deleted: int
    unindexed: int
    indexed: int
    size_bytes: int
    garbage_bytes: int
    vectors: VectorIndex | None = None

    @property
    def needs_words(self) -> bool:
        """Whether the word index should be built again."""
        many_new = self.unindexed > max(MIN_UNINDEXED, MAX_UNINDEXED_SHARE * self.rows)
        return many_new or (self.indexed > 0 and self.deleted > MAX_DELETED_SHARE * self.indexed)

    @property
    def needs_compaction(self) -> bool:
        """Whether its files should be put together and old versions deleted."""
        lags = self.vectors is not None and self.vectors.lags
        return lags or self.fragments > MAX_FRAGMENTS or self.deleted > MAX_DELETED_SHARE * max(self.rows, 1)

    @property
    def needs_pruning(self) -> bool:
        """Whether old versions take up much space."""
        return self.garbage_bytes > max(MIN_GARBAGE_BYTES, MAX_GARBAGE_SHARE * self.size_bytes)


@dataclass(frozen=True, slots=True)
class Work:
    """What to do for one table: build its indexes, and then put its files together and delete old versions."""

    name: str
    words: bool = False
    vectors: bool = False
    files: bool = False

    def __str__(self) -> str:
        return f"{self.name}:{'words' * self.words}:{'vectors' * self.vectors}:{'files' * self.files}"

    @classmethod
    def parse(cls, text: str) -> Work:
        """Read what `str` wrote."""
        name, words, vectors, files = text.split(":")
        return cls(name, bool(words), bool(vectors), bool(files))


def condition_of(name: str, folder: Path, table: Table) -> Condition:
    """Ask the engine for the state of a table, which lies in `folder`."""
    stats = table.stats()
    fragments = stats["fragment_stats"]
    rows = stats["num_rows"]
    indexes = table.list_indices()
    words = next((one for one in indexes if one.columns == [WORDS]), None)
    numbers = next((one for one in indexes if one.columns == [VECTOR]), None)
    size = stats["total_bytes"] + sum(one.size_bytes or 0 for one in indexes)
    return Condition(
        name=name,
        rows=rows,
        fragments=fragments["num_fragments"],
        deleted=max(round(fragments["lengths"]["mean"] * fragments["num_fragments"]) - rows, 0),
        unindexed=words.num_unindexed_rows if words else rows if name in CHUNK_TABLES else 0,
        indexed=words.num_indexed_rows if words else 0,
        size_bytes=size,
        garbage_bytes=max(folder_size(folder) - size, 0),
        vectors=VectorIndex.of(numbers) if numbers else None,
    )


def conditions(tables: Tables) -> list[Condition]:
    """Return the state of every table that holds something."""
    found = [_condition(tables, name) for name in TABLES]
    return [one for one in found if one is not None and (one.rows or one.fragments)]


def _condition(tables: Tables, name: str) -> Condition | None:
    look = partial(condition_of, name, tables.index / f"{name}.lance")
    return tables.read(name, "look at the tables", look, None)


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


def maintain(tables: Tables, *, force: bool, ann_threshold: int) -> tuple[str, ...]:
    """Do what the thresholds ask for, with `force` everything; return what was done, as sentences."""
    found = conditions(tables)
    works = {one.name: _work_for(tables, one, force=force, ann_threshold=ann_threshold) for one in found}
    carry_out(tables, [(one.rows, work) for one in found if (work := works[one.name])])
    return tuple(said for one in found if (work := works[one.name]) for said in _said(one, work))


def repair(tables: Tables, health: Health) -> tuple[str, ...]:
    """Build indexes again that are damaged, from what the tables hold; return what was done, as sentences."""
    layout = tables.layout()
    if layout is None or not layout.complete:
        return ()
    done: list[str] = []
    if layout.restored:
        tables.settled()
        done.append("the file that describes the index was lost, and is written again from its tables")
    for name in CHUNK_TABLES:
        words = health.broken(name, WORDS) or not _finds_a_word(tables, name)
        vectors = health.broken(name, VECTOR) or not _finds_a_vector(tables, name)
        if words or vectors:
            rows = tables.read(name, "count the rows", lambda table: table.count_rows(), 0)
            carry_out(tables, [(rows, Work(name, words=words, vectors=vectors))])
            done += [f"the word index of {name} was damaged and is built again over {rows:,} rows"] if words else []
            done += [f"the vector index of {name} was damaged and is built again"] if vectors else []
    return tuple(done)


def _finds_a_word(tables: Tables, name: str) -> bool:
    return _works(lambda: tables.read(name, "search the words", finds_its_words, True))


def _finds_a_vector(tables: Tables, name: str) -> bool:
    calibration = CalibrationFile(tables, name).read()
    return calibration is None or _works(
        lambda: tables.read(name, "search the vectors", lambda table: finds_a_vector(tables, name, table), True)
    )


def _works(look: Callable[[], bool]) -> bool:
    """Say whether an index answers as it should."""
    try:
        return look()
    except StoreError as error:
        if error.code != "store.damaged":
            raise
        return False


class WordKeeper:
    """Builds the word index in the middle of many batches, where the rows beside it are more than those in it."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._since = monotonic()

    def keep_up(self, tables: Tables) -> None:
        """Look whether it is time; called under the writer lock after a batch was written."""
        for name in CHUNK_TABLES:
            if tables.read(name, "look at the tables", self._is_due, False):
                one = _condition(tables, name)
                if one is not None:
                    carry_out(tables, [(one.rows, Work(name, words=True))])
                    self._since = self._monotonic()

    def _is_due(self, table: Table) -> bool:
        affordable = BUILD_SHARE * (self._monotonic() - self._since) / BUILD_ROW_S
        return any(
            max(MIN_GROWTH, one.num_indexed_rows) < one.num_unindexed_rows
            and one.num_unindexed_rows + one.num_indexed_rows <= affordable
            for one in _word_indexes(table)
        )


def has_unindexed_words(table: Table) -> bool:
    """Say whether rows lie beside the word index: the engine would merge them in when it puts files together."""
    return any(one.num_unindexed_rows > 0 for one in _word_indexes(table))


def _word_indexes(table: Table) -> list[IndexEntry]:
    return [one for one in table.list_indices() if one.columns == [WORDS]]


def _work_for(tables: Tables, one: Condition, *, force: bool, ann_threshold: int) -> Work | None:
    files = force or one.needs_compaction or one.needs_pruning
    has_words = one.name in CHUNK_TABLES and one.rows > 0
    # The engine would merge unindexed rows into the word index whenever it puts files together, which takes as
    # long as building it, and longer the next time.
    words = has_words and (force or one.needs_words or (files and one.unindexed > 0))
    vectors = has_words and _wants_vectors(tables, one, ann_threshold)
    # What a first word index takes the place of is empty: nothing to delete, and no reason to write all rows again.
    files = files or vectors or (words and one.indexed > 0)
    return Work(one.name, words, vectors, files) if words or vectors or files else None


def _wants_vectors(tables: Tables, one: Condition, threshold: int) -> bool:
    known = CalibrationFile(tables, one.name).read()
    forced = known is not None and known.forced
    if not threshold or (one.rows < threshold and not forced):
        return False
    if one.vectors is not None and not one.vectors.is_worn and known is not None:
        return False
    if tables.dimension(one.name) is None:
        return False
    return forced or _count_vectors(tables, one.name) >= threshold


def _count_vectors(tables: Tables, name: str) -> int:
    return tables.read(name, "count vectors", lambda table: table.count_rows("has_vector"), 0)


def build_vector_index(tables: Tables) -> VectorIndexReport:
    """Build the vector index of every table that has vectors, which are searched by it from now on.

    Raises:
        InvalidArgument: If there are no vectors.
    """
    began = time.monotonic()
    found = [one for one in conditions(tables) if one.name in CHUNK_TABLES and _has_vectors(tables, one.name)]
    if not found:
        raise InvalidArgument(
            "there are no vectors to index", hint="choose an embedding model and run `lilbee sync` first"
        )
    carry_out(tables, [(one.rows, Work(one.name, vectors=True, files=True)) for one in found])
    files = [CalibrationFile(tables, one.name) for one in found]
    for file in files:
        file.force()
    built = [one for one in (file.read() for file in files) if one is not None]
    return VectorIndexReport(
        vectors=sum(_count_vectors(tables, one.name) for one in found),
        probes=max((one.nprobes for one in built), default=0),
        recall=min((one.recall for one in built), default=0.0),
        seconds=time.monotonic() - began,
    )


def _has_vectors(tables: Tables, name: str) -> bool:
    return tables.dimension(name) is not None and _count_vectors(tables, name) > 0


def carry_out(tables: Tables, works: Sequence[tuple[int, Work]]) -> None:
    """Do the work; each comes with the number of rows that its table has."""
    for rows, work in works:
        if rows <= CHILD_ROWS:
            work_on(tables, work)
    big = [work for rows, work in works if rows > CHILD_ROWS]
    if big:
        _work_in_child(tables, big)


def work_on(tables: Tables, work: Work) -> None:
    """Build indexes, then put files together and delete old versions.

    This order matters: the engine prunes before it looks at the indexes, so files of an index that is replaced
    afterwards would stay until the next time.
    """
    table = tables.require(work.name)
    with tables.engine(f"tidy the table {work.name}", work.name):
        if work.words:
            table.create_index(WORDS, config=words_index(), replace=True)
    if work.vectors:
        build(tables, work.name)
    if not work.files:
        return
    with tables.engine(f"tidy the table {work.name}", work.name):
        # Nothing old is deleted before the new files are looked at.
        table.optimize(cleanup_older_than=KEEP_ALL)
    with tables.engine(f"tidy the table {work.name}"):
        # Files that a killed writer left belong to no version. No other writer is at work: the lock is held.
        table.optimize(cleanup_older_than=KEEP_VERSIONS, delete_unverified=True)
        one = _condition(tables, work.name)
        if one is not None and one.needs_pruning:
            table.optimize(cleanup_older_than=KEEP_NOTHING, delete_unverified=True)


def _said(one: Condition, work: Work) -> list[str]:
    said = [f"{one.name}: word index built over {one.rows:,} rows"] if work.words else []
    said += [f"{one.name}: vector index built over {one.rows:,} rows"] if work.vectors else []
    return [*said, f"{one.name}: {one.fragments:,} files put together, {one.deleted:,} deleted rows dropped"]


# --------------------------------------------------------------------------- the child


def _work_in_child(tables: Tables, works: Sequence[Work]) -> None:
    command = [sys.executable, "-m", "lilbee_core.store", str(tables.data_dir.resolve())]
    command += [str(work) for work in works]
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
            work_on(tables, Work.parse(name))
    except StoreError as error:
        sys.stdout.write(json.dumps(error.to_dict()))
        return 1
    finally:
        tables.close()
    return 0


def _end_with_parent() -> None:
    # Without a buffer: its lock, held by this thread for as long as it reads, would end the interpreter in an abort.
    while os.read(0, 4096):
        pass
    os._exit(2)
