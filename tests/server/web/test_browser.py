"""The page in a browser: what people see, press and hear. One Chromium and one server for all of it.

`PAGES_AXE` names the file axe.min.js of npm's axe-core; without it nothing is said of accessibility. Screenshots go to
the folder that `PAGES_SCREENSHOTS` names, else to pytest's own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from litestar import Litestar

from lilbee_core import Lilbee
from lilbee_core.settings import Settings
from lilbee_core.testing import ScriptedChat, open_test_library
from lilbee_core.types import Message
from tests.core.extract._files import pdf
from tests.server.conftest import serving
from tests.server.web.conftest import page_app
from tests.support.chromium import Chromium, Visitor, a_chromium
from tests.support.hostile import PAGE

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

LONG = "".join(f"Line {at} of the weather.\n" for at in range(3000)) + "The zebra ends it.\n"
MOST_BYTES = 150_000


def reply(asked: Sequence[Message]) -> str:
    """Write a page of the wiki of which most is not borne out, and answer everything else."""
    if "passages" in asked[-1].content and "JSON" in " ".join(one.content for one in asked):
        said = ["The queen lays eggs in spring.", "The queen never lays bricks.", "The queen never lays tiles."]
        sentences = [{"text": one, "passages": [1]} for one in said]
        kept = [{"text": "The queen lays eggs in spring.", "passages": [1]}]
        pages = [{"title": "Queen", "sentences": sentences}, {"title": "Bees", "sentences": kept}]
        return json.dumps({"pages": pages})
    return "The queen lays eggs in spring. [1]"


@pytest.fixture(scope="module")
def bee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lilbee]:
    files: dict[str, str | bytes] = {
        "bees.md": "# Bees\n\nThe queen lays eggs in spring. She lays up to two thousand eggs a day.\n",
        "boats.md": "# Boats\n\nThe ferry leaves at noon.\n",
        "hive.py": '"""Doc."""\n\n\ndef hive(bees: int) -> int:\n    return bees + 1  # swarm\n',
        "long.txt": LONG,
        "hostile.md": "# Wasp\n\n" + "\n\n".join(f"The wasp is hostile. {one}" for one in PAGE),
        "report.pdf": pdf([(12, "The weir was repaired by the miller")], [(12, "The mill was sold to a baker")]),
        "broken.pdf": b"%PDF-1.4 nothing of a file\n",
    }
    root = tmp_path_factory.mktemp("shelf") / "notes"
    settings = Settings().changed({"embedding_model": "none"})
    with (
        pytest.MonkeyPatch.context() as patch,
        open_test_library(files=files, root=root, settings=settings, chat=ScriptedChat(reply)) as opened,
    ):
        patch.setenv("LILBEE_CONFIG_DIR", str(tmp_path_factory.mktemp("config")))
        opened.conversations.create(title="Of queens").send("When does the queen lay eggs?")
        opened.jobs.start("sync")
        opened.wiki.build()
        yield opened


@pytest.fixture(scope="module")
def app(bee: Lilbee) -> Litestar:
    return page_app(bee, hosts=("127.0.0.1",))


@pytest.fixture(scope="module")
def url(app: Litestar) -> Iterator[str]:
    with serving(app) as address:
        yield address


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with a_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.environ.get("PAGES_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def visit(app: Litestar, url: str, chromium: Chromium) -> Callable[..., Any]:
    """Run a script with somebody who is signed in; what a browser complains of fails the test."""

    def run(script: Callable[[Visitor], Any], *, complains: bool = False, **options: Any) -> Any:
        def visiting(page: Page) -> Any:
            who = Visitor(page, url)
            page.on("dialog", lambda dialog: (who.wrong.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
            page.goto(f"{url}/sign-in?code={app.state['signins'].new_code()}")
            page.wait_for_url(f"{url}/")
            found = script(who)
            assert complains or who.wrong == []
            return found

        return chromium.run(visiting, **options)

    return run


def shown_at(page: Page, selector: str) -> bool:
    """Whether something is within the window."""
    found: bool = page.locator(selector).first.evaluate(
        "one => { const box = one.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight }"
    )
    return found


# ------------------------------------------------------------------ search and reading


def test_search_as_you_type_and_read_at_the_place(visit: Callable[..., Any], pictures: Path) -> None:
    """By the keyboard alone; and what was searched is there again when one comes back."""

    def script(who: Visitor) -> None:
        who.until(lambda: who.page.evaluate("document.activeElement.id") == "q")
        who.type("zebra")
        who.sees("1 hit", "long.txt:")
        who.until(lambda: "q=zebra" in who.page.url)
        who.until(lambda: "1 hit" in who.page.locator("#status").text_content())
        who.page.screenshot(path=pictures / "search.png")
        who.press("ArrowDown", "Enter")
        who.sees("The zebra ends it.")
        who.until(lambda: shown_at(who.page, "mark.here b"))
        who.page.screenshot(path=pictures / "read.png")
        who.page.go_back()
        who.sees("1 hit", "long.txt:")
        assert who.page.locator("#q").input_value() == "zebra"
        who.page.locator("main").focus()
        who.press("/")
        assert who.page.evaluate("document.activeElement.id") == "q"
        who.type("quagga")
        who.sees("Nothing found")

    visit(script)


def test_only_what_was_typed_last_is_shown(visit: Callable[..., Any]) -> None:
    def script(who: Visitor) -> None:
        for word in ("zebra", "ferry", "queen"):
            who.page.locator("#q").fill(word)
        who.sees("bees.md:")
        who.page.wait_for_timeout(600)
        assert "long.txt" not in who.text("#results")
        assert "q=queen" in who.page.url

    visit(script)


def test_a_page_of_a_pdf_is_drawn_with_the_passage_on_it(visit: Callable[..., Any], pictures: Path) -> None:
    def script(who: Visitor) -> None:
        who.page.goto(f"{who.url}/search?q=mill+sold+baker")
        who.click("link", "report.pdf")
        who.sees("page 2 of 2")
        box = who.page.locator("rect.box").first
        box.wait_for()
        who.until(lambda: who.page.evaluate("document.querySelector('.sheet image').getBBox().width > 0"))
        sheet, mark = who.page.locator(".sheet svg").bounding_box(), box.bounding_box()
        assert sheet is not None
        assert mark is not None
        assert sheet["x"] <= mark["x"] < mark["x"] + mark["width"] <= sheet["x"] + sheet["width"]
        assert sheet["y"] <= mark["y"] < sheet["y"] + sheet["height"] / 4, "the text stands on top of the page"
        who.page.screenshot(path=pictures / "read-pdf.png")

    visit(script)


def test_everything_works_without_scripts(visit: Callable[..., Any], pictures: Path) -> None:
    """Signing in and out, searching, reading, another theme."""

    def script(who: Visitor) -> None:
        who.page.locator("#q").fill("ferry")
        who.click("button", "Search")
        who.sees("1 hit", "boats.md:")
        who.page.screenshot(path=pictures / "search-without-scripts.png")
        who.click("link", "boats.md")
        who.sees("The ferry leaves at noon.")
        who.click("button", "Theme")
        who.until(lambda: who.page.locator("html").get_attribute("data-theme") == "dark")
        who.sees("The ferry leaves at noon.")
        who.page.goto(f"{who.url}/read?document=report.pdf")
        who.click("link", "The page as it looks")
        who.until(lambda: "/picture" in who.page.url)
        who.page.goto(who.url)
        who.click("button", "Sign out")
        who.sees("This library is opened by its owner alone.")
        who.page.goto(f"{who.url}/search?q=ferry")
        who.sees("This library is opened by its owner alone.")

    visit(script, java_script_enabled=False)


def test_a_server_that_is_gone_and_a_session_that_is_over_are_told(visit: Callable[..., Any], app: Litestar) -> None:
    def script(who: Visitor) -> None:
        who.page.locator("#q").fill("queen")
        who.sees("1 hit")
        who.page.context.set_offline(True)
        who.page.locator("#q").fill("zebra")
        who.sees("The server cannot be reached", within="#toasts")
        who.page.context.set_offline(False)
        who.click("button", "Close", within="#toasts")
        who.page.context.clear_cookies()
        # What is asked for in the background may have led to the sign-in already.
        who.page.evaluate(
            "() => { const q = document.getElementById('q'); if (!q) return; q.value = 'zebras';"
            " q.dispatchEvent(new Event('input', {bubbles: true})) }"
        )
        who.sees("This library is opened by its owner alone.")
        assert "next=%2Fsearch%3Fq%3D" in who.page.url

    visit(script, complains=True)


def test_nothing_that_documents_say_runs(visit: Callable[..., Any]) -> None:
    def script(who: Visitor) -> None:
        who.page.add_init_script("window.alert = () => document.title = 'it ran'")
        for path in ("/search?q=wasp+hostile", "/read?document=hostile.md", "/read?document=hostile.md&view=text"):
            who.page.goto(f"{who.url}{path}")
            who.page.wait_for_timeout(100)
            assert who.page.title() != "it ran"

    visit(script)


@pytest.mark.parametrize("width", [320, 768])
def test_small_windows_scroll_one_way(visit: Callable[..., Any], pictures: Path, width: int) -> None:
    def script(who: Visitor) -> None:
        for name, path in PLACES.items():
            who.page.goto(f"{who.url}{path}")
            wide = who.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, (path, wide)
            if name in ("search", "read"):
                who.page.screenshot(path=pictures / f"{name}-{width}.png")

    visit(script, complains=True, viewport={"width": width, "height": 700})


# ------------------------------------------------------------------ every page

PLACES = {
    "start": "/",
    "search": "/search?q=queen&explain=1&type=md",
    "nothing": "/search?q=quagga",
    "wrong": "/search?q=x&after=soon",
    "read": "/read?document=bees.md&place=3",
    "prose": "/read?document=bees.md&view=rendered",
    "code": "/read?document=hive.py",
    "page": "/read?document=report.pdf",
    "explain": "/explain?q=queen&document=boats.md",
    "missing": "/nothing",
}
EXAMPLES = {"document": "notes/bees.md", "slug": "queen", "path": "notes/broken.pdf", "q": "queen", "name": "notes"}
NO_PAGES = ("/events", "/stream", "/export", "/picture", "/static", "/documents/", "/news", "/plan", "/thread")


def places(bee: Lilbee) -> dict[str, str]:
    """Return every page by a name: those above, and all that routes of the page lead to."""
    from lilbee_server.web.app import PAGES

    ids = {"/chat": bee.conversations.list()[0].id, "/jobs": bee.jobs.list()[0].id, "/ask": ""}
    found = dict(PLACES) | {f"wiki-{one.slug}": f"/wiki/page?slug={one.slug}" for one in bee.wiki.pages()[:1]}
    for module in PAGES:
        for one in module.ROUTES:
            for path in one.paths if "GET" in one.http_methods else ():
                if path.endswith(NO_PAGES):
                    continue
                name = ids.get(f"/{path.split('/')[1]}", "")
                if "{" in path and not name:
                    continue
                full = "/".join(name if part.startswith("{") else part for part in path.split("/"))
                query = "&".join(f"{key}={value}" for key, value in EXAMPLES.items())
                found[full.strip("/").replace("/", "-").replace(name or "/", "one") or "home"] = f"{full}?{query}"
    return found


def test_every_page_is_accessible_in_both_themes(visit: Callable[..., Any], bee: Lilbee, pictures: Path) -> None:
    """By axe: the rules of WCAG 2.2, levels A and AA."""
    file = os.environ.get("PAGES_AXE")
    if not file:
        pytest.skip("PAGES_AXE names no axe.min.js (`nox -s pages` fetches it)")
    axe = Path(file).read_text("utf-8")

    def script(who: Visitor) -> list[str]:
        found: list[str] = []
        for name, path in places(bee).items():
            who.page.goto(f"{who.url}{path}")
            if not who.page.locator("main").count():
                continue  # a piece that scripts ask for
            if who.page.locator(".sheet").count():
                who.page.locator(".sheet svg, .sheet .notice").first.wait_for()
            who.page.evaluate(axe + ";0")
            for theme in ("light", "dark"):
                who.page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
                found += [f"{name} {theme}: {one}" for one in violations(who.page)]
                who.page.screenshot(path=pictures / f"{name}-{theme}.png")
        return found

    found = visit(script, complains=True, reduced_motion="reduce")
    assert found == [], "\n".join(found)


def _keep(fetched: list[Any], response: Any) -> None:
    fetched.append(response)


def violations(page: Page) -> list[str]:
    """Return what axe finds on a page."""
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
    found: list[dict[str, Any]] = page.evaluate(
        "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']})"
        ".then(one => one.violations)",
        tags,
    )
    return [
        f"{one['id']}: {node['html'][:200]} ({node['failureSummary'][:300]})" for one in found for node in one["nodes"]
    ]


def test_the_page_for_strangers_is_accessible_too(chromium: Chromium, url: str, pictures: Path) -> None:
    file = os.environ.get("PAGES_AXE")
    if not file:
        pytest.skip("PAGES_AXE names no axe.min.js (`nox -s pages` fetches it)")
    axe = Path(file).read_text("utf-8")

    def script(page: Page) -> list[str]:
        found: list[str] = []
        for path in ("/sign-in", "/sign-in?code=wrong"):
            page.goto(f"{url}{path}")
            page.evaluate(axe + ";0")
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
                found += violations(page)
                page.screenshot(path=pictures / f"sign-in-{theme}.png")
        return found

    assert chromium.run(script) == []


def test_every_page_is_light(visit: Callable[..., Any], bee: Lilbee) -> None:
    """All that a browser fetches for it, with nothing kept from before; pictures of pages aside, they are documents."""

    def script(who: Visitor) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for name, path in places(bee).items():
            fetched: list[Any] = []
            keep = partial(_keep, fetched)
            who.page.on("response", keep)
            who.page.goto(f"{who.url}{path}", wait_until="load")
            ours = [one for one in fetched if "/picture" not in one.url]
            sizes[name] = sum(int(one.headers.get("content-length", 0)) for one in ours)
            who.page.remove_listener("response", keep)
        return sizes

    sizes = visit(script, complains=True)
    print(json.dumps(sizes, indent=1))
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}
