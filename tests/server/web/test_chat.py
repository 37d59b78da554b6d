"""Conversations and single questions in the page (R326, R330-R333, R335, R337, R371)."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.errors import ProviderUnavailable
from lilbee_core.protocols import ChatProvider
from lilbee_core.testing import HashEmbedder, ScriptedChat
from lilbee_core.types import ChatOptions, ConversationMessage, Delta, Message, Usage
from lilbee_server.app import create_app
from lilbee_server.generation import Generation
from lilbee_server.mounts import mounts_of
from lilbee_server.web import plugin
from lilbee_server.web.shown.talk import turns_of
from lilbee_server.web.views import Views
from lilbee_server.web.writing import EVERY_S, frames
from tests.server.conftest import TOKEN, serving
from tests.server.web.conftest import HOST, ORIGIN, PIECE, new_code, page_app
from tests.support.hostile import PAGE, offenses_of_page
from tests.support.websites import Website

Browser = TestClient[Litestar]
Open = Callable[[ChatProvider | None], Browser]
CITED = "The **queen** lays eggs in spring [1]."
QUESTION = "When does the queen lay eggs?"
ANSWER = 'The <strong>queen</strong> lays eggs in spring <a class="cite" href="/read?document='
SETTINGS: dict[str, object] = {
    "chat_rewrite": "off", "query_expansion_count": 0, "chat_titles": False, "chat_tools": "off", "num_ctx": 4096,
}  # fmt: skip


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that is indexed once; conversations of all tests are kept in it side by side."""
    root = tmp_path_factory.mktemp("talk") / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    (root / "boats.md").write_text("# Boats\n\nThe ferry leaves at noon.\n", encoding="utf-8")
    with Lilbee(root, embedder=HashEmbedder()) as bee:
        bee.sync()
    return root


@pytest.fixture
def open_page(notes: Path) -> Iterator[Open]:
    with ExitStack() as stack:

        def opened(chat: ChatProvider | None) -> Browser:
            bee = stack.enter_context(Lilbee(notes, embedder=HashEmbedder(), chat=chat, overrides=SETTINGS))
            client = stack.enter_context(TestClient(page_app(bee), base_url=ORIGIN))
            client.follow_redirects = False
            assert client.get(f"/sign-in?code={new_code(client)}").status_code == 200
            client.headers["Origin"] = ORIGIN
            return client

        yield opened


def say(browser: Browser, text: str = QUESTION, **more: Any) -> str:
    """Begin a conversation, wait for its reply, and return its address."""
    sent = browser.post("/chat", data={"message": text, **more})
    assert sent.status_code == 303, sent.text
    to = str(sent.headers["location"])
    browser.get(f"{to}/stream")
    return to


def seen(page: str) -> str:
    """Return the message that a page says that it ends with."""
    found = re.search(r'id="seen" name="seen" value="([^"]*)"', page)
    assert found
    return found[1]


def own(page: str) -> list[str]:
    """Return the ids of the messages of the user on a page."""
    return re.findall(r'class="turn mine" id="m([^"]+)"', page)


def replies(page: str) -> int:
    return len(re.findall(r'class="turn reply" id="m[^"]+"', page))


# ---------------------------------------------------------------------- talking


def test_a_conversation_begins_with_its_first_message(open_page: Open) -> None:
    """R332: a composer that is left leaves nothing."""
    browser = open_page(ScriptedChat(CITED))
    before = len(browser.get("/api/conversations").json()["conversations"])
    assert 'id="composer"' in browser.get("/chat").text
    blank = browser.post("/chat", data={"message": "  "})
    assert (blank.status_code, "there is nothing to send" in blank.text) == (400, True)
    lost = browser.post("/chat", data={"message": "Attach it", "document": "no/such.md"})
    assert lost.status_code == 404
    assert re.search(r'<textarea id="message"[^>]*>Attach it</textarea>', lost.text), "what was typed stays"
    assert 'value="no/such.md"' in lost.text
    assert len(browser.get("/api/conversations").json()["conversations"]) == before
    to = say(browser)
    page = browser.get(to).text
    assert len(browser.get("/api/conversations").json()["conversations"]) == before + 1
    assert f"<title>{QUESTION} - lilbee</title>" in page
    assert ANSWER in page
    assert '<span class="badge good">borne out by the passage</span>' in page
    assert offenses_of_page(page) == []
    assert f'<a href="{to}" aria-current="page">{QUESTION}</a>' in page


def test_the_last_picture_of_a_stream_is_what_is_kept(open_page: Open) -> None:
    """R326: one path for both; and a reply that was cut off in its markdown is whole in the end."""
    browser = open_page(
        ScriptedChat([Delta(kind="text", text=one) for one in ("The **que", "en** lays `e", "ggs` in [1].")])
    )
    to = str(browser.post("/chat", data={"message": QUESTION}).headers["location"])
    events = browser.get(f"{to}/stream").text.replace("\r", "").strip().split("\n\n")
    frames = [one for one in events if "event: frame" in one]
    last = "\n".join(line.removeprefix("data: ") for line in frames[-1].split("\n") if line.startswith("data:"))
    kept = re.search(r'<div class="grown">(.*?)</div>\s*<div class="row tools-row">', browser.get(to).text, re.DOTALL)
    assert kept
    assert kept[1].strip() == last.strip()
    assert events[-1].split("\n")[1:2] == ["event: done"]
    again = browser.get(f"{to}/stream", headers={"Last-Event-ID": "1"}).text
    assert again.count("event: frame") == 1


def test_without_a_chat_model_sentences_are_quoted(open_page: Open) -> None:
    browser = open_page(None)
    page = browser.get(say(browser)).text
    assert "The queen lays eggs in spring." in page
    assert "No chat model is set" in page
    assert 'class="cite"' in page
    nothing = browser.get(say(browser, "How heavy is the moon of Jupiter?")).text
    assert '<span class="badge warn">not found</span>' in nothing


def test_messages_are_edited_taken_back_and_answered_anew(open_page: Open) -> None:
    """R330, R331."""
    browser = open_page(ScriptedChat(CITED, "First [1].", "Second [1].", "Third [1]."))
    to = say(browser)
    page = browser.get(to).text
    browser.post(f"{to}/send", data={"message": "When does the queen lay eggs, and how?", "seen": seen(page)})
    browser.get(f"{to}/stream")
    page = browser.get(to).text
    assert (len(own(page)), replies(page)) == (2, 2)
    browser.post(f"{to}/regenerate", data={"seen": seen(page)})
    browser.get(f"{to}/stream")
    page = browser.get(to).text
    assert "Second" in page
    assert "First" not in page
    edited = browser.post(
        f"{to}/send",
        data={"message": "When does the queen lay eggs, and why?", "again": own(page)[1], "seen": seen(page)},
    )
    assert edited.status_code == 303
    browser.get(f"{to}/stream")
    page = browser.get(to).text
    assert (len(own(page)), "and why?" in page, "and how?" in page, "Third" in page) == (2, True, False, True)
    back = browser.post(f"{to}/rewind", data={"again": own(page)[1], "seen": seen(page)})
    assert re.search(r'<textarea id="message"[^>]*>When does the queen lay eggs, and why\?</textarea>', back.text), (
        "to be written otherwise"
    )
    assert len(own(browser.get(to).text)) == 1


def test_two_windows_on_one_conversation_lose_nothing(open_page: Open) -> None:
    browser = open_page(ScriptedChat(CITED, CITED, CITED))
    to = say(browser)
    here = browser.get(to).text
    browser.post(f"{to}/send", data={"message": "Said elsewhere", "seen": seen(here)})
    browser.get(f"{to}/stream")
    late: list[tuple[str, dict[str, str]]] = [
        ("send", {"message": "My own words"}), ("send", {"message": "My own words", "again": own(here)[0]}),
        ("regenerate", {}), ("rewind", {"again": own(here)[0]}),
    ]  # fmt: skip
    for headers in ({}, PIECE):
        for action, data in late:
            refused = browser.post(f"{to}/{action}", data={**data, "seen": seen(here)}, headers=headers)
            assert refused.status_code == 409, (action, refused.text)
            assert "changed elsewhere" in refused.text
            assert "Said elsewhere" in refused.text, "what is new is shown"
            assert refused.headers["HX-Retarget"] == "#thread"
            if "message" in data:
                assert re.search(r"<textarea[^>]*>My own words</textarea>", refused.text)
    page = browser.get(to).text
    assert (len(own(page)), replies(page)) == (2, 2)
    fresh = browser.post(f"{to}/send", data={"message": "My own words", "seen": seen(page)}, headers=PIECE)
    assert fresh.status_code == 200
    assert 'hx-swap-oob="true"' in fresh.text
    assert "<html" not in fresh.text
    gone = browser.post("/chat/zzz/send", data={"message": "To nobody"})
    assert (gone.status_code, "To nobody" in gone.text) == (404, True)


def test_what_a_reply_took_is_told(open_page: Open) -> None:
    """R335: counted by the server, or estimated and marked so; while it is written, too."""
    usage = Delta(kind="usage", usage=Usage(prompt_tokens=1321, completion_tokens=12))
    browser = open_page(ScriptedChat([Delta(kind="text", text=CITED), usage], CITED))
    counted = browser.get(say(browser)).text
    assert re.search(r"metrics\">1,321 \+ 12 tokens, 32 % of the context, [\d.e+]+ tokens/s", counted)
    assert re.search(r"metrics\">~\d+ \+ ~\d+ tokens, ~\d+ % of the context, ~", browser.get(say(browser)).text)


def test_a_summary_is_shown_where_it_stands(open_page: Open) -> None:
    browser = open_page(ScriptedChat(*[CITED] * 5, "They spoke of <b>eggs</b>."))
    to = say(browser)
    for number in range(4):
        browser.post(f"{to}/send", data={"message": f"When does the queen lay eggs, {number}?"})
        browser.get(f"{to}/stream")
    done = browser.post(f"{to}/compact")
    assert "Earlier messages are summarized" in done.text
    page = browser.get(to).text
    assert page.count('role="separator"') == 1
    assert "They spoke of &lt;b&gt;eggs&lt;/b&gt;." in page
    assert len(own(page)) == 5
    assert page.index("eggs, 0?") < page.index('role="separator"') < page.index("eggs, 3?")


def test_titles_scope_export_and_deletion(open_page: Open) -> None:
    browser = open_page(ScriptedChat(CITED, CITED))
    to = say(browser, scope="none")
    assert "Searches nothing" in browser.get(to).text
    assert browser.post(f"{to}/title", data={"title": "Of <queens>"}).status_code == 303
    assert '<h1 id="talk-title">Of &lt;queens&gt;</h1>' in browser.get(to).text
    assert browser.post(f"{to}/title", data={"title": " "}).status_code == 400
    assert browser.post(f"{to}/scope", data={"scope": "both", "collection": "notes"}).status_code == 303
    assert "Searches documents and wiki of notes" in browser.get(to).text
    assert "Of &lt;queens&gt;" in browser.get("/chat/list?find=queens").text
    assert "No title holds that" in browser.get("/chat/list?find=nothing like it").text
    exported = browser.get(f"{to}/export?format=markdown")
    assert exported.headers["content-disposition"].startswith("attachment")
    assert "Of <queens>" in exported.text
    assert browser.get(f"{to}/export?format=json").json()["conversation"]["title"] == "Of <queens>"
    assert browser.get(f"{to}/export?format=pdf").status_code == 400
    asked = browser.get(f"{to}/delete")
    assert "Delete this conversation?" in asked.text
    assert browser.get(to).status_code == 200, "asking deletes nothing"
    assert browser.post(f"{to}/delete").headers["location"] == "/chat"
    assert browser.get(to).status_code == 404


def test_what_is_attached_goes_with_the_message(open_page: Open) -> None:
    """R371: files, pictures among them, documents of the library; pages of the web are refused within the network."""
    chat = ScriptedChat("It says so.", CITED)
    browser = open_page(chat)
    files = [("file", ("notes.txt", b"Drones leave in autumn.", "text/plain")), ("file", ("", b"", "text/plain"))]
    sent = browser.post("/chat", data={"message": "What does it say?", "document": "boats.md"}, files=files)
    to = str(sent.headers["location"])
    browser.get(f"{to}/stream")
    page = browser.get(to).text
    links = re.findall(r'Attached: <a href="([^"]+)">([^<]+)</a>', page)
    assert [name for _, name in links] == ["notes.txt", "boats.md"]
    assert "Drones leave" in browser.get(links[0][0]).text
    asked = chat.requests[0].messages[-1].content
    assert "Drones leave in autumn." in asked
    assert "The ferry leaves at noon." in asked
    bad = browser.post("/chat", data={"message": "And this?", "page": "http://127.0.0.1:1/x"})
    assert (bad.status_code, "inside your network" in bad.text) == (403, True)
    assert re.search(r'name="page" type="url" value="http://127.0.0.1:1/x"', bad.text)
    offers = browser.get("/chat/documents", params={"document": "boat"}, headers=PIECE).text
    assert offers.strip() == '<option value="notes/boats.md"></option>'


def test_a_page_of_the_web_is_fetched_and_attached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R371: and kept in the library, so that it is fetched once."""
    for name, value in (("ALLOWED_NETWORKS", "127.0.0.1"), ("MEAN_DELAY", "0"), ("MAX_DELAY_RANGE", "0")):
        monkeypatch.setenv(f"LILBEE_CRAWL_{name}", value)
    (tmp_path / "notes").mkdir()
    chat = ScriptedChat("Wax.", "Wax.")
    pages = {"/robots.txt": "", "/": "<title>Hives</title><p>A hive holds frames of wax.</p>"}
    with (
        Website(pages) as site,
        Lilbee(tmp_path / "notes", embedder=HashEmbedder(), chat=chat, overrides=SETTINGS) as bee,
        TestClient(page_app(bee), base_url=ORIGIN) as browser,
    ):
        browser.get(f"/sign-in?code={new_code(browser)}")
        browser.headers["Origin"] = ORIGIN
        browser.follow_redirects = False
        for _ in range(2):
            to = say(browser, "What is in it?", page=site.url("/"))
            assert re.findall(r'Attached: <a href="[^"]+">([^<]+)</a>', browser.get(to).text) == ["Hives"]
        assert [one.path for one in site.requests].count("/") == 1
    assert "A hive holds frames of wax." in chat.requests[-1].messages[-1].content


def test_what_the_model_was_sent_is_shown_to_the_owner(open_page: Open) -> None:
    """R337."""
    browser = open_page(ScriptedChat(CITED))
    to = say(browser)
    page = browser.get(f"{to}/request").text
    assert "Question: When does the queen lay eggs?" in page
    assert re.search(r"About [\d,]+ tokens of [\d,]+ that fit, in a context of 4,096", page)
    preview = browser.get(f"{to}/request", params={"message": "When does the ferry leave?"}).text
    assert "would be" in preview
    assert "The ferry leaves at noon." in preview
    made = browser.post("/api/tokens", json={"name": "reader", "read_only": True})
    if made.status_code == 201:
        reading = {"Authorization": f"Bearer {made.json()['token']}"}
        assert browser.get(f"{to}/request", headers=reading).status_code == 403


# ---------------------------------------------------------------------- being written


class HeldChat:
    """A chat model that says half of its reply, then waits until it is let go."""

    def __init__(self) -> None:
        self.said_half, self.go = threading.Event(), threading.Event()

    def chat(self, messages: Sequence[Message], options: ChatOptions = ChatOptions()) -> Iterator[Delta]:
        yield Delta(kind="text", text="The **queen** lays **eg")
        self.said_half.set()
        for _ in range(1000):
            if self.go.wait(0.02):
                break
            yield Delta(kind="reasoning", text="…")
        yield Delta(kind="text", text="gs** in spring [1].")


def test_a_fast_reply_is_not_rendered_for_each_of_its_words() -> None:
    """R326: at most ten pictures a second, whole each time, and the last one is the kept reply."""

    def words() -> Iterator[Delta]:
        for number in range(300):
            time.sleep(0.002)
            yield Delta(kind="text", text=f"{number} ")

    async def pictures() -> list[Any]:
        views, kept = (
            Views([]),
            turns_of([ConversationMessage(id="1", role="assistant", content="Kept.", created_at="")])[0],
        )
        return [one async for one in frames(views, Generation(words), whole=lambda: kept)]

    began = time.monotonic()
    told = asyncio.run(pictures())
    taken = time.monotonic() - began
    shown = [one for one in told if one.event == "frame"]
    assert len(shown) <= taken / EVERY_S + 2
    assert [one.id for one in shown] == sorted(one.id for one in shown)
    assert all(f"<p>{'0 1 2' if one.id > 3 else ''}" in one.data for one in shown[1:-1])
    assert '<div class="prose text"><p>Kept.</p>' in shown[-1].data
    assert (told[-1].event, told[-1].id) == ("done", 300)


def test_a_lost_connection_is_taken_up_again(notes: Path) -> None:
    """Whoever leaves comes back for all of it; a second message waits its turn; a reply that ended unseen is news."""
    chat = HeldChat()
    with Lilbee(notes, embedder=HashEmbedder(), chat=chat, overrides=SETTINGS) as bee:
        app = page_app(bee, hosts=("127.0.0.1",))
        with serving(app) as address, httpx.Client(base_url=address, timeout=20) as client:
            code = client.post("/api/sign-in", headers={"Authorization": f"Bearer {TOKEN}"}).json()["url"]
            assert client.get(f"/sign-in?code={code.partition('code=')[2]}").status_code == 200
            client.headers["Origin"] = address
            to = client.post("/chat", data={"message": QUESTION}).headers["location"]
            assert chat.said_half.wait(10)
            with client.stream("GET", f"{to}/stream") as response:
                assert response.headers["content-type"].startswith("text/event-stream")
                read = ""
                for line in response.iter_lines():
                    read += line + "\n"
                    if "<strong>eg</strong>" in line:
                        break
            assert "The <strong>queen</strong> lays <strong>eg</strong>" in read, (
                "what is open is closed while it grows"
            )
            page = client.get(to).text
            assert f'data-stream="{to}/stream"' in page
            assert re.search(r"~\d+ tokens, ~\d+ % of the context, ~", page), "live, as far as it is known"
            busy = client.post(f"{to}/send", data={"message": "Wait for me", "seen": seen(page)})
            assert (busy.status_code, "Wait for me" in busy.text) == (409, True)
            assert client.get("/chat/news").json() == {"unseen": 0, "news": []}
            chat.go.set()
            with client.stream("GET", f"{to}/stream", headers={"Last-Event-ID": "1"}) as response:
                rest = response.read().decode()
            assert "event: done" in rest
            assert "<strong>eggs</strong> in spring" in rest
            assert client.get("/chat/news", params={"here": to}).json() == {"unseen": 0, "news": []}
            assert client.get("/chat/news").json()["unseen"] == 1
            assert client.get(to).status_code == 200
            assert client.get("/chat/news").json() == {"unseen": 0, "news": []}


def test_a_reply_is_stopped_and_what_arrived_stays(notes: Path) -> None:
    chat = HeldChat()
    with Lilbee(notes, embedder=HashEmbedder(), chat=chat, overrides=SETTINGS) as bee:
        app = page_app(bee, hosts=("127.0.0.1",))
        with serving(app) as address, httpx.Client(base_url=address, timeout=20) as client:
            code = client.post("/api/sign-in", headers={"Authorization": f"Bearer {TOKEN}"}).json()["url"]
            client.get(f"/sign-in?code={code.partition('code=')[2]}")
            client.headers["Origin"] = address
            to = client.post("/chat", data={"message": QUESTION}).headers["location"]
            assert chat.said_half.wait(10)
            page = client.post(f"{to}/stop", headers=PIECE).text
            assert "This reply was cut off." in page
            assert "The <strong>queen</strong> lays" in page
            asked = client.post("/ask", data={"question": QUESTION})
            at = asked.headers["location"]
            assert 'data-stream="/ask/' in client.get(at).text
            assert "cut off" in client.post(f"{at.partition('?')[0]}/stop", follow_redirects=True).text


def test_a_message_that_is_kept_is_not_asked_for_again(notes: Path) -> None:
    """Where others are answered first for too long, the message stays, and waits to be answered."""
    chat = HeldChat()
    with Lilbee(notes, embedder=HashEmbedder(), chat=chat, overrides=SETTINGS) as bee:
        app = create_app(bee, token=TOKEN, hosts=(HOST,), mounts=lambda host: mounts_of(plugin, host), wait_s=0.01)
        with TestClient(app, base_url=ORIGIN) as browser:
            browser.get(f"/sign-in?code={new_code(browser)}")
            browser.headers["Origin"] = ORIGIN
            browser.follow_redirects = False
            assert browser.post("/chat", data={"message": QUESTION}).status_code == 303
            assert chat.said_half.wait(10)
            to = str(browser.post("/chat", data={"message": "Second in line"}).headers["location"])
            page = browser.get(to).text
            assert "There is no reply to this message yet." in page
            assert 'rows="3" aria-describedby="keys"></textarea>' in page
            busy = browser.post(f"{to}/send", data={"message": "Third", "seen": seen(page)})
            assert (busy.status_code, "other replies were being written" in busy.text) == (429, True)
            assert 'rows="3" aria-describedby="keys"></textarea>' in busy.text
            assert len(own(browser.get(to).text)) == 2
            chat.go.set()


def test_what_keeps_a_reply_from_coming_is_told_and_can_be_tried_again(open_page: Open) -> None:
    browser = open_page(ScriptedChat(ProviderUnavailable("the model is <down>", hint="Start it."), CITED))
    to = say(browser)
    page = browser.get(to).text
    assert "the model is &lt;down&gt;" in page
    assert "Start it." in page
    browser.post(f"{to}/regenerate", data={"seen": seen(page)})
    browser.get(f"{to}/stream")
    assert ANSWER in browser.get(to).text


def test_news_tells_of_each_reply_once(open_page: Open) -> None:
    """R333."""
    browser = open_page(ScriptedChat(CITED))
    to = say(browser, "When do <queens> lay eggs?")
    assert browser.get("/chat/news", params={"here": to}).json() == {"unseen": 0, "news": []}
    told = browser.get("/chat/news").json()
    assert told == {"unseen": 1, "news": [{"title": "When do <queens> lay eggs?", "url": to}]}
    assert browser.get("/chat/news").json() == {"unseen": 1, "news": []}
    assert '<strong class="fresh">new</strong>' in browser.get("/chat/list").text
    browser.get(to)
    assert browser.get("/chat/news").json() == {"unseen": 0, "news": []}
    assert 'data-news="/chat/news"' in browser.get("/").text


# ---------------------------------------------------------------------- asking once


def test_a_question_is_answered_with_what_it_cites(open_page: Open) -> None:
    browser = open_page(None)
    assert re.search(r"<textarea[^>]*>Why\?</textarea>", browser.get("/ask?q=Why?").text)
    asked = browser.post("/ask", data={"question": QUESTION})
    page = browser.get(str(asked.headers["location"])).text
    assert "The queen lays eggs in spring." in page
    assert "borne out by the passage" in page
    assert "data-stream" not in page, "what is only quoted is there at once"
    assert (
        "Not found in this library."
        in browser.get(str(browser.post("/ask", data={"question": "How heavy is Jupiter?"}).headers["location"])).text
    )
    blank = browser.post("/ask", data={"question": " "})
    assert (blank.status_code, 'role="alert"' in blank.text) == (400, True)
    unknown = browser.post("/ask", data={"question": "Why?", "collection": "secrets"})
    assert (unknown.status_code, ">Why?</textarea>" in unknown.text) == (404, True)
    gone = browser.get("/ask/zzz?q=Why?")
    assert (gone.status_code, ">Why?</textarea>" in gone.text) == (404, True)
    assert browser.get("/ask/zzz/stream").status_code == 204
    assert browser.get("/chat/zzz/stream").status_code == 404


def test_nothing_of_a_hostile_answer_runs(open_page: Open) -> None:
    """The whole corpus, as what was asked, what was answered, and what a conversation is called."""
    parts = [PAGE[at::4] for at in range(4)]
    browser = open_page(ScriptedChat(*["\n\n".join(("The queen lays eggs [1].", *part)) for part in parts]))
    for part in parts:
        to = say(browser, "When does the queen lay eggs? " + "\n".join(part))
        browser.post(f"{to}/title", data={"title": "".join(part)[:190]})
        for page in (browser.get(to), browser.get(f"{to}/request"), browser.get(f"{to}/delete")):
            assert page.status_code == 200
            assert offenses_of_page(page.text) == []
