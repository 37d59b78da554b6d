"""The pages about the library itself, as forms and links alone drive them: no script runs here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.settings import Settings
from lilbee_core.testing import open_test_library
from tests.server.web.conftest import ORIGIN, PIECE, new_code, page_app

FILES: dict[str, str | bytes] = {
    "bees.md": "# Bees\n\nThe queen lays eggs in spring.\n",
    "garden/pears.txt": "Pears ripen in September.\n",
    "garden/plums.txt": "The plum tree bears damsons.\n",
    "broken.pdf": b"%PDF-1.4 nothing of a file\n",
    ".gitignore": "secret.txt\n",
    "secret.txt": "Nobody reads this.\n",
}
Page = TestClient[Litestar]


@pytest.fixture(scope="module")
def bee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lilbee]:
    """One library for all of these tests: each puts back what it changes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LILBEE_CONFIG_DIR", str(tmp_path_factory.mktemp("config")))
        patch.setenv("LILBEE_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        root = tmp_path_factory.mktemp("pages") / "notes"
        with open_test_library(files=FILES, root=root, settings=Settings().changed({"wiki": True})) as bee:
            yield bee


@pytest.fixture(scope="module")
def page(bee: Lilbee) -> Iterator[Page]:
    with TestClient(page_app(bee), base_url=ORIGIN) as client:
        client.follow_redirects = False
        assert client.get(f"/sign-in?code={new_code(client)}").status_code == 200
        client.headers["Origin"] = ORIGIN
        yield client


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def job_of(page: Page, bee: Lilbee, to: str) -> str:
    """Wait for the job that a form led to; return what its page says then."""
    found = bee.jobs.require(to.rpartition("/")[2])
    assert str(found.wait(20).state) in {"done", "failed"}
    shown = page.get(to)
    assert shown.status_code == 200
    return text_of(shown.text)


ADDRESSES = (
    "/documents", "/documents?state=failed", "/documents/add", "/documents/why", "/jobs", "/wiki", "/wiki/lint",
    "/status", "/collections", "/collections/change?name=notes", "/models", "/settings", "/settings?edit=top_k",
)  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_page_is_whole_without_a_script(page: Page, address: str) -> None:
    shown = page.get(address)
    assert shown.status_code == 200
    assert shown.text.startswith("<!doctype html>")
    assert shown.text.count("<h1") == 1
    assert not re.search(r"<[^>]+ (?:on\w+|style)=|<script(?! src=)|<style|javascript:", shown.text)
    for field in re.findall(r"<(?:input|select|textarea)\b(?![^>]*type=\"(?:hidden|checkbox)\")[^>]*>", shown.text):
        named = re.search(r'\bid="([^"]+)"', field)
        assert named is not None, field
        assert f'for="{named[1]}"' in shown.text, field


def test_the_ledger_says_why_and_what_to_do(page: Page) -> None:
    shown = text_of(page.get("/documents?collection=notes").text)
    assert "3 indexed" in shown
    assert "1 failed" in shown
    failed = text_of(page.get("/documents?state=failed", headers=PIECE).text)
    assert "broken.pdf" in failed
    assert "extract.damaged" in failed
    assert "Replace the file by one that opens" in failed
    assert "bees.md" not in failed
    narrowed = page.get("/documents?q=GARDEN+plum", headers=PIECE)
    assert "plums.txt" in narrowed.text
    assert "pears" not in narrowed.text
    assert narrowed.headers["HX-Replace-Url"] == "/documents?q=GARDEN+plum"
    nothing = page.get("/documents?q=xylophone")
    assert "No document fits" in nothing.text
    assert page.get("/documents?state=lost").status_code == 400
    assert "there is no state" in page.get("/documents?state=lost").text
    assert page.get("/documents?collection=nowhere").status_code == 404


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("notes/secret.txt", "ignored by"),
        ("broken.pdf", "failed"),
        ("notes/garden/pears.txt", "indexed, 1 chunk"),
        ("/etc/hostname", "lies in no collection"),
        ("notes/nothing.txt", "there is no such file"),
        ("a\0b", ""),
    ],
)
def test_why_a_file_is_here_or_not(page: Page, path: str, said: str) -> None:
    shown = page.get("/documents/why", params={"path": path})
    assert shown.status_code < 500
    assert said in text_of(shown.text)


def test_a_document_is_taken_out_once_one_is_sure_and_taken_back(page: Page, bee: Lilbee) -> None:
    ref = "notes/garden/pears.txt"
    asked = page.get("/documents/exclude", params={"document": ref})
    assert asked.status_code == 200
    assert ref in asked.text
    assert bee.collections.states()["excluded"] == 0
    gone = page.post("/documents/exclude", data={"document": ref, "state": "", "q": ""})
    assert (gone.status_code, gone.headers["location"]) == (303, "/documents?done=excluded")
    assert "Taken out of the index" in page.get(gone.headers["location"]).text
    assert "Take back" in page.get("/documents?state=excluded").text
    back = page.post("/documents/include", data={"only": ref, "document": "notes/bees.md"})
    assert "done" in job_of(page, bee, back.headers["location"])
    assert bee.collections.states()["excluded"] == 0
    for wrong, status in ({}, 400), ({"document": "notes/nothing.txt"}, 404):
        refused = page.post("/documents/exclude", data=wrong)
        assert refused.status_code == status
        assert "notice bad" in refused.text


def test_a_sync_is_a_job_whose_page_tells_what_came_of_it(page: Page, bee: Lilbee) -> None:
    started = page.post("/documents/sync", data={"retry": "1"})
    assert "1 failed" in job_of(page, bee, started.headers["location"])
    told = page.get(started.headers["location"])
    assert "What could not be taken" in told.text
    assert "broken.pdf" in told.text
    listed = text_of(page.get("/jobs").text)
    assert "Sync" in listed
    assert "1 failed" in listed
    stream = page.get(f"{started.headers['location']}/events?after=0").text
    assert "event: told" in stream
    assert "event: JobFinished" in stream
    later = page.get(f"{started.headers['location']}/events", headers={"Last-Event-ID": "1000"}).text
    assert "event: told" not in later
    assert "event: JobFinished" in later
    assert page.get("/jobs/nothing").status_code == 404


def test_files_are_uploaded_by_a_form_and_those_refused_are_named(page: Page, bee: Lilbee) -> None:
    good = ("files", ("wasps & flies.txt", b"Wasps sting.", "text/plain"))
    sent = page.post("/documents/upload", files=[good])
    assert "1 added" in job_of(page, bee, sent.headers["location"])
    assert any(row.path == "wasps & flies.txt" for row in bee.documents())
    mixed = page.post("/documents/upload", files=[
        good, ("files", ("<b>x</b>.zzz", b"\0\1\2\3", "x/y")), ("files", ("empty.txt", b"", "text/plain")),
        ("files", ("..\\..\\evil.txt", b"x", "text/plain")),
    ])  # fmt: skip
    assert mixed.status_code == 200
    assert "&lt;b&gt;x&lt;/b&gt;.zzz" not in mixed.text  # only the last part of a path is its name
    assert "b&gt;.zzz" in mixed.text
    assert "empty.txt: the file is empty" in text_of(mixed.text)
    assert page.post("/documents/upload", data={"files": ""}).status_code == 400
    broken = page.post(
        "/documents/upload", content=b"--x\r\nnothing", headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert broken.status_code == 400
    assert "Send the files again" in broken.text


@pytest.mark.parametrize(
    ("form", "field", "said"),
    [
        ({"urls": ""}, "urls", "no address is named"),
        ({"urls": "ftp://example.org/"}, "urls", "no address of the web"),
        ({"urls": "http://["}, "urls", "no address of the web"),
        ({"urls": "https://example.org/", "depth": "far"}, "depth", "is no whole number"),
        ({"urls": "https://example.org/", "pages": "-1", "include": "/docs/*"}, "pages", "is no whole number"),
    ],
)
def test_a_crawl_that_cannot_be_keeps_what_was_filled_in(
    page: Page, form: dict[str, str], field: str, said: str
) -> None:
    shown = page.post("/documents/crawl", data=form)
    assert shown.status_code == 400
    assert said in text_of(shown.text)
    assert re.search(rf'<(?:input|textarea) id="{field}"[^>]* aria-invalid="true"', shown.text)
    assert all(value in shown.text for value in form.values())


def test_collections_are_added_renamed_and_forgotten(page: Page, bee: Lilbee) -> None:
    root = Path(str(bee.root))
    outside = page.post("/collections", data={"path": "/etc", "name": "mine"})
    assert outside.status_code == 403
    assert "lies in no collection" in outside.text
    assert 'value="mine"' in outside.text
    taken = page.post("/collections", data={"path": str(root / "garden"), "name": "notes"})
    assert taken.status_code == 400
    assert "there is a collection" in text_of(taken.text)
    added = page.post("/collections", data={"path": "garden", "name": "trees", "include": "*.txt"})
    job_of(page, bee, added.headers["location"])
    assert bee.collections.get("trees") is not None
    assert page.post("/collections/rename", data={"name": "trees", "to": "a/b"}).status_code == 400
    renamed = page.post("/collections/rename", data={"name": "trees", "to": "fruit"})
    assert renamed.status_code == 303
    assert "has another name now" in page.get(renamed.headers["location"]).text
    unsure = page.post("/collections/forget", data={"name": "fruit", "sure": "frut"})
    assert unsure.status_code == 400
    assert "Type fruit to forget it" in unsure.text
    assert 'value="frut"' in unsure.text
    assert page.post("/collections/forget", data={"name": "fruit", "sure": "fruit"}).status_code == 303
    assert bee.collections.get("fruit") is None
    assert page.get("/collections/change?name=fruit").status_code == 404


def test_settings_are_changed_in_place_and_reset(page: Page, bee: Lilbee) -> None:
    wrong = page.post("/settings", data={"edit": "top_k", "value": "many"})
    assert wrong.status_code == 400
    assert "is not allowed" in text_of(wrong.text)
    assert 'value="many"' in wrong.text
    assert re.search(r'<input id="value"[^>]*aria-invalid="true"', wrong.text)
    done = page.post("/settings", data={"edit": "top_k", "value": "7"})
    assert done.headers["location"] == "/settings?done=set&of=top_k#top_k"
    assert bee.config.get("top_k") == 7
    assert "top_k is changed." in page.get("/settings?done=set&of=top_k").text
    assert "is changed" not in page.get("/settings?done=set&of=%3Cb%3E").text
    page.post("/settings", data={"edit": "top_k", "reset": "1"})
    assert bee.config.get("top_k") == 10
    closed = page.post("/settings", data={"edit": "hub_url", "value": "http://evil"})
    assert closed.status_code == 403
    assert "lilbee config set hub_url" in closed.text
    assert page.post("/settings", data={"edit": "nothing", "value": "1"}).status_code == 400
    assert "top_k" in page.get("/settings?q=hits+returned", headers=PIECE).text


def test_models_are_given_to_roles(page: Page, bee: Lilbee) -> None:
    wrong = page.post("/models/assign", data={"role": "chat", "model": "nobody/nothing"})
    assert wrong.status_code == 400
    assert 'value="nobody/nothing"' in wrong.text
    used = page.post("/models/assign", data={"role": "chat", "model": "none"})
    assert used.status_code == 303
    assert bee.config.get("chat_model") == "none"
    page.post("/models/assign", data={"role": "chat", "default": "1"})
    assert bee.config.get("chat_model") == "auto"
    assert page.post("/models/assign", data={"role": "cook", "model": "x"}).status_code == 400
    assert page.post("/models/pull", data={"model": "../../etc/passwd"}).status_code == 400
    assert page.post("/models/placement", data={"do": "set", "placement": "{"}).status_code in {400, 403}
    assert page.get("/models/plan").status_code == 200
    assert page.post("/models/delete", data={"model": "a/b/c.gguf"}).status_code == 404


def test_only_the_page_itself_changes_things(page: Page) -> None:
    for origin in ("http://evil.example", f"{ORIGIN}:81"):
        refused = page.post("/documents/sync", headers={"Origin": origin})
        assert refused.status_code == 403
