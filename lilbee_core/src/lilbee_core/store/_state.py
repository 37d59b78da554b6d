"""`state.sqlite`: small mutable state in transactions (conversations, notes, jobs, tokens).

`rebuild` never touches it.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, cast

from lilbee_core.errors import LibraryError, StoreError
from lilbee_core.store import _errors

T = TypeVar("T")

_MAKE = """
CREATE TABLE IF NOT EXISTS state (
    kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)
) WITHOUT ROWID
"""
_SAVE = "INSERT INTO state VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value"
_DELETE = "DELETE FROM state WHERE kind = ? AND key = ?"
_BUSY_S = 30.0


class SqliteState:
    """Values by kind and key. Threads and processes may share it; the file is made by the first `save`."""

    def __init__(self, data_dir: Path, *, read_only: bool = False) -> None:
        self._path = data_dir / "state.sqlite"
        self._read_only = read_only
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._in_transaction = False
        self._closed = False

    def load(self, kind: str, key: str) -> Mapping[str, object] | None:
        """Return the value, None where there is none."""
        sql = "SELECT value FROM state WHERE kind = ? AND key = ?"
        rows = self._read(lambda connection: connection.execute(sql, (kind, key)).fetchall())
        return _value(kind, key, cast("str", rows[0][0])) if rows else None

    def items(self, kind: str) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Yield keys and values in the order of the keys."""
        sql = "SELECT key, value FROM state WHERE kind = ? ORDER BY key"
        rows = self._read(lambda connection: connection.execute(sql, (kind,)).fetchall())
        return iter([(cast("str", key), _value(kind, cast("str", key), cast("str", value))) for key, value in rows])

    def keys(self, kind: str) -> tuple[str, ...]:
        """Return the keys in order, also those of values that cannot be read."""
        sql = "SELECT key FROM state WHERE kind = ? ORDER BY key"
        rows = self._read(lambda connection: connection.execute(sql, (kind,)).fetchall())
        return tuple(cast("str", key) for (key,) in rows)

    def save(self, kind: str, key: str, value: Mapping[str, object]) -> None:
        """Write the value in one transaction."""
        text = json.dumps(dict(value), ensure_ascii=False)
        self._write(lambda connection: connection.execute(_SAVE, (kind, key, text)))

    def delete(self, kind: str, key: str) -> bool:
        """Delete the value; say whether there was one."""
        if not self._path.exists():
            self._check_open()
            return False
        return self._write(lambda connection: connection.execute(_DELETE, (kind, key))).rowcount > 0

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Let nobody else write meanwhile; what is written in the block is there as a whole, or not at all."""
        with self._lock:
            if self._in_transaction:
                yield
                return
            self._write(lambda connection: connection.execute("BEGIN IMMEDIATE"), begins=True)
            try:
                yield
            except BaseException:
                self._end_transaction("ROLLBACK")
                raise
            self._end_transaction("COMMIT")

    def _end_transaction(self, how: str) -> None:
        self._in_transaction = False
        connection = self._connection
        if connection is None:
            return
        with _state_errors("write the state", self._path):
            try:
                connection.execute(how)
            except sqlite3.Error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close the file; safe to call twice."""
        with self._lock:
            self._closed = True
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _check_open(self) -> None:
        if self._closed:
            raise LibraryError(f"the state in {self._path} is closed", hint="open it again", code="library.closed")

    def _read(self, use: Callable[[sqlite3.Connection], list[tuple[object, ...]]]) -> list[tuple[object, ...]]:
        with self._lock:
            self._check_open()
            if self._connection is None and not self._path.exists():
                return []
            with _state_errors("read the state", self._path):
                return use(self._open())

    def _write(self, use: Callable[[sqlite3.Connection], T], *, begins: bool = False) -> T:
        with self._lock:
            self._check_open()
            if self._read_only:
                raise _errors.read_only("write the state", self._path)
            with _state_errors("write the state", self._path):
                if self._connection is None:
                    self._path.parent.mkdir(exist_ok=True)
                connection = self._open()
                if begins or self._in_transaction:
                    done = use(connection)
                    self._in_transaction = True
                    return done
                with connection:
                    return use(connection)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        if self._read_only:
            return _read_only_connection(self._path)
        connection = sqlite3.connect(self._path, timeout=_BUSY_S, check_same_thread=False)
        try:
            # Readers do not wait for writers; file systems without shared memory keep the rollback journal.
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_MAKE)
        except sqlite3.OperationalError:
            connection.close()
            return _read_only_connection(self._path)
        except BaseException:
            connection.close()
            raise
        return connection


def _read_only_connection(path: Path) -> sqlite3.Connection:
    """Open without writing: on read-only media not even the lock files beside it can be made."""
    try:
        return _probed(path, "mode=ro")
    except sqlite3.OperationalError:
        return _probed(path, "mode=ro&immutable=1")


def _probed(path: Path, options: str) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?{options}"
    connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM state LIMIT 1").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _state_errors(doing: str, path: Path) -> Generator[None]:
    """Turn failures of the file into errors that name it: no rebuild brings back what stood in it."""
    try:
        with _errors.engine_errors(doing, path):
            yield
    except StoreError as error:
        if error.code != "store.damaged":
            raise
        raise _damaged(f"{path} is damaged: could not {doing}") from error


def _damaged(message: str) -> StoreError:
    return StoreError(
        message,
        hint="Put back a copy of state.sqlite, or move it away: conversations and notes start anew, "
        "documents and their index are not touched.",
        code="store.damaged",
    )


def _value(kind: str, key: str, text: str) -> Mapping[str, object]:
    try:
        value: object = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise _damaged(f"the {kind} {key} in the state is damaged")
    return cast("dict[str, object]", value)
