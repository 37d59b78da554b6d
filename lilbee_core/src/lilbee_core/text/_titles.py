"""Headings that stand in a text without a mark: on pages, on slides, in mails."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lilbee_core.text._tokens import fold_space
from lilbee_core.types import Span

_NUMBER = re.compile(r"^\s*[\d.]*\d[.)]?\s+|[\s:.]+$")


def titles_in(headings: Iterable[str | None]) -> frozenset[str]:
    """Return headings as `without_titles` looks for them."""
    return frozenset(_bare(title) for title in headings if title)


def without_titles(text: str, span: Span, titles: frozenset[str]) -> Span:
    """Return the span without lines in front that are nothing but one of these headings."""
    start = span.start
    while start < span.end:
        stop = text.find("\n", start, span.end)
        line = text[start : span.end if stop < 0 else stop]
        if _bare(line) not in titles:
            break
        start = span.end if stop < 0 else stop + 1
    while start < span.end and text[start].isspace():
        start += 1
    return Span(start, span.end)


def _bare(title: str) -> str:
    return fold_space(_NUMBER.sub("", title)).casefold()
