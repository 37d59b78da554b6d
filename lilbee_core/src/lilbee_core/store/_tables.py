"""The open tables of an index: found, made, migrated, and opened again when another process made them anew."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lilbee_core.errors import EmbedderMismatch, LibraryError, StoreError
from lilbee_core.store import _errors
from lilbee_core.store._engine import (
    METADATA_CACHE_BYTES,
    STABLE_ROW_IDS,
    Connection,
    Session,
    Table,
    connect,
    new_session,
    newest_version,
    words_index,
)
from lilbee_core.store._errors import engine_errors
from lilbee_core.store._filters import quote
from lilbee_core.store._footers import DataFiles
from lilbee_core.store._layout import MANIFEST, Layout, LayoutFile, Stamp
from lilbee_core.store._migrations import add_missing_columns
from lilbee_core.store._newest import NewestVersion
from lilbee_core.store._quick import QuickConnection, QuickTable
from lilbee_core.store._schema import (
    CHUNK_TABLES,
    CHUNKS,
    DOCUMENTS,
    SCHEMA,
    TABLES,
    VECTOR,
    WIKI,
    WORDS,
    dimension_of,
    required,
    schemas,
    vector_field,
)
from lilbee_core.store._sizes import folder_size

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger(__name__)

T = TypeVar("T")
_OLD_BYTES = 1_000_000
"""What may be remembered of indexes that are no more."""


class Tables:
    """Handles of the tables. Threads may share it; writing methods are called under the writer lock."""

    def __init__(self, data_dir: Path, *, read_only: bool = False) -> None:
        self.data_dir = data_dir
        self.index = data_dir / "index"
        self.read_only = read_only
        self._file = LayoutFile(self.index)
        self._lock = threading.RLock()
        self._stamp: Stamp | None = None
        self._layout: Layout | None = None
        self._session: Session | None = None
        self._connection: Connection | None = None
        self._handles: dict[str, Table] = {}
        self._quick_connection: QuickConnection | None = None
        self._quick: dict[str, QuickTable] = {}
        self._dimensions: dict[tuple[int, str], int] = {}
        self._columns: dict[str, tuple[tuple[int, int], frozenset[str]]] = {}
        self._files: dict[str, DataFiles] = {}
        self._newest: dict[str, NewestVersion] = {}
        self._migrated = False
        self._closed = False
        self._seen = False

    # ------------------------------------------------------------------ reading

    def layout(self) -> Layout | None:
        """Return the layout as it is on disk now, None where nothing was ever written.

        Raises:
            LibraryError: With code ``library.closed`` after `close`.
            StoreTooNew: If a newer version wrote the index.
        """
        self.check_open()
        stamp = self._file.stamp()
        with self._lock:
            if stamp is None or stamp != self._stamp:
                seen, self._layout = self._layout, self._file.read()
                self._stamp = stamp
                self._seen = self._seen or self._layout is not None
                if seen is None or self._layout is None or _tables_of(seen) != _tables_of(self._layout):
                    self._handles.clear()
                    self._quick.clear()
                    self._migrated = False
            return self._layout

    @property
    def lost(self) -> StoreError | None:
        """What became of an index that was there before; None where nothing is wrong, or nothing was ever written.

        Raises:
            StoreTooNew: If a newer version wrote the index.
        """
        layout = self.layout()
        written = (self.data_dir / MANIFEST).exists()
        if layout is not None:
            return _errors.unfinished(self.index) if written and not layout.complete else None
        if self._seen and not self.data_dir.is_dir():
            return _errors.moved(self.data_dir)
        return _errors.lost(self.index) if self._seen or written else None

    def find(self, name: str) -> Table | None:
        """Return the table, or None while the index holds nothing."""
        layout = self.layout()
        return self._open(name) if layout is not None and layout.complete else None

    def read(self, name: str, doing: str, use: Callable[[Table], T], absent: T) -> T:
        """Return ``use(table)``, or `absent` while the index holds nothing.

        A read that fails because the tables were just made anew, or because upkeep deleted the version that it
        was in, is tried again on the newest one, and so is one that may have seen chunks which are hidden by now.
        """
        table = self.find(name)
        if table is None:
            return absent
        stamp = self._stamp
        try:
            with engine_errors(doing, self.index):
                found = use(table)
            if name not in CHUNK_TABLES or self._file.stamp() == stamp:
                return found
        except StoreError as error:
            if error.code != "store.damaged":
                raise
            with self._lock:
                self._handles.pop(name, None)
                self._quick.pop(name, None)
        table = self.find(name)
        if table is None:
            return absent
        with engine_errors(doing, self.index):
            return use(table)

    def quick(self, name: str) -> QuickTable:
        """Return the table for the reads that a search is made of. Called inside of `read`."""
        with self._lock:
            table = self._quick.get(name)
            if table is None:
                if self._quick_connection is None:
                    self._quick_connection = QuickConnection(self.index, self._shared())
                table = self._quick[name] = self._quick_connection.open_table(name)
            return table

    @contextmanager
    def engine(self, doing: str, written: str = "") -> Generator[None]:
        """Turn failures of the database inside the block into a `StoreError`.

        With the name of the table that is `written`, under the writer lock, it also takes back what the engine
        committed in part; its old versions must still be there when the block ends.
        """
        files = self._files_of(written) if written else None
        try:
            with engine_errors(doing, self.index):
                yield
        finally:
            broken = files.cut_off() if files is not None else frozenset[str]()
            if files is not None and broken:
                self._take_back(written, files.last_without(broken), doing)

    def _files_of(self, name: str) -> DataFiles:
        files = self._files.get(name)
        if files is None:
            files = self._files[name] = DataFiles(self.index / f"{name}.lance")
        files.look()
        return files

    def _take_back(self, name: str, version: int | None, doing: str) -> None:
        """Return a table to what it was before the engine committed a file that is cut off."""
        log.warning("store: a file of %s is cut off; could not %s", name, doing)
        if version is not None and version != newest_version(self.index / f"{name}.lance"):
            with engine_errors(doing, self.index):
                self._open(name).restore(version)
        raise _errors.full(doing, self.index)

    def select(
        self, name: str, doing: str, columns: Sequence[str], where: str | None = None, *, hidden: bool = False
    ) -> pa.Table:
        """Return columns of the rows that satisfy `where`; columns of a newer layout are left out.

        Rows that no reader may see yet are left out unless `hidden` asks for them too.
        """

        def use(table: Table) -> pa.Table:
            present = self.columns_of(name, table)
            wanted = [column for column in columns if column in present or column[0] == "_"]
            return self.quick(name).rows(wanted, where if hidden else self.visible(name, where))

        return self.read(name, doing, use, schemas()[name].empty_table())

    def columns_of(self, name: str, table: Table) -> frozenset[str]:
        """Return the columns that the table has; looked up once per commit."""
        state = self.state_of(name)
        known = self._columns.get(name)
        if known is None or known[0] != state:
            known = self._columns[name] = (state, frozenset(table.schema.names))
        return known[1]

    def visible(self, name: str, where: str | None) -> str | None:
        """Return `where` narrowed to what readers may see: not the parts of a document that is still being written."""
        hidden = self._layout.hidden if self._layout is not None and name in CHUNK_TABLES else None
        if hidden is None:
            return where
        seen = f"NOT (document_id = {quote(hidden[0])} AND revision = {quote(hidden[1])})"
        return f"({where}) AND {seen}" if where else seen

    @property
    def hidden(self) -> tuple[str, str] | None:
        """The document and the revision of its text that no reader sees."""
        layout = self.layout()
        return layout.hidden if layout is not None else None

    @property
    def turns(self) -> int:
        """How often it changed what readers do not see."""
        layout = self.layout()
        return layout.turns if layout is not None else 0

    def hide(self, hidden: tuple[str, str] | None) -> None:
        """Hide the chunks of a document that were cut from one revision of its text, or show everything."""
        self.require(CHUNKS)
        layout = self.layout()
        if layout is not None and layout.hidden != hidden:
            self._file.hide(layout, hidden)
            self.layout()

    @property
    def restored(self) -> bool:
        """Whether the layout was lost, and what it said is not found out yet."""
        layout = self.layout()
        return layout is not None and layout.restored

    def settled(self) -> None:
        """Say that what the lost layout told is found out again."""
        self.require(CHUNKS)
        layout = self.layout()
        if layout is not None and layout.restored:
            self._file.settled(layout)
            self.layout()

    @property
    def generation(self) -> int:
        """Number of the generation that was seen last."""
        return self._layout.generation if self._layout else 0

    def version(self) -> int:
        """Return a number that grows with every commit, across generations too; 0 for an absent index."""
        layout = self.layout()
        if layout is None or not layout.complete:
            return 0
        commits = sum(self.version_of(name) for name in (CHUNKS, WIKI, DOCUMENTS))
        return (layout.generation << 20) + commits + layout.turns

    def state_of(self, name: str) -> tuple[int, int]:
        """Return what changes with every commit of a table, across generations too."""
        return self.generation, self.version_of(name)

    def version_of(self, name: str) -> int:
        """Return the number of the newest commit of a table; 0 for an absent index."""
        folder = self._newest.get(name)
        if folder is None:
            folder = self._newest.setdefault(name, NewestVersion(self.index / f"{name}.lance"))
        newest = folder.read()
        if newest is not None:
            return newest
        return self.read(name, "read the version", lambda table: table.version, 0)

    def dimension(self, name: str = CHUNKS) -> int | None:
        """Return the dimension of the stored vectors, None while there are none."""
        return self.read(name, "read the columns", lambda table: self.dimension_of(name, table), None)

    def dimension_of(self, name: str, table: Table) -> int | None:
        """Return the dimension of the vectors of a table; once there, it holds for the whole generation."""
        key = (self.generation, name)
        known = self._dimensions.get(key)
        if known is None:
            known = dimension_of(table.schema)
            if known is not None:
                self._dimensions = {key: known, **{k: v for k, v in self._dimensions.items() if k[0] == key[0]}}
        return known

    # ------------------------------------------------------------------ writing

    def require(self, name: str) -> Table:
        """Return the table for writing; makes the index where there is none."""
        self.check_writable()
        layout = self.layout()
        if layout is None or not layout.complete:
            self._create(layout)
        elif not layout.is_written or not self._migrated:
            self._migrate(layout)
        return self._open(name)

    def check_open(self) -> None:
        """Refuse to work after `close`.

        Raises:
            LibraryError: With code ``library.closed``.
        """
        if self._closed:
            raise LibraryError(f"the store in {self.data_dir} is closed", hint="open it again", code="library.closed")

    def check_writable(self) -> None:
        """Refuse to write to a store that was opened for reading.

        Raises:
            StoreError: With code ``store.read_only``.
        """
        if self.read_only:
            raise _errors.read_only("write the index", self.data_dir)

    def require_vectors(self, name: str, dimension: int) -> Table:
        """Return the table for writing vectors of `dimension`, adding their column when it is missing.

        Raises:
            EmbedderMismatch: If the table holds vectors of another dimension.
        """
        table = self.require(name)
        with engine_errors("add the vectors", self.index):
            present = self.dimension_of(name, table)
            if present is None:
                table.add_columns(vector_field(dimension))
                present = dimension
        if present != dimension:
            raise EmbedderMismatch(
                f"the index in {self.index} holds vectors of dimension {present}, the embedder gives {dimension}",
                hint="configure the embedder that built the index, or run `lilbee rebuild`",
            )
        return table

    def drop_vectors(self) -> None:
        """Forget every vector, so that another embedder may write its own."""
        for name in CHUNK_TABLES:
            table = self.require(name)
            with engine_errors("drop the vectors", self.index):
                if dimension_of(table.schema) is not None:
                    table.update(values_sql={"has_vector": "false"})
                    table.drop_columns([VECTOR])
        layout = self.layout()
        if layout is not None:  # whoever remembers the dimension shall look again
            self._file.write(replace(layout, generation=layout.generation + 1))

    def reset(self) -> None:
        """Delete every table. Readers see an empty index from the first step on."""
        self.check_writable()
        try:
            layout = self.layout()
        except LibraryError:
            raise
        except StoreError:
            layout = None  # damaged or too new: that is what a reset is for
        if layout is None and not self.index.exists():
            return
        self._file.begin(layout.generation if layout else 0)
        with engine_errors("delete the index", self.index):
            for path in self.index.iterdir():
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                elif path != self._file.path:
                    path.unlink()

    def forget_old_indexes(self) -> None:
        """Let go of what the engine remembers of indexes that are no more, where that is much.

        It drops nothing before its limit: an index that is made anew after every few syncs stayed with all before it.
        """
        with self._lock:
            session = self._session
        more = session.size_bytes - METADATA_CACHE_BYTES - _OLD_BYTES if session is not None else 0
        # Once read, an index takes about what it takes on disk.
        if more > 0 and more > 2 * sum(folder_size(self.index / f"{name}.lance" / "_indices") for name in TABLES):
            with self._lock:
                self._let_go()

    def close(self) -> None:
        """Let go of every handle; safe to call twice."""
        with self._lock:
            self._closed = True
            self._let_go()

    def _let_go(self) -> None:
        self._handles.clear()
        self._quick.clear()
        self._connection = self._quick_connection = self._session = None

    # ------------------------------------------------------------------ inside

    def _connect(self) -> Connection:
        with self._lock:
            if self._connection is None:
                self._connection = connect(self.index, self._shared())
            return self._connection

    def _shared(self) -> Session:
        with self._lock:
            if self._session is None:
                self._session = new_session()
            return self._session

    def _open(self, name: str) -> Table:
        with self._lock:
            handle = self._handles.get(name)
            if handle is None:
                with engine_errors(f"open the table {name}", self.index):
                    handle = self._connect().open_table(name)
                    names = frozenset(handle.schema.names)
                # The engine takes a table whose description was wiped for an empty one.
                if not names.issuperset(required(name)):
                    raise _errors.damaged(f"open the table {name}", self.index)
                self._handles[name] = handle
            return handle

    def _create(self, layout: Layout | None) -> None:
        if layout is None:
            layout = self._file.begin()
        # Where the index was deleted while it was open, generations are counted from the start again.
        self._dimensions = {}
        with engine_errors("make the tables", self.index):
            for name in TABLES:
                self._create_table(name)
        self._file.finish(layout)
        self.layout()
        self._migrated = True

    def _create_table(self, name: str) -> None:
        table = self._connect().create_table(
            name, schema=schemas()[name], exist_ok=True, storage_options=STABLE_ROW_IDS
        )
        # An index over no rows costs nothing and fixes how later rows are split before any is indexed.
        if name in CHUNK_TABLES and not table.list_indices():
            table.create_index(WORDS, config=words_index())

    def _migrate(self, layout: Layout) -> None:
        with engine_errors("bring the index up to date", self.index):
            for name in TABLES:
                if not (self.index / f"{name}.lance").is_dir() and layout.schema < SCHEMA:
                    self._create_table(name)
                add_missing_columns(self._open(name), schemas()[name])
        if not layout.is_written:
            log.info("store: the layout of %s was lost, and is written again from its tables", self.index)
            self._file.restore(replace(layout, schema=SCHEMA))
            self.layout()
        elif layout.schema < SCHEMA:
            self._file.write(replace(layout, schema=SCHEMA))
            self.layout()
        self._migrated = True


def _tables_of(layout: Layout) -> Layout:
    """Return the part of a layout that says which tables there are."""
    return replace(layout, hidden=None, turns=0, restored=False)
