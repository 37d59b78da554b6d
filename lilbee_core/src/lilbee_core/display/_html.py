"""Pieces of HTML for notebooks. All that comes from documents is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from lilbee_core.display._lines import one_line

_CELL = "padding:4px 8px;vertical-align:top;text-align:left"
Bundle = dict[str, str]


def bundle(html: str, plain: str) -> Bundle:
    """Return both forms as a notebook asks for them."""
    return {"text/html": html, "text/plain": plain}


def text_html(text: str) -> str:
    """Return a name or a message as HTML."""
    return escape(one_line(text))


def table_html(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table. Caption and cells are HTML already; the head may be empty."""
    heads = "".join(f"<th scope='col' style='{_CELL}'>{escape(one)}</th>" for one in head)
    cells = ("".join(f"<td style='{_CELL}'>{cell}</td>" for cell in row) for row in rows)
    top, body = f"<tr>{heads}</tr>" if heads else "", "".join(f"<tr>{row}</tr>" for row in cells)
    return f"<table><caption style='text-align:left'>{caption}</caption>{top}{body}</table>"
