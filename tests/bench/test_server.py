"""H1 to H5: what HTTP adds to a search, how many it answers, how soon it listens, what idle followers and jobs cost."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from tests.bench._figures import Figure, Report, at_least_times, at_most, at_most_more, at_most_times
from tests.bench._libraries import Library, build
from tests.bench._measure import MB, CommandFailed, run
from tests.bench._servers import EmbedServer, Record, measure_rival
from tests.bench._world import ROOT, World, lilbee, note, notes, standard_library, tool

FOLLOWERS = 1_000
NEW_NOTES = 1_500
CLIENTS = 8
OURS = "/api/search?query={query}&top_k=10"
THEIRS = "/api/search?q={query}&top_k=10"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server that runs."""

    url: str
    token: str
    pid: int


@contextmanager
def served(world: World, folder: Path, data: Path, **variables: str) -> Generator[Served]:
    """Serve a library in a process of its own."""
    words = [sys.executable, "-m", "lilbee_server.main", "--library", folder, "--data-dir", data, "--port", "0"]
    env = world.env(LILBEE_REQUESTS_PER_MINUTE="0", **variables)
    with subprocess.Popen([*map(str, words)], env=env, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            if "listens on" not in (said := process.stderr.readline()):
                raise CommandFailed(f"the server does not start: {said}")
            told = json.loads((data / "server.json").read_text(encoding="utf-8"))
            _until_up(told["url"])
            yield Served(url=told["url"], token=told["token"], pid=process.pid)
        finally:
            process.terminate()


def _until_up(url: str) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{url}/api/health", timeout=5):
                return
        except OSError:
            time.sleep(0.003)
    raise CommandFailed(f"nothing answers at {url}")


def _told(world: World, name: str, *arguments: object) -> Record:
    told: Record = json.loads(run(tool(name, *arguments), env=world.env(), cwd=ROOT).out)
    return told


def test_what_http_adds(world: World, report: Report, big: Library) -> None:
    folder = big.corpus.folder
    with served(world, folder, big.data) as there:
        told = _told(world, "search_beside_server", folder, big.data, there.url, there.token, world.times(5))
    report.add(
        Figure(
            id="H1",
            what=f"search over HTTP, p50, {big.chunks} chunks",
            note=f"p95 {told['there']['p95_ms']:.1f} ms, in the process {told['here']['p95_ms']:.1f} ms",
            value=told["there"]["p50_ms"],
            unit="ms",
            base=told["here"]["p50_ms"],
            base_name="in the process",
            goal=at_most_more(5, "ms"),
        )
    )


def test_many_clients(world: World, report: Report, big: Library, server: EmbedServer) -> None:
    folder, data = big.corpus.folder, world.folder / "clients-data"
    # By the command line: both ask the same server for vectors, of documents as of queries.
    run([*lilbee(), "sync", "--library", str(folder), "--data-dir", str(data)], env=world.env(**server.settings))
    with served(world, folder, data, **server.settings) as there:
        ours = _told(world, "ask_server", there.url, OURS, there.token, CLIENTS, 3 if world.quick else 8)
    theirs = _rival(world, folder, server)
    assert not ours["failed"], ours
    assert theirs is None or not theirs["failed"], theirs
    report.add(
        Figure(
            id="H2",
            what=f"searches of {CLIENTS} clients over HTTP, {big.chunks} chunks",
            note=f"p95 {ours['p95_ms']:.0f} ms",
            value=ours["qps"],
            unit="/s",
            base=theirs["qps"] if theirs else None,
            base_name="rival",
            goal=at_least_times(4),
        )
    )


def _rival(world: World, folder: Path, server: EmbedServer) -> Record | None:
    """Let the rival index the same files and serve them; None where its environment is not given."""
    venv = os.environ.get("LILBEE_BENCH_PEER")
    if not venv:
        return None
    kept = world.folder / "rival-kb"
    measure_rival(Path(venv).absolute(), folder, server, world.env(KB_DIR=str(kept)), quick=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with urllib.request.urlopen(f"{server.url}/models", timeout=30) as answer:
        model = json.load(answer)["data"][0]["id"]
    asked = json.dumps({"model": model, "input": ["probe"]}).encode()
    probe = urllib.request.Request(f"{server.url}/embeddings", asked, {"Content-Type": "application/json"})
    with urllib.request.urlopen(probe, timeout=30) as answer:
        numbers = len(json.load(answer)["data"][0]["embedding"])
    env = world.env(
        HOME=str(world.folder / "rival-home"),
        LILBEE_LLM_PROVIDER="remote",
        LILBEE_LM_STUDIO_BASE_URL=server.url,
        LILBEE_EMBEDDING_MODEL=f"lm_studio/{model}",
        LILBEE_EMBEDDING_DIM=str(numbers),
        LILBEE_QUERY_EXPANSION_COUNT="0",
    )
    env.pop("LILBEE_CONFIG_DIR")
    env.pop("LILBEE_CACHE_DIR")
    env.pop("LILBEE_CONCEPTS")
    words = [str(Path(venv).absolute() / "bin" / "lilbee"), "serve", "-d", str(kept), "-p", str(port)]
    with subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            _until_answers(url)
            token = json.loads((kept / "data" / "server.json").read_text(encoding="utf-8"))["token"]
            return _told(world, "ask_server", url, THEIRS, token, CLIENTS, 3 if world.quick else 8)
        finally:
            process.terminate()


def _until_answers(url: str) -> None:
    """Wait for a server that has another address for its health."""
    parts = urlsplit(url)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with socket.socket() as link:
            if link.connect_ex((str(parts.hostname), int(parts.port or 0))) == 0:
                return
        time.sleep(0.1)
    raise CommandFailed(f"the rival does not listen at {url}")


def test_how_soon_it_listens(world: World, report: Report, big: Library) -> None:
    bare: list[float] = []
    ours: list[float] = []
    for _ in range(world.times(5)):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        began = time.perf_counter()
        process = subprocess.Popen(tool("bare_server", port), env=world.env(), cwd=ROOT)
        try:
            _until_up(f"http://127.0.0.1:{port}")
            bare.append(time.perf_counter() - began)
        finally:
            process.terminate()
            process.wait()
        began = time.perf_counter()
        with served(world, big.corpus.folder, big.data):
            ours.append(time.perf_counter() - began)
    report.add(
        Figure(
            id="H3",
            what="from the command to the first answer",
            value=min(ours),
            unit="s",
            base=min(bare),
            base_name="bare Litestar",
            goal=at_most_more(0.4, "s"),
        )
    )


def test_idle_followers(world: World, report: Report) -> None:
    corpus = notes(world.folder / "watched", 20)
    library = build(world, corpus, "watched-data")
    command = tool("watched_server", corpus.folder, library.data)
    with subprocess.Popen(command, env=world.env(), cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address, job = process.stdout.readline().split()
            _until_up(address)
            before = psutil.Process(process.pid).memory_info().rss
            with ExitStack() as stack:
                for link in _followers(address, job, world.size(FOLLOWERS)):
                    stack.callback(link.close)
                time.sleep(12)  # one heartbeat for each
                after = psutil.Process(process.pid).memory_info().rss
                began = time.perf_counter()
                _until_up(address)
                answered_s = time.perf_counter() - began
        finally:
            process.terminate()
    report.add(
        Figure(
            id="H4",
            what=f"memory of {world.size(FOLLOWERS)} clients that follow an idle job",
            note=f"health answered in {answered_s * 1000:.0f} ms meanwhile",
            value=(after - before) / MB,
            unit="MB",
            goal=at_most(100),
        )
    )


def _followers(address: str, job: str, count: int) -> Iterator[socket.socket]:
    parts = urlsplit(address)
    request = f"GET /api/jobs/{job}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    for _ in range(count):
        link = socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=60)
        link.sendall(request)
        assert b"200 OK" in link.recv(64)
        yield link


def test_searches_while_a_job_works(world: World, report: Report) -> None:
    corpus = standard_library(world.folder / "busy", every=64)
    library = build(world, corpus, "busy-data")
    with served(world, corpus.folder, library.data) as there:
        idle = _told(world, "ask_server", there.url, OURS, there.token, 1, 5)
        for number in range(world.size(NEW_NOTES)):
            path = corpus.folder / f"new-{number:05}.md"
            path.write_text(note(number), encoding="utf-8")
        headers = {"Authorization": f"Bearer {there.token}", "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{there.url}/api/sync", b"{}", headers)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            job = json.load(answer)["id"]
        busy = _told(world, "ask_server", there.url, OURS, there.token, 1, 5)
        state = urllib.request.Request(f"{there.url}/api/jobs/{job}", headers=headers)
        with urllib.request.urlopen(state, timeout=60) as answer:
            still = json.load(answer)["state"]
    for share in ("p50", "p95"):
        report.add(
            Figure(
                id="H5",
                what=f"search over HTTP while the server indexes {world.size(NEW_NOTES)} notes, {share}",
                note=f"the job was {still} at the end",
                value=busy[f"{share}_ms"],
                unit="ms",
                base=idle[f"{share}_ms"],
                base_name="idle",
                goal=at_most_times(2),
            )
        )
