"""Commands that notes, facts and skills have in common."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import talk
from lilbee_cli.render.json import emit, emit_list

if TYPE_CHECKING:
    from lilbee_core import Lilbee
    from lilbee_core.notes import Shelf


def shelf_group(kind: str, about: str) -> click.Group:
    """Return the commands of a kind: list, show, add, edit, revert, delete."""
    group = click.Group(kind, help=about)
    for make in (_list, _show, _add, _edit, _revert, _delete):
        group.add_command(make(kind))
    return group


def _shelf(bee: Lilbee, kind: str) -> Shelf:
    found: Shelf = getattr(bee, f"{kind}s")
    return found


def _text(words: tuple[str, ...]) -> str:
    """Return the text as typed; a single ``-`` reads standard input."""
    return sys.stdin.read() if words == ("-",) else " ".join(words)


def _list(kind: str) -> click.Command:
    @click.command("list", help=f"List {kind}s, the latest first; with SEARCH, those that hold words of it.")
    @click.argument("search", required=False, default="")
    @common
    def list_(told: Common, search: str) -> None:
        with told.open(there=True) as bee:
            shelf = _shelf(bee, kind)
            found, damaged = shelf.list(search), shelf.damaged()
            if told.as_json:
                emit_list(f"{kind}s", [one.to_dict() for one in found])
            elif found or not damaged:
                talk.notes(found)
            for one in damaged:
                talk.note_to_reader(f"the record of the {kind} {one} is damaged: it stays as it is until you delete it")

    return list_


def _show(kind: str) -> click.Command:
    @click.command("show", help=f"Show a {kind}, by its id or name.")
    @click.argument("ref")
    @click.option("--revisions", is_flag=True, help="All of its revisions, and who wrote them.")
    @common
    def show(told: Common, ref: str, *, revisions: bool) -> None:
        with told.open(there=True) as bee:
            shelf = _shelf(bee, kind)
            found = shelf.revisions(ref) if revisions else (shelf.require(ref),)
            if told.as_json:
                emit({"revisions": [one.to_dict() for one in found]} if revisions else found[0].to_dict())
            else:
                for one in found:
                    talk.note(one)

    return show


def _add(kind: str) -> click.Command:
    @click.command("add", help=f"Save a {kind}. A single - as TEXT reads standard input.")
    @click.argument("text", nargs=-1, required=True)
    @click.option("--name", default="", help="What to call it.", hidden=kind == "fact")
    @click.option("--description", default="", help="When it applies, in a line.", hidden=kind != "skill")
    @common
    def add(told: Common, text: tuple[str, ...], *, name: str, description: str) -> None:
        with told.open(there=True) as bee:
            _told(told, _shelf(bee, kind).add(_text(text), name=name, description=description))

    return add


def _edit(kind: str) -> click.Command:
    @click.command("edit", help=f"Write a {kind} anew; what it was stays as a revision.")
    @click.argument("ref")
    @click.argument("text", nargs=-1)
    @click.option("--name", help="Another name.", hidden=kind == "fact")
    @click.option("--description", help="Another description.", hidden=kind != "skill")
    @common
    def edit(told: Common, ref: str, text: tuple[str, ...], *, name: str | None, description: str | None) -> None:
        with told.open(there=True) as bee:
            changed = _text(text) if text else None
            _told(told, _shelf(bee, kind).edit(ref, text=changed, name=name, description=description))

    return edit


def _revert(kind: str) -> click.Command:
    @click.command("revert", help=f"Go back to a revision of a {kind}.")
    @click.argument("ref")
    @click.argument("revision", type=click.IntRange(min=1))
    @common
    def revert(told: Common, ref: str, revision: int) -> None:
        with told.open(there=True) as bee:
            _told(told, _shelf(bee, kind).revert(ref, revision))

    return revert


def _delete(kind: str) -> click.Command:
    @click.command("delete", help=f"Delete a {kind} with all its revisions.")
    @click.argument("ref")
    @common
    def delete(told: Common, ref: str) -> None:
        with told.open(there=True) as bee:
            shelf = _shelf(bee, kind)
            id_ = ref if ref in shelf.damaged() else shelf.require(ref).id
            shelf.delete(id_)
            if told.as_json:
                emit({"deleted": id_})
            else:
                click.echo(f"deleted: {id_}")

    return delete


def _told(told: Common, note: object) -> None:
    from lilbee_core.types import Note

    assert isinstance(note, Note)
    if told.as_json:
        emit(note.to_dict())
    else:
        talk.notes([note])
