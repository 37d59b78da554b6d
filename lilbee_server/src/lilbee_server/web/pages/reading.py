"""A document to read, at the place that is asked for: as text, as it looks on its page, or as its markdown means it."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import unquote, urlencode, urlsplit

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.params import QueryParameter

from lilbee_core import Lilbee, LilbeeError
from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.types import DocumentRow, PagePicture
from lilbee_server.library import library_of
from lilbee_server.web.highlighting import kinds_in
from lilbee_server.web.lines import Line, lines_of, words_in
from lilbee_server.web.places import PATH, parse_span
from lilbee_server.web.reader import Opened, open_document
from lilbee_server.web.rendering import Links, to_html
from lilbee_server.web.views import render

PDF = "application/pdf"
MARKDOWN = "text/markdown"
_DPI, _LARGE_DPI = 110, 200
_LONGEST_CODE = 60_000
"""More is not marked by its words: that takes longer than a reader waits."""
_OF_PICTURES = {
    # Browsers put a picture that is opened alone into a page of their own, with a style of its own.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an address asks for."""

    document: str
    place: str = ""
    span: str = ""
    sum: str = ""
    quote: str = ""
    q: str = ""
    words: str = ""
    at: int = 0
    view: str = ""

    @property
    def marked(self) -> str:
        """The words to mark in the passage: those that the search found there, else those of the query."""
        return self.words or self.q

    def url(self, path: str = PATH, **others: object) -> str:
        """Return the address of another part of the document, or of another view of it."""
        named = {"document": self.document, "q": self.q, **others}
        return f"{path}?{urlencode({name: value for name, value in named.items() if value})}"


@get(PATH, sync_to_thread=True)
def read(
    request: Request[Any, Any, Any],
    state: State,
    document: Annotated[str, QueryParameter()],
    at: Annotated[int, QueryParameter(ge=0, le=10**12)] = 0,
) -> Response[str]:
    """Show a part of a document, with the passage marked."""
    bee, given = library_of(state), request.query_params
    row = bee.document(document)
    # From here on the document goes by its id: names may be those of several.
    rest = {name: str(given.get(name) or "") for name in ("place", "span", "sum", "quote", "q", "words", "view")}
    asked = Asked(document=str(row.id), at=at, **rest)
    opened: Opened | None = None
    problem: LilbeeError | None = None
    try:
        opened = open_document(bee, row, asked)
    except (NotFound, InvalidArgument) as error:
        problem = error
    view = _view(row, asked, opened)
    status = 404 if opened is None and not has_picture(row) else 200
    return render(
        request,
        "read.html",
        status=status,
        row=row,
        asked=asked,
        opened=opened,
        problem=problem,
        view=view,
        views=_views(row, asked, view),
        lines=list(_lines(row, asked, opened)) if opened is not None and view != "rendered" else [],
        body=_body(bee, row, opened) if opened is not None and view == "rendered" else "",
        sheet=_sheet_url(row, asked, opened),
        picture=asked.url("/picture", page=opened.page if opened is not None else 1),
        back=f"/search?{urlencode({'q': asked.q})}" if asked.q else "",
    )


@get("/read/sheet", sync_to_thread=True)
def sheet(
    request: Request[Any, Any, Any],
    state: State,
    document: Annotated[str, QueryParameter()],
    page: Annotated[int, QueryParameter(ge=1, le=10**6)] = 1,
    span: Annotated[str, QueryParameter()] = "",
) -> Response[str]:
    """Show a page as it looks, with the passage marked on it."""
    bee = library_of(state)
    row = bee.document(document)
    drawn: PagePicture | None = None
    problem: LilbeeError | None = None
    try:
        drawn = state["pictures"].get(row, page, _DPI)
    except LilbeeError as error:
        problem = error
    where = parse_span(span)
    boxes = bee.get_text(document, where).location.boxes if where is not None and drawn is not None else ()
    asked = Asked(document=str(row.id))
    return render(
        request,
        "sheet.html",
        "sheet",
        row=row,
        page=page,
        drawn=drawn,
        problem=problem,
        boxes=[box for box in boxes if box.page == page],
        picture=asked.url("/picture", page=page),
        large=asked.url("/picture", page=page, dpi=_LARGE_DPI),
    )


@get("/picture", sync_to_thread=True)
def picture(
    state: State,
    document: Annotated[str, QueryParameter()],
    page: Annotated[int, QueryParameter(ge=1, le=10**6)] = 1,
    dpi: Annotated[int, QueryParameter(ge=36, le=300)] = _DPI,
) -> Response[bytes]:
    """Return a page as an image file."""
    row = library_of(state).document(document)
    drawn: PagePicture = state["pictures"].get(row, page, dpi)
    return Response(drawn.data, media_type=drawn.media_type, headers=_OF_PICTURES)


def has_picture(row: DocumentRow) -> bool:
    """Whether a document is one that may be shown as it looks."""
    return row.media_type == PDF or row.media_type.startswith("image/")


def _view(row: DocumentRow, asked: Asked, opened: Opened | None) -> str:
    """Return which view is shown: markdown as it means, unless a passage is asked for, whose lines count."""
    if row.media_type != MARKDOWN or opened is None:
        return "text"
    if asked.view in ("text", "rendered"):
        return asked.view
    return "text" if opened.passage is not None else "rendered"


def _views(row: DocumentRow, asked: Asked, view: str) -> list[tuple[str, str, bool]]:
    if row.media_type != MARKDOWN:
        return []
    names = (("rendered", "As it reads"), ("text", "As it is written"))
    kept = {name: getattr(asked, name) for name in ("place", "span", "sum", "quote", "words", "at")}
    return [(name, asked.url(PATH, view=one, **kept), one == view) for one, name in names]


def _lines(row: DocumentRow, asked: Asked, opened: Opened) -> list[Line]:
    words = words_in(opened.text, asked.marked, opened.passage) if opened.passage is not None else []
    coded = row.media_type.startswith("text/") and opened.number is not None and len(opened.text) <= _LONGEST_CODE
    kinds = kinds_in(opened.text, row.path) if coded else []
    return list(lines_of(opened.text, number=opened.number, passage=opened.passage, words=words, kinds=kinds))


def _sheet_url(row: DocumentRow, asked: Asked, opened: Opened | None) -> str:
    """Return the address of the page as it looks, "" where there is none."""
    if not has_picture(row) or (opened is not None and opened.member):
        return ""
    page = opened.page if opened is not None else 1
    span = opened.passage_span if opened is not None else None
    return asked.url("/read/sheet", page=page, span=f"{span.start}-{span.end}" if span is not None else "")


def _body(bee: Lilbee, row: DocumentRow, opened: Opened) -> str:
    def leads_to(href: str) -> str | None:
        parts = urlsplit(href)
        if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
            return None
        path = posixpath.normpath(posixpath.join(posixpath.dirname(row.path), unquote(parts.path)))
        try:
            found = bee.document(f"{row.collection}/{path}")
        except LilbeeError:
            return None
        return f"{PATH}?{urlencode({'document': str(found.id)})}"

    return to_html(opened.text, Links(document=leads_to), below=1, html=True)


ROUTES = (read, sheet, picture)
