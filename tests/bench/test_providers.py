"""What providers cost beside a bare client, and whether a slow embedder is kept busy by a sync."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import httpx

from lilbee_core.builtins import plugin_host
from lilbee_core.library._models import build_router
from lilbee_core.settings import Settings
from lilbee_core.types import Message
from tests.bench._figures import Figure, Report, at_least, at_most, at_most_more, at_most_times, exactly
from tests.bench._world import ROOT, TOOLS, Corpus, World, lilbee

CALLS = 300
TEXT = "When did hive seven swarm, and who saw it?"
MODEL = "slow"
BATCH, SMALL_BATCH = 64, 4


@contextmanager
def slow_server(world: World, ms: float) -> Iterator[str]:
    """Start a server whose requests take so long, and end it."""
    command = [sys.executable, str(TOOLS / "slow_server.py"), "--ms", str(ms)]
    env = world.env(PYTHONPATH=str(ROOT))
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[1]
        finally:
            process.terminate()


def settings(url: str) -> Settings:
    return Settings().changed(
        {"openai_base_url": url, "embedding_model": f"openai/{MODEL}", "chat_model": f"openai/{MODEL}"}
    )


def alternating(calls: int, *ways: Callable[[], float]) -> list[float]:
    """Return the median time of each way, in seconds. Taking turns, they meet the same machine."""
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(calls):
        for way, taken in zip(ways, times, strict=True):
            taken.append(way())
    return [statistics.median(taken[len(taken) // 10 :]) for taken in times]


def test_a_call_beside_a_bare_client(world: World, report: Report) -> None:
    with slow_server(world, 0) as url, httpx.Client() as bare:
        router = build_router(settings(url), plugin_host(plugins=()), lambda: None, fleet=lambda: None)  # type: ignore[arg-type,return-value]
        with router:

            def plain() -> float:
                started = time.perf_counter()
                payload = {"model": MODEL, "input": [TEXT], "encoding_format": "base64"}
                assert bare.post(f"{url}/embeddings", json=payload).json()["data"]
                return time.perf_counter() - started

            def ours() -> float:
                started = time.perf_counter()
                embedder = router.embedding()
                assert embedder is not None
                assert len(embedder.embed_batch([TEXT])) == 1
                return time.perf_counter() - started

            base, value = alternating(world.size(CALLS), plain, ours)
    report.add(
        Figure(
            id="M1",
            what="embedding a text: router, embedder and provider",
            value=value * 1000,
            unit="ms",
            base=base * 1000,
            base_name="a bare httpx client",
            goal=at_most_more(1.0, "ms"),
        )
    )


def test_the_first_word_of_a_stream(world: World, report: Report) -> None:
    with slow_server(world, 0) as url, httpx.Client() as bare:
        router = build_router(settings(url), plugin_host(plugins=()), lambda: None, fleet=lambda: None)  # type: ignore[arg-type,return-value]
        with router:

            def plain() -> float:
                started = time.perf_counter()
                payload = {"model": MODEL, "stream": True, "messages": [{"role": "user", "content": TEXT}]}
                with bare.stream("POST", f"{url}/chat/completions", json=payload) as answer:
                    lines = answer.iter_lines()
                    json.loads(next(line for line in lines if line).removeprefix("data: "))
                    taken = time.perf_counter() - started
                    for _ in lines:
                        pass
                return taken

            def ours() -> float:
                started = time.perf_counter()
                chat = router.chat()
                assert chat is not None
                deltas = chat.chat([Message(role="user", content=TEXT)])
                assert next(iter(deltas)).text
                taken = time.perf_counter() - started
                for _ in deltas:
                    pass
                return taken

            base, value = alternating(world.size(CALLS), plain, ours)
    report.add(
        Figure(
            id="M2",
            what="the first word of a stream: router and provider",
            value=value * 1000,
            unit="ms",
            base=base * 1000,
            base_name="a bare httpx client",
            goal=at_most_more(5.0, "ms"),
        )
    )


def test_a_sync_keeps_a_slow_embedder_busy(world: World, report: Report, sources: Corpus) -> None:
    """Where the embedder is the slower one it is busy nearly all the time; where it is not, it costs next to nothing.

    At 50 ms a request, full requests make it serve 2,560 texts a second, several times what reading and cutting make on
    two cores: it has to wait for work. What shows whether it waits for anything else is the same embedder with requests
    so small that it is the slower one.
    """
    instant_s, _, _ = synced(world, sources, 0)
    seconds, told, stats = synced(world, sources, 50)
    _, _, small = synced(world, sources, 50, batch=SMALL_BATCH)
    least = -(-int(stats["texts"]) // BATCH)
    asked = f"{stats['requests']:.0f} requests for {stats['texts']:.0f} texts"
    report.add(
        Figure(
            id="M3",
            what=f"a sync with an embedder that takes 50 ms for {SMALL_BATCH} texts: how much of the time it is busy",
            note=f"{small['requests']:.0f} requests for {small['texts']:.0f} texts; with {BATCH} texts a request, when "
            f"it could serve more than there is, {stats['busy_s'] / stats['span_s']:.2f}",
            value=small["busy_s"] / small["span_s"],
            unit="",
            goal=at_least(0.85),
        ),
        Figure(
            id="M3",
            what=f"a sync with an embedder that takes 50 ms for {BATCH} texts, seconds",
            note=f"{sources.files} files, {told['chunks']} chunks, {asked}",
            value=seconds,
            unit="s",
            base=max(instant_s, stats["busy_s"]),
            base_name="the slower of both: an instant embedder, or this one by itself",
            goal=at_most_times(1 / 0.85),
        ),
        Figure(
            id="M3",
            what="the same, requests for each full batch of texts across files",
            value=stats["requests"] / least,
            unit="",
            goal=at_most(1.25),
        ),
        Figure(id="M3", what="the same, texts without a vector", value=float(told["owed"]), unit="", goal=exactly(0)),
    )


def synced(
    world: World, sources: Corpus, ms: float, *, batch: int = BATCH
) -> tuple[float, dict[str, Any], dict[str, float]]:
    """Sync with a server whose requests take so long; return the seconds, the report and what was asked."""
    with slow_server(world, ms) as url:
        env = world.env(
            LILBEE_EMBEDDING_MODEL=f"openai/{MODEL}",
            LILBEE_EMBEDDING_MAX_TOKENS="512",
            LILBEE_OPENAI_BASE_URL=url,
            LILBEE_EMBED_BATCH_SIZE=str(batch),
        )
        command = [
            *lilbee(),
            "sync",
            "--library",
            sources.folder,
            "--data-dir",
            world.folder / f"slow-{ms}-{batch}",
            "--json",
        ]
        done = subprocess.run([str(one) for one in command], env=env, capture_output=True, text=True, check=False)
        told = cast("dict[str, Any]", json.loads(done.stdout))
        return float(told["seconds"]), told, _ask(f"{url.removesuffix('/v1')}/stats")


def _ask(address: str) -> dict[str, float]:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return cast("dict[str, float]", json.load(answer))
