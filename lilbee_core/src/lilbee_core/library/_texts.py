"""References to documents, and pieces of their text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.protocols import StoreLike
from lilbee_core.text import LineIndex, locate
from lilbee_core.types import (
    MEMORY,
    Citation,
    DocumentId,
    DocumentRow,
    DocumentState,
    DocumentTrace,
    Hit,
    Location,
    Passage,
    PathReport,
    Query,
    Span,
    StoredText,
)

Place = str | Span | Location | Hit | Citation | None
_LINES = re.compile(r"(?:lines?[ =:]?|L|:)?(\d+)(?:[-:]L?(\d+))?$", re.IGNORECASE)
_CELLS = re.compile(r"(.+)![A-Z]{1,3}(\d+)(?::[A-Z]{1,3}(\d+))?", re.IGNORECASE | re.DOTALL)
_PAGES = re.compile(r"#?(?:pages?[ =]?|p\.? ?)(\d+)(?:-(\d+))?$", re.IGNORECASE)


def require(store: StoreLike, ref: str) -> DocumentRow:
    """Return the document named by id, ``collection/path`` or a path that is unique.

    Raises:
        NotFound: If there is none, or more than one.
    """
    found = find(store, ref)
    if not found:
        raise NotFound(f"there is no document {ref!r}", hint="Run `lilbee documents` to see all documents.")
    if len(found) > 1:
        names = " and ".join(row.ref for row in found[:3])
        raise NotFound(f"{ref!r} names more than one document: {names}", hint="Write collection/path.")
    return found[0]


def find(store: StoreLike, ref: str) -> list[DocumentRow]:
    """Return the documents that `ref` may name, by id, then place, then bare path."""
    row = store.row(DocumentId(ref))
    if row is not None:
        return [row]
    collection, slash, path = ref.partition("/")
    exact = store.find(collection, path) if slash else None
    if exact is not None:
        return [exact]
    return [one for name in _collections(store) if (one := store.find(name, ref)) is not None]


def below(store: StoreLike, folder: str) -> list[DocumentRow]:
    """Return the documents in a folder named by ``collection/path/`` or a path."""
    prefix = folder.rstrip("/") + "/"
    return [row for row in store.rows() if row.path.startswith(prefix) or row.ref.startswith(prefix)]


def folders_of(ref: str, found: Iterable[DocumentRow]) -> set[tuple[str, str]]:
    """Return the collections and paths of the folder that `ref` names, by what was found in it.

    A whole collection is no such folder, nor is one of documents from memory.
    """
    prefix = ref.rstrip("/") + "/"
    files = [row for row in found if row.extractor != MEMORY]
    return {
        (row.collection, prefix if row.path.startswith(prefix) else prefix.partition("/")[2])
        for row in files
        if row.path.startswith(prefix) or prefix != f"{row.collection}/"
    }


def trace_of(report: PathReport, query: Query) -> DocumentTrace:
    """Return what a search can say of a file that the ledger does not know."""
    return DocumentTrace(
        path=report.path,
        collection=report.collection,
        query=query.text,
        profile=query.profile,
        verdict="not_indexed",
        reason=f"it is not in the index: {report.reason}",
        hint=report.hint,
    )


def _collections(store: StoreLike) -> list[str]:
    return list(dict.fromkeys(row.collection for row in store.rows()))


def passage(store: StoreLike, row: DocumentRow, place: Place, *, around: int = 0) -> Passage:
    """Return the text of a document, or the part that `place` names, with so many lines around it.

    Raises:
        NotFound: If the document has no text.
        InvalidArgument: If `place` cannot be understood or lies outside the text.
    """
    stored = store.text(row.id)
    if stored is None:
        reason = f"{row.ref} is {row.state}" + (f": {row.reason}" if row.reason else "")
        hint = "Run `lilbee sync`." if row.state is not DocumentState.INDEXED else "Run `lilbee rebuild`."
        raise NotFound(f"there is no text of {row.ref} ({reason})", hint=hint)
    lines = LineIndex(stored.text) if stored.has_lines else None
    if around < 0:
        raise InvalidArgument(f"around must not be negative, got {around}", hint="Give a number of lines, or 0.")
    span = _span(stored, lines, place)
    if around:
        span = _widened(span, lines or LineIndex(stored.text), around)
    location = locate(span, lines=lines, line_map=stored.line_map, segments=stored.segments)
    return Passage(
        document_id=row.id,
        collection=row.collection,
        path=row.path,
        text=span.cut(stored.text),
        span=span,
        location=location,
    )


def _span(stored: StoredText, lines: LineIndex | None, place: Place) -> Span:
    if place is None or place == "":
        return Span(0, len(stored.text))
    if isinstance(place, Span):
        return Span(min(place.start, len(stored.text)), min(place.end, len(stored.text)))
    if isinstance(place, Hit):
        return place.chunk.span
    if isinstance(place, Citation):
        return _located(stored, lines, place.location)
    if isinstance(place, Location):
        return _located(stored, lines, place)
    return _located(stored, lines, parse_place(place))


def parse_place(text: str) -> Location:
    """Read ``10``, ``10-20``, ``L10-L20``, ``p. 3`` or ``page=3`` as a location; anything else names a place."""
    if (match := _PAGES.fullmatch(text.strip())) is not None:
        first = int(match[1])
        return Location(page_start=first, page_end=int(match[2] or first))
    if (match := _LINES.fullmatch(text.strip())) is not None:
        first = int(match[1])
        return Location(line_start=first, line_end=int(match[2] or first))
    return Location(label=text.strip())


def members_of(store: StoreLike, row: DocumentRow) -> frozenset[str]:
    """Return the folded names of all members of a document, and those of the archives and folders that hold them."""
    stored = store.text(row.id)
    names = {one.member.casefold() for one in stored.segments if one.member} if stored is not None else set[str]()
    return frozenset(name[:at] for name in names for at in (*_ends(name), len(name)))


def _ends(name: str) -> list[int]:
    return [at for at, char in enumerate(name) if char == "/"]


def _only_of(stored: StoredText, member: str) -> StoredText:
    """Return the text with the segments of one member only, and of those in it."""
    wanted = member.casefold()
    inside = (one for one in stored.segments if one.member and f"{one.member.casefold()}/".startswith(f"{wanted}/"))
    return replace(stored, segments=tuple(inside))


def _located(stored: StoredText, lines: LineIndex | None, place: Location) -> Span:
    if place.member and (place.page_start is not None or place.label):
        inside = _only_of(stored, place.member)
        stored = inside if inside.segments else stored
    if place.line_start is not None:
        if lines is None:
            raise InvalidArgument("this document has no lines", hint="Name a page (p3) instead.")
        last = place.line_end if place.line_end is not None else place.line_start
        return _lines(stored, lines, place.line_start, last)
    if place.page_start is not None:
        last = place.page_end if place.page_end is not None else place.page_start
        return _pages(stored, place.page_start, last)
    if name := place.label or place.member:
        return _named(stored, name)
    raise InvalidArgument("the place names neither lines nor a page", hint="Write lines as 10-20 or a page as p3.")


def _named(stored: StoredText, name: str) -> Span:
    """Find slides, sheets, cells, chapters and members by the names that hits show."""
    first, _, last = name.partition(" to ")
    spans = [span for part in (first, last) if part for span in _spans_named(stored, part)]
    if not spans:
        known = list(dict.fromkeys(one.label or one.member for one in stored.segments if one.label or one.member))
        some = (
            f"It has: {', '.join(str(one) for one in known[:5])}." if known else "Write lines as 10-20, a page as p3."
        )
        raise InvalidArgument(f"{name!r} is no place in this document", hint=some)
    return Span(min(span.start for span in spans), max(span.end for span in spans))


def _spans_named(stored: StoredText, name: str) -> list[Span]:
    wanted = name.casefold()
    exact = [
        one.span for one in stored.segments if wanted in ((one.label or "").casefold(), (one.member or "").casefold())
    ] or [one.span for one in _only_of(stored, name).segments]
    cells = _CELLS.fullmatch(name)
    if exact or cells is None:
        return exact
    sheet, top, bottom = cells[1].casefold(), int(cells[2]), int(cells[3] or cells[2])
    rows = ((one.span, _CELLS.fullmatch(one.label)) for one in stored.segments if one.fine and one.label)
    return [
        span
        for span, found in rows
        if found is not None
        and found[1].casefold() == sheet
        and int(found[2]) <= bottom
        and int(found[3] or found[2]) >= top
    ]


def _widened(span: Span, lines: LineIndex, around: int) -> Span:
    first, last = lines.line_of(span.start), lines.line_of(max(span.start, span.end - 1))
    wide = lines.span_of(max(1, first - around), last + around)
    return Span(min(wide.start, span.start), max(wide.end, span.end))


def _lines(stored: StoredText, lines: LineIndex, first: int, last: int) -> Span:
    count = len(lines.starts)
    if stored.line_map is not None:
        wanted = [at for at, line in enumerate(stored.line_map, start=1) if first <= line <= last]
        if not wanted:
            raise InvalidArgument(f"there is no text at lines {first}-{last}", hint="Choose other lines.")
        first, last = wanted[0], wanted[-1]
    if not 1 <= first <= last or first > count:
        raise InvalidArgument(f"lines {first}-{last} lie outside the {count} lines", hint="Choose other lines.")
    return lines.span_of(first, last)


def _pages(stored: StoredText, first: int, last: int) -> Span:
    spans: Sequence[Span] = [one.span for one in stored.segments if one.page is not None and first <= one.page <= last]
    if not spans:
        count = max((one.page for one in stored.segments if one.page is not None), default=0)
        raise InvalidArgument(f"there is no page {first}; the document has {count}", hint="Choose another page.")
    return Span(min(span.start for span in spans), max(span.end for span in spans))
