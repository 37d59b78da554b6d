"""The wiki: its pages by kind, where their links lead, and drafts line by line."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lilbee_core.types import WikiPage, WikiProblem
from lilbee_server.web.shown.lists import address

PATH = "/wiki"
KINDS = {"concept": "Concepts", "entity": "People, places and things", "synthesis": "Overviews of topics"}
PROBLEMS = {
    "orphan": "no page links to it",
    "dead_link": "links to a page that is not there",
    "lost_citation": "cites what no document says any more",
    "stale_citation": "cites a document that has changed",
    "without_source": "has no source",
    "drift": "its documents have changed",
    "draft": "has a draft that waits",
}
_SIGNS = {"+": "added", "-": "removed", "@": "place"}


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff: ``added``, ``removed``, ``place``, ``file`` or ``same``."""

    kind: str
    text: str


def page_url(slug: str) -> str:
    """Return where a page is read. The name is asked for, so that no name can lead elsewhere."""
    return address(f"{PATH}/page", slug=slug)


def draft_url(slug: str) -> str:
    """Return where a draft is reviewed."""
    return address(f"{PATH}/draft", slug=slug)


def by_kind(pages: Iterable[WikiPage], words: str = "") -> list[tuple[str, list[WikiPage]]]:
    """Return the pages whose names hold all of the words, by kind; kinds that are not known come last."""
    sought = words.casefold().split()
    found: dict[str, list[WikiPage]] = {}
    for page in pages:
        names = " ".join((page.title, page.slug, *page.aliases)).casefold()
        if all(word in names for word in sought):
            found.setdefault(page.kind, []).append(page)
    order = [*KINDS, *sorted(set(found) - set(KINDS))]
    listed = [(KINDS.get(kind, kind), found[kind]) for kind in order if kind in found]
    return [(name, sorted(pages, key=lambda one: one.title.casefold())) for name, pages in listed]


def finder(pages: Iterable[WikiPage]) -> Callable[[str], str | None]:
    """Return what finds the address of the page behind ``[[name]]``: by its name, its title or another name of it."""
    known: dict[str, str] = {}
    for page in pages:
        for name in (page.slug, page.slug.rpartition("/")[2], page.title, *page.aliases):
            known.setdefault(name.casefold(), page.slug)

    def find(name: str) -> str | None:
        slug = known.get(name.partition("#")[0].strip().casefold())
        return None if slug is None else page_url(slug)

    return find


def diff_lines(diff: str) -> list[DiffLine]:
    """Return a unified diff line by line."""
    lines: list[DiffLine] = []
    in_head = True
    for text in diff.split("\n"):
        in_head = in_head and not text.startswith("@@")
        if in_head and text.startswith(("--- ", "+++ ")):
            lines.append(DiffLine("file", text))
        elif text or lines:
            lines.append(_line(text))
    while lines and not lines[-1].text:
        lines.pop()
    return lines


def _line(text: str) -> DiffLine:
    kind = _SIGNS.get(text[:1], "same")
    return DiffLine(kind, text if kind == "place" else text[1:])


def seen(body: str) -> str:
    """Name a text, to tell whether it has changed since somebody read it."""
    return hashlib.blake2b(body.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def problems_by_kind(problems: Sequence[WikiProblem]) -> Mapping[str, list[WikiProblem]]:
    """Return what is wrong with pages, by what it is."""
    found: dict[str, list[WikiProblem]] = {}
    for one in problems:
        found.setdefault(PROBLEMS.get(one.kind, one.kind), []).append(one)
    return found
