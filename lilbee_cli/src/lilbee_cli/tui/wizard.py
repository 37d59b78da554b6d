"""The first library: which folder holds the documents. Which model answers is asked once it is open."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Input, OptionList, Static

from lilbee_cli.render.text import counted, line
from lilbee_cli.tui.dialogs import Dialog
from lilbee_cli.tui.fields import Line

_MOST_FOLDERS, _MOST_FILES = 50, 10_000
_PRIVATE = "They are read where they are and stay on this computer. The index goes to a folder .lilbee in it."
_KEYS = "Enter makes it a library. Down goes to the folders in it, Enter there opens one. Escape leaves it."


class Wizard(Dialog[Path]):
    """Asks for the folder that holds the documents; gives it, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [("down", "down", "below"), ("tab", "down", "below")]

    def __init__(self, folder: str = "") -> None:
        super().__init__()
        self._folder = folder or str(Path.cwd())
        self._below: list[Path] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text("Which folder holds your documents?", "bold"), classes="question")
            yield Static(Text(_PRIVATE, "dim"))
            yield Line(self._folder, id="folder", select_on_focus=False)
            yield Static(id="seen")
            yield OptionList(id="below", markup=False)
            yield Static(Text(_KEYS, "dim"))

    def on_mount(self) -> None:
        self.query_one("#folder", Line).focus()
        self._look()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._look()

    def _path(self) -> Path:
        return Path(self.query_one("#folder", Line).value.strip() or ".").expanduser()

    def _look(self) -> None:
        path = self._path()
        folder, start = (path, "") if path.is_dir() else (path.parent, path.name)
        self._below = _folders(folder, start)
        self.query_one("#below", OptionList).set_options([Text(line(str(one))) for one in self._below])
        told = f"It holds {_count(path)}." if path.is_dir() else "There is no such folder (yet)."
        self.query_one("#seen", Static).update(Text(told))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        path = self._path()
        if path.is_dir():
            self.dismiss(Path(os.path.abspath(path)))
        else:
            self.query_one("#seen", Static).update(Text("There is no such folder: choose another.", "bold red"))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Go into a folder."""
        event.stop()
        field = self.query_one("#folder", Line)
        field.value = str(self._below[event.option_index])
        field.cursor_position = len(field.value)
        field.focus()

    def action_down(self) -> None:
        """Go to the folders, or back to the field."""
        below = self.query_one("#below", OptionList)
        (self.query_one("#folder", Line) if below.has_focus else below).focus()


def _folders(folder: Path, start: str) -> list[Path]:
    """Return the folders in a folder whose names begin so, at most so many."""
    found: list[Path] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(start) and not entry.name.startswith(".") and entry.is_dir():
                found.append(Path(entry.path))
            if len(found) >= _MOST_FOLDERS:
                break
    return sorted(found)


def _count(folder: Path) -> str:
    """Say how many files and folders there are right in a folder: its depths may be endless."""
    files = folders = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for at, entry in enumerate(entries):
            if entry.is_dir():
                folders += 1
            else:
                files += 1
            if at >= _MOST_FILES:
                break
    return f"{counted(files, 'file')} and {counted(folders, 'folder')}"
