"""Search as you type. What is looked for stands in the address, so that it can be kept and handed on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from litestar import Request, Response, get
from litestar.datastructures import MultiDict, State
from litestar.params import QueryParameter

from lilbee_core import LilbeeError
from lilbee_core.errors import NotFound
from lilbee_core.types import Place, Scope
from lilbee_server.grants import Granted
from lilbee_server.library import library_of
from lilbee_server.problems import status_of
from lilbee_server.web.places import PATH as READ
from lilbee_server.web.views import render, wants_piece

if TYPE_CHECKING:
    from lilbee_core import Lilbee, SearchResult
    from lilbee_core.tokens import Grant
    from lilbee_core.types import Filter

PATH = "/search"
TOP, MOST = 20, 200
LONGEST_QUERY = 2000
_PROFILES = ("", "full", "keyword", "semantic", "hyde")
_LIST = re.compile(r"\s*,\s*")
_LONGEST_ADDRESS = 8000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What an address asks for. Fields of forms that are left blank ask for nothing."""

    q: str = ""
    collection: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    after: str = ""
    before: str = ""
    scope: str = "raw"
    profile: str = ""
    explain: bool = False
    top: int = TOP

    @classmethod
    def of(cls, query: MultiDict[Any]) -> Asked:
        scope = _one(query, "scope")
        top = _one(query, "top")
        return cls(
            q=_one(query, "q"),
            collection=_several(query, "collection", split=False),
            path=_several(query, "path"),
            type=_several(query, "type"),
            after=_one(query, "after").strip(),
            before=_one(query, "before").strip(),
            scope=scope if scope in [str(one) for one in Scope] else "raw",
            profile=_one(query, "profile").strip(),
            explain=bool(_one(query, "explain")),
            top=max(1, min(MOST, int(top))) if top.isascii() and top.isdigit() and len(top) < 6 else TOP,
        )

    @property
    def narrowed(self) -> bool:
        """Whether more than the words says what is looked for."""
        return replace(self, q="", top=TOP) != Asked()

    @property
    def url(self) -> str:
        """The address that asks for it, without what is left blank."""
        pairs: list[tuple[str, str]] = [("q", self.q)]
        for name in ("collection", "path", "type"):
            pairs += [(name, one) for one in getattr(self, name)]
        pairs += [("after", self.after), ("before", self.before), ("profile", self.profile)]
        pairs += [("scope", self.scope if self.scope != "raw" else ""), ("explain", "1" if self.explain else "")]
        pairs += [("top", str(self.top) if self.top != TOP else "")]
        told = urlencode([pair for pair in pairs if pair[1]])
        return f"{PATH}?{told}" if told else "/"

    def filters(self, grant: Grant) -> Filter:
        """Return them as the library takes them."""
        allowed = grant.filter(self.collection, self.path)
        return replace(allowed, media_types=self.type, after=self.after or None, before=self.before or None)


@get("/", sync_to_thread=True)
def home(request: Request[Any, Any, Any], state: State, grant: Granted) -> Response[str]:
    """Show the field."""
    return _searched(request, state, grant)


@get(PATH, sync_to_thread=True)
def search(request: Request[Any, Any, Any], state: State, grant: Granted) -> Response[str]:
    """Show the field, and the hits of what is asked for."""
    return _searched(request, state, grant)


def _searched(request: Request[Any, Any, Any], state: State, grant: Grant) -> Response[str]:
    bee, asked = library_of(state), Asked.of(request.query_params)
    result: SearchResult | None = None
    problem: LilbeeError | None = None
    try:
        if asked.q.strip():
            result = bee.search(
                asked.q,
                top_k=asked.top,
                profile=asked.profile or None,
                filters=asked.filters(grant),
                scope=asked.scope,
            )
    except LilbeeError as error:
        problem = error
    # What is typed is not finished yet: what is wrong with it stands where the hits would, and is no failure.
    status = 200 if problem is None or wants_piece(request) else status_of(problem)
    address = asked.url
    headers = {"HX-Replace-Url": address} if wants_piece(request) and len(address) < _LONGEST_ADDRESS else {}
    return render(
        request,
        "search.html",
        "results",
        status=status,
        headers=headers,
        asked=asked,
        result=result,
        problem=problem,
        told=_told(result) if result is not None else "",
        more=_more(asked, result),
        wider=Asked(q=asked.q).url,
        place_url=_place_url,
        longest=LONGEST_QUERY,
        **_library(bee, blank=result is None and problem is None, whole=not wants_piece(request)),
    )


@get("/explain", sync_to_thread=True)
def explain(
    request: Request[Any, Any, Any],
    state: State,
    grant: Granted,
    document: Annotated[str, QueryParameter()],
) -> Response[str]:
    """Say why a document is, or is not, among the hits."""
    asked = Asked.of(request.query_params)
    trace = library_of(state).explain_document(
        document.strip(), asked.q, top_k=asked.top, profile=asked.profile or None, filters=asked.filters(grant)
    )
    return render(request, "explain.html", "trace", trace=trace, back=replace(asked, explain=True).url)


def _library(bee: Lilbee, *, blank: bool, whole: bool) -> dict[str, Any]:
    """Return what the page tells of the library: its collections, its profiles, whether there is anything in it.

    The hits alone tell nothing of it: with every key that is typed it is not looked at.
    """
    try:
        collections = bee.collections.list() if blank or whole else ()
    except NotFound:
        collections = ()
    indexed = sum(one.documents for one in collections) if blank else 0
    return {
        "collections": [one.name for one in collections],
        "profiles": [*_PROFILES, *sorted(set(bee.settings.profiles) - set(_PROFILES))],
        "indexed": indexed,
        "folders": [one.root for one in collections if one.root] if blank and not indexed else [],
    }


def _told(result: SearchResult) -> str:
    count = len(result.hits)
    told = f"{count} {'hit' if count == 1 else 'hits'}" if count else "Nothing found"
    return f"{told} in {result.seconds * 1000:.0f} ms"


def _more(asked: Asked, result: SearchResult | None) -> str:
    """Return the address with more hits, "" if there are none."""
    if result is None or len(result.hits) < asked.top or asked.top >= MOST:
        return ""
    return replace(asked, top=min(MOST, asked.top * 2)).url


def _place_url(other: Place) -> str:
    place = f"{other.line_start}" if other.line_start else f"p{other.page_start}" if other.page_start else ""
    asked = {"document": str(other.document_id), "place": place}
    return f"{READ}?{urlencode({name: value for name, value in asked.items() if value})}"


def _one(query: MultiDict[Any], name: str) -> str:
    return str(query.get(name) or "")


def _several(query: MultiDict[Any], name: str, *, split: bool = True) -> tuple[str, ...]:
    given: Sequence[str] = [str(one) for one in query.getall(name, [])]
    found = [part for one in given for part in (_LIST.split(one.strip()) if split else [one]) if part]
    return tuple(dict.fromkeys(found))


ROUTES = (home, search, explain)
