"""Who answers: the least busy healthy server; and whose turn it is where memory is for one (R120, R124, R139-R141)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lilbee_core.errors import FleetError
from lilbee_core.fleet._routing import Role
from lilbee_core.fleet._server import COOLDOWN_S, Server, State
from lilbee_core.fleet._turns import Turns
from lilbee_core.testing import FakeLauncher, FakeProcess, ManualClock
from lilbee_core.types import LoadProgress
from tests.support.fleets import ScriptedProbe, listening, placed, surroundings

WAIT_S = 10.0


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


class Replicas:
    """A role with some servers that are not there."""

    def __init__(self, folder: Path, count: int, *, slots: int = 1, turns: Turns[Server] | None = None) -> None:
        self.clock = ManualClock()
        self.probe = ScriptedProbe()
        self.launcher = FakeLauncher(listening)
        around = surroundings(folder / "state", self.launcher, self.clock, probe=self.probe)
        model = folder / "m.gguf"
        model.write_bytes(b"x")
        self.servers = [
            Server(placed("embed", model, replica=number, slots=slots), around, record=lambda: None)
            for number in range(count)
        ]
        self.role = Role("embed", self.servers, turns)

    def ready(self) -> None:
        for one in self.servers:
            one.begin().result(WAIT_S)

    def take(self, *avoid: str) -> str:
        return self.role.take(avoid)[0].id

    def give_back(self, name: str, *, failed: bool = False) -> None:
        self.role.give_back(next(one for one in self.servers if one.id == name), failed=failed)


class TestLeastBusy:
    def test_requests_spread_evenly(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 3)
        replicas.ready()
        assert [replicas.take() for _ in range(6)] == ["embed-0", "embed-1", "embed-2"] * 2
        replicas.give_back("embed-1")
        assert replicas.take() == "embed-1"

    def test_fifty_threads_lose_no_count(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 2)
        replicas.ready()

        def work() -> None:
            for _ in range(40):
                server, _ = replicas.role.take()
                replicas.role.give_back(server, failed=False)

        threads = [threading.Thread(target=work) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [one.in_flight for one in replicas.servers] == [0, 0]
        assert len(replicas.launcher.processes) == 2

    def test_replicas_come_up_under_load_only(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 3, slots=2)
        replicas.take()
        assert [one.state for one in replicas.servers] == [State.READY, State.STOPPED, State.STOPPED]
        replicas.take()
        wait_until(lambda: replicas.servers[1].state is State.READY)
        assert replicas.servers[2].state is State.STOPPED
        assert replicas.take() == "embed-1"
        replicas.take()
        wait_until(lambda: replicas.servers[2].state is State.READY)

    def test_fifty_threads_at_the_first_request_start_one_server(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 1)
        replicas.probe.gate.clear()
        found: list[str] = []
        threads = [threading.Thread(target=lambda: found.append(replicas.take())) for _ in range(50)]
        for thread in threads:
            thread.start()
        replicas.probe.gate.set()
        for thread in threads:
            thread.join()
        assert found == ["embed-0"] * 50
        assert len(replicas.launcher.processes) == 1


class TestFailing:
    def test_one_that_failed_is_avoided_and_then_tried_by_live_requests(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 2)
        replicas.ready()
        replicas.give_back(replicas.take(), failed=True)
        for _ in range(3):
            name = replicas.take()
            assert name == "embed-1"
            replicas.give_back(name)
        replicas.clock.advance(COOLDOWN_S)
        assert replicas.take() == "embed-0"
        replicas.give_back("embed-0", failed=True)  # still ill: it cools down again
        assert replicas.take() == "embed-1"

    def test_a_success_restores_it(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 2)
        replicas.ready()
        replicas.take()
        replicas.take()
        replicas.give_back("embed-0", failed=True)
        replicas.servers[0].enter()
        replicas.give_back("embed-0")
        assert replicas.servers[0].cooling_s == 0

    def test_what_a_call_wants_to_avoid_is_avoided_if_there_is_another(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 2)
        replicas.ready()
        assert replicas.take("embed-0") == "embed-1"
        assert replicas.take("embed-0") == "embed-1"
        assert replicas.take("embed-0", "embed-1") == "embed-0"

    def test_a_single_server_whose_connection_broke_is_asked_again(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 1)
        replicas.give_back(replicas.take(), failed=True)
        assert replicas.take("embed-0") == "embed-0"
        assert len(replicas.launcher.processes) == 1

    def test_a_dead_one_is_started_again_by_who_needs_it(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 1)
        name = replicas.take()
        replicas.launcher.processes[0].exit(137)
        replicas.give_back(name, failed=True)
        assert replicas.servers[0].state is State.FAILED
        assert replicas.take(name) == "embed-0"
        assert len(replicas.launcher.processes) == 2

    def test_a_dead_one_is_no_loss_where_another_lives(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 2)
        replicas.ready()
        replicas.launcher.processes[0].exit(137)
        replicas.give_back(replicas.take(), failed=True)
        assert replicas.take("embed-0") == "embed-1"

    def test_if_none_can_be_started_the_error_is_the_servers_own(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 1)
        replicas.launcher = FakeLauncher(lambda process: process.exit(1, "CUDA error: out of memory"))
        object.__setattr__(replicas.servers[0]._around, "launcher", replicas.launcher)
        for _ in range(2):
            with pytest.raises(FleetError, match="out of memory") as caught:
                replicas.take()
            assert caught.value.code == "fleet.out_of_memory"
        assert len(replicas.launcher.processes) == 1

    def test_if_the_first_replica_does_not_start_the_next_is_tried(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 2)

        def prepare(process: FakeProcess) -> None:
            if process.pid == 1000:
                process.exit(1, "CUDA error: out of memory")  # which another try would not change
            else:
                listening(process)

        replicas.launcher = FakeLauncher(prepare)
        object.__setattr__(replicas.servers[0]._around, "launcher", replicas.launcher)
        assert replicas.take() == "embed-1"

    def test_progress_is_told_while_it_loads(self, tmp_path: Path) -> None:
        replicas = Replicas(tmp_path, 1)
        seen: list[LoadProgress] = []
        replicas.role.take((), seen.append)
        assert seen[-1].phase == "ready"
        assert seen[0].bytes_total == 1


class TestTurns:
    def changes(self) -> tuple[list[tuple[str | None, str]], Callable[[str | None, str], None]]:
        seen: list[tuple[str | None, str]] = []
        return seen, lambda before, after: seen.append((before, after))

    def test_one_member_is_there_at_a_time(self) -> None:
        turns: Turns[str] = Turns(timeout_s=WAIT_S)
        seen, change = self.changes()
        turns.enter("chat", change)
        turns.enter("chat", change)
        assert turns.present == "chat"
        thread = threading.Thread(target=turns.enter, args=("vision", change))
        thread.start()
        turns.leave()
        assert turns.present == "chat"
        turns.leave()
        thread.join()
        assert turns.present == "vision"
        assert seen == [(None, "chat"), ("chat", "vision")]

    def test_who_waits_is_not_overtaken_by_a_busy_member(self) -> None:
        turns: Turns[str] = Turns(timeout_s=WAIT_S)
        _, change = self.changes()
        order: list[str] = []

        def use(member: str) -> None:
            turns.enter(member, change)
            order.append(member)
            turns.leave()

        turns.enter("chat", change)
        waiting = threading.Thread(target=use, args=("vision",))
        waiting.start()
        wait_until(lambda: len(turns._line) == 1)
        later = threading.Thread(target=use, args=("chat",))
        later.start()
        wait_until(lambda: len(turns._line) == 2)
        turns.leave()
        waiting.join()
        later.join()
        assert order == ["vision", "chat"]

    def test_who_waits_too_long_hears_for_whom(self) -> None:
        clock = ManualClock()
        turns: Turns[str] = Turns(timeout_s=5, monotonic=clock.monotonic)
        _, change = self.changes()
        turns.enter("chat", change)
        caught: list[FleetError] = []

        def wait() -> None:
            try:
                turns.enter("vision", change)
            except FleetError as error:
                caught.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        wait_until(lambda: turns._line)
        clock.advance(5)
        thread.join()
        assert caught[0].code == "fleet.busy"
        assert "vision waited 5 s for chat" in caught[0].message
        turns.enter("chat", change)  # nobody stands in line any more

    def test_a_change_that_fails_leaves_nobody_there(self) -> None:
        turns: Turns[str] = Turns(timeout_s=WAIT_S)
        _, change = self.changes()

        def fail(before: str | None, after: str) -> None:
            raise RuntimeError("no")

        with pytest.raises(RuntimeError):
            turns.enter("chat", fail)
        assert turns.present is None
        turns.enter("vision", change)
        assert turns.present == "vision"
