"""Real servers that die, are left running, take turns and share the work (R120, R124, R134-R141, R144-R149)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from lilbee_core import Lilbee
from lilbee_core.fleet import Engine, Fleet, FleetOptions
from lilbee_core.library._fleet import fleet_model
from lilbee_core.settings import Settings
from lilbee_core.types import ModelRef
from tests.e2e.conftest import Models, Servers, chat_server, embed_server, rank_server
from tests.tools._minilm import NumpyMiniLM

pytestmark = pytest.mark.model
SETTINGS = Settings().changed({"request_timeout_s": 60.0})
WAIT_S = 60.0


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def embedding(servers: Servers, fleet: Fleet) -> Any:
    name = fleet.plan().of_role("embed")[0].model
    made: Any = fleet_model(lambda: fleet, "embed", ModelRef("gguf", name), SETTINGS)
    servers.stack.callback(made.close)
    return made


def pids(fleet: Fleet) -> dict[str, int]:
    return {one.id: one.pid for one in fleet.status() if one.pid is not None}


def test_two_roles_at_once(engine: Callable[[], Engine], servers: Servers, models: Models) -> None:
    fleet = servers.fleet(engine, embed_server(models), rank_server(models))
    endpoints: dict[str, str] = {}
    threads = [
        threading.Thread(target=lambda role=role: endpoints.update({role: fleet.endpoint(role).base_url}))
        for role in ("embed", "rerank")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(endpoints.values())) == 2
    fleet.close()
    assert servers.left() == []


def test_requests_recover_when_a_server_is_killed(
    engine: Callable[[], Engine], servers: Servers, models: Models, yardstick: NumpyMiniLM
) -> None:
    fleet = servers.fleet(engine, embed_server(models))
    model = embedding(servers, fleet)
    own = yardstick.embed("bees")
    failures: list[BaseException] = []
    answered: list[float] = []
    done = threading.Event()
    model.embed(["bees"])

    def traffic() -> None:
        while not done.is_set():
            try:
                row = model.embed(["bees"])[0]
                answered.append(row @ own / np.linalg.norm(row))
            except BaseException as error:  # noqa: BLE001 - the test shows it
                failures.append(error)
                return

    threads = [threading.Thread(target=traffic) for _ in range(4)]
    for thread in threads:
        thread.start()
    killed = []
    for starts in (2, 3):
        killed.append(pids(fleet)["embed-0"])
        os.kill(killed[-1], signal.SIGKILL)
        wait_until(lambda starts=starts: fleet.status()[0].starts == starts and fleet.status()[0].state == "ready")
        before = len(answered)
        wait_until(lambda before=before: len(answered) > before + 8)
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert min(answered) >= 0.999
    fleet.close()
    assert servers.left() == []
    assert not any(alive(pid) for pid in killed)


def test_a_server_that_is_killed_while_it_loads_is_started_again(
    engine: Callable[[], Engine], servers: Servers, models: Models
) -> None:
    with servers.fleet(engine, chat_server(models)) as first:
        first.endpoint("chat")  # which engine runs here is known from now on
    fleet = servers.fleet(engine, chat_server(models))
    urls: list[str] = []
    thread = threading.Thread(target=lambda: urls.append(fleet.endpoint("chat").base_url))
    thread.start()
    wait_until(lambda: "chat-0" in pids(fleet))
    killed, state = pids(fleet)["chat-0"], fleet.status()[0].state
    os.kill(killed, signal.SIGKILL)
    thread.join(WAIT_S)
    (status,) = fleet.status()
    assert (state, status.state, status.starts) == ("starting", "ready", 2)
    assert urls == [status.url]
    assert status.pid != killed
    fleet.close()
    assert "chat-0, ended" in fleet.log("chat")


OWNER = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from lilbee_core.fleet import Fleet, FleetOptions, find_engine
from tests.support.fleets import FixedPlanner, placed
server = placed("embed", Path({model!r}), pooling="mean", batch_tokens=512)
fleet = Fleet(
    FixedPlanner(server), state_dir=Path({state!r}), version="1.0", watch=False,
    options=FleetOptions(keep_warm={warm}, threads=1, idle_ttl_s=0),
    engine=lambda: find_engine(search_path="", cache_file=Path({cache!r})),
)
fleet.endpoint("embed")
print(fleet.status()[0].pid, flush=True)
if {detach}:
    fleet.close()
os.kill(os.getpid(), signal.SIGKILL)
"""


def run_owner(servers: Servers, models: Models, *, warm: bool, detach: bool) -> int:
    code = OWNER.format(
        root=str(Path(__file__).resolve().parents[2]),
        model=str(models.embed),
        state=str(servers.state),
        cache=str(servers.cache),
        warm=warm,
        detach=detach,
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip(), done.stderr
    return int(done.stdout)


def test_a_killed_parent_leaves_nothing_behind(engine: Callable[[], Engine], servers: Servers, models: Models) -> None:
    if sys.platform == "linux":
        left = run_owner(servers, models, warm=False, detach=False)
        wait_until(lambda: not alive(left))
    orphan = run_owner(servers, models, warm=True, detach=False)
    assert alive(orphan)
    servers.fleet(engine, embed_server(models)).endpoint("embed")
    assert not alive(orphan)


@pytest.mark.parametrize("detach", [True, False], ids=["closed", "killed"])
def test_a_warm_server_is_adopted_however_its_owner_ended(
    engine: Callable[[], Engine], servers: Servers, models: Models, *, detach: bool
) -> None:
    left = run_owner(servers, models, warm=True, detach=detach)
    options = FleetOptions(keep_warm=True, idle_ttl_s=0)
    fleet = servers.fleet(engine, embed_server(models), options=options)
    started = time.monotonic()
    assert len(embedding(servers, fleet).embed(["bees"])) == 1
    took_s = time.monotonic() - started
    status = fleet.status()[0]
    assert (status.pid, status.adopted, status.starts) == (left, True, 0)
    assert took_s < WAIT_S
    assert servers.fleet(engine).stop() == (left,)
    wait_until(lambda: not alive(left))
    assert servers.left() == []


def test_roles_that_do_not_fit_together_take_turns(
    engine: Callable[[], Engine], servers: Servers, models: Models
) -> None:
    fleet = servers.fleet(
        engine,
        rank_server(models, group="turns"),
        chat_server(models, group="turns", context_tokens=512),
        swap=("turns",),
    )
    fleet.endpoint("rerank")
    assert set(pids(fleet)) == {"rerank-0"}
    fleet.endpoint("chat")
    assert set(pids(fleet)) == {"chat-0"}
    fleet.endpoint("rerank")
    assert set(pids(fleet)) == {"rerank-0"}


def test_fifty_threads_on_two_replicas(
    engine: Callable[[], Engine], servers: Servers, models: Models, yardstick: NumpyMiniLM
) -> None:
    fleet = servers.fleet(engine, embed_server(models), embed_server(models, replica=1))
    model = embedding(servers, fleet)
    own = {text: yardstick.embed(text) for text in (f"hive number {number}" for number in range(50))}
    wrong: list[str] = []

    def work(text: str) -> None:
        row = model.embed([text])[0]
        if row @ own[text] / np.linalg.norm(row) < 0.999:
            wrong.append(text)

    threads = [threading.Thread(target=work, args=(text,)) for text in own]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    wait_until(lambda: [one.state for one in fleet.status()] == ["ready", "ready"])
    assert [one.in_flight for one in fleet.status()] == [0, 0]


def test_a_library_over_model_files(
    engine: Callable[[], Engine], models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sync, search and ask with a model file in each role, planned for this machine."""
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"LILBEE_{name}_DIR", str(tmp_path / name.lower()))
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "bees.md").write_text("# Swarms\n\nThe queen leaves with the swarm in May.\n", "utf-8")
    (notes / "boats.md").write_text("# Ferries\n\nThe ferry leaves at noon.\n", "utf-8")
    chosen = {
        "embedding_model": str(models.embed),
        "reranker_model": str(models.rerank),
        "chat_model": str(models.chat),
        "engine_threads": 1,
        "num_ctx": 2048,
        "answer_max_tokens": 32,
        "query_expansion_count": 0,
        "first_token_timeout_s": 60.0,
    }
    with Lilbee(notes, overrides=chosen) as bee:
        assert bee.sync().embedded == 2
        assert {one.role for one in bee.fleet.status() if one.state == "ready"} == {"embed"}
        assert {hit.path for hit in bee.search("when does the queen leave?").hits} == {"bees.md", "boats.md"}
        answer = bee.ask("When does the queen leave with the swarm?")
        assert answer.model == str(models.chat)
        running = [one.pid for one in bee.fleet.status() if one.pid is not None]
        assert running
    assert not any(alive(pid) for pid in running)
