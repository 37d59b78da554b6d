"""How the screens look in the smallest window, as text. UPDATE_SNAPSHOTS=1 writes them anew."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.cli.tui.conftest import Drive, Screens

FOLDER = Path(__file__).parent / "snapshots"
SMALLEST = (80, 24)
CHANGING = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d(?!\S)", "<time>"),
    (r"[…/]\S*notes(?=\s|$)", "<folder>"), (r"\d+(\.\d+)? m?s\b", "<seconds>"),
)  # fmt: skip


def snapshot(screens: Screens, name: str) -> None:
    """Compare what is shown with the picture of this name."""
    seen = screens.text()
    for pattern, instead in CHANGING:
        seen = re.sub(pattern, instead, seen)
    # What changes has other lengths as well.
    seen = "\n".join(re.sub(r"\s{3,}$|(?<=<folder>)\s+", " ", row).rstrip() for row in seen.split("\n")) + "\n"
    file = FOLDER / f"{name}.txt"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(seen, "utf-8")
    assert seen == file.read_text("utf-8"), name


def test_screens_look_as_they_should(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        await screens.type("queen")
        await screens.shows("1 hit", "3 The queen lays eggs")
        snapshot(screens, "search")
        await screens.press("f3")
        await screens.type("When does the queen lay eggs?\n")
        await screens.shows("[1] bees.md:3", "Searched: raw")
        snapshot(screens, "chat")
        await screens.press("f4")
        await screens.shows("5 documents", "read by")
        snapshot(screens, "documents")
        await screens.press("f5")
        await screens.shows("Nothing was done yet")
        snapshot(screens, "tasks")
        await screens.press("f7")
        await screens.shows("There are no pages yet.")
        snapshot(screens, "wiki")
        await screens.press("x")
        screens.app.typed("/help")
        await screens.shows("Keys and commands", "Everywhere")
        picture = screens.app.export_screenshot()
        assert picture.startswith("<svg")
        assert "commands" in picture

    drive(script, size=SMALLEST)
