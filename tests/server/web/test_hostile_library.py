"""Whatever files, their names, models and forms say: on the pages about the library none of it is more than words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee, LilbeeError
from lilbee_core.settings import Settings
from lilbee_core.testing import ScriptedChat, open_test_library
from lilbee_core.types import Document, Message
from tests.server.web.conftest import ORIGIN, new_code, page_app
from tests.support.hostile import PAGE, PAYLOADS, STEERS, offenses_of_page

pytestmark = pytest.mark.slow
MARKUP = tuple(one for one in PAGE if "<" in one)
GROUP = 40


def hostile_reply(asked: Sequence[Message]) -> str:
    """Write pages whose titles and sentences are hostile, of which nothing is borne out."""
    assert asked
    pages = [
        {
            "title": one,
            "sentences": [{"text": f"{one} bees.", "passages": [1]}, {"text": f"Bees are {one}.", "passages": [1]}],
        }
        for one in PAYLOADS
    ]
    return json.dumps({"pages": pages})


@pytest.fixture(scope="module")
def bee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lilbee]:
    """A library of hostile documents, of which a hostile model wrote a wiki."""
    root = tmp_path_factory.mktemp("hostile") / "<b>notes"
    settings = Settings().changed({"embedding_model": "none"})
    files: dict[str, str | bytes] = {"bees.md": "# Bees\n\nBees make honey in spring.\n", "<img src=x>.pdf": b"%PDF x"}
    with (
        pytest.MonkeyPatch.context() as patch,
        open_test_library(files=files, root=root, settings=settings, chat=ScriptedChat(hostile_reply)) as bee,
    ):
        patch.setenv("LILBEE_CONFIG_DIR", str(tmp_path_factory.mktemp("config")))
        bee.wiki.build()  # while there is one document: the model is asked about each
        bee.add_documents([one for at, text in enumerate(PAYLOADS) for one in documents(at, text)])
        for draft in bee.wiki.drafts.list()[:3]:
            bee.wiki.drafts.edit(draft.slug, "\n\n".join(("# Bees", *PAGE)))
        yield bee


@pytest.fixture(scope="module")
def page(bee: Lilbee) -> Iterator[TestClient[Litestar]]:
    with TestClient(page_app(bee), base_url=ORIGIN) as client:
        assert client.get(f"/sign-in?code={new_code(client)}").status_code == 200
        client.headers["Origin"] = ORIGIN
        yield client


def documents(at: int, text: str) -> Iterator[Document]:
    """Yield documents of a hostile name and a hostile title, as far as such a name can be."""
    try:
        yield Document(path=f"{at} {text}", text="Bees.", title=text, collection="memory")
    except (LilbeeError, ValueError):
        yield Document(path=f"{at}", text="Bees.", title=text, collection="memory")


def is_harmless(html: str) -> None:
    assert offenses_of_page(html) == []
    assert [one for one in MARKUP if one in html] == []


def test_there_are_enough() -> None:
    assert len(PAYLOADS) >= 100


def test_names_titles_and_reasons(page: TestClient[Litestar], bee: Lilbee) -> None:
    shown = [page.get(f"/documents?page={at}").text for at in range(1, 8)]
    assert bee.collections.states("memory")["indexed"] == len([one for one in PAYLOADS if "\0" not in one])
    assert any("[extract.damaged]" in one for one in shown)
    for html in (*shown, page.get("/collections").text, page.get("/documents/add").text, page.get("/jobs").text):
        is_harmless(html)
        assert STEERS.search(html) is None


def test_the_wiki_of_a_hostile_model(page: TestClient[Litestar], bee: Lilbee) -> None:
    drafts = bee.wiki.drafts.list()
    assert drafts
    for draft in drafts[:12]:
        html = page.get("/wiki/draft", params={"slug": draft.slug, "edit": "1"}).text
        is_harmless(html)
    for draft in drafts[:3]:
        assert page.post("/wiki/draft/reject", data={"slug": draft.slug, "seen": "x"}).status_code == 409
        bee.wiki.drafts.accept(draft.slug)
        html = page.get("/wiki/page", params={"slug": draft.slug}).text
        is_harmless(html)
        assert STEERS.search(html) is None
    for address in ("/wiki", "/wiki/lint"):
        is_harmless(page.get(address).text)


@pytest.mark.parametrize("at", range(0, len(PAYLOADS), GROUP))
def test_what_is_asked_for_and_what_is_wrong_with_it(page: TestClient[Litestar], at: int) -> None:
    words = " ".join(PAYLOADS[at : at + GROUP])
    asked = [
        ("/documents", {"q": words}), ("/documents", {"state": words}), ("/documents", {"collection": words}),
        ("/documents/why", {"path": words}), ("/documents/exclude", {"document": words}), ("/wiki", {"q": words}),
        ("/wiki/page", {"slug": words}), ("/wiki/draft", {"slug": words}), ("/collections/change", {"name": words}),
        ("/settings", {"q": words, "edit": words, "done": words, "of": words}),
        ("/wiki/build", {"most_calls": words, "plan": "1"}),
    ]  # fmt: skip
    filled: list[tuple[str, dict[str, str]]] = [
        ("/documents/exclude", {"document": words}), ("/documents/include", {"document": words}),
        ("/documents/crawl", {"urls": f"x:{words}", "depth": words, "include": words}), ("/jobs/x/cancel", {}),
        ("/collections", {"path": words, "name": words, "include": words}),
        ("/collections/rename", {"name": "memory", "to": f"/{words}"}),
        ("/collections/forget", {"name": "memory", "sure": words}), ("/settings", {"edit": "top_k", "value": words}),
        ("/settings", {"edit": words, "value": words}), ("/models/assign", {"role": words, "model": words}),
        ("/models/assign", {"role": "chat", "model": words}), ("/models/pull", {"model": f"../{words}"}),
        ("/models/placement", {"do": "try", "placement": words}), ("/wiki/build", {"most_calls": words}),
    ]  # fmt: skip
    for address, query in asked:
        shown = page.get(address, params=query)
        assert shown.status_code < 500, address
        is_harmless(shown.text)
    for address, form in filled:
        shown = page.post(address, data=form)
        assert 400 <= shown.status_code < 500 or shown.status_code == 503, (address, shown.status_code)
        is_harmless(shown.text)


def test_names_of_uploads(page: TestClient[Litestar], tmp_path: Path) -> None:
    sent = [("files", (one.replace("\r", "").replace("\n", ""), b"Bees.", "text/plain")) for one in PAGE]
    shown = page.post("/documents/upload", files=sent)
    assert shown.status_code in (200, 400)
    is_harmless(shown.text)
