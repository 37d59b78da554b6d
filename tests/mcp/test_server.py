"""The tools over an in-memory client, and the server as a process (R009, R266, R270)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_mcp.server import build_server
from lilbee_mcp.tools.search import HIT_CHARS
from tests.mcp.conftest import call
from tests.support.websites import Website


@pytest.fixture
def library(shared: Lilbee) -> Lilbee:
    return shared


def called(library: Lilbee, name: str, **arguments: Any) -> Any:
    return call(library, name, arguments)


def test_search_gives_the_same_hits_as_the_library(library: Lilbee) -> None:
    result = called(library, "search", query="queen eggs", top_k=3)
    hits = result.structured_content["hits"]
    assert [hit["path"] for hit in hits] == [hit.path for hit in library.search("queen eggs", top_k=3)]
    assert hits[0]["line_start"] == 1
    assert json.loads(result.content[0].text) == result.structured_content
    assert "lays eggs" in hits[0]["text"]


def test_a_search_explains_one_document_if_asked_to(library: Lilbee) -> None:
    told = called(library, "search", query="queen eggs path:bees.md", explain="long.md").structured_content
    assert told["explained"]["verdict"] == "filtered"
    assert "explained" not in called(library, "search", query="queen eggs").structured_content


def test_a_long_hit_is_cut_and_says_so(library: Lilbee) -> None:
    hits = called(library, "search", query="zebra").structured_content["hits"]
    assert all(len(hit["text"]) <= HIT_CHARS + 4 for hit in hits)


def test_an_error_is_an_error_with_its_code(library: Lilbee) -> None:
    result = called(library, "search", query="   ")
    assert result.is_error
    assert "search.empty_query" in result.content[0].text
    assert "Traceback" not in result.content[0].text


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("search", {"query": 3}, "argument.invalid: query must be a text, got 3. Correct the arguments of search."),
        ("search", {"query": "bees", "top_k": "many"}, "argument.invalid: top_k must be a whole number, got 'many'."),
        ("search", {"query": "bees", "top_k": [1]}, "argument.invalid: top_k must be a whole number, got [1]."),
        ("search", {"query": "bees", "top_k": 0}, "argument.invalid: top_k must be at least 1, got 0."),
        ("search", {"query": ["bees"], "top_k": None}, '["bees"]; top_k must be a whole number, got null'),
        ("search", {"query": "bees", "limit": 3}, "there is no argument 'limit'. search takes query, top_k, offset,"),
        ("search", {"query": "b" * 30_000}, "argument.invalid: query is too long: at most 20,000 characters."),
        ("search", {"query": "bees", "paths": "notes"}, "paths must be a list, got 'notes'."),
        ("search", {"query": "bees", "paths": [{"a": 1}]}, 'paths.0 must be a text, got {"a": 1}.'),
        ("search", {"query": "bees", "offset": -1}, "argument.invalid: offset must be at least 0, got -1."),
        ("search", {"query": "bees", "collections": ["nope"]}, "library.not_found: there is no collection 'nope'"),
        ("search", {"query": "bees", "scope": "moon"}, "argument.invalid: "),
        ("read", {"document": "bees\0.md"}, "'bees\\x00.md' holds a NUL character"),
        ("read", {"document": "../diary/secret.md"}, "library.not_found: "),
        ("read", {"document": "bees.md", "place": "900-901"}, "argument.invalid: lines 900-901 lie outside"),
        ("read", {"document": "bees.md", "offset": 99_999}, "argument.invalid: offset 99999 lies behind the end"),
        ("read", {"document": "x" * 20_000}, "argument.invalid: document is too long"),
        ("list_documents", {"state": "lost"}, "argument.invalid: 'lost' is no state"),
        ("list_documents", {"limit": 0}, "argument.invalid: limit must be at least 1, got 0."),
        ("job_status", {"job": "nope"}, "library.not_found: there is no job 'nope'"),
        ("sync", {"wait_s": "long"}, "argument.invalid: wait_s must be a number, got 'long'."),
        ("add", {"paths": []}, "argument.invalid: paths names nothing. Name at least one"),
        ("remove", {"documents": []}, "argument.invalid: documents names nothing."),
        ("status", {"x": 1}, "argument.invalid: there is no argument 'x'. status takes no arguments."),
        ("", {}, "argument.invalid: there is no tool ''. Call one of add, ask, job_status,"),
        ("search", {}, "argument.invalid: query is missing. Correct"),
        ("find", {}, "argument.invalid: there is no tool 'find'. Call one of "),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told_in_our_words(library: Lilbee, name: str, arguments: Any, told: str) -> None:
    result = called(library, name, **arguments)
    assert result.is_error
    assert told in result.content[0].text
    error = result.structured_content["error"]
    assert result.content[0].text.startswith(f"{error['code']}: ")
    assert error["hint"]
    assert "pydantic" not in result.content[0].text
    assert "validation error" not in result.content[0].text


@pytest.mark.slow
def test_every_line_is_answered(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    env = {**os.environ, "LILBEE_EMBEDDING_MODEL": "none", "LILBEE_CONFIG_DIR": str(tmp_path / "config")}
    lines = ["{bad", "[]", "", "3", '{"jsonrpc": "2.0", "id": 7, "method": 3}', '{"id": "a"}']
    done = subprocess.run(
        [sys.executable, "-m", "lilbee_mcp.main", "--library", str(root)],
        input="\n".join(lines) + "\n", capture_output=True, text=True, env=env, timeout=60, check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    told = [(one["id"], one["error"]["code"]) for one in answers]
    wanted = [(None, -32700), (None, -32600), (None, -32600), (7, -32600), ("a", -32600)]
    assert told == wanted
    assert all("Send one JSON-RPC 2.0 message a line" in one["error"]["message"] for one in answers)


def test_status_counts(library: Lilbee) -> None:
    assert called(library, "status").structured_content["documents"]["indexed"] == 4


@pytest.mark.slow
def test_stdout_holds_the_protocol_alone(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    env = {"LILBEE_EMBEDDING_MODEL": "none", "LILBEE_CONFIG_DIR": str(tmp_path / "config")}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "lilbee_mcp.main", "--library", str(root)], env=env
    )

    async def work() -> Any:
        async with Client(stdio_client(command)) as client:
            return await client.call_tool("status", {})

    assert anyio.run(work).structured_content["documents"]["indexed"] == 0


def test_a_crawl_is_started_and_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILBEE_CRAWL_ALLOWED_NETWORKS", "127.0.0.1")
    monkeypatch.setenv("LILBEE_CRAWL_MEAN_DELAY", "0")
    monkeypatch.setenv("LILBEE_CRAWL_MAX_DELAY_RANGE", "0")
    page = "<title>Ferry</title><p>The ferry leaves at noon.</p><a href=/gone>gone</a><a href=/film.mp4>film</a>"

    async def work(library: Lilbee, url: str) -> tuple[Any, Any, Any]:
        async with Client(build_server(library, enable=("crawl",))) as client:
            started = (await client.call_tool("crawl", {"url": url, "depth": 1})).structured_content
            done = (await client.call_tool("crawl_status", {"job": started["job"], "wait_s": 30})).structured_content
            blocked = (await client.call_tool("crawl", {"url": "http://10.0.0.1/"})).structured_content
            return started, done, (await client.call_tool("crawl_status", {"job": blocked["job"], "wait_s": 30}))

    with Website({"/": page}) as site, Lilbee(tmp_path, embedder=HashEmbedder()) as library:
        started, done, blocked = anyio.run(work, library, site.url())
        assert started["state"] in {"queued", "running", "done"}
        assert (done["state"], done["new"]) == ("done", 1)
        assert done["failed"][0]["url"] == site.url("/gone")
        assert (done["skipped_count"], done["skipped_counts"]) == (1, {"crawl.unsupported": 1})
        assert done["skipped"][0]["url"] == site.url("/film.mp4")
        assert blocked.structured_content["error"]["code"] == "crawl.blocked_address"
        assert library.search("ferry noon").hits[0].url == site.url()


def test_a_startup_error_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from lilbee_mcp.main import main

    with pytest.raises(SystemExit) as ended:
        main(["--library", str(tmp_path / "\x1b[31mred\nline")])
    assert ended.value.code == 4
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert "\\x1b[31mred\\nline" in said
