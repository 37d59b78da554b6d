"""The ten tasks of somebody who sees the screens for the first time, by keys alone, and how many keys each takes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.testing import ScriptedChat
from lilbee_core.types import Message
from tests.cli.tui.conftest import FILES, Drive, Screens
from tests.support.websites import Website

SITE = {"/robots.txt": "", "/": "<title>Hives</title><p>A hive holds frames of wax.</p>"}
QUESTION = "When does the queen lay eggs?"
KEYS = {
    "open a folder": 2,
    "find a passage": len("damsons") + 1,
    "see why a file is missing": 3 + len("broken") + 1,
    "ask": 1 + len(QUESTION) + 1,
    "check a citation": 2,
    "exclude a file": 4 + len("pears") + 2,
    "add a page of the web": None,
    "review a draft": 3,
    "change a model": 3,
    "export a chat": 1 + len("/save talk.md") + 1,
}
"""What a task takes, the words that must be typed included. An address is as long as it is."""


def lies(asked: Sequence[Message]) -> str:
    """Write a page of which most is not borne out, so that it becomes a draft."""
    assert asked
    said = ["The queen lays eggs in spring.", *(f"The queen never lays {one}." for one in ("bricks", "tiles", "wax"))]
    return json.dumps({"pages": [{"title": "Queen", "sentences": [{"text": one, "passages": [1]} for one in said]}]})


@pytest.fixture
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is no library yet."""
    root = tmp_path / "papers"
    for name, content in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content.encode() if isinstance(content, str) else content)
    for name, value in (("CONFIG_DIR", str(tmp_path / "config")), ("DATA_DIR", str(tmp_path / "data")),
                        ("EMBEDDING_MODEL", "none"), ("CRAWL_ALLOWED_NETWORKS", "127.0.0.0/8")):  # fmt: skip
        monkeypatch.setenv(f"LILBEE_{name}", value)
    monkeypatch.chdir(root)
    return root


@pytest.mark.slow
def test_ten_tasks(drive: Drive, papers: Path) -> None:
    counted: dict[str, int] = {}

    async def script(screens: Screens) -> None:
        @contextmanager
        def task(name: str) -> Iterator[None]:
            before = screens.pressed
            yield
            counted[name] = screens.pressed - before

        with task("open a folder"):
            await screens.shows("Which folder holds your documents?")
            await screens.press("enter")
            await screens.shows("Which model answers questions?", "None: answers are made of quoted sentences")
            await screens.press("escape")
            await screens.shows("sync done: 4 added")
        with task("find a passage"):
            await screens.type("damsons")
            await screens.shows("1 hit")
            await screens.press("enter")
            await screens.shows("  40  The plum tree bears damsons.")
        await screens.press("escape")
        with task("see why a file is missing"):
            await screens.press("f4", "shift+tab")
            await screens.type("broken\n")
            await screens.until(lambda: len(screens.pane.rows) == 1)
            await screens.press("w")
            await screens.shows("Why", "broken.pdf", "failed:")
        await screens.press("escape")
        with task("ask"):
            await screens.press("f3")
            await screens.type(f"{QUESTION}\n")
            await screens.shows("in spring. [1]", "[1] bees.md:3")
        with task("check a citation"):
            await screens.press("ctrl+o")
            await screens.press("enter")
            await screens.shows("Escape: back", "3  The queen lays eggs in spring.")
        await screens.press("escape")
        with task("exclude a file"):
            await screens.press("f4", "shift+tab", "ctrl+u")
            await screens.type("pears\n")
            await screens.until(lambda: len(screens.pane.rows) == 1)
            await screens.press("x")
            await screens.shows("Take papers/garden/pears.txt out")
            await screens.press("y")
            await screens.shows("1 document taken out")
        with Website(SITE) as site, task("add a page of the web"):
            await screens.press("f10")
            await screens.shows("Add a file")
            await screens.type(f"{site.url('/')}\n")
            await screens.shows("add done: 1 added")
        await asyncio.to_thread(write_draft, papers)
        with task("review a draft"):
            await screens.press("f7", "d")
            await screens.shows("y publishes it", "+The queen lays eggs in spring.")
            await screens.press("y")
            await screens.shows("Queen is published.")
        with task("change a model"):
            await screens.press("f8")
            await screens.shows("builtin/all-MiniLM-L6-v2")
            await screens.press("u")
            await screens.shows("2 use no model for chat")
            await screens.press("2")
            await screens.shows("chat: none")
        with task("export a chat"):
            await screens.press("f3")
            await screens.type("/save talk.md\n")
            await screens.until(lambda: QUESTION in (papers / "talk.md").read_text("utf-8"))

    drive(script, open_library=lambda path, events: Lilbee(path, events=events))
    print(*(f"{count:>4} keys: {name}" for name, count in counted.items()), sep="\n")
    assert {name: count if KEYS[name] else None for name, count in counted.items()} == KEYS


def write_draft(folder: Path) -> None:
    """Have a chat model write a wiki, of which little can be believed."""
    with Lilbee(folder, chat=ScriptedChat(lies)) as bee:
        bee.wiki.build()
