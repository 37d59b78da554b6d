"""A server as a process, and clients that behave badly: every line is answered, nothing is lost (R270)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lilbee_core import Lilbee

pytestmark = pytest.mark.slow


class Pipe:
    """A client that writes lines and reads lines."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self.into, self.out = process.stdin, process.stdout

    def say(self, *lines: str | dict[str, Any]) -> None:
        for line in lines:
            self.into.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        self.into.flush()

    def hear(self, count: int = 1) -> list[dict[str, Any]]:
        return [json.loads(self.out.readline()) for _ in range(count)]

    def ask(self, id_: Any, method: str, **params: Any) -> dict[str, Any]:
        self.say({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        return self.hear()[0]

    def begin(self) -> None:
        client = {"name": "test", "version": "1"}
        answer = self.ask(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        assert answer["result"]["serverInfo"]["name"] == "lilbee"
        assert answer["result"]["capabilities"].keys() == {"completions", "prompts", "resources", "tools"}
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})


def notes(folder: Path) -> Path:
    root = folder / "notes"
    root.mkdir()
    for number in range(40):
        (root / f"{number}.md").write_text(f"Note {number} is about bees.\n", encoding="utf-8")
    return root


@contextmanager
def started(root: Path) -> Iterator[Pipe]:
    env = {**os.environ, "LILBEE_EMBEDDING_MODEL": "none", "LILBEE_CONFIG_DIR": str(root.parent / "config")}
    with subprocess.Popen(
        [sys.executable, "-m", "lilbee_mcp.main", "--library", str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    ) as process:
        pipe = Pipe(process)
        pipe.begin()
        yield pipe
        if not pipe.into.closed:
            process.communicate(timeout=30)


@pytest.fixture(scope="module")
def pipe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipe]:
    """One server for all that does not end it: each test also shows that those before did it no harm."""
    with started(notes(tmp_path_factory.mktemp("stdio"))) as pipe:
        yield pipe


def test_odd_requests_are_answered_and_the_next_one_too(pipe: Pipe) -> None:
    odd: list[tuple[str | dict[str, Any], int]] = [
        ("{bad", -32700),
        ("[" * 3_000, -32700),
        ({"jsonrpc": "2.0", "id": 1, "method": "nope/nope"}, -32601),
        ({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search", "arguments": [1]}}, -32602),
        ({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {}}, -32602),
        ({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": "x"}, -32600),
        ({"jsonrpc": "2.0", "id": 5, "method": "resources/read", "params": {"uri": 7}}, -32602),
        ({"jsonrpc": "1.0", "id": 6, "method": "ping"}, -32600),
        ('{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": "\\ud800"}}', -32700),
    ]
    for line, code in odd:
        pipe.say(line)
        answer = pipe.hear()[0]
        assert answer["error"]["code"] == code, (line, answer)
        assert "Traceback" not in json.dumps(answer)
    assert pipe.ask(8, "ping")["result"] == {}


def test_a_huge_argument_is_refused_and_costs_no_session(pipe: Pipe) -> None:
    answer = pipe.ask("big", "tools/call", name="search", arguments={"query": "bees " * 2_000_000})
    assert answer["result"]["structuredContent"]["error"]["code"] == "argument.invalid"
    assert len(json.dumps(answer)) < 2_000
    deep: Any = "x"
    for _ in range(150):
        deep = [deep]
    answer = pipe.ask("deep", "tools/call", name="search", arguments={"query": deep})
    assert answer["result"]["isError"]
    assert pipe.ask("next", "ping")["result"] == {}


@pytest.mark.slow
@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=pytest.mark.bench)])
def test_thousands_of_small_requests_are_all_answered(pipe: Pipe, count: int) -> None:
    import threading

    calls = [{"jsonrpc": "2.0", "id": number, "method": "ping"} for number in range(1, count + 1)]
    writer = threading.Thread(target=pipe.say, args=calls)
    writer.start()
    answered = {one["id"] for one in pipe.hear(count)}
    writer.join()
    assert answered == set(range(1, count + 1))


def test_a_client_that_vanishes_leaves_a_whole_library(tmp_path: Path) -> None:
    root = notes(tmp_path)
    with started(root) as pipe:
        pipe.say({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sync", "arguments": {}}})
        pipe.into.close()
        assert pipe.process.wait(60) == 0
    with Lilbee(root, overrides={"embedding_model": "none"}) as bee:
        bee.sync()
        assert len(bee.search("bees", top_k=100, diversify=False).hits) == 40


def test_a_cancelled_call_is_not_answered_and_the_next_one_is(pipe: Pipe) -> None:
    call = {"name": "sync", "arguments": {"wait_s": 40}}
    pipe.say(
        {"jsonrpc": "2.0", "id": "slow", "method": "tools/call", "params": call},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "never was"}},
    )
    heard = [pipe.ask("status", "tools/call", name="job_status", arguments={})]
    if heard[0]["id"] == "slow":  # it was done before it was cancelled
        heard += pipe.hear()
    assert heard[-1]["id"] == "status"
    assert pipe.ask("ping", "ping")["result"] == {}
