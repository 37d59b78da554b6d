"""`state.sqlite`: small mutable state in transactions (conversations, notes, jobs, tokens).

`rebuild` never touches it.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar, cast

from lilbee_core.errors import LibraryError
from lilbee_core.store import _errors
from lilbee_core.store._errors import engine_errors

T = TypeVar("T")

_MAKE = """
CREATE TABLE IF NOT EXISTS state (
    kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (kind, key)
) WITHOUT ROWID
"""
_BUSY_S = 30.0


class SqliteState:
    """Values by kind and key. Threads and processes may share it; the file is made by the first `save`."""

    def __init__(self, data_dir: Path, *, read_only: bool = False) -> None:
        self._path = data_dir / "state.sqlite"
        self._read_only = read_only
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._closed = False

    def load(self, kind: str, key: str) -> Mapping[str, object] | None:
        """Return the value, None where there is none."""
        sql = "SELECT value FROM state WHERE kind = ? AND key = ?"
        rows = self._read(lambda connection: connection.execute(sql, (kind, key)).fetchall())
        return _value(cast("str", rows[0][0])) if rows else None

    def items(self, kind: str) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Yield keys and values in the order of the keys."""
        sql = "SELECT key, value FROM state WHERE kind = ? ORDER BY key"
        rows = self._read(lambda connection: connection.execute(sql, (kind,)).fetchall())
        return iter([(cast("str", key), _value(cast("str", value))) for key, value in rows])

    def save(self, kind: str, key: str, value: Mapping[str, object]) -> None:
        """Write the value in one transaction."""
        text = json.dumps(dict(value), ensure_ascii=False)
        sql = "INSERT INTO state VALUES (?, ?, ?) ON CONFLICT (kind, key) DO UPDATE SET value = excluded.value"
        self._write(lambda connection: connection.execute(sql, (kind, key, text)))

    def delete(self, kind: str, key: str) -> bool:
        """Delete the value; say whether there was one."""
        if not self._path.exists():
            self._check_open()
            return False
        sql = "DELETE FROM state WHERE kind = ? AND key = ?"
        return self._write(lambda connection: connection.execute(sql, (kind, key))).rowcount > 0

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
            with engine_errors("read the state", self._path):
                return use(self._open())

    def _write(self, use: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            self._check_open()
            if self._read_only:
                raise _errors.read_only("write the state", self._path)
            with engine_errors("write the state", self._path):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                connection = self._open()
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


def _value(text: str) -> Mapping[str, object]:
    return cast("dict[str, object]", json.loads(text))
