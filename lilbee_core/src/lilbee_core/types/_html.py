"""What notebooks show: HTML, and a plain text for those that show none. All that comes from documents is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from lilbee_core.display import Bundle, bundle, joined, one_line, several_lines, table_html, text_html

if TYPE_CHECKING:
    from lilbee_core.types._answers import Answer
    from lilbee_core.types._reports import LibraryStatus
    from lilbee_core.types._search import Hit, SearchResult

_LINES = "white-space:pre-wrap"
_SNIPPET = 400
# --------------------------------------------------------------------------- hits


def search_bundle(result: SearchResult) -> Bundle:
    """Return the hits of a search with places, scores and marked snippets."""
    return bundle(search_html(result), search_plain(result))


def search_html(result: SearchResult) -> str:
    """Return a table of hits with places, scores and marked snippets."""
    notes = "".join(f"<p><small>{text_html(warning)}</small></p>" for warning in result.warnings)
    title = f"{_hits(result)} for <b>{text_html(result.query.text)}</b> in {result.seconds * 1000:.0f} ms"
    if not result.hits:
        return f"<div><p>{title}</p>{notes}</div>"
    rows = ((str(hit.rank), _place(hit), _marked(hit), f"{hit.score:.3f}") for hit in result.hits)
    return f"<div>{notes}{table_html(title, ('', 'where', 'what', 'score'), rows)}</div>"


def search_plain(result: SearchResult) -> str:
    """Return the hits line by line."""
    lines = [f"{_hits(result)} for {result.query.text!r} in {result.seconds * 1000:.0f} ms"]
    for hit in result.hits:
        lines += [f"{hit.rank:>2}  {hit.path} ({hit.chunk.location})  {hit.score:.3f}", f"    {_snippet(hit)}"]
    return joined([*lines, *result.warnings])


def hit_bundle(hit: Hit) -> Bundle:
    """Return one hit: where it stands, and its text."""
    head = f"<p>{_place(hit)} <small>{hit.score:.3f}</small></p>"
    html = f"<div>{head}<p style='{_LINES}'>{_marked(hit, whole=True)}</p></div>"
    plain = one_line(f"{hit.path} ({hit.chunk.location})  {hit.score:.3f}") + "\n" + several_lines(hit.text)
    return bundle(html, plain)


def _hits(result: SearchResult) -> str:
    return f"{len(result.hits)} {'hit' if len(result.hits) == 1 else 'hits'}"


def _place(hit: Hit) -> str:
    name = hit.heading or hit.symbol
    stale = "<br>changed since it was indexed" if hit.stale else ""
    heading = f"<br>{text_html(name)}" if name else ""
    return f"<b>{text_html(hit.path)}</b><br><small>{text_html(str(hit.chunk.location))}{heading}{stale}</small>"


def _snippet(hit: Hit) -> str:
    start, end = _window(hit)
    return " ".join(("…" if start else "", *hit.text[start:end].split(), "…" if end < len(hit.text) else "")).strip()


def _window(hit: Hit) -> tuple[int, int]:
    start = max(0, hit.highlights[0][0] - 80) if hit.highlights else 0
    return start, min(len(hit.text), start + _SNIPPET)


def _marked(hit: Hit, *, whole: bool = False) -> str:
    text = hit.text
    start, end = (0, len(text)) if whole else _window(hit)
    out, at = ["…" if start else ""], start
    for first, last in hit.highlights:
        if first < at or last > end:
            continue
        out += [_text(text[at:first]), "<mark>", _text(text[first:last]), "</mark>"]
        at = last
    out += [_text(text[at:end]), "…" if end < len(text) else ""]
    return "".join(out)


def _text(text: str) -> str:
    return escape(several_lines(text))


# --------------------------------------------------------------------------- answers


def answer_bundle(answer: Answer) -> Bundle:
    """Return an answer with what it cites."""
    return bundle(answer_html(answer), answer_plain(answer))


def answer_html(answer: Answer) -> str:
    """Return the answer with its citations as a list."""
    items = "".join(
        f"<li value='{one.marker}'><b>{text_html(one.path)}</b> <small>{text_html(str(one.location))}</small>: "
        f"<q>{_text(one.quote)}</q></li>"
        for one in answer.citations
    )
    notes = "".join(f"<p><small>{text_html(note)}</small></p>" for note in _notes(answer))
    listed = f"<ol>{items}</ol>" if items else ""
    return f"<div><p style='{_LINES}'>{_text(answer.text)}</p>{listed}{notes}</div>"


def answer_plain(answer: Answer) -> str:
    """Return the answer with its citations below."""
    cited = [f"[{one.marker}] {one.path} ({one.location}): {' '.join(one.quote.split())}" for one in answer.citations]
    return "\n".join([several_lines(answer.text), *([joined(cited)] if cited else []), *map(one_line, _notes(answer))])


def _notes(answer: Answer) -> Iterator[str]:
    yield from answer.warnings
    if answer.model:
        yield f"{answer.model}, {answer.seconds:.1f} s"
    if answer.broken_off:
        yield answer.broken_off


# --------------------------------------------------------------------------- the library


def status_bundle(status: LibraryStatus) -> Bundle:
    """Return the counts of a library, its collections, and what there is to look after."""
    return bundle(status_html(status), joined(f"{name:<18} {value}" for name, value in _status_lines(status)))


def status_html(status: LibraryStatus) -> str:
    """Return the counts of a library as a table."""
    rows = ((text_html(name), text_html(value)) for name, value in _status_lines(status))
    return table_html("The state of the library", (), rows)


def _status_lines(status: LibraryStatus) -> Iterator[tuple[str, str]]:
    for name, value in status.summary():
        yield name, str(value)
    for one in status.collections:
        missing = "" if one.available else " (folder is missing)"
        yield "collection", f"{one.name}: {one.documents} documents, {one.root or 'from memory'}{missing}"
    for problem in status.problems:
        yield "failed", f"{problem.path}: {problem.reason} [{problem.code}]"
    for warning in status.warnings:
        yield "warning", warning
