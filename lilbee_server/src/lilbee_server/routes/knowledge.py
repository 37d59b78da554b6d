"""What the documents talk about, and the models of this machine."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import get
from litestar.datastructures import State
from litestar.params import QueryParameter

from lilbee_core.types import Community, ModelEntry, Relation
from lilbee_server.library import library_of

SERVED = "lilbee_core.library:InferenceModel"
Few = Annotated[int, QueryParameter(ge=1, le=1000, description="How many.")]


@get("/api/topics", sync_to_thread=True, opt={"gives": {"topics": [Community]}})
def topics(
    state: State,
    text: Annotated[
        str | None, QueryParameter(name="query", description="Only those that this and its hits belong to.")
    ] = None,
    limit: Few = 20,
) -> dict[str, Any]:
    """Return the communities of concepts, largest first."""
    return {"topics": [one.to_dict() for one in library_of(state).concepts.topics(text, limit=limit)]}


@get("/api/related", sync_to_thread=True, opt={"gives": {"related": [Relation]}})
def related(
    state: State, concept: Annotated[str, QueryParameter(description="A concept.")], limit: Few = 10
) -> dict[str, Any]:
    """Return what goes most with a concept."""
    return {"related": [one.to_dict() for one in library_of(state).concepts.related(concept, limit=limit)]}


@get("/api/models", sync_to_thread=True, opt={"gives": {"served": [SERVED], "installed": [ModelEntry]}})
def models(state: State) -> dict[str, Any]:
    """Return the models that requests can ask, and those of this machine."""
    library = library_of(state)
    return {
        "served": [one.to_dict() for one in library.inference.models()],
        "installed": [one.to_dict() for one in library.models.list()],
    }
