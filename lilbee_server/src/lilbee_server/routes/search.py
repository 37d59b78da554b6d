"""Search, and why a document is not among the hits."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import get
from litestar.datastructures import State
from litestar.params import QueryParameter

from lilbee_core.types import DocumentTrace, SearchResult
from lilbee_server.grants import Granted
from lilbee_server.library import library_of


@get("/api/search", sync_to_thread=True, opt={"scoped": True, "gives": SearchResult})
def search(
    state: State,
    grant: Granted,
    text: Annotated[str, QueryParameter(name="query", description="What to look for.")],
    top_k: Annotated[int | None, QueryParameter(ge=1, le=1000, description="How many hits.")] = None,
    profile: Annotated[str | None, QueryParameter(description="Which list of stages.")] = None,
    path: Annotated[list[str] | None, QueryParameter(description="Only these paths.")] = None,
    collection: Annotated[list[str] | None, QueryParameter(description="Only these collections.")] = None,
    among: Annotated[
        str, QueryParameter(name="scope", description="raw (documents), wiki (pages about them), or both.")
    ] = "raw",
    diversify: Annotated[bool, QueryParameter(description="Put hits like a better one behind it.")] = True,
    explain: Annotated[bool, QueryParameter(description="Include the trace.")] = False,
) -> dict[str, Any]:
    """Return hits, best first, each verbatim with its place."""
    only = grant.filter(collection or (), path or ())
    bee = library_of(state)
    found = bee.search(text, top_k=top_k, profile=profile, filters=only, scope=among, diversify=diversify)
    return grant.shown(found.to_dict(trace=explain))


@get("/api/explain", sync_to_thread=True, opt={"scoped": True, "gives": DocumentTrace})
def explain(
    state: State,
    grant: Granted,
    document: Annotated[str, QueryParameter(description="The document: its id, collection/path, or a unique path.")],
    text: Annotated[str, QueryParameter(name="query", description="What was looked for.")],
    top_k: Annotated[int | None, QueryParameter(ge=1, le=1000, description="How many hits.")] = None,
    profile: Annotated[str | None, QueryParameter(description="Which list of stages.")] = None,
    path: Annotated[list[str] | None, QueryParameter(description="Only these paths.")] = None,
    collection: Annotated[list[str] | None, QueryParameter(description="Only these collections.")] = None,
) -> dict[str, Any]:
    """Say why a document is, or is not, among the hits of a search: where it stood, and what left it out."""
    only = grant.filter(collection or (), path or ())
    bee = library_of(state)
    ref = grant.document(bee, document)
    return bee.explain_document(ref, text, top_k=top_k, profile=profile, filters=only).to_dict()
