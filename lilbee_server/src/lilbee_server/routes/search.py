"""Search, and why a document is not among the hits."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import get
from litestar.datastructures import State
from litestar.params import QueryParameter

from lilbee_core import Filter
from lilbee_server.library import library_of


@get("/api/search", sync_to_thread=True)
def search(
    state: State,
    text: Annotated[str, QueryParameter(name="query", description="What to look for.")],
    top_k: Annotated[int | None, QueryParameter(ge=1, le=1000, description="How many hits.")] = None,
    profile: Annotated[str | None, QueryParameter(description="Which list of stages.")] = None,
    path: Annotated[list[str] | None, QueryParameter(description="Only these paths.")] = None,
    collection: Annotated[list[str] | None, QueryParameter(description="Only these collections.")] = None,
    diversify: Annotated[bool, QueryParameter(description="Put hits like a better one behind it.")] = True,
    explain: Annotated[bool, QueryParameter(description="Include the trace.")] = False,
) -> dict[str, Any]:
    """Return hits, best first, each verbatim with its place."""
    only = Filter(paths=tuple(path or ()), collections=tuple(collection or ()))
    found = library_of(state).search(text, top_k=top_k, profile=profile, filters=only, diversify=diversify)
    return found.to_dict(trace=explain)


@get("/api/explain", sync_to_thread=True)
def explain(
    state: State,
    document: Annotated[str, QueryParameter(description="The document: its id, collection/path, or a unique path.")],
    text: Annotated[str, QueryParameter(name="query", description="What was looked for.")],
    top_k: Annotated[int | None, QueryParameter(ge=1, le=1000, description="How many hits.")] = None,
    profile: Annotated[str | None, QueryParameter(description="Which list of stages.")] = None,
    path: Annotated[list[str] | None, QueryParameter(description="Only these paths.")] = None,
    collection: Annotated[list[str] | None, QueryParameter(description="Only these collections.")] = None,
) -> dict[str, Any]:
    """Say why a document is, or is not, among the hits of a search: where it stood, and what left it out."""
    only = Filter(paths=tuple(path or ()), collections=tuple(collection or ()))
    bee = library_of(state)
    return bee.explain_document(document, text, top_k=top_k, profile=profile, filters=only).to_dict()
