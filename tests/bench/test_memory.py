"""The memory server on a thousand notes with the built-in model: its starts, its searches, its embedding (R322)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench._figures import Figure, Report, at_most
from tests.bench._measure import percentile
from tests.bench._world import World, notes

NOTES, SEARCHES = 1_000, 60
WORDS = ("hive swarm", "invoice budget", "keel harbor", "crumb crust", "parser token", "glacier ridge")


@contextmanager
def served(file: Path, env: dict[str, str]) -> Iterator[str]:
    """Start the server; gives its address as soon as it listens."""
    command = [sys.executable, "-m", "lilbee_server.main", "--memory", str(file), "--port", "0"]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            yield process.stderr.readline().rpartition(" ")[2].strip()
        finally:
            process.terminate()
            process.communicate(timeout=60)


def ask(url: str, path: str, body: dict[str, object] | None = None) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data=data, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


def seconds_until(done: Callable[[], bool]) -> float:
    began = time.perf_counter()
    while not done():
        time.sleep(0.02)
    return time.perf_counter() - began


def test_memory_server(world: World, report: Report) -> None:
    count, folder = world.size(NOTES), world.folder / "memory"
    notes(folder / "workspace", count)
    file = folder / "config.json"
    collection = {"name": "memory", "path": "workspace", "pattern": "**/*.md"}
    file.write_text(json.dumps({"collections": [collection], "lmstudio": {"embeddingModel": "auto"}}), encoding="utf-8")
    env = world.env(LILBEE_DATA_DIR=str(folder / "data"))

    def ready(url: str) -> bool:
        told = ask(url, "/status")
        return bool(told["documents"]["indexed"] == count and not told["indexing"]["active"])

    with served(file, env) as url:
        began = time.perf_counter()
        seconds_until(lambda: ready(url))
        first = time.perf_counter() - began
        chunks = ask(url, "/status")["chunks"]
    began = time.perf_counter()
    with served(file, env) as url:
        up = time.perf_counter() - began
        ask(url, "/search", {"query": WORDS[0]})
        answering = time.perf_counter() - began
        seconds_until(lambda: ready(url))
        again = time.perf_counter() - began
        times: list[float] = []
        for number in range(world.size(SEARCHES)):
            started = time.perf_counter()
            assert ask(url, "/search", {"query": WORDS[number % len(WORDS)]})["results"]
            times.append((time.perf_counter() - started) * 1000)
    report.add(
        Figure(id="memory", what="later start until it listens", value=up, unit="s", goal=at_most(5)),
        Figure(id="memory", what="later start until the first search is answered", value=answering, unit="s",
               goal=at_most(5)),
        Figure(id="memory", what="later start until all files were looked at", value=again, unit="s"),
        Figure(id="memory", what="first indexing", value=first, unit="s", note=f"{count} files, {chunks} chunks"),
        Figure(id="memory", what="first indexing of a chunk", value=first * 1000 / chunks, unit="ms", goal=at_most(25)),
        Figure(id="memory", what="search, half of them within", value=percentile(times, 0.5), unit="ms",
               goal=at_most(200), note="without a reranker"),
        Figure(id="memory", what="search, 95 % within", value=percentile(times, 0.95), unit="ms", goal=at_most(200)),
    )  # fmt: skip
    assert chunks >= count
