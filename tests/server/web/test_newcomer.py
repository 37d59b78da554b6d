"""The ten tasks of somebody who sees the page for the first time, and how many clicks and keys each takes."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.testing import ScriptedChat
from tests.cli.tui.conftest import FILES
from tests.cli.tui.test_newcomer import QUESTION, SITE, lies
from tests.server.conftest import serving
from tests.server.web.conftest import page_app
from tests.support.chromium import Visitor, a_chromium
from tests.support.websites import Website

EFFORT = {
    "open a folder": (2, 0),
    "find a passage": (2, len("damsons")),
    "see why a file is missing": (2, len("broken")),
    "ask": (1, len(QUESTION) + 1),
    "check a citation": (1, 0),
    "exclude a file": (3, 0),
    "add a page of the web": (2, None),
    "review a draft": (3, 0),
    "change a model": (3, len("none") + 1),
    "export a chat": (4, 0),
}
"""The clicks and the keys of each task, the words that must be typed included. An address is as long as it is."""


@pytest.fixture
def bee(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lilbee]:
    """A library over a folder that nobody has read yet."""
    root = tmp_path / "papers"
    for name, content in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content.encode() if isinstance(content, str) else content)
    for name, value in (("CONFIG_DIR", str(tmp_path / "config")), ("DATA_DIR", str(tmp_path / "data")),
                        ("EMBEDDING_MODEL", "none"), ("CRAWL_ALLOWED_NETWORKS", "127.0.0.0/8")):  # fmt: skip
        monkeypatch.setenv(f"LILBEE_{name}", value)
    with Lilbee(root) as bee:
        yield bee


@pytest.mark.slow
def test_ten_tasks(bee: Lilbee) -> None:
    app = page_app(bee, hosts=("127.0.0.1",))
    counted: dict[str, tuple[int, int]] = {}
    signins = app.state["signins"]
    with a_chromium() as chromium, serving(app) as url, Website(SITE) as site:
        address = f"{url}/sign-in?code={signins.new_code()}"
        chromium.run(lambda page: ten_tasks(Visitor(page, url), bee, address, site.url("/"), counted))
    print(*(f"{clicks:>3} clicks, {keys:>3} keys: {name}" for name, (clicks, keys) in counted.items()), sep="\n")
    assert {
        name: (clicks, keys if EFFORT[name][1] is not None else None) for name, (clicks, keys) in counted.items()
    } == EFFORT


def ten_tasks(who: Visitor, bee: Lilbee, address: str, site: str, counted: dict[str, tuple[int, int]]) -> None:
    @contextmanager
    def task(name: str) -> Generator[None]:
        before = who.clicks, who.keys
        yield
        counted[name] = who.clicks - before[0], who.keys - before[1]

    with task("open a folder"):
        who.enter(address)
        who.clicks += 1  # on the address that `lilbee serve` printed
        who.sees("Nothing is indexed here yet", str(bee.root))
        who.click("button", "Read it now")
        who.sees("done", "4 added, 1 failed")
    with task("find a passage"):
        who.click("link", "Search")
        who.type("damsons")
        who.sees("1 hit", "garden/plums.txt:23-40")
        who.click("link", "garden/plums.txt:23-40")
        who.sees("The plum tree bears damsons.")
    with task("see why a file is missing"):
        who.click("link", "Documents", within="header")
        who.click("searchbox", "Part of a path")
        who.type("broken")
        who.sees("papers/broken.pdf", "broken.pdf is damaged", "Replace the file by one that opens", "1 that fit")
    who.page.goto(f"{who.url}/chat")
    with task("ask"):
        who.click("textbox", "Message")
        who.type(QUESTION)
        who.press("Enter")
        who.sees("The queen lays eggs in spring.", "[1]")
    talk = who.page.url
    with task("check a citation"):
        who.click("link", "[1]")
        who.sees("bees.md", "The queen lays eggs in spring.")
    with task("exclude a file"):
        who.click("link", "Documents", within="header")
        who.click("link", "Exclude papers/garden/pears.txt")
        who.sees("Take these out of the index?", "papers/garden/pears.txt")
        who.click("button", "Exclude")
        who.sees("Taken out of the index")
    assert bee.collections.states()["excluded"] == 1
    who.page.goto(f"{who.url}/documents/add")
    with task("add a page of the web"):
        who.click("textbox", "Addresses")
        who.type(site)
        who.click("button", "Fetch")
        who.sees("Fetch pages of the web", "done", "1 added")
    with Lilbee(Path(str(bee.root)), chat=ScriptedChat(lies)) as other:
        other.wiki.build()
    with task("review a draft"):
        who.click("link", "Wiki", within="header")
        who.click("link", "Queen")
        who.sees("What it would change", "The queen lays eggs in spring.")
        who.click("button", "Publish")
        who.sees("The draft is published.")
    with task("change a model"):
        who.click("link", "Models", within="header")
        who.click("combobox", "Model for chat")
        who.press("Control+a")
        who.type("none")
        who.click("button", "Use it for chat")
        who.sees("The model is used from now on.")
    assert bee.config.get("chat_model") == "none"
    who.page.goto(talk)
    with task("export a chat"):
        who.click("link", "Chat", within="header")
        who.click("link", "When does the queen")
        who.page.locator("details.options > summary").click()
        who.clicks += 1
        with who.page.expect_download() as saved:
            who.click("link", "Export as Markdown")
        assert QUESTION in Path(saved.value.path()).read_text("utf-8")
    assert who.wrong == []
