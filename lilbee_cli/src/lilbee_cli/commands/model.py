"""`lilbee model`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import models
from lilbee_cli.render.json import emit
from lilbee_cli.render.progress import ProgressSink

_TASK = click.option("--task", "-t", metavar="TASK", help="Only models for chat, embedding, reranker or vision.")


@click.group("model")
def command() -> None:
    """List, look for, fetch and remove models."""


@command.command("list")
@_TASK
@common
def list_(told: Common, *, task: str | None) -> None:
    """List the models on this machine, and what each can serve."""
    with told.open() as bee:
        found = bee.models.list(task)
        if told.as_json:
            emit({"folder": bee.models.folder.as_posix(), "models": [one.to_dict() for one in found]})
        else:
            models.entries(found, nothing="no model here does that; look for one: lilbee model catalog")


@command.command("catalog")
@click.argument("words", nargs=-1)
@_TASK
@click.option("--limit", "-n", default=20, show_default=True, type=click.IntRange(1, 100), help="At most so many.")
@common
def catalog(told: Common, words: tuple[str, ...], *, task: str | None, limit: int) -> None:
    """List models that are known to do well, or with WORDS look for others on the hub."""
    with told.open() as bee:
        found = bee.models.catalog(" ".join(words), task=task, limit=limit)
        if told.as_json:
            emit({"models": [one.to_dict() for one in found]})
        else:
            models.entries(found, nothing="the hub has no such model")


@command.command("show")
@click.argument("ref")
@common
def show(told: Common, ref: str) -> None:
    """Show what a model's file says, or which files the hub has of it."""
    with told.open() as bee:
        found = bee.models.show(ref)
        if told.as_json:
            emit(found.to_dict())
        else:
            models.entry(found)


@command.command("pull")
@click.argument("ref")
@common
def pull(told: Common, ref: str) -> None:
    """Fetch a model: OWNER/REPOSITORY, OWNER/REPOSITORY:Q4_K_M or OWNER/REPOSITORY/FILE.gguf.

    Stopped half-way, it goes on where it was when it is run again.
    """
    with ProgressSink(quiet=told.quiet or told.as_json, verbose=told.verbose) as sink, told.open(sink) as bee:
        found = bee.models.pull(ref)
    if told.as_json:
        emit(found.to_dict())
    else:
        models.pulled(found)


@command.command("rm")
@click.argument("ref")
@common
def remove(told: Common, ref: str) -> None:
    """Delete a model that was fetched."""
    with told.open() as bee:
        found, freed = bee.models.remove(ref)
    if told.as_json:
        emit({"removed": found.to_dict(), "freed_bytes": freed})
    else:
        models.removed(found, freed)
