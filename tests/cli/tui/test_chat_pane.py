"""Conversations on a screen: replies as they come, citations that open, and what goes wrong (R245)."""

from __future__ import annotations

import threading

from textual import events

from lilbee_core.errors import ProviderError
from lilbee_core.settings import Settings
from lilbee_core.types import Delta
from tests.cli.tui.conftest import HOSTILE, Drive, Screens

PLAIN = Settings().changed({"query_expansion_count": 0, "chat_titles": False, "chat_rewrite": "off"})


class Model:
    """A chat model that says a word when it is let."""

    model = "fake/talk"

    def __init__(self, *words: str, breaks: bool = False) -> None:
        self.words, self.breaks = words, breaks
        self.go = threading.Semaphore(0)

    def chat(self, messages: object, options: object = None) -> object:
        for word in self.words:
            self.go.acquire(timeout=10)
            yield Delta(kind="text", text=word)
        if self.breaks:
            raise ProviderError("the model server is gone", hint="Start it again.")


def test_a_question_is_answered_and_its_citation_opens_the_passage(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        await screens.press("f3")
        await screens.type("What does the plum tree bear?\n")
        await screens.shows("The plum tree bears damsons. [1]", "[1] garden/plums.txt:40")
        await screens.press("ctrl+o", "enter")
        await screens.shows("Escape: back", "  40  The plum tree bears damsons.")
        await screens.press("escape")
        await screens.press("f3")
        screens.app.typed("/sources 1")
        await screens.shows("[F3 Chat]")

    drive(script)


def test_rewind_regenerate_scope_and_other_commands(drive: Drive, tmp_path) -> None:
    async def script(screens: Screens) -> None:
        await screens.press("f3")
        await screens.type("When does the queen lay eggs?\n")
        await screens.shows("in spring.", "bees.md:3")
        await screens.press("ctrl+r")
        await screens.until(lambda: not screens.pane.is_writing and len(screens.pane.conversation.messages) == 2)
        await screens.press("ctrl+b")
        await screens.shows("2 messages taken back.")
        assert screens.pane.first.text == "When does the queen lay eggs?"  # to be written otherwise
        screens.pane.first.clear()
        for line, told in (
            ("/scope none", "Nothing is searched."),
            ("/scope raw notes", "Searched: raw, notes"),
            ("/title On queens", "On queens"),
            ("/set top_k 7", "top_k = 7"),
            ("/compact", "no chat model"),
            ("/remember I keep bees.", "Remembered: I keep bees."),
            ("/rewind x", "takes a number"),
            ("/nosuch", "there is no command /nosuch"),
            ("/open", "Conversations, the latest first"),
            ("/attach bees.md", "Goes with your next message: bees.md"),
        ):
            screens.app.typed(line)
            await screens.shows(told)
            if told.startswith("Conversations"):
                await screens.press("escape")
        await screens.type("What is this?\n")
        await screens.until(lambda: not screens.pane.is_writing and screens.pane.conversation.messages)
        screens.app.typed(f"/save {tmp_path / 'talk.md'}")
        await screens.until(lambda: (tmp_path / "talk.md").read_text("utf-8").startswith("# "))

    drive(script)


def test_a_reply_is_shown_as_it_comes_and_can_be_stopped(drive: Drive) -> None:
    model = Model("The queen ", f"{HOSTILE} lays ", "eggs.")

    async def script(screens: Screens) -> None:
        await screens.press("f3")
        await screens.type("When does the queen lay eggs?\n")
        model.go.release()
        await screens.shows("The queen")
        assert screens.pane.is_writing
        await screens.type("Another")
        await screens.press("enter")
        await screens.shows("Escape stops it")
        assert screens.pane.first.text == "Another"  # nothing of it is lost
        await screens.press("escape")
        model.go.release(3)
        await screens.until(lambda: not screens.pane.is_writing)
        shown = await screens.shows("(cut off)", "\\x1b")
        assert "\x1b" not in shown

    drive(script, chat=model, settings=PLAIN)


def test_a_model_that_is_lost_amid_a_reply(drive: Drive) -> None:
    model = Model("The queen ", "lays ", breaks=True)
    model.go.release(99)

    async def script(screens: Screens) -> None:
        await screens.press("f3")
        await screens.type("When does the queen lay eggs?\n")
        await screens.shows("The queen lays", "(cut off)")
        model.breaks = False
        await screens.press("ctrl+r")
        await screens.until(lambda: not screens.pane.is_writing)
        await screens.until(lambda: str(screens.pane.conversation.messages[-1].state) == "done")

    drive(script, chat=model, settings=PLAIN)


def test_a_pasted_megabyte_goes_along_beside_the_message(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        await screens.press("f3")
        screens.pane.first.post_message(events.Paste("All about queens. " * 60_000))
        await screens.shows("1,080,000 characters", "pasted-1.txt")
        assert screens.pane.first.text == ""
        screens.pane.first.post_message(events.Paste("two\r\nlines\x1b[31m"))
        await screens.until(lambda: screens.pane.first.text == "two\nlines\\x1b[31m")
        await screens.press("enter")
        await screens.until(lambda: len(screens.pane.conversation.messages) == 2)
        (attached,) = screens.pane.conversation.messages[0].attachments
        assert attached.text == "All about queens. " * 60_000

    drive(script)
