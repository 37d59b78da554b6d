"""Fields to type into. What is pasted may be of any size and hold anything: nothing of it hangs the screen."""

from __future__ import annotations

from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widgets import Input, TextArea

from lilbee_cli.render.text import clean, line

LONGEST_LINE = 2_000
LONGEST_MESSAGE = 5_000
"""What is pasted beyond that is handed over beside the message."""


class Line(Input):
    """A field of one line. Of what is pasted it takes the beginning, and tells that there was more."""

    # How long the text is moves nothing around the field; as Textual has it, the screen is arranged with every key.
    virtual_size = Reactive(Size(0, 0))

    class TooMuch(Message):
        """More was pasted than the field takes."""

        def __init__(self, chars: int) -> None:
            super().__init__()
            self.chars = chars

    def _on_paste(self, event: events.Paste) -> None:
        pasted = " ".join(event.text[: LONGEST_LINE * 2].split())[:LONGEST_LINE]
        if len(event.text) > LONGEST_LINE:
            self.post_message(self.TooMuch(len(event.text)))
        room = max(0, LONGEST_LINE - len(self.value))
        self.insert_text_at_cursor(line(pasted)[:room])
        event.stop()
        # The field's own way would take the first line of whatever was pasted.
        event.prevent_default()


class Composer(TextArea):
    """Where messages are written: Enter sends, Ctrl+J begins a new line. Long pastes are held apart."""

    BINDINGS = [Binding("ctrl+j", "newline", "new line", show=False)]  # noqa: RUF012 - as Textual declares it

    class Sent(Message):
        """A message is complete."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Pasted(Message):
        """A text was pasted that is too long to be written into the message."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            text = self.text
            self.clear()
            self.post_message(self.Sent(text))
            return
        await super()._on_key(event)

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        if len(event.text) > LONGEST_MESSAGE:
            self.post_message(self.Pasted(event.text))
        else:
            self.insert(clean(event.text.replace("\r\n", "\n").replace("\r", "\n")))

    def action_newline(self) -> None:
        """Begin a new line."""
        self.insert("\n")
