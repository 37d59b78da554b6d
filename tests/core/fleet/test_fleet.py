"""A fleet over real processes that stand in for llama-server: start, share, die, be found again (R091-R093, R095, R110,
R112, R119, R131-R141, R144-R150)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from lilbee_core.errors import FleetError
from lilbee_core.events import Progress, ServerStarted, ServerStopped, Warned
from lilbee_core.fleet import Fleet, FleetOptions, RoleModel, find_engine
from lilbee_core.fleet._engine import Candidate
from lilbee_core.fleet._state import ProcessMark, StateFolder
from lilbee_core.models import read_facts
from lilbee_core.protocols import Endpoint
from lilbee_core.testing import RecordingSink
from lilbee_core.types import LoadProgress, PlacedServer
from tests.support.fleets import FixedPlanner, placed
from tests.support.gguf_files import llama
from tests.support.llama_server import write_engine, write_model

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script"),
    pytest.mark.slow,
]
WAIT_S = 30.0


def wait_until(condition: Callable[[], object], what: str = "it") -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.01)


def ask(endpoint: Endpoint, path: str, body: object = None, *, key: bool = True) -> Any:
    url = endpoint.base_url.removesuffix("/v1") + path
    headers = {"Authorization": f"Bearer {endpoint.api_key}"} if key else {}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=WAIT_S) as answer:
        return json.loads(answer.read())


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class World:
    """Fleets of one user: the same engine, the same state folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = write_engine(folder / "bin")
        self.state = folder / "state"
        self.events = RecordingSink()
        self._stack = ExitStack()

    def model(self, name: str, **behavior: object) -> Path:
        return write_model(self.folder / "models" / name, **behavior)

    def server(self, role: str, model: str | Path | None = None, **values: Any) -> PlacedServer:
        file = model if isinstance(model, Path) else self.model(model or f"{role}.gguf")
        return placed(role, file, **{"pooling": "mean" if role == "embed" else None, **values})

    def fleet(self, *servers: PlacedServer, swap: tuple[str, ...] = (), **values: Any) -> Fleet:
        options = values.pop("options", FleetOptions())
        planner = values.pop("planner", None) or FixedPlanner(*servers, swap=swap)
        fleet = Fleet(
            planner,
            state_dir=self.state,
            options=replace(options, engine_path=options.engine_path or str(self.program)),
            cache_file=self.folder / "engines.json",
            version=values.pop("version", "1.0"),
            events=self.events,
            **{"watch": False, **values},
        )
        self._stack.callback(fleet.close)
        return fleet

    def left(self) -> list[str]:
        """What is on disk although nothing runs."""
        return sorted(path.name for path in self.state.iterdir() if path.name not in ("lock", "ended"))

    def close(self) -> None:
        self._stack.close()
        for record in StateFolder(self.state).scan():
            for one in record.servers:
                if one.process is not None and one.process.is_alive:
                    os.kill(one.process.pid, signal.SIGKILL)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.close()


def pids(fleet: Fleet) -> dict[str, int]:
    return {one.id: one.pid for one in fleet.status() if one.pid is not None}


def pids_of(fleet: Fleet) -> dict[str, int]:
    """The processes of a fleet once its embedder is there."""
    fleet.endpoint("embed")
    return pids(fleet)


class TestStarting:
    def test_only_what_is_asked_for_is_started(self, world: World) -> None:
        fleet = world.fleet(world.server("embed"), world.server("chat"))
        assert fleet.status() == ()
        fleet.endpoint("embed")
        assert [(one.id, one.state) for one in fleet.status()] == [("embed-0", "ready"), ("chat-0", "stopped")]
        assert [event.role for event in world.events.of(ServerStarted)] == ["embed"]

    def test_all_are_started_at_once_when_that_is_wanted(self, world: World) -> None:
        fleet = world.fleet(world.server("embed"), world.server("chat"), options=FleetOptions(eager=True))
        fleet.plan()
        wait_until(lambda: {one.state for one in fleet.status()} == {"ready"})

    def test_it_needs_a_key_and_listens_here_alone(self, world: World) -> None:
        endpoint = world.fleet(world.server("embed")).endpoint("embed")
        assert endpoint.base_url.startswith("http://127.0.0.1:")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(endpoint, "/props", key=False)
        told = ask(endpoint, "/asked")
        assert endpoint.api_key not in json.dumps(told)

    def test_the_environment_of_the_plan_reaches_the_server(self, world: World) -> None:
        server = world.server("embed", environment=(("CUDA_VISIBLE_DEVICES", "2,3"),))
        told = ask(world.fleet(server).endpoint("embed"), "/asked")
        assert told["environment"]["CUDA_VISIBLE_DEVICES"] == "2,3"

    def test_fifty_threads_build_one_fleet_and_start_one_server(self, world: World) -> None:
        planner = FixedPlanner(world.server("embed", world.model("slow.gguf", load_s=0.2)))
        fleet = world.fleet(planner=planner)
        found: list[str] = []
        threads = [threading.Thread(target=lambda: found.append(fleet.endpoint("embed").base_url)) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(found), len(set(found)), planner.plans, planner.looks) == (50, 1, 1, 1)

    def test_waiting_tells_how_far_it_is(self, world: World) -> None:
        fleet = world.fleet(world.server("chat", world.model("slow.gguf", load_s=0.3)))
        seen: list[LoadProgress] = []
        fleet.wait_chat_ready(seen.append)
        assert [*dict.fromkeys(one.phase for one in seen)][-2:] == ["loading", "ready"]
        assert seen[-1].bytes_read == seen[-1].bytes_total > 0

    def test_a_request_that_waits_for_a_model_tells_all_who_listen(self, world: World) -> None:
        fleet = world.fleet(world.server("chat", world.model("slow.gguf", load_s=1.2)))
        fleet.endpoint("chat")
        told = world.events.of(Progress)
        assert {one.phase for one in told} == {"loading chat model"}
        assert told[-1].done == told[-1].total
        before = len(told)
        fleet.endpoint("chat")
        assert len(world.events.of(Progress)) == before

    def test_a_server_that_names_its_port_only_when_it_is_ready(self, world: World) -> None:
        fleet = world.fleet(world.server("chat", world.model("late.gguf", load_s=0.1, late_port=True)))
        assert ask(fleet.endpoint("chat"), "/props")["model_alias"] == "late.gguf"

    def test_a_fleet_needs_no_library(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("DATA", "CACHE"):
            monkeypatch.setenv(f"LILBEE_{name}_DIR", str(world.folder / name.lower()))
        model = RoleModel(role="chat", ref="tiny", facts=read_facts(llama(world.folder / "tiny.gguf")))
        with Fleet.of(model, options=FleetOptions(engine_path=str(world.program))) as fleet:
            assert [one.id for one in fleet.plan().servers] == ["chat-0"]
            assert (world.folder / "data" / "fleet").is_dir()
            # The stand-in reads no real model file.
            with pytest.raises(FleetError, match="the model file cannot be used"):
                fleet.endpoint("chat")

    def test_a_role_without_a_model(self, world: World) -> None:
        fleet = world.fleet(world.server("embed"))
        with pytest.raises(FleetError, match="no chat model") as caught:
            fleet.endpoint("chat")
        assert caught.value.code == "fleet.unserved"

    def test_another_model_than_the_roles_own_is_refused(self, world: World) -> None:
        fleet = world.fleet(world.server("embed"))
        with (
            pytest.raises(FleetError, match=r"other\.gguf cannot be used for embed") as caught,
            fleet.lease("embed", model="other.gguf"),
        ):
            pass
        assert caught.value.code == "fleet.wrong_model"
        assert fleet.status()[0].state == "stopped"

    @pytest.mark.parametrize(
        ("behavior", "code"),
        [
            ({"die": "CUDA error: out of memory"}, "fleet.out_of_memory"),
            ({"die": "error loading model: unknown model architecture: 'x'"}, "fleet.bad_model"),
            ({"die": "no idea", "code": 7}, "fleet.start_failed"),
        ],
    )
    def test_one_that_does_not_load(self, world: World, behavior: dict[str, object], code: str) -> None:
        fleet = world.fleet(world.server("embed", world.model("bad.gguf", **behavior)))
        with pytest.raises(FleetError) as caught:
            fleet.endpoint("embed")
        assert caught.value.code == code
        assert str(behavior["die"]) in caught.value.message
        fleet.close()
        assert world.left() == []

    def test_one_that_hangs(self, world: World) -> None:
        options = FleetOptions(shortest_load_limit_s=0.5)
        fleet = world.fleet(world.server("embed", world.model("bad.gguf", hang=True)), options=options)
        with pytest.raises(FleetError, match="not ready after"):
            fleet.endpoint("embed")
        assert not pids(fleet)

    def test_a_closed_fleet_says_so(self, world: World) -> None:
        fleet = world.fleet(world.server("embed"))
        fleet.endpoint("embed")
        (pid,) = pids(fleet).values()
        fleet.close()
        fleet.close()
        assert not alive(pid)
        assert world.left() == []
        with pytest.raises(FleetError, match="closed") as caught:
            fleet.endpoint("embed")
        assert caught.value.code == "fleet.closed"


class TestDying:
    def test_a_killed_server_is_started_again_by_the_monitor(self, world: World) -> None:
        fleet = world.fleet(world.server("embed"))
        fleet.endpoint("embed")
        before = pids(fleet)["embed-0"]
        os.kill(before, signal.SIGKILL)
        wait_until(lambda: (fleet.tick(), pids(fleet).get("embed-0") not in (None, before))[1])
        wait_until(lambda: fleet.status()[0].state == "ready")
        assert fleet.status()[0].starts == 2

    def test_a_killed_server_is_started_again_by_who_needs_it(self, world: World) -> None:
        fleet = world.fleet(world.server("embed"))
        with fleet.lease("embed") as lease:
            os.kill(pids(fleet)["embed-0"], signal.SIGKILL)
            wait_until(lambda: not alive(pids(fleet).get("embed-0", 0)))
            lease.failed()
        assert ask(fleet.endpoint("embed"), "/props")

    def test_the_watching_thread_does_that_by_itself(self, world: World) -> None:
        fleet = world.fleet(world.server("embed"), watch=True)
        fleet.endpoint("embed")
        os.kill(pids(fleet)["embed-0"], signal.SIGKILL)
        wait_until(lambda: fleet.status()[0].starts == 2 and fleet.status()[0].state == "ready")

    def test_a_server_of_a_killed_owner_is_ended_at_the_next_start(self, world: World) -> None:
        dead = run_owner(world, outlives=True, detach=False)
        assert alive(dead)
        fleet = world.fleet(world.server("embed"))
        fleet.endpoint("embed")
        assert not alive(dead)
        assert len(list(StateFolder(world.state).scan())) == 1

    @pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
    def test_a_server_ends_with_its_killed_owner(self, world: World) -> None:
        dead = run_owner(world, outlives=False, detach=False)
        wait_until(lambda: not alive(dead))

    def test_a_program_that_forgets_to_close_it_leaves_nothing(self, world: World) -> None:
        code = OWNER.partition("if {detach}")[0].format(
            root=str(Path(__file__).resolve().parents[3]),
            model=str(world.model("embed.gguf")),
            state=str(world.state),
            program=str(world.program),
            outlives=False,
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.stderr == ""
        assert not alive(int(done.stdout))
        assert world.left() == []

    def test_two_processes_do_not_end_each_others_servers(self, world: World) -> None:
        first, second = world.fleet(world.server("embed")), world.fleet(world.server("chat"))
        first.endpoint("embed")
        second.endpoint("chat")
        assert alive(pids(first)["embed-0"])
        assert {one.id for one in first.running()} == {"embed-0", "chat-0"}


OWNER = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from lilbee_core.fleet import Fleet, FleetOptions
from tests.support.fleets import FixedPlanner, placed
fleet = Fleet(
    FixedPlanner(placed("embed", Path({model!r}), pooling="mean")), state_dir=Path({state!r}), version="1.0",
    options=FleetOptions(engine_path={program!r}, keep_warm={outlives}), watch=False,
)
fleet.endpoint("embed")
print(fleet.status()[0].pid, flush=True)
if {detach}:
    fleet.close()
os.kill(os.getpid(), {number})
"""


def run_owner(
    world: World, *, outlives: bool, detach: bool, model: str = "embed.gguf", number: int = signal.SIGKILL
) -> int:
    """Run a fleet in a process that is killed, and return the id of the server it left behind."""
    code = OWNER.format(
        root=str(Path(__file__).resolve().parents[3]),
        model=str(world.model(model)),
        state=str(world.state),
        program=str(world.program),
        outlives=outlives,
        detach=detach,
        number=int(number),
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return int(done.stdout)


WARM = FleetOptions(keep_warm=True)


class TestStayingWarm:
    def test_a_server_left_running_is_adopted_without_loading(self, world: World) -> None:
        left = run_owner(world, outlives=True, detach=True)
        planner = FixedPlanner(world.server("embed"))
        fleet = world.fleet(planner=planner, options=WARM)
        assert ask(fleet.endpoint("embed"), "/props")
        status = fleet.status()[0]
        assert (status.pid, status.adopted, status.starts) == (left, True, 0)
        assert planner.looks == 0  # the machine is taken to be what it was before the model was loaded
        fleet.close()
        assert alive(left)
        assert next(iter(world.fleet(options=WARM).running())).detached
        # The same process may take it up again.
        again = world.fleet(world.server("embed"), options=WARM)
        assert pids_of(again) == {"embed-0": left}
        assert not next(iter(again.running())).detached

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
    def test_an_owner_that_is_killed_leaves_it_to_the_next_one_too(self, world: World, number: signal.Signals) -> None:
        left = run_owner(world, outlives=True, detach=False, number=number)
        (found,) = world.fleet(options=WARM).running()
        assert (found.pid, found.detached, found.error) == (left, True, "")
        fleet = world.fleet(world.server("embed"), options=WARM)
        fleet.endpoint("embed")
        assert (fleet.status()[0].pid, fleet.status()[0].adopted) == (left, True)
        assert [record.owner.pid for record in StateFolder(world.state).scan()] == [os.getpid()]

    def test_one_of_an_owner_that_lives_is_not_taken_over(self, world: World) -> None:
        first, second = (world.fleet(world.server("embed"), options=WARM) for _ in range(2))
        owned = pids_of(first)
        record = next(StateFolder(world.state).scan())
        StateFolder(world.state).write(replace(record, path=None, owner=ProcessMark.of(os.getppid())))
        started = pids_of(second)
        assert started != owned
        for pid in (*owned.values(), *started.values()):  # no record names the first any more, and both stay warm
            os.kill(pid, signal.SIGKILL)

    def test_it_is_ended_once_the_setting_is_off(self, world: World) -> None:
        left = run_owner(world, outlives=True, detach=True)
        world.fleet(world.server("chat")).plan()
        assert not alive(left)
        assert world.left() == []

    @pytest.mark.parametrize("change", ["version", "model", "command"])
    def test_one_that_does_not_fit_any_more_is_ended_and_started_fresh(self, world: World, change: str) -> None:
        left = run_owner(world, outlives=True, detach=True)
        server = world.server("embed", "other.gguf" if change == "model" else "embed.gguf")
        if change == "command":
            server = replace(server, context_tokens=1024)
        fleet = world.fleet(server, options=WARM, version="2.0" if change == "version" else "1.0")
        fleet.endpoint("embed")
        assert not alive(left)
        assert not fleet.status()[0].adopted

    def test_one_that_does_not_answer_is_ended(self, world: World) -> None:
        left = run_owner(world, outlives=True, detach=True)
        os.kill(left, signal.SIGKILL)
        wait_until(lambda: not alive(left))
        fleet = world.fleet(world.server("embed"), options=WARM)
        fleet.endpoint("embed")
        assert not fleet.status()[0].adopted

    def test_an_adopted_server_that_dies_is_replaced(self, world: World) -> None:
        left = run_owner(world, outlives=True, detach=True)
        fleet = world.fleet(world.server("embed"), options=WARM)
        fleet.endpoint("embed")
        os.kill(left, signal.SIGKILL)
        wait_until(lambda: not alive(left))
        fleet.tick()
        assert ask(fleet.endpoint("embed"), "/props")
        assert fleet.status()[0].starts == 1

    def test_it_is_told_to_unload_its_model_by_itself(self, world: World) -> None:
        fleet = world.fleet(world.server("embed"), options=FleetOptions(keep_warm=True, idle_ttl_s=120))
        told = ask(fleet.endpoint("embed"), "/asked")["argv"]
        assert told[told.index("--sleep-idle-seconds") + 1] == "120"

    def test_stopping_frees_everything_and_a_living_owner_does_not_start_it_again(self, world: World) -> None:
        left = run_owner(world, outlives=True, detach=True, model="other.gguf")
        owner = world.fleet(world.server("chat"))
        state = StateFolder(world.state)
        record = next(one for one in state.scan() if one.detached)
        owner.endpoint("chat")  # the setting is off here, so what was left running is gone
        assert not alive(left)
        mine = pids(owner)["chat-0"]
        assert record.path is not None
        assert world.fleet().stop() == (mine,)
        wait_until(lambda: not alive(mine))
        owner.tick()
        assert owner.status()[0].state == "stopped"
        assert owner.endpoint("chat")


class TestTakingTurns:
    def group(self, world: World) -> Fleet:
        chat, vision = world.server("chat", group="turns"), world.server("vision", group="turns")
        return world.fleet(chat, vision, swap=("turns",), options=FleetOptions(turn_timeout_s=1.0))

    def test_one_is_loaded_at_a_time(self, world: World) -> None:
        fleet = self.group(world)
        fleet.endpoint("chat")
        first = pids(fleet)
        assert set(first) == {"chat-0"}
        fleet.endpoint("vision")
        assert set(pids(fleet)) == {"vision-0"}
        assert not alive(first["chat-0"])
        assert [event.reason for event in world.events.of(ServerStopped)] == ["swap"]

    def test_a_request_is_finished_before_the_turn_goes_on(self, world: World) -> None:
        fleet = self.group(world)
        with fleet.lease("chat"):
            thread = threading.Thread(target=fleet.endpoint, args=("vision",))
            thread.start()
            time.sleep(0.1)
            assert set(pids(fleet)) == {"chat-0"}
        thread.join()
        assert set(pids(fleet)) == {"vision-0"}

    def test_a_request_that_waits_too_long_hears_why(self, world: World) -> None:
        fleet = self.group(world)
        with fleet.lease("chat"), pytest.raises(FleetError, match="vision-0 waited 1 s for chat-0"):
            fleet.endpoint("vision")
        assert fleet.endpoint("vision")


class TestIdle:
    def test_what_nobody_uses_is_unloaded_and_comes_back(self, world: World) -> None:
        fleet = world.fleet(world.server("embed"), options=FleetOptions(idle_ttl_s=0.2))
        with fleet.lease("embed"):
            time.sleep(0.3)
            fleet.tick()
            assert fleet.status()[0].state == "ready"
        time.sleep(0.3)
        fleet.tick()
        assert fleet.status()[0].state == "stopped"
        assert world.left() == []
        assert [event.reason for event in world.events.of(ServerStopped)] == ["idle"]
        assert ask(fleet.endpoint("embed"), "/props")

    def test_zero_never_unloads(self, world: World) -> None:
        fleet = world.fleet(world.server("embed"), options=FleetOptions(idle_ttl_s=0))
        fleet.endpoint("embed")
        time.sleep(0.05)
        fleet.tick()
        assert fleet.status()[0].state == "ready"


class TestReloading:
    def test_only_groups_that_changed_are_restarted(self, world: World) -> None:
        planner = FixedPlanner(world.server("embed"), world.server("chat"))
        fleet = world.fleet(planner=planner)
        fleet.endpoint("embed")
        fleet.endpoint("chat")
        before = pids(fleet)
        planner.servers = (planner.servers[0], replace(planner.servers[1], context_tokens=2048))
        assert fleet.reload() == ("chat",)
        assert pids(fleet) == {"embed-0": before["embed-0"]}
        assert not alive(before["chat-0"])
        told = ask(fleet.endpoint("chat"), "/asked")["argv"]
        assert told[told.index("--ctx-size") + 1] == "2048"
        assert planner.looks == 1

    def test_estimates_are_no_reason_to_restart(self, world: World) -> None:
        planner = FixedPlanner(world.server("embed"))
        fleet = world.fleet(planner=planner)
        fleet.endpoint("embed")
        planner.servers = (replace(planner.servers[0], tight=True, warnings=("tight",)),)
        assert fleet.reload() == ()

    def test_a_plan_that_fails_leaves_everything_as_it_was(self, world: World) -> None:
        class Failing(FixedPlanner):
            def plan(self, machine: Any) -> Any:
                if self.plans:
                    raise FleetError("the card is gone")
                return super().plan(machine)

        fleet = world.fleet(planner=Failing(world.server("embed")))
        fleet.endpoint("embed")
        before = pids(fleet)
        with pytest.raises(FleetError, match="the card is gone"):
            fleet.reload()
        assert pids(fleet) == before

    def test_new_settings_count_from_the_next_use_on(self, world: World) -> None:
        first, second = FixedPlanner(world.server("embed")), FixedPlanner(world.server("embed", "new.gguf"))
        fleet = world.fleet(planner=first)
        fleet.endpoint("embed")
        before = pids(fleet)["embed-0"]
        fleet.configure(second, fleet._options)
        assert alive(before)
        assert fleet.endpoint("embed").model == "new.gguf"
        assert not alive(before)
        fleet.configure(second, replace(fleet._options, threads=1))
        told = ask(fleet.endpoint("embed"), "/asked")["argv"]
        assert told[told.index("--threads") + 1] == "1"
        assert (first.looks, second.looks) == (1, 1)  # all was ended, so the machine is looked at again

    def test_a_request_under_way_finds_the_new_server(self, world: World) -> None:
        planner = FixedPlanner(world.server("embed"))
        fleet = world.fleet(planner=planner)
        fleet.endpoint("embed")
        old = fleet._build().roles["embed"]
        planner.servers = (replace(planner.servers[0], context_tokens=1024),)
        fleet.reload()
        with pytest.raises(FleetError) as caught:
            old.take()
        assert caught.value.code == "fleet.gone"
        assert fleet.endpoint("embed")


class TestWrongProcessor:
    def test_another_engine_is_used_where_there_is_one(self, world: World, tmp_path: Path) -> None:
        """One that loads on no processor of this kind ends by an illegal instruction."""
        bad = write_engine(tmp_path / "bad")
        bad.write_text(bad.read_text("utf-8").replace("exec", 'case "$1" in --model) kill -ILL $$;; esac; exec', 1))
        cache = tmp_path / "engines.json"

        def engine() -> Any:
            offers = [
                Candidate(origin=path.parent.name, command=(str(path),), file=path) for path in (bad, world.program)
            ]
            return find_engine(search_path="", cache_file=cache, wheels=lambda: iter(offers))

        fleet = world.fleet(world.server("embed"), engine=engine)
        assert ask(fleet.endpoint("embed"), "/props")
        (told,) = world.events.of(Warned)
        assert told.message.startswith(f"{bad} does not run on this processor; bin is used instead")
        assert "llama_server_path (LILBEE_LLAMA_SERVER_PATH)" in told.message
        assert engine().file == world.program
        # Whoever asks later is told too, by the engine itself.
        for known in (fleet.engine(), engine()):
            (note,) = known.notes
            assert note.startswith(str(bad))
            assert "bin is used instead" in note
            assert known.to_dict()["notes"] == [note]

    def test_another_engine_is_used_where_nothing_can_be_remembered(self, world: World, tmp_path: Path) -> None:
        bad = write_engine(tmp_path / "bad")
        bad.write_text(bad.read_text("utf-8").replace("exec", 'case "$1" in --model) kill -ILL $$;; esac; exec', 1))
        found = [Candidate(origin=path.parent.name, command=(str(path),), file=path) for path in (bad, world.program)]
        first = find_engine(search_path="", wheels=lambda: iter(found))
        assert first.file == bad
        other = find_engine(search_path="", wheels=lambda: iter(found), unfit={first.command})
        assert other.file == world.program
        with pytest.raises(FleetError, match="bad: built for another processor"):
            find_engine(search_path="", wheels=lambda: iter(found[:1]), unfit={first.command})

    def test_without_another_the_error_says_what_to_install(self, world: World) -> None:
        model = world.model("bad.gguf", die="Illegal instruction", code=132)
        with pytest.raises(FleetError, match="another processor") as caught:
            world.fleet(world.server("embed", model)).endpoint("embed")
        assert "xllamacpp" in caught.value.hint
