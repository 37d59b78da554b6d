"""Search."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import get
from litestar.params import Parameter

from lilbee_core import Filter, Lilbee


@get("/api/search", sync_to_thread=True)
def search(
    library: Lilbee,
    text: Annotated[str, Parameter(query="query", description="What to look for.")],
    top_k: Annotated[int | None, Parameter(ge=1, le=1000, description="How many hits.")] = None,
    profile: Annotated[str | None, Parameter(description="Which list of stages.")] = None,
    path: Annotated[list[str] | None, Parameter(description="Only these paths.")] = None,
    collection: Annotated[list[str] | None, Parameter(description="Only these collections.")] = None,
    explain: Annotated[bool, Parameter(description="Include the trace.")] = False,
) -> dict[str, Any]:
    """Return hits, best first, each verbatim with its place."""
    only = Filter(paths=tuple(path or ()), collections=tuple(collection or ()))
    return library.search(text, top_k=top_k, profile=profile, filters=only).to_dict(trace=explain)
