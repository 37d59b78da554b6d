"""What an agent waits for: the first answer of a server that was just started, its tool list, a call."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench._figures import Figure, Report, at_most, at_most_times
from tests.bench._measure import median
from tests.bench._world import TOOLS, World

TIMES = 15
INITIALIZE: Mapping[str, object] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}
INITIALIZED: Mapping[str, object] = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST: Mapping[str, object] = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
STATUS: Mapping[str, object] = {
    "jsonrpc": "2.0",
    "id": 3,
    "method": "tools/call",
    "params": {"name": "status", "arguments": {}},
}


def answers(
    command: Sequence[str | Path], env: Mapping[str, str], *further: Mapping[str, object]
) -> list[tuple[float, str]]:
    """Start a server, ask it one thing after the other, and return when each was answered, in seconds, and how."""
    began = time.perf_counter()
    with subprocess.Popen(
        [str(one) for one in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        found: list[tuple[float, str]] = []
        for message in (INITIALIZE, *further):
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            line = process.stdout.readline() if "id" in message else ""
            assert line or "id" not in message, "the server gave no answer"
            found.append((time.perf_counter() - began, line))
        process.stdin.close()
    return found


def test_start(world: World, report: Report) -> None:
    folder = world.folder / "mcp"
    folder.mkdir(exist_ok=True)
    (folder / "bees.md").write_text("The queen lays eggs in spring.\n", encoding="utf-8")
    env = world.env(LILBEE_EMBEDDING_MODEL="none")
    ours: list[str | Path] = [sys.executable, "-m", "lilbee_mcp.main", "--library", folder]
    bare: list[str | Path] = [sys.executable, TOOLS / "bare_mcp.py"]
    first: dict[str, list[float]] = {"ours": [], "bare": []}
    for _ in range(world.times(TIMES)):
        first["bare"].append(answers(bare, env)[0][0])
        first["ours"].append(answers(ours, env)[0][0])
    whole = answers(ours, env, INITIALIZED, LIST, STATUS)
    listed = len(json.dumps(json.loads(whole[2][1])["result"], ensure_ascii=False).encode())
    report.add(
        Figure(
            id="MCP",
            what="initialize answered, fastest",
            value=min(first["ours"]),
            unit="s",
            base=min(first["bare"]),
            base_name="bare SDK server",
            goal=at_most_times(1.3),
        ),
        Figure(
            id="MCP",
            what="initialize answered, median",
            value=median(first["ours"]),
            unit="s",
            base=median(first["bare"]),
            base_name="bare SDK server",
            goal=at_most_times(1.3),
        ),
        Figure(id="MCP", what="tools/list", value=listed, unit="bytes", goal=at_most(12_000)),
        Figure(id="MCP", what="first call answered after start", value=whole[3][0], unit="s"),
    )
