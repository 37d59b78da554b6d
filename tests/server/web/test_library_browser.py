"""The pages about the library in a browser: what scripts add to them, and that keys alone, or a narrow window, do."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_core.types import Vectors
from tests.server.conftest import serving
from tests.server.web.conftest import page_app
from tests.support.chromium import Chromium, Visitor, a_chromium

pytestmark = pytest.mark.slow
ADDRESSES = (
    "/", "/documents", "/documents?state=failed", "/documents/add", "/documents/why?path=broken.pdf", "/jobs", "/wiki",
    "/wiki/build", "/wiki/lint", "/collections", "/collections/change?name=notes", "/models", "/settings?edit=top_k",
)  # fmt: skip
MISPLACED = """() => {
    const box = (one) => one.getBoundingClientRect(), shown = (one) => box(one).width > 1, wrong = [];
    const top = [...document.querySelectorAll(".top a, .top button")].filter(shown);
    const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    top.forEach((one, at) => top.slice(at + 1).forEach((other) => {
        if (meet(box(one), box(other))) wrong.push(`${one.textContent} lies on ${other.textContent}`);
    }));
    for (const row of document.querySelectorAll(".row")) {
        const buttons = [...row.querySelectorAll("button, .button")].filter(shown);
        buttons.slice(1).forEach((one, at) => {
            const a = box(buttons[at]), b = box(one), off = Math.abs(a.top + a.bottom - b.top - b.bottom) / 2;
            if (a.top < b.bottom && b.top < a.bottom && off > 2) wrong.push(`${one.textContent} is ${off} px off`);
        });
    }
    return wrong;
}"""
"""What lies on something else in the header, and what does not stand in line with the button before it."""
LONG = "a-name-that-is-much-longer-than-any-window-" * 4


class HeldEmbedder(HashEmbedder):
    """Makes no vectors while it is held."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.go.set()

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        assert self.go.wait(30)
        return super().embed_batch(texts)


@pytest.fixture(scope="module")
def embedder() -> HeldEmbedder:
    return HeldEmbedder()


@pytest.fixture(scope="module")
def bee(tmp_path_factory: pytest.TempPathFactory, embedder: HeldEmbedder) -> Iterator[Lilbee]:
    root = tmp_path_factory.mktemp("browsed") / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    (root / f"{LONG}.txt").write_text("Pears ripen in September.\n", encoding="utf-8")
    (root / "broken.pdf").write_bytes(b"%PDF-1.4 nothing of a file\n")
    with Lilbee(root, embedder=embedder) as bee:
        bee.sync()
        yield bee


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    with a_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(bee: Lilbee, chromium: Chromium) -> Iterator[tuple[str, object]]:
    app = page_app(bee, hosts=("127.0.0.1",))
    with serving(app) as url:
        yield url, app.state["signins"]


@pytest.fixture
def enter(server: tuple[str, object]) -> str:
    """An address that signs one browser in."""
    url, signins = server
    return f"{url}/sign-in?code={signins.new_code()}"  # type: ignore[attr-defined]


def test_a_job_is_told_while_it_runs_and_after_one_comes_back(
    chromium: Chromium, bee: Lilbee, embedder: HeldEmbedder, server: tuple[str, object], enter: str
) -> None:
    root = Path(str(bee.root))
    bee.sync()  # what a sync that another test ended has left

    def script(who: Visitor) -> None:
        who.enter(enter)
        who.page.goto(f"{who.url}/documents")
        embedder.go.clear()
        (root / "wasps.md").write_text("# Wasps\n\nWasps sting.\n", encoding="utf-8")
        who.click("button", "Sync now")
        who.sees("running", "1 to read")
        who.until(lambda: who.page.locator("#job progress").count() == 1, "a bar")
        who.page.reload()
        who.sees("running", "1 to read")  # what was told before stands there again, once
        assert who.text().count("1 to read") == 1
        who.page.route("**/events?*", lambda route: route.abort("connectionrefused"))
        who.page.reload()
        who.sees("The server cannot be reached. This page goes on by itself when it can.", within="#toasts")
        who.page.unroute("**/events?*")
        who.until(lambda: not who.page.locator("#toasts .notice").count(), "the server again")
        embedder.go.set()
        who.sees("done", "1 added", "indexed wasps.md")
        who.until(lambda: who.page.locator("#job progress").count() == 0, "the end of the bar")
        who.until(lambda: "1 added" in who.page.locator("#status").inner_text(), "a word to readers of screens")
        assert [one for one in who.wrong if "CONNECTION_REFUSED" not in one] == []

    try:
        chromium.run(lambda page: script(Visitor(page, server[0])))
    finally:
        embedder.go.set()


def test_a_job_is_ended_by_the_page(
    chromium: Chromium, bee: Lilbee, embedder: HeldEmbedder, server: tuple[str, object], enter: str
) -> None:
    def script(who: Visitor) -> None:
        who.enter(enter)
        embedder.go.clear()
        (Path(str(bee.root)) / "hornets.md").write_text("# Hornets\n\nHornets sting.\n", encoding="utf-8")
        job = bee.jobs.start("sync")
        who.page.goto(f"{who.url}/jobs")
        who.sees("running")
        who.click("button", "End")
        embedder.go.set()
        who.sees("cancelled" if str(job.wait(20).state) == "cancelled" else "done")

    try:
        chromium.run(lambda page: script(Visitor(page, server[0])))
    finally:
        embedder.go.set()


def test_files_are_dropped_and_what_is_too_large_is_said_before_it_is_sent(
    chromium: Chromium, bee: Lilbee, server: tuple[str, object], enter: str
) -> None:
    make = """([name, bytes]) => {
        const dropped = new DataTransfer();
        dropped.items.add(new File([new Uint8Array(bytes).fill(66)], name));
        return dropped;
    }"""

    def drop(who: Visitor, name: str, count: int) -> None:
        dropped = who.page.evaluate_handle(make, [name, count])
        who.page.dispatch_event("form[data-drop]", "drop", {"dataTransfer": dropped})

    def script(who: Visitor) -> None:
        who.enter(enter)
        who.page.goto(f"{who.url}/documents/add")
        who.sees("or drop them here", "At most 100 MB a file")
        drop(who, "large.bin", 100_000_001)
        who.sees("Too large: large.bin.")
        who.press("Enter")  # the button has the focus; the browser refuses to send
        assert who.page.url.endswith("/documents/add")
        drop(who, "moths.txt", 40)
        who.sees("1 chosen: moths.txt.")
        who.press("Enter")
        who.sees("done", "1 added")
        assert who.wrong == []

    chromium.run(lambda page: script(Visitor(page, server[0])))
    assert any(row.path == "moths.txt" for row in bee.documents())


def test_keys_alone_take_a_document_out_and_back(
    chromium: Chromium, bee: Lilbee, server: tuple[str, object], enter: str
) -> None:
    def to(who: Visitor, name: str) -> None:
        for _ in range(80):
            who.press("Tab")
            focused = who.page.locator("a:focus, button:focus")
            if focused.count() and " ".join(focused.inner_text().split()) == name:
                return
        pytest.fail(f"{name} is not reached")

    def script(who: Visitor) -> None:
        who.enter(enter)
        who.page.goto(f"{who.url}/documents?q=bees.md")
        who.press("Tab")
        assert who.page.locator("*:focus").inner_text() == "Skip to the content"
        who.press("Enter")
        to(who, "Exclude notes/bees.md")
        who.press("Enter")
        who.sees("Take these out of the index?")
        who.press("Enter")  # the button has the focus
        who.sees("Taken out of the index")
        to(who, "Take back notes/bees.md")
        who.press("Enter")
        who.sees("indexed bees.md")  # and what other tests left beside it

    chromium.run(lambda page: script(Visitor(page, server[0])))
    assert bee.collections.states()["excluded"] == 0


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_sticks_out_and_nothing_is_refused(
    chromium: Chromium, server: tuple[str, object], enter: str, width: int
) -> None:
    def script(who: Visitor) -> dict[str, int]:
        who.enter(enter)
        wide: dict[str, int] = {}
        for address in ADDRESSES:
            who.page.goto(f"{who.url}{address}")
            who.page.wait_for_load_state("networkidle")
            over = who.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            if over > 0:
                wide[address] = over
            assert who.page.evaluate(MISPLACED) == [], address
        assert who.wrong == []
        return wide

    viewport = {"width": width, "height": 740}
    assert chromium.run(lambda page: script(Visitor(page, server[0])), viewport=viewport) == {}
