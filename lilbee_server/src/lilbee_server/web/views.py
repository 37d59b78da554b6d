"""Templates to answers: a whole page, or the piece of it that a script asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litestar import Request, Response
from litestar.enums import MediaType

from lilbee_core import LilbeeError
from lilbee_core.text import place_name, snippet_pieces, visible, visible_line
from lilbee_server.problems import status_of
from lilbee_server.web.assets import assets
from lilbee_server.web.places import read_url

if TYPE_CHECKING:
    from jinja2 import Environment

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""What a browser may load and run for a page: our own files, and nothing else."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    # With "no-referrer" browsers would not say where a form comes from, and the guard would refuse it.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Vary": "HX-Request, Cookie",
}
THEMES = ("auto", "light", "dark")
THEME_COOKIE = "lilbee_theme"


@dataclass(frozen=True, slots=True)
class Link:
    """An address and what it is called."""

    to: str
    name: str


class Views:
    """The templates, and what all of them know. Threads may share it.

    Args:
        navigation: What the head of every page links to.
    """

    def __init__(self, navigation: Sequence[Link]) -> None:
        self.navigation = tuple(navigation)
        self._environment = _environment()

    def whole(self, template: str, values: Mapping[str, Any]) -> str:
        """Return a page."""
        return self._environment.get_template(template).render(values)

    def piece(self, template: str, block: str, values: Mapping[str, Any]) -> str:
        """Return one block of a page, without what stands around it."""
        found = self._environment.get_template(template)
        return "".join(found.blocks[block](found.new_context(dict(values))))


def render(
    request: Request[Any, Any, Any],
    template: str,
    block: str | None = None,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,
) -> Response[str]:
    """Return a page made of a template; where a script asks for a piece, only that block of it.

    A block that is asked for alone does not see what its template imports or sets outside of it.
    """
    views: Views = request.app.state["views"]
    known = {
        "request": request,
        "path": request.url.path,
        "navigation": views.navigation,
        "theme": theme_of(request),
        **values,
    }
    alone = block is not None and wants_piece(request)
    text = views.piece(template, block, known) if alone and block is not None else views.whole(template, known)
    return Response(text, media_type=MediaType.HTML, status_code=status, headers={**HEADERS, **(headers or {})})


def render_problem(
    request: Request[Any, Any, Any],
    message: str,
    hint: str,
    *,
    status: int,
    headers: Mapping[str, str] | None = None,
) -> Response[str]:
    """Return a page, or a notice on the page that is open, that says what is wrong and what to do."""
    shown = {name: value for name, value in (headers or {}).items() if name == "Retry-After"}
    return render(request, "problem.html", "notice", status=status, headers=shown, message=message, hint=hint)


def redirect(request: Request[Any, Any, Any], to: str, *, headers: Mapping[str, str] | None = None) -> Response[str]:
    """Send the browser to another page after something was done."""
    if wants_piece(request):
        return Response("", status_code=200, media_type=MediaType.HTML, headers={"HX-Redirect": to, **(headers or {})})
    return Response("", status_code=303, media_type=MediaType.HTML, headers={"Location": to, **(headers or {})})


def wants_piece(request: Request[Any, Any, Any]) -> bool:
    """Whether a script asks for a piece of a page; going back through the history takes whole ones."""
    headers = request.headers
    return headers.get("hx-request") == "true" and not (
        headers.get("hx-boosted") or headers.get("hx-history-restore-request")
    )


def in_place(request: Request[Any, Any, Any], error: LilbeeError | None) -> int:
    """Return the status of a block that says itself what is wrong: a piece of an error would land among the notices."""
    return 200 if error is None or wants_piece(request) else status_of(error)


def theme_of(request: Request[Any, Any, Any]) -> str:
    """Return the chosen theme; ``auto`` follows the system."""
    chosen = request.cookies.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else THEMES[0]


def safe_next(to: str | None) -> str:
    """Return a path of ours to go to; anything else that an address may ask for leads to the first page."""
    is_ours = to is not None and to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable()
    return to if is_ours and to is not None and "\\" not in to else "/"


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = made.filters
    filters.update(line=visible_line, visible=visible, counted=_counted, place=place_name, snippet=snippet_pieces)
    shared: dict[str, Any] = made.globals
    shared.update(assets=assets(), read_url=read_url)
    return made


def _counted(number: int, name: str) -> str:
    return f"{number:,} {name}" if number == 1 else f"{number:,} {name}s"
