"""A web page as a tree. The home of lxml, whose values are named here by our own type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

from lilbee_core.crawl._fetcher import need_extra

_ANY_TAG = re.compile(r"<(?:script|style)\b[^<]*</(?:script|style)>|<[^<>]*>", re.IGNORECASE)
_LONG_TAG = re.compile(r"<([a-zA-Z][\w:-]{0,40})\s[^<>]{4000,}>")
_MOST_ATTRIBUTES = 250
MAX_DEPTH = 200
"""Deeper than that no page is read: what lies below is taken as one piece of text."""


class Node(Protocol):
    """An element of a page."""

    tag: str
    text: str | None
    tail: str | None

    def get(self, name: str, default: str | None = None) -> str | None: ...

    def set(self, name: str, value: str) -> None: ...

    def iter(self, *tags: str) -> Iterator[Node]: ...

    def getparent(self) -> Node | None: ...

    def iterancestors(self, *tags: str) -> Iterator[Node]: ...

    def insert(self, index: int, element: Node) -> None: ...

    def text_content(self) -> str: ...

    def drop_tree(self) -> None: ...

    def drop_tag(self) -> None: ...

    def __iter__(self) -> Iterator[Node]: ...

    def __len__(self) -> int: ...


def parse_page(html: str) -> Node | None:
    """Return the root of a page, None if there is nothing in it. Comments are left out; deep nesting is cut.

    Raises:
        ExtraMissing: If lxml is not installed.
    """
    need_extra("lxml")
    lxml_html: Any = import_module("lxml.html")
    # What XML says of its letters is no longer true: this is text.
    html = _LONG_TAG.sub(_shortened, html.replace("\x00", ""))
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = lxml_html.document_fromstring(html.encode("utf-8", "replace"), parser=parser)
    except (ValueError, import_module("lxml.etree").ParserError):
        return None
    if any("Excessive depth" in str(one) for one in parser.error_log):
        # The parser gives up there and drops the rest of the page: better its words without their shape.
        return parse_page(f"<html><body><p>{_ANY_TAG.sub(' ', html)}</p></body></html>")
    node = cast("Node", root)
    _flatten(node)
    return node


def to_html(node: Node) -> str:
    """Write an element as HTML."""
    lxml_html: Any = import_module("lxml.html")
    return str(lxml_html.tostring(node, encoding="unicode", with_tail=False))


def is_inside(node: Node, *tags: str) -> bool:
    """Say whether an element lies in one of these."""
    return next(node.iterancestors(*tags), None) is not None


def words_of(node: Node) -> str:
    """Return the text of an element in one line."""
    return " ".join(node.text_content().split())


class Count(NamedTuple):
    """What is in an element: letters, how many of them in links, and links."""

    letters: int
    linked: int
    links: int


_NOTHING = Count(0, 0, 0)


class Counts:
    """The counts of all elements below one, taken in one pass, since asking each for its text takes squares of time."""

    def __init__(self, root: Node) -> None:
        self._of: dict[Node, Count] = {}
        for node in reversed(list(root.iter())):
            self._of[node] = self._counted(node)

    def of(self, node: Node) -> Count:
        """Return the counts of an element as they were."""
        return self._of.get(node, _NOTHING)

    def _counted(self, node: Node) -> Count:
        letters, linked, links = _letters(node.text), 0, 0
        for child in node:
            inner = self.of(child)
            letters += inner.letters + _letters(child.tail)
            linked += inner.linked
            links += inner.links
        return Count(letters, letters, links + 1) if node.tag == "a" else Count(letters, linked, links)


def _letters(text: str | None) -> int:
    return sum(map(len, text.split())) if text else 0


def _shortened(tag: re.Match[str]) -> str:
    """Drop attributes by the thousand: reading them takes squares of time."""
    return f"<{tag[1]}>" if len(tag[0].split()) > _MOST_ATTRIBUTES else tag[0]


def _flatten(root: Node) -> None:
    """Make the text of all that lies too deep part of what holds it: who writes it out goes down step by step."""
    stack = [(root, 1)]
    deep: list[Node] = []
    while stack:
        node, depth = stack.pop()
        if depth >= MAX_DEPTH:
            deep.append(node)
        else:
            stack.extend((child, depth + 1) for child in node)
    for node in deep:
        text, children = _text_of(node), list(node)
        for child in children:
            _remove(node, child)
        node.text = text


def _text_of(node: Node) -> str:
    # The library's own way goes down step by step, and so deep it must not.
    parts: list[str] = []
    for one in node.iter():
        if one.text:
            parts.append(one.text)
        if one is not node and one.tail:
            parts.append(one.tail)
    return " ".join(parts)


def _remove(parent: Node, child: Node) -> None:
    cast("Any", parent).remove(child)
