"""`lilbee conversation`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import talk
from lilbee_cli.render.json import emit, emit_list
from lilbee_cli.render.text import line

if TYPE_CHECKING:
    from lilbee_core.types import AttachedFile


@click.group("conversation")
def command() -> None:
    """List, show, export, summarize, rename and delete conversations. Talk with `lilbee chat`.

    REF is the id of a conversation, the beginning of it, or its title.
    """


@command.command("list")
@click.argument("search", required=False, default="")
@common
def list_(told: Common, search: str) -> None:
    """List conversations, the latest first; with SEARCH, those whose title holds it."""
    with told.open(there=True) as bee:
        found = bee.conversations.list(search)
        if told.as_json:
            emit_list("conversations", [one.to_dict() for one in found])
        else:
            talk.conversations(found)


@command.command("show")
@click.argument("ref")
@click.option("--last", type=click.IntRange(min=1), help="Only so many messages, the latest ones.")
@common
def show(told: Common, ref: str, *, last: int | None) -> None:
    """Show a conversation, with the sources of its replies."""
    with told.open(there=True) as bee:
        conversation = bee.conversations.require(ref)
        if told.as_json:
            emit(conversation.to_dict())
        else:
            talk.transcript(conversation, last=last)


@command.command("export")
@click.argument("ref")
@click.option(
    "--format", "kind", type=click.Choice(["markdown", "json"]), default="markdown", help="Of the transcript."
)
@click.option("--out", type=click.Path(dir_okay=False), help="File to write; standard output otherwise.")
@common
def export(told: Common, ref: str, *, kind: str, out: str | None) -> None:
    """Write a conversation as Markdown or JSON."""
    with told.open(there=True) as bee:
        written = bee.conversations.export(ref, "json" if told.as_json and out is None else kind)
        if out is not None:
            Path(out).write_text(written, encoding="utf-8")
        if out is not None and told.as_json:
            emit({"ref": ref, "file": out, "format": kind})
        elif out is None:
            click.echo(written, nl=False)


@command.command("attachments")
@click.argument("ref")
@click.option("--out", type=click.Path(file_okay=False), help="Folder to write them to; by default they are listed.")
@common
def attachments(told: Common, ref: str, *, out: str | None) -> None:
    """List what was attached to the messages of a conversation, or write it to files."""
    with told.open(there=True) as bee:
        conversation = bee.conversations.require(ref)
        there = [(one, at) for one in conversation.messages for at in range(1, len(one.attachments) + 1)]
        found = [{"message": one.id, "number": at, **one.attachments[at - 1].to_dict()} for one, at in there]
        if out is not None:
            for row, (one, at) in zip(found, there, strict=True):
                row["file"] = str(_saved(conversation.attachment(one.id, at), Path(out)))
        if told.as_json:
            emit_list("attachments", found)
        else:
            talk.attachments(found)


@command.command("compact")
@click.argument("ref")
@common
def compact(told: Common, ref: str) -> None:
    """Summarize earlier messages for the chat model. The messages stay."""
    with told.open(there=True) as bee:
        conversation = bee.conversations.require(ref)
        done = conversation.compact()
        if told.as_json:
            emit({"id": conversation.id, "compaction": None if done is None else done.to_dict()})
        else:
            talk.compaction(done, conversation.summarized)


@command.command("rename")
@click.argument("ref")
@click.argument("title")
@common
def rename(told: Common, ref: str, title: str) -> None:
    """Give a conversation another title."""
    with told.open(there=True) as bee:
        info = bee.conversations.rename(ref, title)
        if told.as_json:
            emit(info.to_dict())
        else:
            click.echo(line(f"{info.id}  {info.title}"))


@command.command("delete")
@click.argument("refs", nargs=-1, required=True)
@common
def delete(told: Common, refs: tuple[str, ...]) -> None:
    """Delete conversations with all their messages. Documents stay."""
    with told.open(there=True) as bee:
        found = [bee.conversations.require(ref) for ref in refs]
        gone = [one.id for one in found if bee.conversations.delete(one.id)]
        if told.as_json:
            emit({"deleted": gone})
        else:
            click.echo(line(f"deleted: {', '.join(gone)}"))


def _saved(attached: AttachedFile, folder: Path) -> Path:
    """Write a file under its name, or the next one like it that is free, and return where it is."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = Path(attached.name)
    file, number = folder / plain.name, 1
    while True:
        with suppress(FileExistsError), file.open("xb") as out:
            out.write(attached.content)
            return file
        number += 1
        file = folder / f"{plain.stem} ({number}){plain.suffix}"
