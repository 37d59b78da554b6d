"""Models: listed, described, fetched, deleted."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from lilbee_core.types import ModelEntry
from lilbee_mcp.offers import Arguments, Call, fitting, offer

Ref = Annotated[str, Field(max_length=1_000)]


class Models(Arguments):
    """Which models."""

    task: str | None = None


class Model(Arguments):
    """A model."""

    model: Ref


@offer(Models, "Models", reads=True)
async def model_list(call: Call, asked: Models) -> dict[str, Any]:
    """List the models of this machine; `task` is chat, embedding, reranker or vision."""
    found: tuple[ModelEntry, ...] = await call.run(call.library.models.list, asked.task)
    return {"models": fitting(one.to_dict() for one in found), "models_count": len(found)}


@offer(Model, "Show a model", reads=True, outside=True)
async def model_show(call: Call, asked: Model) -> dict[str, Any]:
    """Describe a model: what its file says, or which files the hub offers."""
    entry: ModelEntry = await call.run(call.library.models.show, asked.model)
    return entry.to_dict()


@offer(Model, "Fetch a model", outside=True, repeats=True)
async def model_pull(call: Call, asked: Model) -> dict[str, Any]:
    """Fetch a model file (owner/repository, owner/repository:Q4_K_M); what was fetched is kept if it is cancelled."""
    pull = call.library.models.pull
    entry: ModelEntry = await call.threads.run_cancellable(lambda cancel: pull(asked.model, cancel=cancel), None)
    return entry.to_dict()


@offer(Model, "Delete a model", destroys=True)
async def model_rm(call: Call, asked: Model) -> dict[str, Any]:
    """Delete a model file that was fetched, and say how many bytes are free now."""
    entry, freed = await call.run(call.library.models.remove, asked.model)
    return {**entry.to_dict(), "freed_bytes": freed}


OFFERS = (model_list, model_show, model_pull, model_rm)
