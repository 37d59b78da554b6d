"""The screens over a small real library, driven by their keys."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lilbee_cli.tui.app import LilbeeApp
from lilbee_core import Lilbee
from lilbee_core.settings import Settings
from lilbee_core.testing import open_test_library

HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eevil"
FILES: dict[str, str | bytes] = {
    "bees.md": "# Bees\n\nThe queen lays eggs in spring. She lays up to two thousand eggs a day.\n",
    "garden/plums.txt": "".join(f"Line {n} is about nothing.\n" for n in range(1, 40))
    + "The plum tree bears damsons.\n",
    "garden/pears.txt": "Pears ripen in September.\n",
    "hostile.md": f"# Hostile {HOSTILE}\n\nThe wasp is hostile. {HOSTILE}\n",
    "broken.pdf": b"%PDF-1.4 nothing of a file\n",
}
WAIT_S = 30.0


class Screens:
    """The program, its keys and what it shows. `pressed` counts the keys."""

    def __init__(self, app: LilbeeApp, pilot: Any) -> None:
        self.app, self.pilot, self.pressed = app, pilot, 0

    async def press(self, *keys: str) -> None:
        self.pressed += len(keys)
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        names = {" ": "space", "/": "slash", ".": "full_stop", "\n": "enter", "-": "minus", "_": "underscore",
                 "?": "question_mark", ":": "colon", ",": "comma"}  # fmt: skip
        await self.press(*(names.get(one, one) for one in text))

    async def until(self, holds: Callable[[], object], what: str = "") -> None:
        """Wait until something holds; fail with what is shown."""
        end = time.monotonic() + WAIT_S
        while True:
            await self.pilot.pause()
            try:
                if holds():
                    return
            except Exception:
                if time.monotonic() > end:
                    raise
            if time.monotonic() > end:
                pytest.fail(f"never came: {what}\n{self.text()}")
            await asyncio.sleep(0.01)

    async def shows(self, *parts: str) -> str:
        """Wait until all of this is on the screen, and return the screen."""
        await self.until(lambda: all(part in self.text() for part in parts), f"{parts}")
        return self.text()

    def text(self) -> str:
        """What stands on the screen."""
        strips = self.app.screen._compositor.render_strips(self.app.size)
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    @property
    def pane(self) -> Any:
        return self.app.pane


Script = Callable[[Screens], Awaitable[None]]
Drive = Callable[..., None]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that is indexed once."""
    root = tmp_path_factory.mktemp("screens") / "notes"
    with open_test_library(files=FILES, root=root):
        pass
    return root


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """The library of one test."""
    return Path(shutil.copytree(built, tmp_path / "notes"))


@pytest.fixture
def drive(folder: Path) -> Drive:
    """Runs a script on the screens over the library of the test."""

    def run(
        script: Script,
        *,
        size: tuple[int, int] = (100, 30),
        chat: object = None,
        settings: Settings | None = None,
        open_library: Callable[..., Lilbee] | None = None,
        **options: object,
    ) -> None:
        async def main() -> None:
            with open_test_library(root=folder, chat=chat, settings=settings) as bee:  # type: ignore[arg-type]
                app = LilbeeApp(open_library or (lambda *_: bee), **options)  # type: ignore[arg-type]
                async with app.run_test(size=size) as pilot:
                    screens = Screens(app, pilot)
                    if open_library is None:
                        await screens.until(lambda: app.is_open, "the library")
                    await script(screens)

        asyncio.run(main())

    return run
