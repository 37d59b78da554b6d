"""A conversation in a browser: a reply that grows, a connection that breaks, two windows, keys (R326, R330, R333)."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_core.types import ChatOptions, Delta, Message
from tests.server.conftest import serving
from tests.server.web.conftest import page_app
from tests.server.web.test_chat import QUESTION, SETTINGS
from tests.support.chromium import Visitor, a_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow
REST = "\n\n```python\nreturn 1\n```\n\n| a | b |\n|---|---|\n| 1 | **2** |\n"


class Halting:
    """A chat model that says the half of every reply, and the rest when it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()

    def chat(self, messages: Sequence[Message], options: ChatOptions = ChatOptions()) -> Iterator[Delta]:
        yield Delta(kind="text", text="The **queen** lays eggs in spring [1]. So **it")
        for _ in range(3000):
            if self.go.wait(0.02):
                break
            yield Delta(kind="reasoning", text="…")
        yield Delta(kind="text", text="** is." + REST)


def test_a_conversation_in_two_windows(tmp_path: Path) -> None:
    root, chat = tmp_path / "notes", Halting()
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    with Lilbee(root, embedder=HashEmbedder(), chat=chat, overrides=SETTINGS) as bee:
        bee.sync()
        app = page_app(bee, hosts=("127.0.0.1",))
        with a_chromium() as chromium, serving(app) as url:
            address = f"{url}/sign-in?code={app.state['signins'].new_code()}"
            chromium.run(lambda page: talk(page, url, address, chat))


def talk(page: Page, url: str, address: str, chat: Halting) -> None:
    who = Visitor(page, url)
    page.goto(address)
    page.goto(f"{url}/chat")
    who.click("textbox", "Message")
    who.type(QUESTION)
    who.press("Enter")
    who.sees("The queen lays eggs in spring [1]. So it", within="#writing")
    assert page.locator("#writing strong").all_inner_texts() == ["queen", "it"], "what is open is closed while it grows"
    assert "being written" in page.locator("#status").inner_text()
    other = Visitor(page.context.new_page(), url)
    other.page.goto(page.url)
    page.context.set_offline(True)
    page.wait_for_timeout(300)
    page.context.set_offline(False)
    chat.go.set()
    who.until(lambda: page.locator(".reply table strong").count() and not page.locator("#writing").count(), "all of it")
    assert page.locator(".reply .hl-k").inner_text() == "return"
    assert "finished" in page.locator("#status").inner_text()
    other.until(lambda: not other.page.locator("#writing").count(), "the end, in the other window too")

    chat.go.clear()
    who.click("textbox", "Message")
    who.type("When does the queen lay eggs again?")
    who.press("Enter")
    who.until(lambda: page.locator("#writing strong").count(), "the next reply")
    assert page.locator("#message").input_value() == ""
    who.press("Escape")
    who.sees("This reply was cut off.")
    who.until(lambda: not page.locator("#writing").count(), "the end of what was stopped")

    other.click("textbox", "Message")
    other.type("From the other window")
    other.press("Enter")
    other.sees("changed elsewhere", "This reply was cut off.")
    assert other.page.locator("#message").input_value() == "From the other window"
    other.press("Enter")
    other.until(lambda: other.page.locator(".mine").count() == 3, "the message, sent again")
    other.until(lambda: not other.page.locator("#writing").count(), "its reply")

    page.reload()
    who.until(lambda: page.locator(".mine").count() == 3, "what was said elsewhere")
    page.locator(".edit summary").nth(1).click()
    who.click("button", "Only take it back", within=".mine:nth-of-type(3)")
    who.until(lambda: page.locator("#message").input_value() == "When does the queen lay eggs again?", "its words")
    assert page.locator(".mine").count() == 1

    # Who looks elsewhere is told; the page asks once a while, and when it is opened.
    chat.go.clear()
    page.locator("#message").fill(QUESTION)
    who.click("button", "Send")
    who.until(lambda: page.locator("#writing strong").count(), "another reply")
    page.goto(f"{url}/documents")
    other.page.close()
    chat.go.set()
    who.until(lambda: page.locator("#unseen-replies .dot").count(), "the dot")
    who.sees("A reply is finished:", QUESTION, within="#toasts")
    who.click("link", QUESTION, within="#toasts")
    who.until(lambda: page.locator(".reply table").count() == 2, "the reply")
    wrong = [one for one in who.wrong if "INTERNET_DISCONNECTED" not in one]
    assert wrong == []
    assert [one for one in other.wrong if "409" not in one and "INTERNET_DISCONNECTED" not in one] == []
