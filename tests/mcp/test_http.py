"""The protocol over streamable HTTP: alone, and mounted on the server (R261, R264, R265, R271, R272)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from lilbee_core import Lilbee
from lilbee_core.types import Delta
from lilbee_mcp import http as over_http
from lilbee_server.app import create_app
from lilbee_server.mounts import find_mounts
from tests.mcp.conftest import call
from tests.support.listening import listening

TOKEN = "0wner"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
HEADERS = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve an application on loopback; gives the address of the protocol."""
    with listening(app) as address:
        yield f"{address}/mcp"


def alone(library: Lilbee) -> Any:
    return over_http.create_app(library, token=TOKEN)


def mounted(library: Lilbee) -> Any:
    return create_app(library, token=TOKEN, mounts=find_mounts)


@pytest.fixture(scope="module", params=[alone, mounted])
def url(request: pytest.FixtureRequest, shared: Lilbee) -> Iterator[str]:
    make: Callable[[Lilbee], Any] = request.param
    with serving(make(shared)) as address:
        yield address


def speak(url: str, work: Any, *, token: str = TOKEN) -> Any:
    async def run() -> Any:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return await work(client)

    return anyio.run(run)


def test_it_says_the_same_as_in_process(url: str, shared: Lilbee) -> None:
    arguments = {"query": "queen eggs", "top_k": 3}
    over = speak(url, lambda client: client.call_tool("search", arguments)).structured_content
    assert over == call(shared, "search", arguments).structured_content
    assert len(speak(url, lambda client: client.list_tools()).tools) == 9


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Authorization": ""}, 401, "server.unauthorized"),
        ({"Authorization": "Bearer lb_1_wrong"}, 401, "server.unauthorized"),
        ({"Host": "evil.example"}, 403, "server.forbidden_host"),
        ({"Origin": "http://evil.example"}, 403, "server.forbidden_origin"),
        ({"Origin": "null"}, 403, "server.forbidden_origin"),
    ],
)
def test_strangers_stay_outside(url: str, headers: dict[str, str], status: int, code: str) -> None:
    answer = httpx.post(url, json=INITIALIZE, headers={**HEADERS, **headers})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["error"]["hint"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{bad", 400),
        (b"[]", 400),
        (b'{"jsonrpc": "2.0", "id": 1}', 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b" " * 5_000_000, 413),
        (json.dumps({**INITIALIZE, "method": "nope"}).encode(), 400),
    ],
    ids=["json", "list", "method", "utf8", "deep", "huge", "no session"],
)
def test_bad_bodies_are_refused_in_the_protocols_own_words(url: str, body: bytes, status: int) -> None:
    answer = httpx.post(url, content=body, headers={**HEADERS, "Content-Type": "application/json"})
    assert answer.status_code == status
    assert "Traceback" not in answer.text
    assert httpx.post(url, json=INITIALIZE, headers=HEADERS).status_code == 200


def test_sessions_belong_to_the_token_that_began_them(url: str, shared: Lilbee) -> None:
    other = shared.tokens.create("other reader", read_only=True)
    try:
        session = httpx.post(url, json=INITIALIZE, headers=HEADERS).headers["mcp-session-id"]
        asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        with_session = {**HEADERS, "mcp-session-id": session}
        assert httpx.post(url, json=asked, headers=with_session).status_code == 200
        stolen = httpx.post(url, json=asked, headers={**with_session, "Authorization": f"Bearer {other.secret}"})
        assert stolen.status_code == 404
        assert httpx.delete(url, headers=with_session).status_code == 200
        assert httpx.post(url, json=asked, headers=with_session).status_code == 404
    finally:
        shared.tokens.revoke(other.info.id)


def test_tokens_see_and_do_what_they_may(own: Lilbee) -> None:
    """A token that reads has the tools that read; one of a collection finds nothing of the others."""
    reader = own.tokens.create("reader", read_only=True).secret
    diary = own.tokens.create("diary", collections=("diary",)).secret

    async def look(client: Client) -> Any:
        names = [one.name for one in (await client.list_tools()).tools]
        listed = (await client.call_tool("list_documents", {})).structured_content["documents"]
        hits = (await client.call_tool("search", {"query": "queen treasure honey"})).structured_content["hits"]
        uris = [str(one.uri) for one in (await client.list_resources()).resources]
        bees = await client.call_tool("read", {"document": "bees.md"})
        removed = await client.call_tool("remove", {"documents": ["bees.md"]})
        state = (await client.call_tool("status", {})).structured_content
        elsewhere = await client.call_tool("sync", {"collections": ["notes"]})
        return names, listed, hits, uris, bees, removed, state, elsewhere

    with serving(mounted(own)) as url:
        seen = speak(url, look, token=reader)
        own_part = speak(url, look, token=diary)
        stranger = own.tokens.create("late").info
        own.tokens.revoke(stranger.id)
    names, listed, _, _, bees, removed, state, elsewhere = seen
    assert names == ["search", "ask", "read", "list_documents", "status", "job_status"]
    assert len(listed) == 4
    assert not bees.is_error
    assert removed.structured_content["error"]["code"] == "server.forbidden"
    assert elsewhere.structured_content["error"]["code"] == "server.forbidden"
    assert "chunks" in state
    names, listed, hits, uris, bees, removed, state, elsewhere = own_part
    assert "add" not in names
    assert {"sync", "remove"} <= set(names)
    assert [one["path"] for one in listed] == ["secret.md"]
    assert {hit["path"] for hit in hits} == {"secret.md"}
    assert uris == ["lilbee://document/diary/secret.md"]
    for refused in (bees, removed, elsewhere):
        assert refused.structured_content["error"]["code"] == "library.not_found"
    assert state == {"collections": [{"name": "diary", "documents": 1}]}


def test_changes_are_written_down_by_who_made_them(own: Lilbee) -> None:
    agent = own.tokens.create("agent").secret

    async def change(client: Client) -> None:
        await client.call_tool("remove", {"documents": ["bees.md"]})
        await client.call_tool("remove", {"documents": ["nothing.md"]})
        await client.call_tool("search", {"query": "queen"})

    with serving(mounted(own)) as url:
        speak(url, change, token=agent)
    lines = [json.loads(line) for line in (own.data_dir / "audit.log").read_text("utf-8").splitlines()]
    assert [(one["who"], one["path"], one["status"]) for one in lines] == [
        ("agent", "/mcp remove", 200),
        ("agent", "/mcp remove", 400),
    ]


def test_replies_wait_for_each_other_however_they_were_asked_for(own: Lilbee, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent's answer takes its turn with those of the other addresses (R272)."""
    begun, gate = threading.Event(), threading.Event()

    def slow(*_: Any, **__: Any) -> Iterator[Delta]:
        begun.set()
        gate.wait(20)
        yield Delta(kind="text", text="late")

    monkeypatch.setattr(type(own), "ask_stream", slow)
    with listening(create_app(own, token=TOKEN, wait_s=0.2, mounts=find_mounts)) as address:
        question = {"question": "first?"}
        first = threading.Thread(
            target=httpx.post, args=(f"{address}/api/ask",), kwargs={"json": question, "headers": HEADERS}
        )
        first.start()
        try:
            assert begun.wait(10)
            asked = speak(f"{address}/mcp", lambda client: client.call_tool("ask", {"question": "second?"}))
        finally:
            gate.set()
            first.join()
    assert asked.structured_content["error"]["code"] == "server.busy"


def test_sessions_are_bounded(shared: Lilbee) -> None:
    from lilbee_core.tokens import Access
    from lilbee_mcp.server import build_server

    server = build_server(shared)
    few = over_http.Sessions(lambda: server, most=2)
    with serving(over_http.Gate(few, Access(token=TOKEN, check=shared.tokens.check))) as url:
        begun = [httpx.post(url, json=INITIALIZE, headers=HEADERS).status_code for _ in range(4)]
    assert begun == [200, 200, 503, 503]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_it_listens_as_a_program_and_leaves_nothing_behind(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    env = {**os.environ, "LILBEE_EMBEDDING_MODEL": "none", "LILBEE_CONFIG_DIR": str(tmp_path / "config")}
    command = [sys.executable, "-m", "lilbee_mcp.main", "--http", "--port", "0", "--library", str(root)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stderr is not None
        assert "listens on" in process.stderr.readline()
        file = root / ".lilbee" / "mcp.json"
        told = json.loads(file.read_text("utf-8"))
        assert file.stat().st_mode & 0o777 == 0o600
        found = speak(told["url"], lambda client: client.call_tool("status", {}), token=told["token"])
        assert found.structured_content["chunks"] == 0
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert process.stdout is not None
        assert process.stdout.read() == ""
    assert not file.exists()
