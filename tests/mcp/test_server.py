"""The tools over an in-memory client, and the server as a process (R009, R266, R270)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument
from lilbee_core.testing import HashEmbedder
from lilbee_mcp.server import build_server
from lilbee_mcp.tools.search import HIT_CHARS
from tests.support.websites import Website


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Lilbee]:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    (root / "long.md").write_text("zebra " * 900, encoding="utf-8")
    with Lilbee(root, embedder=HashEmbedder()) as bee:
        bee.sync()
        yield bee


def call(library: Lilbee, name: str, **arguments: Any) -> Any:
    async def work() -> Any:
        async with Client(build_server(library)) as client:
            return await client.call_tool(name, arguments)

    return anyio.run(work)


def test_the_tools_and_their_marks(library: Lilbee) -> None:
    async def work() -> Any:
        async with Client(build_server(library)) as client:
            return (await client.list_tools()).tools

    tools = anyio.run(work)
    assert [tool.name for tool in tools] == ["search", "status"]
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert len(json.dumps([tool.model_dump(mode="json") for tool in tools])) < 5_000


def test_search_gives_the_same_hits_as_the_library(library: Lilbee) -> None:
    result = call(library, "search", query="queen eggs", top_k=3)
    hits = result.structured_content["hits"]
    assert [hit["path"] for hit in hits] == [hit.path for hit in library.search("queen eggs", top_k=3)]
    assert hits[0]["line_start"] == 1
    assert "lays eggs" in hits[0]["text"]


def test_a_search_explains_one_document_if_asked_to(library: Lilbee) -> None:
    told = call(library, "search", query="queen eggs path:bees.md", explain="long.md").structured_content
    assert told["explained"]["verdict"] == "filtered"
    assert "explained" not in call(library, "search", query="queen eggs").structured_content


def test_a_long_hit_is_cut_and_says_so(library: Lilbee) -> None:
    hits = call(library, "search", query="zebra").structured_content["hits"]
    assert all(len(hit["text"]) <= HIT_CHARS + 4 for hit in hits)


def test_an_error_is_an_error_with_its_code(library: Lilbee) -> None:
    result = call(library, "search", query="   ")
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
        ("search", {"query": ["bees"], "top_k": None}, "['bees']; top_k must be a whole number, got None"),
        ("search", {}, "argument.invalid: query is missing. Correct"),
        ("find", {}, "argument.invalid: there is no tool 'find'. Call one of "),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told_in_our_words(library: Lilbee, name: str, arguments: Any, told: str) -> None:
    result = call(library, name, **arguments)
    assert result.is_error
    assert told in result.content[0].text
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
    assert call(library, "status").structured_content["documents"]["indexed"] == 2


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


def test_the_web_is_out_of_reach_unless_somebody_allowed_it(library: Lilbee) -> None:
    """An agent has the tools only where its user said so (R273)."""

    async def names(*enable: str) -> list[str]:
        async with Client(build_server(library, enable=enable)) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    assert "crawl" not in anyio.run(names)
    assert anyio.run(names, "crawl")[-2:] == ["crawl", "crawl_status"]
    with pytest.raises(InvalidArgument, match="no tools called 'web'"):
        build_server(library, enable=("web",))


def test_a_crawl_is_started_and_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILBEE_CRAWL_ALLOWED_NETWORKS", "127.0.0.1")
    monkeypatch.setenv("LILBEE_CRAWL_MEAN_DELAY", "0")
    monkeypatch.setenv("LILBEE_CRAWL_MAX_DELAY_RANGE", "0")
    page = "<title>Ferry</title><p>The ferry leaves at noon.</p><a href=/gone>gone</a>"

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
