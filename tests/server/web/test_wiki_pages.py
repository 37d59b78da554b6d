"""The wiki by the page: read with its links and sources, reviewed as a diff, built when the cost is known."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.errors import ExtraMissing
from lilbee_core.settings import Settings
from lilbee_core.testing import ScriptedChat, open_test_library
from lilbee_core.types import Message
from lilbee_server.problems import status_of
from tests.server.web.conftest import ORIGIN, PIECE, new_code, page_app

FILES: dict[str, str | bytes] = {
    "bees.md": "# Bees\n\nThe queen lays eggs in spring. The drone has no sting.\n",
}
Page = TestClient[Litestar]


def writes(asked: Sequence[Message]) -> str:
    """Write a page that is borne out and links to another, and one that is not."""
    assert asked
    said = {
        "Queen": ["The queen lays eggs in spring."],
        "Drone": ["The drone has no sting.", "The drone has ten wings.", "The drone eats bricks."],
    }
    pages = {title: [{"text": one, "passages": [1]} for one in lines] for title, lines in said.items()}
    return json.dumps({"pages": [{"title": title, "sentences": lines} for title, lines in pages.items()]})


@pytest.fixture
def bee() -> Iterator[Lilbee]:
    settings = Settings().changed({"embedding_model": "none"})
    with open_test_library(files=FILES, settings=settings, chat=ScriptedChat(writes)) as bee:
        yield bee


@pytest.fixture
def page(bee: Lilbee) -> Iterator[Page]:
    with TestClient(page_app(bee), base_url=ORIGIN) as client:
        client.follow_redirects = False
        assert client.get(f"/sign-in?code={new_code(client)}").status_code == 200
        client.headers["Origin"] = ORIGIN
        yield client


def seen_in(html: str) -> str:
    found = re.search(r'name="seen" value="([0-9a-f]+)"', html)
    assert found is not None
    return found[1]


@pytest.mark.slow
def test_from_the_plan_to_a_page_that_is_published(page: Page, bee: Lilbee) -> None:
    assert "calls of the chat model" not in page.get("/wiki/build").text  # worked out when the page is there
    plan = page.get("/wiki/build?plan=1", headers=PIECE).text
    assert "<strong>1 call of the chat model</strong>" in plan
    assert "notes/bees.md" in plan or "bees.md" in plan
    assert page.get("/wiki/build?plan=1&most_calls=few").status_code == 400
    for address in ("/wiki/build?plan=1&most_calls=few", "/documents?state=odd", "/documents/why?path=nowhere/%00"):
        piece = page.get(address, headers=PIECE)
        assert piece.status_code == 200, "it says itself what is wrong, where the form stands: no second form elsewhere"
        assert "notice bad" in piece.text or 'aria-invalid="true"' in piece.text
    assert status_of(ExtraMissing("it needs an extra", hint="Install it.")) == 503, "no fault of the server"
    assert page.post("/wiki/build", data={"most_calls": "few"}).status_code == 400

    built = page.post("/wiki/build", data={"topics": "", "retry": "", "most_calls": ""})
    assert str(bee.jobs.require(built.headers["location"].rpartition("/")[2]).wait(20).state) == "done"
    listed = page.get("/wiki").text
    assert '<a href="/wiki/page?slug=queen">Queen</a>' in listed
    assert "1 draft to review" in listed
    assert "Queen" in page.get("/wiki?q=quee", headers=PIECE).text

    queen = page.get("/wiki/page?slug=queen").text
    assert re.search(r'<a class="cite" href="/read\?document=[^"]+"[^>]*>\[1\]</a>', queen)
    assert "The queen lays eggs in spring." in queen
    cited = re.search(r'<li value="1"><a href="(/read\?[^"]+)">bees\.md:3</a>', queen)
    assert cited is not None
    assert page.get("/wiki/page?slug=nothing").status_code == 404

    draft = page.get("/wiki/draft?slug=drone").text
    assert '<div class="added"><span class="unseen">added: </span>The drone has no sting.' in draft
    assert "The drone has ten wings." in draft.partition("Left out")[2]
    seen = seen_in(draft)

    # Two look at it at once: what one of them wrote is not thrown away, nor published unread.
    text = "# Drone\n\nThe drone has no sting. [[queen|A queen]] has one. [^1]\n"
    edited = page.post("/wiki/draft/edit", data={"slug": "drone", "seen": seen, "body": text})
    assert edited.headers["location"] == "/wiki/draft?slug=drone"
    for verb in ("accept", "reject"):
        late = page.post(f"/wiki/draft/{verb}", data={"slug": "drone", "seen": seen})
        assert late.status_code == 409
        assert "has changed since you opened it" in late.text
    mine = page.post("/wiki/draft/edit", data={"slug": "drone", "seen": seen, "body": "My own words."})
    assert mine.status_code == 409
    assert "My own words.</textarea>" in mine.text
    fresh = seen_in(page.get("/wiki/draft?slug=drone").text)
    blank = page.post("/wiki/draft/edit", data={"slug": "drone", "seen": fresh, "body": " "})
    assert blank.status_code == 400
    assert "the text is empty" in blank.text

    done = page.post("/wiki/draft/accept", data={"slug": "drone", "seen": fresh})
    assert done.headers["location"] == "/wiki?done=accepted"
    assert "The draft is published." in page.get(done.headers["location"]).text
    drone = page.get("/wiki/page?slug=drone").text
    assert re.search(r'<a class="page" href="/wiki/page\?slug=queen"[^>]*>A queen</a>', drone)
    assert '<a href="/wiki/page?slug=drone">Drone</a>' in page.get("/wiki/page?slug=queen").text
    assert page.get("/wiki/lint").status_code == 200
    assert page.post("/wiki/prune").headers["location"] == "/wiki?done=pruned"


def test_a_draft_is_thrown_away(page: Page, bee: Lilbee) -> None:
    bee.wiki.build()
    seen = seen_in(page.get("/wiki/draft?slug=drone").text)
    gone = page.post("/wiki/draft/reject", data={"slug": "drone", "seen": seen})
    assert gone.headers["location"] == "/wiki?done=rejected"
    assert bee.wiki.drafts.list() == ()
    again = page.post("/wiki/draft/reject", data={"slug": "drone", "seen": seen})
    assert again.status_code == 404
    assert "there is no draft" in again.text
