"""Questions, conversations, documents and jobs over HTTP (R250-R252, R325, R328, R329)."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import threading
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
from lilbee_core.types import ChatOptions, Delta, Message
from lilbee_server.app import create_app
from tests.server.conftest import TOKEN, serving

Client = TestClient[Litestar]
Connect = Callable[..., httpx.Client]
ROOT = Path(__file__).parents[2]
PARTIAL = "The queen lays eggs"
CITED = "The queen lays eggs in spring [1]."
QUESTION = "When does the queen lay eggs?"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738"
    "550000000049454e44ae426082"
)


class HeldChat:
    """A chat model that says half of its reply, then waits until it is let go."""

    def __init__(self) -> None:
        self.said_half, self.go, self.closed = threading.Event(), threading.Event(), threading.Event()

    def chat(self, messages: Sequence[Message], options: ChatOptions = ChatOptions()) -> Iterator[Delta]:
        try:
            yield Delta(kind="text", text="The queen lays eggs ")
            self.said_half.set()
            while not self.go.wait(0.02):
                yield Delta(kind="reasoning", text="…")
            yield Delta(kind="text", text="in spring [1].")
        finally:
            self.closed.set()


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Connect]:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    with ExitStack() as stack:

        def connected(chat: ChatProvider | None, **more: object) -> httpx.Client:
            overrides: dict[str, object] = {"chat_rewrite": "off", "query_expansion_count": 0, "chat_titles": False}
            overrides |= more
            bee = stack.enter_context(Lilbee(root, embedder=HashEmbedder(), chat=chat, overrides=overrides))
            bee.sync()
            address = stack.enter_context(serving(create_app(bee, token=TOKEN)))
            headers = {"Authorization": f"Bearer {TOKEN}"}
            return stack.enter_context(httpx.Client(base_url=address, headers=headers, timeout=20))

        yield connected


def events(response: httpx.Response) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield the id, name and data of each event of a stream."""
    seen: dict[str, str] = {}
    for line in response.iter_lines():
        name, _, value = line.partition(": ")
        if line:
            seen[name] = value
        elif "data" in seen:
            yield int(seen.get("id", 0)), seen["event"], json.loads(seen["data"])
            seen = {}


# ---------------------------------------------------------------------- asking


def test_a_question_is_answered_with_citations(client: Client, library: Lilbee) -> None:
    answer = client.post("/api/ask", json={"question": QUESTION})
    assert answer.status_code == 200
    told, expected = answer.json(), library.ask(QUESTION).to_dict()
    assert {**told, "seconds": 0} == {**expected, "seconds": 0}
    assert [one["path"] for one in told["citations"]] == ["bees.md"]


def test_an_answer_streams_with_numbered_events(connect: Connect) -> None:
    with connect(ScriptedChat(CITED)).stream("POST", "/api/ask/stream", json={"question": QUESTION}) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        got = list(events(response))
    assert [number for number, _, _ in got] == list(range(1, len(got) + 1))
    assert "".join(data["text"] for _, name, data in got if name == "text") == CITED
    assert (got[-1][1], got[-1][2]["answer"]) == ("done", CITED)


@pytest.mark.parametrize("path", ["/api/ask", "/api/ask/stream"])
def test_what_goes_wrong_before_the_first_word_has_a_status(connect: Connect, path: str) -> None:
    client = connect(ScriptedChat(ProviderUnavailable("it is down")))
    empty = client.post(path, json={"question": " "})
    assert (empty.status_code, empty.json()["error"]["code"]) == (400, "search.empty_query")
    unknown = client.post(path, json={"question": "x", "collections": ["secrets"]})
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "library.not_found")
    assert client.post(path, json={}).status_code == 400
    down = client.post(path, json={"question": QUESTION})
    assert (down.status_code, down.json()["error"]["code"]) == (503, "provider.unavailable")


# ---------------------------------------------------------------------- conversations


def test_a_conversation_from_its_beginning_to_its_end(connect: Connect) -> None:
    client = connect(ScriptedChat(CITED))
    made = client.post("/api/conversations", json={"title": "Bees"}).json()
    at = f"/api/conversations/{made['id']}"
    sent = client.post(f"{at}/send", json={"message": QUESTION}).json()
    assert sent["reply"]["content"] == CITED
    assert [one["path"] for one in sent["reply"]["citations"]] == ["bees.md"]
    assert [one["title"] for one in client.get("/api/conversations").json()["conversations"]] == ["Bees"]
    again = client.post(f"{at}/regenerate").json()["reply"]
    assert again["id"] != sent["reply"]["id"]
    assert [one["role"] for one in client.get(at).json()["turns"]] == ["user", "assistant"]
    assert CITED in client.get(f"{at}/export").text
    exported = client.get(f"{at}/export", params={"format": "json"})
    assert exported.headers["content-disposition"].startswith("attachment")
    assert exported.json()["conversation"]["title"] == "Bees"
    assert client.post(f"{at}/compact").json() == {"compaction": None}
    assert client.patch(at, json={"title": "Queens"}).json()["title"] == "Queens"
    assert len(client.post(f"{at}/rewind", json={"to": 1}).json()["removed"]) == 2
    assert client.get(at).json()["turns"] == []
    assert client.delete(at).json()["deleted"] is True
    assert client.get(at).status_code == 404


def test_chat_makes_a_conversation_or_goes_on_with_one(connect: Connect) -> None:
    client = connect(ScriptedChat(CITED))
    first = client.post("/api/chat", json={"message": QUESTION}).json()
    body = {"message": "And when does the queen lay eggs again?", "conversation": first["conversation"]}
    with client.stream("POST", "/api/chat/stream", json=body) as response:
        assert response.headers["x-conversation"] == first["conversation"]
        assert [name for _, name, _ in events(response)][-1] == "done"
    turns = client.get(f"/api/conversations/{first['conversation']}").json()["turns"]
    assert [one["role"] for one in turns] == ["user", "assistant"] * 2


def test_who_leaves_comes_back_for_all_of_it(connect: Connect) -> None:
    chat = HeldChat()
    client = connect(chat)
    with client.stream("POST", "/api/chat/stream", json={"message": QUESTION}) as response:
        at = f"/api/conversations/{response.headers['x-conversation']}"
        assert next(events(response))[1]
        assert chat.said_half.wait(10)
    busy = client.post(f"{at}/send", json={"message": "More"})
    assert (busy.status_code, busy.json()["error"]["code"]) == (409, "server.running")
    chat.go.set()
    with client.stream("GET", f"{at}/stream") as response:
        got = list(events(response))
    assert "".join(data["text"] for _, name, data in got if name == "text") == CITED
    with client.stream("GET", f"{at}/stream", headers={"Last-Event-ID": str(got[-2][0])}) as response:
        assert [number for number, _, _ in events(response)] == [got[-1][0]]
    assert client.get(at).json()["turns"][-1]["state"] == "done"


def test_a_reply_that_is_stopped_keeps_what_arrived(connect: Connect) -> None:
    chat = HeldChat()
    client = connect(chat)
    with client.stream("POST", "/api/chat/stream", json={"message": QUESTION}) as response:
        at = f"/api/conversations/{response.headers['x-conversation']}"
        assert chat.said_half.wait(10)
    reply = client.post(f"{at}/stop").json()["turns"][-1]
    assert (reply["state"], reply["content"].strip()) == ("partial", "The queen lays eggs")
    assert chat.closed.wait(10)


def test_a_pause_for_a_summary_is_told_before_it(connect: Connect) -> None:
    """R351."""
    client = connect(ScriptedChat(CITED), num_ctx=2048, compact_at_percent=10, compact_keep_turns=0)
    first = client.post("/api/chat", json={"message": QUESTION + " " + "They say so. " * 60}).json()
    body = {"message": QUESTION, "conversation": first["conversation"]}
    with client.stream("POST", "/api/chat/stream", json=body) as response:
        got = list(events(response))
    assert got[0][1:] == ("status", {"text": "Summarising earlier messages…"})
    assert "".join(data["text"] for _, name, data in got if name == "text") == CITED


_SERVED = """
import sys, threading
from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_core.types import Delta
from lilbee_server.app import create_app
from tests.server.conftest import TOKEN, serving

class Chat:
    def chat(self, messages, options=None):
        yield Delta(kind="text", text="The queen lays eggs ")
        yield Delta(kind="text", text="in ")
        threading.Event().wait()

quiet = {"chat_rewrite": "off", "query_expansion_count": 0, "chat_titles": False}
with Lilbee(sys.argv[1], embedder=HashEmbedder(), chat=Chat(), overrides=quiet) as bee:
    bee.sync()
    with serving(create_app(bee, token=TOKEN)) as address:
        print(address, flush=True)
        threading.Event().wait()
"""


@pytest.mark.slow
def test_a_server_that_is_killed_keeps_what_each_reply_had(connect: Connect, tmp_path: Path) -> None:
    """R393: after the restart nobody writes it on; it can be asked for anew."""
    command = [sys.executable, "-c", _SERVED, str(tmp_path / "notes")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            options: dict[str, Any] = {"headers": {"Authorization": f"Bearer {TOKEN}"}, "timeout": 20}
            with httpx.stream(
                "POST", f"{process.stdout.readline().strip()}/api/chat/stream", json={"message": QUESTION}, **options
            ) as response:
                at = f"/api/conversations/{response.headers['x-conversation']}"
                assert next(data for _, name, data in events(response) if name == "text")["text"]
        finally:
            process.kill()
    client = connect(ScriptedChat(CITED))
    question, reply = client.get(at).json()["turns"]
    assert (question["content"], reply["state"], reply["content"].strip()) == (QUESTION, "partial", PARTIAL)
    assert client.get(f"{at}/stream").status_code == 404
    assert client.post(f"{at}/regenerate").json()["reply"]["content"] == CITED
    assert len(client.get(at).json()["turns"]) == 2


def test_what_was_attached_is_downloaded_and_images_are_shown(connect: Connect) -> None:
    """R377: the type is told by the bytes; nothing but images opens in a browser."""
    client = connect(None, chat_images=True)
    page = b"<html><body><script>alert(1)</script>Plan</body></html>"
    files = [
        {"name": name, "content": base64.b64encode(content).decode()}
        for name, content in (("plån.html", page), ("photo.txt", PNG))
    ]
    body = {"message": QUESTION, "attachments": [*files, {"document": "bees.md"}]}
    at = f"/api/conversations/{client.post('/api/chat', json=body).json()['conversation']}"
    turn = client.get(at).json()["turns"][0]
    assert [one["media_type"] for one in turn["attachments"]][:2] == ["text/html", "image/png"]
    got = client.get(f"{at}/messages/{turn['id']}/attachments/1")
    assert (got.content, got.headers["content-type"]) == (page, "application/octet-stream")
    assert got.headers["content-disposition"] == "attachment; filename*=UTF-8''pl%C3%A5n.html"
    assert got.headers["x-content-type-options"] == "nosniff"
    shown = client.get(f"{at}/messages/{turn['id']}/attachments/2")
    assert (shown.content, shown.headers["content-type"]) == (PNG, "image/png")
    assert shown.headers["content-disposition"].startswith("inline")
    assert b"queen" in client.get(f"{at}/messages/{turn['id']}/attachments/3").content
    for other in (f"{turn['id']}/attachments/4", f"{turn['id']}/attachments/0", "x/attachments/1"):
        assert client.get(f"{at}/messages/{other}").status_code == 404
    assert client.get(f"{at}/messages/{turn['id']}/attachments/a").status_code == 404


def test_conversations_that_are_not_there(client: Client) -> None:
    for answer in (
        client.get("/api/conversations/zzz"),
        client.post("/api/conversations/zzz/send", json={"message": "x"}),
        client.post("/api/conversations/zzz/stop"),
        client.post("/api/conversations", json={"collections": ["secrets"]}),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "library.not_found")
    assert client.post("/api/conversations", json={"scope": "moon"}).status_code == 400
    made = client.post("/api/conversations", json={}).json()["id"]
    assert client.post(f"/api/conversations/{made}/send", json={"message": " "}).status_code == 400
    assert client.get(f"/api/conversations/{made}/stream").status_code == 404


# ---------------------------------------------------------------------- documents


def test_documents_are_listed_in_pages(client: Client) -> None:
    first = client.get("/api/documents", params={"limit": 1}).json()
    rest = client.get("/api/documents", params={"limit": 1, "offset": first["next_offset"]}).json()
    assert [one["path"] for one in first["documents"] + rest["documents"]] == ["bees.md", "boats.md"]
    assert rest["next_offset"] is None
    assert client.get("/api/documents", params={"state": "asleep"}).status_code == 400
    assert client.get("/api/documents", params={"collection": "x"}).status_code == 404
    assert [one["name"] for one in client.get("/api/collections").json()["collections"]] == ["notes"]


def test_the_text_of_a_document(client: Client) -> None:
    told = client.get("/api/source", params={"document": "bees.md", "place": "3"}).json()
    assert told["text"].strip() == "The queen lays eggs in spring."


@pytest.mark.parametrize(
    "ref", ["../secret.txt", "/etc/passwd", "..\\secret.txt", "\\\\host\\share", "notes/../../secret.txt"]
)
def test_no_path_leads_out_of_the_library(client: Client, library: Lilbee, ref: str) -> None:
    assert library.root is not None
    (library.root.parent / "secret.txt").write_text("the secret", encoding="utf-8")
    assert client.get("/api/source", params={"document": ref}).status_code == 404
    assert client.post("/api/documents/remove", json={"documents": [ref]}).status_code == 404
    added = client.post("/api/add", json={"paths": [ref]})
    assert added.status_code in (403, 404)
    assert "the secret" not in added.text
    for path in ("a\0b", "https://10.0.0.1/", "file:///etc/passwd"):
        assert client.post("/api/add", json={"paths": [path]}).status_code == 400


def test_no_link_leads_out_of_the_library(client: Client, library: Lilbee, tmp_path: Path) -> None:
    assert library.root is not None
    (tmp_path / "outside").mkdir()
    try:
        (library.root / "link").symlink_to(tmp_path / "outside", target_is_directory=True)
    except OSError:
        pytest.skip("no links here")
    assert client.post("/api/add", json={"paths": ["link"]}).status_code == 403


def test_documents_are_added_synced_and_removed(client: Client, library: Lilbee) -> None:
    assert library.root is not None
    (library.root / "ants.md").write_text("Ants carry leaves.\n", encoding="utf-8")
    job = client.post("/api/add", json={"paths": ["ants.md"]})
    assert job.status_code == 202
    stream = client.get(f"/api/jobs/{job.json()['id']}/events").text
    assert json.loads(stream.split("data: ")[-1])["state"] == "done"
    assert client.get("/api/source", params={"document": "ants.md"}).status_code == 200
    (library.root / "ants.md").write_text("Ants carry crumbs.\n", encoding="utf-8")
    synced = client.post("/api/sync", json={"collections": ["notes"]}).json()
    assert library.jobs.require(synced["id"]).wait(20).state.value == "done"
    assert "crumbs" in client.get("/api/source", params={"document": "ants.md"}).text
    assert client.post("/api/documents/remove", json={"documents": ["ants.md"]}).json()["removed"]
    assert client.get("/api/documents", params={"state": "excluded"}).json()["documents"][0]["path"] == "ants.md"
    texts = {"documents": [{"path": "memo", "text": "Wasps build of paper.", "title": "Wasps"}]}
    assert client.post("/api/documents", json=texts).status_code == 200
    assert client.get("/api/search", params={"query": "wasps paper"}).json()["hits"][0]["title"] == "Wasps"


def test_bodies_that_make_no_sense(client: Client) -> None:
    for path in ("/api/add", "/api/documents/remove", "/api/sync", "/api/documents", "/api/chat"):
        for body in (b"{", b"[]", b"[" * 100_000, b'{"paths": 5, "documents": 5, "collections": 5, "message": 5}'):
            answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code == 400, (path, body)
            assert answer.json()["error"]["code"]
    assert client.post("/api/add", json={"paths": []}).status_code == 400
    assert client.post("/api/ask", json={"question": 5}).json()["error"]["message"] == "question must be a text"
    assert client.get("/api/documents", params={"offset": 10**24}).status_code == 400
    assert client.post("/api/ask", json={"question": "queen", "top_k": 10**30}).status_code == 200
    huge = client.post("/api/documents", content=b"x" * 10_000_001)
    assert huge.status_code == 413


# ---------------------------------------------------------------------- knowledge


def test_topics_pages_and_models_are_those_of_the_library(client: Client, library: Lilbee) -> None:
    assert client.get("/api/topics").json() == {"topics": [one.to_dict() for one in library.concepts.topics()]}
    assert client.get("/api/related", params={"concept": "nothing like it"}).status_code == 404
    assert client.get("/api/wiki/pages").json() == {"pages": []}
    assert client.get("/api/wiki/drafts").json() == {"drafts": []}
    assert client.get("/api/wiki/pages/../../etc/passwd").status_code == 404
    assert client.get("/api/wiki/pages/honey").json()["error"]["code"] == "library.not_found"
    assert client.get("/api/wiki/drafts/honey").json()["error"]["code"] == "library.not_found"
    assert client.post("/api/wiki/drafts/honey/accept").status_code == 404
    assert client.put("/api/wiki/drafts/honey", json={"body": ""}).json()["error"]["code"] == "argument.invalid"
    assert client.get("/api/wiki/plan").json()["calls"] == 0
    assert client.get("/api/wiki/links").json() == {"links": {}, "backlinks": {}}
    assert client.get("/api/wiki/lint").json() == {"problems": []}
    assert client.post("/api/wiki/prune").json()["removed"] == []
    started = client.post("/api/wiki/build", params={"most_calls": 0})
    assert (started.status_code, started.json()["kind"]) == (202, "wiki")
    assert library.jobs.require(started.json()["id"]).wait(30).to_dict()["result"]["calls"] == 0
    served = client.get("/api/models").json()["served"]
    assert [one["id"] for one in served] == [one.id for one in library.inference.models()]


def test_every_address_is_described(client: Client) -> None:
    paths = client.get("/schema/openapi.json").json()["paths"]
    for path in ("/api/ask/stream", "/api/conversations/{ref}/send", "/v1/chat/completions", "/api/source"):
        assert path in paths
    body = paths["/api/ask"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["$ref"].endswith("Question")
