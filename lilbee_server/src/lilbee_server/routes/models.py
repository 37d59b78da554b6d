"""The models of this machine: listed, looked for, fetched as a job, deleted, and given to roles."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Annotated, Any

from litestar import Router, delete, get, post, put
from litestar.datastructures import State
from litestar.handlers import HTTPRouteHandler
from litestar.params import JSONBody, PathParameter, QueryParameter

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument
from lilbee_core.types import ModelEntry
from lilbee_server.bodies import Body
from lilbee_server.describe import JOB
from lilbee_server.library import library_of

MODELS = {"models": [ModelEntry]}
SETTINGS = {
    "chat": "chat_model",
    "embedding": "embedding_model",
    "vision": "vision_model",
    "reranker": "reranker_model",
}
"""The setting of each role, by what the address calls it."""
Task = Annotated[
    str | None, QueryParameter(description="Only models for this role: chat, embedding, reranker or vision.")
]
Ref = Annotated[str, PathParameter(description="The model: owner/repository/file.gguf, or owner/repository.")]


class Wanted(Body):
    """A model of the hub: owner/repository, owner/repository:Q4_K_M or owner/repository/file.gguf."""

    model: str


class Assigned(Body):
    """A model as the settings name it (ollama/qwen3:0.6b, owner/repository/file.gguf); null for the default."""

    model: str | None


@get("/installed", sync_to_thread=True, opt={"gives": MODELS})
def installed(state: State, task: Task = None) -> dict[str, Any]:
    """Return the models on this machine, and what each can serve."""
    return {"models": [one.to_dict() for one in library_of(state).models.list(task)]}


@get("/catalog", sync_to_thread=True, opt={"gives": MODELS})
def catalog(
    state: State,
    words: Annotated[
        str,
        QueryParameter(name="query", description="Look for these words on the hub; without, what is known to do well."),
    ] = "",
    task: Task = None,
    limit: Annotated[int, QueryParameter(ge=1, le=100, description="At most so many.")] = 20,
) -> dict[str, Any]:
    """Return models that could be fetched."""
    return {"models": [one.to_dict() for one in library_of(state).models.catalog(words, task=task, limit=limit)]}


@get("/{ref:path}", sync_to_thread=True, opt={"gives": ModelEntry})
def show(state: State, ref: Ref) -> dict[str, Any]:
    """Return a model with all that is known of it: what its file says, or which files the hub has of it."""
    return library_of(state).models.show(model_name(ref)).to_dict()


@post("/pull", status_code=202, sync_to_thread=True, opt={"gives": JOB})
def pull(state: State, data: JSONBody[Wanted]) -> dict[str, Any]:
    """Start to fetch a model, and return the job at once.

    `GET /api/jobs/ID/events` streams how far it is, `DELETE /api/jobs/ID` ends it. What was fetched of a file then is
    kept: the same request goes on with it.
    """
    return library_of(state).jobs.start("pull", model=model_name(data.model)).to_dict()


@delete(
    "/{ref:path}",
    status_code=200,
    sync_to_thread=True,
    opt={"gives": {"removed": ModelEntry, "freed_bytes": int}},
)
def remove(state: State, ref: Ref) -> dict[str, Any]:
    """Delete a model that was fetched; `in_use` of it tells which roles had it."""
    entry, freed = library_of(state).models.remove(model_name(ref))
    return {"removed": entry.to_dict(), "freed_bytes": freed}


def _assigning(role: str, setting: str) -> HTTPRouteHandler:
    # A handler for each: one with several paths is wrapped twice by Litestar 2.25.
    @put(f"/{role}", sync_to_thread=True, opt={"gives": {"role": str, "setting": str, "model": str}})
    def assign(state: State, data: JSONBody[Assigned]) -> dict[str, Any]:
        """Give the role another model from now on, if it can serve it. A file may be named before it is fetched."""
        library = library_of(state)
        assign_model(library, setting, data.model)
        return {"role": role, "setting": setting, "model": str(library.settings.get(setting))}

    return assign


def assign_model(library: Lilbee, setting: str, model: str | None) -> None:
    """Give the role of a setting another model from now on, None for the default.

    Raises:
        SettingsError: If the model cannot serve the role.
    """
    if model is None:
        library.config.unset(setting)
    else:
        library.config.set(setting, model)


def model_name(ref: str) -> str:
    """Return the name of a model: nothing of the disk beside the folder of models is looked at.

    Raises:
        InvalidArgument: If it is a path instead.
    """
    name = ref.strip("/") if ref.startswith("/") else ref
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts or ".." in parts or name.startswith("~") or ":" in parts[0]:
        raise InvalidArgument(
            f"{ref!r} is no name of a model", hint="Name owner/repository or owner/repository/file.gguf."
        )
    return name


router = Router(
    "/api/models",
    route_handlers=[installed, catalog, show, pull, remove, *(_assigning(*one) for one in SETTINGS.items())],
)
