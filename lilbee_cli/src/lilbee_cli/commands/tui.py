"""`lilbee tui`."""

from __future__ import annotations

import locale
import sys
from typing import TYPE_CHECKING

import click

from lilbee_cli.codes import OK
from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit

if TYPE_CHECKING:
    from pathlib import Path

    from lilbee_core import Lilbee
    from lilbee_core.events import EventSink


@click.command("tui")
@click.argument("words", nargs=-1)
@click.option(
    "--ascii/--utf-8", "ascii_only", default=None, help="Write ASCII alone; by default where there is no UTF-8."
)
@common
def command(told: Common, words: tuple[str, ...], *, ascii_only: bool | None) -> int:
    """Show the library in the terminal: search as you type, chat, documents, tasks, wiki, models, settings.

    With WORDS they are searched at once. F1 lists keys and commands. Needs the extra `tui`.
    """
    from lilbee_cli import tui

    tui.require_extra()
    if told.as_json:
        emit({"terminal": is_terminal(), "utf_8": not _lacks_utf8()})
        return OK
    if not is_terminal():
        raise click.ClickException("the screens need a terminal; `lilbee search`, `ask` and `chat` work without one")

    def open_library(folder: Path | None, events: EventSink) -> Lilbee:
        if folder is None:
            return told.open(events)
        from lilbee_core import Lilbee

        return Lilbee(folder, data_dir=told.data_dir, events=events)

    return tui.show(open_library, words=" ".join(words), ascii_only=_lacks_utf8() if ascii_only is None else ascii_only)


def is_terminal() -> bool:
    """Say whether screens can be shown, and keys read."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    from rich.console import Console

    return not Console().is_dumb_terminal


def _lacks_utf8() -> bool:
    return locale.getencoding().lower().replace("-", "") != "utf8"
