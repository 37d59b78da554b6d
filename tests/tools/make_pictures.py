"""Make the pictures of the tutorial anew, from the sample library: `python -m tests.tools.make_pictures [NAME…]`.

The screens are drawn by Textual itself, the charts by `lilbee`, the pages by a Chromium where there is one. Times are
the same in every run, so that a picture changes only when what it shows does.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lilbee_core import Lilbee, SearchResult
from lilbee_core.evaluation import Comparison
from lilbee_core.types import LibraryStatus

if TYPE_CHECKING:
    from lilbee_cli.tui.app import LilbeeApp
    from tests.cli.tui.conftest import Screens

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "library"
PICTURES = ROOT / "docs" / "tutorial" / "pictures"
MOST_BYTES = 150_000
QUESTION = "When did hive seven swarm, and who caught it?"
SEARCHED = "winter stores"
JUDGED = {
    "winter stores": "handbook.pdf",
    "when did hive seven swarm": "notes/hive-seven.md",
    "what did the club spend this year": "minutes/2025-10-14-autumn-meeting.docx",
    "how many kilograms of honey": "records/harvest-2025.csv",
    "weight of the hive by the hour": "logs/hive7-scale.log",
    "which hive stands where": "records/hives.json",
    "program that reads the scale": "code/hive_scale.py",
    "what newcomers need to know": "welcome.md",
}
_STEADY = {r"\d+\.\d s\b": "0.2 s", r"\b\d{4}-\d\d-\d\dT[\d:.+]{21,}": "2026-01-31T09:00:00.000000+00:00"}
_STEADY_PAGE = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const one = texts.currentNode;
    one.data = one.data.replace(/\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC/g, "2026-01-31 09:00 UTC");
    one.data = one.data.replace(/^\\d+\\.\\d s$/, "0.2 s");
  }
}"""
_SIZE = (100, 30)
_WINDOW = {"width": 1000, "height": 680}


class Steady(Lilbee):
    """A library whose searches always take as long, and which lies in the same place on every machine."""

    def search(self, *arguments: Any, **options: Any) -> SearchResult:
        return replace(super().search(*arguments, **options), seconds=0.012)

    def status(self) -> LibraryStatus:
        return replace(super().status(), root="~/library")


@contextmanager
def sample() -> Generator[Lilbee]:
    """Index a copy of the sample library."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(shutil.copytree(SAMPLE, Path(folder) / "library", ignore=shutil.ignore_patterns(".lilbee")))
        with Steady(root) as bee:
            bee.sync()
            yield bee


# --------------------------------------------------------------------------- screens


async def _screens(bee: Lilbee) -> None:
    from lilbee_cli.tui.app import LilbeeApp
    from tests.cli.tui.conftest import Screens

    def open_library(*_: object) -> Lilbee:
        return Steady(bee.root)  # the screens close what they opened

    app = LilbeeApp(open_library)
    async with app.run_test(size=_SIZE) as pilot:
        screens = Screens(app, pilot)
        await screens.until(lambda: app.is_open)
        await screens.type(SEARCHED)
        await screens.shows("hits, ")
        await screens.until(lambda: screens.pane.thread("passage").is_idle)
        await screens.press("down", "up")
        await asyncio.sleep(1)
        await _save(screens, "screen-search")
        await screens.press("f3")
        await screens.type(f"{QUESTION}\n")
        await screens.shows("[1] ", "Searched: raw")
        await _save(screens, "screen-chat")
        await screens.press("f4")
        await screens.shows("16 documents")
        await _save(screens, "screen-documents")


async def _save(screens: Screens, name: str) -> None:
    from lilbee_cli.tui.fields import Composer, Line

    for field in (*screens.app.query(Line), *screens.app.query(Composer)):
        field.cursor_blink = False
    await screens.pilot.pause()
    _write(f"{name}.svg", screen_picture(screens.app))


def screen_picture(app: LilbeeApp) -> str:
    """Return what is on the screen as SVG, without the fonts that it would fetch from elsewhere."""
    svg = re.sub(r"@font-face\s*\{[^}]*\}", "", app.export_screenshot(title="lilbee"))
    for pattern, instead in _STEADY.items():
        svg = re.sub(pattern, instead, svg)
    # Its names are made from the times as well, which are the same now.
    return re.sub(r"terminal-\d+-", "terminal-", svg)


# --------------------------------------------------------------------------- charts


def _charts(bee: Lilbee) -> None:
    from lilbee_cli.render.charts import of_evaluation, of_status
    from lilbee_cli.render.svg import picture

    status = bee.status()
    _write("status.svg", picture(of_status(status, bee.documents()), title="The state of the sample library"))
    queries = {f"q{at}": text for at, text in enumerate(JUDGED)}
    qrels = {f"q{at}": {path: 1} for at, path in enumerate(JUDGED.values())}
    pair: Comparison = bee.evaluation.compare(queries, qrels, ["default", "keyword"])[0]
    # How long searches took is another thing on every machine.
    charts = of_evaluation([pair.base, pair.other], [pair])[:2]
    _write("eval.svg", picture(charts, title="How well search finds"))


# --------------------------------------------------------------------------- pages


def _pages(bee: Lilbee) -> None:
    from tests.server.conftest import serving
    from tests.server.web.conftest import page_app
    from tests.support.chromium import Visitor, a_chromium

    app = page_app(bee, hosts=("127.0.0.1",))
    with serving(app) as url, a_chromium() as browser:

        def visit(page: Any) -> None:
            who = Visitor(page, url)
            page.goto(f"{url}/sign-in?code={app.state['signins'].new_code()}")
            page.wait_for_url(f"{url}/")
            _take_pages(who, page)

        browser.run(visit, viewport=_WINDOW)


def _take_pages(who: Any, page: Any) -> None:
    def take(name: str) -> None:
        page.evaluate(_STEADY_PAGE)
        page.screenshot(path=PICTURES / f"{name}.png", animations="disabled", caret="hide")

    who.type(SEARCHED)
    who.sees("hits")
    who.until(lambda: "winter" in page.url)
    take("page-search")
    page.get_by_role("link", name="handbook.pdf").first.click()
    who.until(lambda: page.locator("mark.here").count() or page.locator("main img").count(), "the passage")
    page.wait_for_load_state("networkidle")
    take("page-read")
    page.goto(f"{who.url}/chat")
    who.type(QUESTION)
    who.press("Enter")
    who.until(lambda: page.locator("a.cite").count(), "a citation")
    who.until(lambda: not page.locator("[data-stream]").count(), "the end of the reply")
    page.evaluate("scrollTo(0, 0)")
    take("page-chat")
    page.goto(f"{who.url}/documents")
    who.sees("welcome.md")
    take("page-documents")


def _concept_map(bee: Lilbee) -> None:
    from tests.support.chromium import a_chromium

    with tempfile.TemporaryDirectory() as folder, a_chromium() as browser:
        file = Path(folder) / "map.html"
        bee.concepts.export(file)

        def take(page: Any) -> None:
            page.goto(file.as_uri())
            page.wait_for_function("heat <= .02", timeout=60_000)
            page.screenshot(path=PICTURES / "map.png", animations="disabled")

        browser.run(take, viewport=_WINDOW, bypass_csp=True)


def _write(name: str, svg: str) -> None:
    (PICTURES / name).write_text(svg, encoding="utf-8", newline="\n")


KINDS: dict[str, Callable[[Lilbee], None]] = {
    "charts": _charts, "map": _concept_map, "pages": _pages, "screens": lambda bee: asyncio.run(_screens(bee)),
}  # fmt: skip


def main(names: list[str]) -> int:
    """Make the pictures that are named, all of them without names; say which are too large."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with sample() as bee:
        for name, make in KINDS.items():
            if not names or name in names:
                make(bee)
    large = [one.name for one in PICTURES.iterdir() if one.stat().st_size > MOST_BYTES]
    for one in large:
        sys.stderr.write(f"{one} has more than {MOST_BYTES:,} bytes\n")
    return 1 if large else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
