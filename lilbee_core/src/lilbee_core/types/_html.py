"""HTML for notebooks. Everything that comes from documents is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lilbee_core.types._answers import Answer
    from lilbee_core.types._reports import LibraryStatus
    from lilbee_core.types._search import Hit, SearchResult

_CELL = "padding:4px 8px;vertical-align:top;text-align:left"
_SNIPPET = 400


def search_html(result: SearchResult) -> str:
    """Return a table of hits with places, scores and marked snippets."""
    rows = "".join(
        f"<tr><td style='{_CELL}'>{hit.rank}</td><td style='{_CELL}'><b>{escape(hit.path)}</b><br>"
        f"<small>{escape(str(hit.chunk.location))}{_heading(hit)}</small></td>"
        f"<td style='{_CELL}'>{_marked(hit)}</td><td style='{_CELL}'>{hit.score:.3f}</td></tr>"
        for hit in result.hits
    )
    notes = "".join(f"<p><small>{escape(warning)}</small></p>" for warning in result.warnings)
    title = f"<p>{len(result.hits)} hits for <b>{escape(result.query.text)}</b> in {result.seconds * 1000:.0f} ms</p>"
    return f"<div>{title}{notes}<table>{rows}</table></div>"


def answer_html(answer: Answer) -> str:
    """Return the answer with its citations as a list."""
    items = "".join(
        f"<li value='{one.marker}'><b>{escape(one.path)}</b> <small>{escape(str(one.location))}</small>: "
        f"<q>{escape(one.quote)}</q></li>"
        for one in answer.citations
    )
    notes = "".join(f"<p><small>{escape(warning)}</small></p>" for warning in _told(answer))
    return f"<div><p style='white-space:pre-wrap'>{escape(answer.text)}</p><ol>{items}</ol>{notes}</div>"


def _told(answer: Answer) -> tuple[str, ...]:
    return (*answer.warnings, *((answer.broken_off,) if answer.broken_off else ()))


def status_html(status: LibraryStatus) -> str:
    """Return the counts of a library as a table."""
    rows = "".join(
        f"<tr><td style='{_CELL}'>{escape(str(name))}</td><td style='{_CELL}'>{escape(str(value))}</td></tr>"
        for name, value in status.summary()
    )
    return f"<table>{rows}</table>"


def _heading(hit: Hit) -> str:
    name = hit.heading or hit.symbol
    return f"<br>{escape(name)}" if name else ""


def _marked(hit: Hit) -> str:
    text = hit.text
    start = max(0, hit.highlights[0][0] - 80) if hit.highlights else 0
    end = min(len(text), start + _SNIPPET)
    out, at = ["…" if start else ""], start
    for first, last in hit.highlights:
        if first < at or last > end:
            continue
        out += [escape(text[at:first]), "<mark>", escape(text[first:last]), "</mark>"]
        at = last
    out += [escape(text[at:end]), "…" if end < len(text) else ""]
    return "".join(out)
