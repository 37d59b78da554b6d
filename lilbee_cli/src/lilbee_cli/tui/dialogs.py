"""Small screens that ask for one thing: a line, a yes, a choice; or show a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static

from lilbee_cli.tui.fields import Line

T = TypeVar("T")


class Dialog(ModalScreen[T]):
    """A screen above the others, which Escape closes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "back", priority=True)]


class Ask(Dialog[str]):
    """Asks for a line; gives None when it is left."""

    def __init__(self, question: str, *, value: str = "", hint: str = "") -> None:
        super().__init__()
        self._question, self._value, self._hint = question, value, hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._question, "bold"), classes="question")
            yield Line(self._value, select_on_focus=False)
            yield Static(Text(self._hint or "Enter takes it, Escape leaves it.", "dim"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())


class Confirm(Dialog[bool]):
    """Asks before something is taken away."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y,enter", "dismiss(True)", "yes"), Binding("n", "dismiss(None)", "no"),
    ]  # fmt: skip

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._question))
            yield Static(Text("y or Enter: yes    n or Escape: no", "dim"))


class Choose(Dialog[int]):
    """Has one of several things chosen, by the arrow keys or its number; gives its position, or None."""

    def __init__(self, question: str, choices: Sequence[str | Text]) -> None:
        super().__init__()
        self._question, self._choices = question, choices

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._question, "bold"), classes="question")
            rows = [
                Text.assemble(f"{at} " if at < 10 else "", one if isinstance(one, Text) else Text(one))
                for at, one in enumerate(self._choices, start=1)
            ]
            yield OptionList(*rows, markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_index)

    def key_digit(self, digit: int) -> None:
        """Take the choice of this number."""
        if 1 <= digit <= len(self._choices):
            self.dismiss(digit - 1)

    def on_key(self, event: object) -> None:
        key = str(getattr(event, "key", ""))
        if key.isdecimal():
            self.key_digit(int(key))


class Shown(Dialog[None]):
    """Shows a text."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,enter", "dismiss(None)", "back")]

    def __init__(self, title: str, text: Text) -> None:
        super().__init__()
        self._title, self._text = title, text

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(Text(self._title, "bold"), classes="question")
            with VerticalScroll(can_focus=True):
                yield Static(self._text, classes="text")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()
