"""The table of contents of an e-book: which title belongs to which place."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from lilbee_core.extract._package import Package, attribute, child, descendants

_NCX = "application/x-dtbncx+xml"


class Entry(NamedTuple):
    """A title with the part that it stands for and, if it is a place inside of it, that place's id."""

    part: str
    place: str
    title: str


class Item(NamedTuple):
    """A part of the book as its list of parts names it."""

    path: str
    media_type: str
    properties: Sequence[str]


def resolve(base: str, target: str) -> str:
    """Return the path of a part that another one names."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(target.split("#", 1)[0])))


def read_contents(package: Package, items: Mapping[str, Item]) -> tuple[Entry, ...]:
    """Return the entries in their order, from the newer kind of contents where there is one.

    Lists of pages and of landmarks, which stand beside the contents, are not taken for them.
    """
    for item in items.values():
        if "nav" in item.properties and (found := tuple(_navigation(item.path, package.lesser(item.path)))):
            return found
    for item in items.values():
        if item.media_type == _NCX and (found := tuple(_control(item.path, package.lesser(item.path)))):
            return found
    return ()


def _navigation(path: str, tree: Element | None) -> Iterator[Entry]:
    lists = [] if tree is None else list(descendants(tree, "nav"))
    named = [one for one in lists if "toc" in attribute(one, "type").split()]
    plain = [one for one in lists if not attribute(one, "type")]
    for one in (named or plain)[:1]:
        for link in descendants(one, "a"):
            yield from _entry(path, attribute(link, "href"), link)


def _control(path: str, tree: Element | None) -> Iterator[Entry]:
    contents = child(tree, "navMap") if tree is not None else None
    for point in descendants(contents, "navPoint") if contents is not None else ():
        target, label = child(point, "content"), child(point, "navLabel", "text")
        if target is not None and label is not None:
            yield from _entry(path, attribute(target, "src"), label)


def _entry(path: str, target: str, label: Element) -> Iterator[Entry]:
    title = " ".join("".join(label.itertext()).split())
    if target and title:
        yield Entry(resolve(path, target), unquote(target.partition("#")[2]), title)
