"""Keeps pages as files: each once, under a name that stays, written so that no half of one is ever seen."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from lilbee_core.crawl._kinds import HTML, ending_of
from lilbee_core.crawl._manifest import FOLDER, Kept, Manifest
from lilbee_core.crawl._names import file_name, other_name
from lilbee_core.crawl._page import Page, digest_of
from lilbee_core.crawl._urls import page_key, parse, shown
from lilbee_core.errors import CrawlError
from lilbee_core.protocols import Fetched

MARKDOWN = "text/markdown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a page: ``new``, ``updated``, ``unchanged`` or ``duplicate``, and where it is kept."""

    state: str
    page: Kept


class Keeper:
    """Writes pages below the manifest's folder. One thread at a time."""

    def __init__(self, manifest: Manifest, now: Callable[[], str]) -> None:
        self._manifest = manifest
        self._folder = manifest.folder
        self._now = now

    def has_file(self, page: Kept) -> bool:
        """Whether the page's file is still where it was written."""
        place = self._place(page.path)
        return place is not None and place.is_file()

    def still(self, page: Kept) -> Outcome:
        """Remember that the server says that a page is what it was."""
        page = replace(page, fetched_at=self._now())
        self._manifest.keep(page)
        return Outcome(state="unchanged", page=page)

    def keep(self, answer: Fetched, media_type: str, page: Page | None) -> Outcome:
        """Keep an answer; `page` is what was read from it if it is HTML.

        Raises:
            CrawlError: If nobody reads this kind of file, or it cannot be written.
        """
        content, digest, ending = _content(answer, media_type, page)
        key = page_key(answer.url)
        known = self._manifest.page(key)
        known = known if known is not None and known.key == key else None
        twin = self._twin(key, known, digest)
        if twin is not None:
            return self._duplicate(twin, key, answer, page, content)
        fresh = Kept(
            key=key,
            url=answer.url,
            path=self._path(key, answer.url, ending, known),
            media_type=MARKDOWN if media_type in HTML else media_type,
            title=page.facts.title if page is not None else "",
            etag=answer.headers.get("etag", ""),
            last_modified=answer.headers.get("last-modified", ""),
            digest=digest,
            bytes=len(content),
            links=page.links if page is not None else (),
            fetched_at=self._now(),
            saved_at=self._now(),
        )
        if known is not None and known.digest == digest and known.path == fresh.path and self.has_file(known):
            self._manifest.keep(replace(fresh, saved_at=known.saved_at))
            return Outcome(state="unchanged", page=fresh)
        self._write(fresh.path, content)
        if known is not None and known.path != fresh.path:
            self._remove(known.path)
        self._manifest.keep(fresh)
        return Outcome(state="new" if known is None else "updated", page=fresh)

    def forget(self, page: Kept) -> None:
        """Delete a page's file, and forget the page."""
        self._remove(page.path)
        self._manifest.forget(page.key)

    # ------------------------------------------------------------------ once each

    def _twin(self, key: str, known: Kept | None, digest: str) -> Kept | None:
        """Return another page of the same host that says the same, unless this one was kept before."""
        if known is not None:
            return None
        twin = self._manifest.same(digest, key.partition("/")[0] + "/")
        return twin if twin is not None and twin.key != key and self.has_file(twin) else None

    def _duplicate(self, twin: Kept, key: str, answer: Fetched, page: Page | None, content: bytes) -> Outcome:
        """Remember another way to a page; the address that the page calls its own becomes the one that is shown."""
        self._manifest.alias(key, twin)
        if page is not None and page.facts.canonical == answer.url != twin.url:
            self._write(twin.path, content)
            twin = replace(twin, url=answer.url, fetched_at=self._now())
            self._manifest.keep(twin)
        return Outcome(state="duplicate", page=twin)

    def _path(self, key: str, url: str, ending: str, known: Kept | None) -> str:
        if known is not None and known.path.endswith(f".{ending}") and self._place(known.path) is not None:
            return known.path
        name = file_name(url, ending)
        taken = self._manifest.at(name)
        return name if taken is None or taken.key == key else other_name(name, url)

    # ------------------------------------------------------------------ files

    def _place(self, name: str) -> Path | None:
        """Return where a page lies; None if that would be outside: the list may come from somebody else."""
        parts = PurePosixPath(name).parts
        if not parts or name.startswith(("/", "\\")) or any(part in {"..", "."} or ":" in part for part in parts):
            return None
        place = self._folder.joinpath(*parts)
        real = Path(os.path.realpath(place.parent))
        return place if real.is_relative_to(os.path.realpath(self._folder)) and not place.is_symlink() else None

    def _write(self, name: str, content: bytes) -> None:
        place = self._place(name)
        if place is None:
            raise CrawlError(f"{name} lies outside the folder of the pages", hint="Delete the link that leads there.")
        beside = self._folder / FOLDER / f"{secrets.token_hex(8)}.part"
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            beside.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(content)
            os.replace(beside, place)
        except OSError as error:
            beside.unlink(missing_ok=True)
            raise CrawlError(
                f"{place} cannot be written: {error.strerror or error}",
                hint="Free some space, or make the folder writable.",
                code="crawl.not_written",
            ) from error

    def _remove(self, name: str) -> None:
        place = self._place(name)
        if place is not None:
            place.unlink(missing_ok=True)


def _content(answer: Fetched, media_type: str, page: Page | None) -> tuple[bytes, str, str]:
    """Return what is written, what stands for it, and the ending of its name."""
    if page is not None:
        return page.to_file(), page.digest, "md"
    ending = ending_of(media_type, answer.url)
    if ending is None:
        raise CrawlError(
            f"{shown(answer.url)} is {media_type}, which holds no text",
            hint="Download it yourself if it is a document after all.",
            code="crawl.unsupported",
        )
    return answer.body, digest_of(answer.body), ending


def host_of(url: str) -> str:
    """Return the host of an address, for the delays between two requests to it."""
    return parse(url).netloc
