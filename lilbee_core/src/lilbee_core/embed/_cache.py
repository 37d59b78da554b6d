"""Vectors on disk, by content and embedder: what was embedded once is not embedded again.

A cache may lose anything at any time without harm, so no trouble with its file is ever an error: a locked one is
passed over, one that cannot be written is left alone, a damaged one is moved aside and begun anew. What it does return
is exact: every vector carries a checksum.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

log = logging.getLogger(__name__)

_LAYOUT = 1
_DAY_S = 86_400
_KEYS_AT_ONCE = 500
_KEPT_SHARE = 0.8
_CHECKSUM_BYTES = 4
_PAGE_BYTES = 8_192
"""Holds five vectors of 384 numbers and wastes little; half of that size holds two and wastes a quarter."""
_LOG_BYTES = 4_000_000


def cache_key(fingerprint: str, text: str) -> bytes:
    """The key of a text, prefix included, as read by the embedder with this fingerprint."""
    content = f"{fingerprint}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16).digest()


class EmbeddingCache:
    """A table of vectors in one SQLite file. Threads may share the object, processes the file."""

    def __init__(
        self, path: Path, *, max_mb: int = 256, busy_s: float = 5.0, now: Callable[[], float] = time.time
    ) -> None:
        """Name the file; it is opened at the first use.

        Args:
            path: The file; its folder is made if needed.
            max_mb: Where the file stops growing: the fifth that was not used for longest is dropped then.
            busy_s: How long to wait while another process writes.
            now: The time, in seconds.
        """
        if max_mb < 1:
            raise ValueError(f"max_mb must be positive, got {max_mb}")
        self.path = path
        self._max_bytes = max_mb * 1_000_000
        self._busy_s = busy_s
        self._now = now
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._off = self._closed = False

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the vectors that are there, byte for byte as they were put."""
        return self._guard(lambda connection: self._get(connection, keys), otherwise={})

    def put(self, vectors: Mapping[bytes, bytes]) -> None:
        """Keep vectors, and drop old ones if there are too many."""
        self._guard(lambda connection: self._put(connection, vectors), otherwise=None)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._closed = True
            self._disconnect()

    def __enter__(self) -> EmbeddingCache:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _guard(self, use: Callable[[sqlite3.Connection], T], *, otherwise: T) -> T:
        """Use the file, whatever state it is in."""
        import sqlite3

        with self._lock:
            if self._closed:
                raise ValueError(f"this EmbeddingCache is closed: {self.path}")
            if self._off:
                return otherwise
            try:
                try:
                    return use(self._connect())
                except sqlite3.DatabaseError as error:
                    if not _is_damage(error):
                        raise
                    self._begin_anew(error)
                    return use(self._connect())
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)
                return otherwise

    def _connect(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        import sqlite3

        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self.path, timeout=self._busy_s, isolation_level="IMMEDIATE", check_same_thread=False
        )
        try:
            if _number(connection, "PRAGMA user_version") != _LAYOUT:
                _lay_out(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}").close()
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _get(self, connection: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        import sqlite3

        today = self._today()
        found: dict[bytes, bytes] = {}
        stale: list[bytes] = []
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            some = keys[start : start + _KEYS_AT_ONCE]
            marks = ",".join("?" * len(some))
            rows = connection.execute(f"SELECT key, used, vector FROM vectors WHERE key IN ({marks})", some)
            for key, used, blob in rows:
                vector = blob[_CHECKSUM_BYTES:]
                if blob[:_CHECKSUM_BYTES] == _checksum(vector):
                    found[key] = vector
                    if used != today:
                        stale.append(key)
        if stale:
            with contextlib.suppress(sqlite3.OperationalError), connection:  # somebody else writes: no matter
                connection.executemany("UPDATE vectors SET used = ? WHERE key = ?", [(today, key) for key in stale])
        return found

    def _put(self, connection: sqlite3.Connection, vectors: Mapping[bytes, bytes]) -> None:
        today = self._today()
        with connection:
            connection.executemany(
                "INSERT INTO vectors (key, used, vector) VALUES (?, ?, ?)"
                " ON CONFLICT (key) DO UPDATE SET used = excluded.used, vector = excluded.vector",
                ((key, today, _checksum(vector) + vector) for key, vector in vectors.items()),
            )
            dropped = self._drop_old(connection)
        if dropped:
            connection.executescript("PRAGMA incremental_vacuum")  # `execute` would free a single page

    def _drop_old(self, connection: sqlite3.Connection) -> int:
        pages = _number(connection, "PRAGMA page_count") - _number(connection, "PRAGMA freelist_count")
        size = pages * _number(connection, "PRAGMA page_size")
        if size <= self._max_bytes:
            return 0
        rows = _number(connection, "SELECT count(*) FROM vectors")
        surplus = rows - int(rows * _KEPT_SHARE * self._max_bytes / size)
        connection.execute(
            "DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM vectors ORDER BY used, rowid LIMIT ?)", (surplus,)
        )
        return surplus

    def _today(self) -> int:
        return int(self._now() // _DAY_S)

    def _begin_anew(self, error: sqlite3.DatabaseError) -> None:
        """Move a damaged file aside, unless another process did so already."""
        self._disconnect()
        if self._is_sound():
            return
        aside = self.path.with_name(f"{self.path.name}.damaged")
        self.path.replace(aside)
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        log.warning("the embedding cache was damaged (%s); it is now %s, and a new one is begun", error, aside)

    def _is_sound(self) -> bool:
        import sqlite3

        try:
            rows = self._connect().execute("PRAGMA quick_check(1)").fetchall()
            self._connect().execute("SELECT key, used, vector FROM vectors LIMIT 0").close()
        except sqlite3.DatabaseError:
            rows = []
        if rows == [("ok",)]:
            return True
        self._disconnect()
        return False

    def _give_up(self, error: Exception) -> None:
        """Pass over a locked file this time, and leave one alone that cannot be used."""
        if _primary_code(error) in _BUSY_CODES:
            log.debug("the embedding cache is busy: %s", error)
            return
        with contextlib.suppress(Exception):
            self._disconnect()
        self._off = True
        log.warning("embeddings are not cached, %s cannot be used: %s", self.path, error)


_BUSY_CODES = frozenset({5, 6})  # SQLITE_BUSY, SQLITE_LOCKED
_DAMAGE_CODES = frozenset({1, 11, 26})  # SQLITE_ERROR (a table or column is not there), SQLITE_CORRUPT, SQLITE_NOTADB


def _lay_out(connection: sqlite3.Connection) -> None:
    """Make the table, in place of one with another layout; other processes may be at it, too."""
    # These stay in the file, and only before the first table can all of them be set.
    for pragma in (f"page_size = {_PAGE_BYTES}", "auto_vacuum = INCREMENTAL", "journal_mode = WAL"):
        connection.execute(f"PRAGMA {pragma}").close()
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if _number(connection, "PRAGMA user_version") == _LAYOUT:
            return
        connection.execute("DROP TABLE IF EXISTS vectors")
        connection.execute("CREATE TABLE vectors (key BLOB PRIMARY KEY, used INTEGER NOT NULL, vector BLOB NOT NULL)")
        connection.execute(f"PRAGMA user_version = {_LAYOUT}")


def _primary_code(error: Exception) -> int:
    return int(getattr(error, "sqlite_errorcode", -1)) & 0xFF


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    return _primary_code(error) in _DAMAGE_CODES


def _checksum(vector: bytes) -> bytes:
    return zlib.crc32(vector).to_bytes(_CHECKSUM_BYTES, "little")


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])
