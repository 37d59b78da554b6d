"""What was fetched and where it is kept, and how far each crawl is: a small database beside the pages."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lilbee_core.errors import CrawlError

FOLDER = ".crawl"
"""Where it lies below the folder of the pages; no collection reads it."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS pages (
    key TEXT PRIMARY KEY, url TEXT NOT NULL, path TEXT NOT NULL UNIQUE, folded TEXT NOT NULL UNIQUE,
    media_type TEXT NOT NULL, title TEXT NOT NULL, etag TEXT NOT NULL, last_modified TEXT NOT NULL,
    digest TEXT NOT NULL, bytes INTEGER NOT NULL, links TEXT NOT NULL, fetched_at TEXT NOT NULL, saved_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pages_digest ON pages (digest);
CREATE TABLE IF NOT EXISTS aliases (key TEXT PRIMARY KEY, page TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS crawls (name TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS frontier (
    crawl TEXT NOT NULL, key TEXT NOT NULL, url TEXT NOT NULL, depth INTEGER NOT NULL, place INTEGER NOT NULL,
    state TEXT NOT NULL, PRIMARY KEY (crawl, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS frontier_place ON frontier (crawl, state, place);
CREATE TABLE IF NOT EXISTS unfollowed (
    crawl TEXT NOT NULL, key TEXT NOT NULL, url TEXT NOT NULL, code TEXT NOT NULL, PRIMARY KEY (crawl, key)
) WITHOUT ROWID;
"""
_BUSY_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A page that is kept: where it came from, and what is needed to ask whether it changed."""

    key: str
    url: str
    path: str
    media_type: str
    title: str = ""
    etag: str = ""
    last_modified: str = ""
    digest: str = ""
    bytes: int = 0
    links: tuple[str, ...] = ()
    fetched_at: str = ""
    saved_at: str = ""

    @property
    def folded(self) -> str:
        """The path where capitals make no difference."""
        return self.path.casefold()


@dataclass(frozen=True, slots=True)
class Waiting:
    """A page that is to be fetched."""

    url: str
    key: str
    depth: int


@dataclass(frozen=True, slots=True)
class Unfollowed:
    """A link that is not followed, and the code of the reason."""

    url: str
    key: str
    code: str


class Manifest:
    """Pages and crawls of one folder. Threads and processes may share it. Close it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / FOLDER / "manifest.sqlite"
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    @property
    def exists(self) -> bool:
        """Whether anything was ever kept here."""
        return self._path.exists()

    def close(self) -> None:
        """Close the file; safe to call twice."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # ------------------------------------------------------------------ pages

    def page(self, key: str) -> Kept | None:
        """Return the page under a key, also one by which it was reached in another way."""
        rows = self._ask(f"SELECT {_COLUMNS} FROM pages WHERE key = ?", key)
        if not rows:
            rows = self._ask(f"SELECT {_COLUMNS} FROM pages WHERE key = (SELECT page FROM aliases WHERE key = ?)", key)
        return _kept(rows[0]) if rows else None

    def at(self, path: str) -> Kept | None:
        """Return the page that is kept as a file of this name; capitals make no difference."""
        rows = self._ask(f"SELECT {_COLUMNS} FROM pages WHERE folded = ?", path.casefold())
        return _kept(rows[0]) if rows else None

    def same(self, digest: str, site: str) -> Kept | None:
        """Return a page of a site (the start of its key) that says the same."""
        rows = self._ask(f"SELECT {_COLUMNS} FROM pages WHERE digest = ? ORDER BY saved_at, key", digest)
        return next((one for row in rows if (one := _kept(row)).key.startswith(site)), None)

    def pages(self) -> Iterator[Kept]:
        """Yield all pages in the order of their paths."""
        yield from map(_kept, self._ask(f"SELECT {_COLUMNS} FROM pages ORDER BY path"))

    def keep(self, page: Kept) -> None:
        """Remember a page."""
        values = (*(getattr(page, name) for name in _PLAIN), json.dumps(page.links), page.folded)
        sql = f"INSERT OR REPLACE INTO pages ({', '.join(_PLAIN)}, links, folded) VALUES ({_marks(len(values))})"
        with self._writing() as connection:
            connection.execute(sql, values)
            connection.execute("DELETE FROM aliases WHERE key = ?", (page.key,))

    def alias(self, key: str, page: Kept) -> None:
        """Remember that a page is reached under another key too."""
        if key != page.key:
            with self._writing() as connection:
                connection.execute("INSERT OR REPLACE INTO aliases VALUES (?, ?)", (key, page.key))

    def forget(self, key: str) -> None:
        """Forget a page, and all ways to it."""
        with self._writing() as connection:
            connection.execute("DELETE FROM pages WHERE key = ?", (key,))
            connection.execute("DELETE FROM aliases WHERE page = ?", (key,))

    # ------------------------------------------------------------------ crawls

    def crawl(self, name: str) -> Mapping[str, object] | None:
        """Return what is known of a crawl that did not end, None if there is none of that name."""
        rows = self._ask("SELECT facts FROM crawls WHERE name = ?", name)
        return cast("dict[str, object]", json.loads(str(rows[0][0]))) if rows else None

    def begin(self, name: str, facts: Mapping[str, object], start: Iterable[Waiting]) -> None:
        """Start a crawl anew."""
        with self._writing() as connection:
            _clear(connection, name)
            connection.execute("INSERT OR REPLACE INTO crawls VALUES (?, ?)", (name, json.dumps(dict(facts))))
            _queue(connection, name, start)

    def note(self, name: str, facts: Mapping[str, object]) -> None:
        """Remember how far a crawl is."""
        with self._writing() as connection:
            connection.execute("UPDATE crawls SET facts = ? WHERE name = ?", (json.dumps(dict(facts)), name))

    def waiting(self, name: str) -> Iterator[Waiting]:
        """Yield what a crawl still has to fetch, in its order."""
        sql = "SELECT url, key, depth FROM frontier WHERE crawl = ? AND state = 'waiting' ORDER BY place"
        for url, key, depth in self._ask(sql, name):
            yield Waiting(str(url), str(key), int(cast("int", depth)))

    def seen(self, name: str) -> set[str]:
        """Return the keys of all pages that a crawl fetched or will fetch."""
        return {str(key) for (key,) in self._ask("SELECT key FROM frontier WHERE crawl = ?", name)}

    def unfollowed(self, name: str, code: str, most: int) -> tuple[int, tuple[str, ...]]:
        """Return how many links a crawl did not follow for a reason, and the first of their addresses.

        A link that was followed from elsewhere does not count.
        """
        rest = "FROM unfollowed AS one WHERE crawl = ? AND code = ? AND NOT EXISTS "
        rest += "(SELECT 1 FROM frontier WHERE frontier.crawl = one.crawl AND frontier.key = one.key)"
        ((count,),) = self._ask(f"SELECT count(*) {rest}", name, code) or ((0,),)
        rows = self._ask(f"SELECT url {rest} ORDER BY url LIMIT ?", name, code, most) if most > 0 else []
        return int(cast("int", count)), tuple(str(url) for (url,) in rows)

    def fetched(
        self,
        name: str,
        one: Waiting,
        found: Iterable[Waiting],
        facts: Mapping[str, object],
        unfollowed: Iterable[Unfollowed] = (),
    ) -> None:
        """Remember, all at once, that a crawl has fetched a page, what it found there, and how far it is."""
        with self._writing() as connection:
            connection.execute("UPDATE frontier SET state = 'done' WHERE crawl = ? AND key = ?", (name, one.key))
            connection.execute("UPDATE crawls SET facts = ? WHERE name = ?", (json.dumps(dict(facts)), name))
            _queue(connection, name, found)
            connection.executemany(
                "INSERT OR IGNORE INTO unfollowed VALUES (?, ?, ?, ?)",
                [(name, link.key, link.url, link.code) for link in unfollowed],
            )

    def end(self, name: str) -> None:
        """Forget a crawl that has ended; its pages stay."""
        with self._writing() as connection:
            _clear(connection, name)
            connection.execute("DELETE FROM crawls WHERE name = ?", (name,))

    # ------------------------------------------------------------------ inside

    def _ask(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        with self._lock:
            if self._connection is None and not self._path.exists():
                return []
            return self._tried(lambda: self._open().execute(sql, values).fetchall())

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        with self._lock:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                connection = self._open()
                with connection:
                    yield connection
            except (sqlite3.Error, OSError) as error:
                raise self._failed(error) from error

    def _tried(self, call: Callable[[], list[tuple[object, ...]]]) -> list[tuple[object, ...]]:
        try:
            return call()
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> CrawlError:
        return CrawlError(
            f"the list of pages in {self.folder} cannot be used: {error}",
            hint="Check the disk; without the file .crawl/manifest.sqlite all pages are fetched anew.",
        )

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(self._path, timeout=_BUSY_S, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_SCHEMA)
            self._connection = connection
        return self._connection


_PLAIN = (
    "key", "url", "path", "media_type", "title", "etag", "last_modified", "digest", "bytes", "fetched_at", "saved_at",
)  # fmt: skip
_COLUMNS = ", ".join((*_PLAIN, "links"))


def _kept(row: tuple[object, ...]) -> Kept:
    *plain, links = row
    values = dict(zip(_PLAIN, plain, strict=True))
    return Kept(**values, links=tuple(json.loads(str(links))))  # type: ignore[arg-type]


def _clear(connection: sqlite3.Connection, name: str) -> None:
    connection.execute("DELETE FROM frontier WHERE crawl = ?", (name,))
    connection.execute("DELETE FROM unfollowed WHERE crawl = ?", (name,))


def _marks(count: int) -> str:
    return ", ".join("?" * count)


def _queue(connection: sqlite3.Connection, name: str, pages: Iterable[Waiting]) -> None:
    (place,) = connection.execute("SELECT coalesce(max(place), 0) FROM frontier WHERE crawl = ?", (name,)).fetchone()
    connection.executemany(
        "INSERT OR IGNORE INTO frontier VALUES (?, ?, ?, ?, ?, 'waiting')",
        [(name, one.key, one.url, one.depth, place + at) for at, one in enumerate(pages, start=1)],
    )
