"""State files: written at once, read with care, and servers that outlived their owner (R134-R137, R148)."""

from __future__ import annotations

import json
import os
import platform
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.errors import FleetError
from lilbee_core.fleet._inventory import log_of, running
from lilbee_core.fleet._logs import ended, keep
from lilbee_core.fleet._reaper import SystemProcesses, reap
from lilbee_core.fleet._state import GroupRecord, ProcessMark, ServerRecord, StateFolder, plain_name
from lilbee_core.types import Device, MachineSnapshot

ME = ProcessMark(1, 10.0)
DEAD = ProcessMark(2, 20.0)
CARD = Device(backend="CUDA", index=0, name="RTX", total_bytes=10, free_bytes=9, uuid="GPU-1")
MACHINES = [
    None,
    MachineSnapshot(total_ram_bytes=2, free_ram_bytes=1, cores=3, devices=(CARD,)),
    MachineSnapshot(total_ram_bytes=2, free_ram_bytes=1, accelerator=replace(CARD, unified=True)),
]


def server(name: str = "embed-0", **values: object) -> ServerRecord:
    given: dict[str, object] = {
        "id": name,
        "role": name.partition("-")[0],
        "model": "m.gguf",
        "signature": ("llama-server", "--model", "m.gguf"),
        "process": ProcessMark(30, 3.0),
        "port": 8080,
        "api_key": "secret",
        **values,
    }
    return ServerRecord(**given)  # type: ignore[arg-type]


class FakeProcesses:
    """Processes that are alive as long as a test says."""

    def __init__(self, *alive: ProcessMark) -> None:
        self.alive = set(alive)
        self.ended: list[ProcessMark] = []
        self.servers: set[int] = set()
        self.by_key: dict[str, ProcessMark] = {}

    def is_alive(self, mark: ProcessMark) -> bool:
        return mark in self.alive

    def is_server(self, mark: ProcessMark, record: ServerRecord) -> bool:
        return mark.pid in self.servers

    def find(self, record: ServerRecord) -> Sequence[ProcessMark]:
        found = self.by_key.get(record.key_file)
        return [] if found is None else [found]

    def end(self, marks: Sequence[ProcessMark]) -> None:
        self.ended += marks
        self.alive -= set(marks)


@pytest.fixture
def state(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "fleet")


class TestFiles:
    @pytest.mark.parametrize("machine", MACHINES)
    def test_what_is_written_is_read(self, state: StateFolder, machine: MachineSnapshot | None) -> None:
        record = GroupRecord(
            group="embed",
            owner=ME,
            servers=(server(), server("embed-1", process=None, port=None, key_file="/k", log_file="/l")),
            detached=True,
            version="1.0",
            engine="b1",
            machine=machine,
        )
        state.write(record)
        path = state.path_of("embed", ME)
        assert list(state.scan()) == [replace(record, path=path)]
        assert path.name == f"embed.1.{plain_name(platform.node())}.fleet.json"

    @pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
    def test_nobody_else_can_read_it(self, state: StateFolder) -> None:
        state.write(GroupRecord(group="embed", owner=ME))
        assert stat.S_IMODE(state.folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(state.path_of("embed", ME).stat().st_mode) == 0o600

    def test_keys_are_not_shown(self) -> None:
        assert "secret" not in repr(server())

    @pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"format": 99}', '{"format": 1, "group": "x"}'])
    def test_what_cannot_be_read_is_passed_over_and_stays(self, state: StateFolder, content: str) -> None:
        state.write(GroupRecord(group="embed", owner=ME))
        strange = state.folder / "chat.9.fleet.json"
        strange.write_text(content, "utf-8")
        assert [record.group for record in state.scan()] == ["embed"]
        reap(state, FakeProcesses(), spare_detached=False)
        assert strange.exists()

    def test_half_written_files_are_never_seen(self, state: StateFolder) -> None:
        state.prepare()
        (state.folder / ".abc.tmp").write_text('{"format"')
        assert list(state.scan()) == []

    def test_a_failed_write_leaves_nothing_and_the_old_file(self, state: StateFolder) -> None:
        state.write(GroupRecord(group="embed", owner=ME))
        before = state.path_of("embed", ME).read_text("utf-8")
        bad = GroupRecord(group="embed", owner=ME, version=object())  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            state.write(bad)
        assert state.path_of("embed", ME).read_text("utf-8") == before
        assert list(state.folder.iterdir()) == [state.path_of("embed", ME)]

    def test_those_of_another_machine_that_shares_the_home_are_left_alone(self, state: StateFolder) -> None:
        elsewhere = state.folder / "embed.1.elsewhere.fleet.json"
        state.write(GroupRecord(group="embed", owner=DEAD, servers=(server(),), host="elsewhere", path=elsewhere))
        assert list(state.scan()) == []
        processes = FakeProcesses(ProcessMark(30, 3.0))
        assert reap(state, processes, spare_detached=False, everything=True).pids == ()
        assert elsewhere.exists()

    def test_an_owner_removes_only_its_own(self, state: StateFolder) -> None:
        state.write(GroupRecord(group="embed", owner=ME))
        state.write(GroupRecord(group="embed", owner=DEAD))
        state.remove("embed", ME)
        state.remove("embed", ME)
        assert [record.owner for record in state.scan()] == [DEAD]

    @given(st.text())
    def test_any_group_has_a_file_name(self, text: str) -> None:
        name = plain_name(text)
        assert name
        assert not set(name) & set("/\\. :*?\0")


class TestReaping:
    def write(self, state: StateFolder, owner: ProcessMark, **values: object) -> GroupRecord:
        record = GroupRecord(group="embed", owner=owner, servers=(server(**values),))  # type: ignore[arg-type]
        state.write(record)
        return record

    def test_servers_of_a_dead_owner_are_ended_and_forgotten(self, state: StateFolder, tmp_path: Path) -> None:
        key, log = tmp_path / "a.key", tmp_path / "a.log"
        key.touch()
        log.touch()
        self.write(state, DEAD, key_file=str(key), log_file=str(log))
        processes = FakeProcesses(ProcessMark(30, 3.0))
        found = reap(state, processes, spare_detached=True)
        assert (found.pids, found.groups) == ((30,), ("embed",))
        assert processes.ended == [ProcessMark(30, 3.0)]
        assert not list(state.scan())
        assert not key.exists()
        assert not log.exists()

    def test_a_living_owner_is_left_alone(self, state: StateFolder) -> None:
        self.write(state, ME)
        processes = FakeProcesses(ME, ProcessMark(30, 3.0))
        assert reap(state, processes, spare_detached=True).pids == ()
        assert len(list(state.scan())) == 1

    def test_an_id_that_belongs_to_somebody_else_now_is_not_touched(self, state: StateFolder) -> None:
        self.write(state, DEAD)
        processes = FakeProcesses(ProcessMark(30, 99.0), ProcessMark(2, 99.0))
        assert reap(state, processes, spare_detached=False).pids == ()
        assert not processes.ended
        assert not list(state.scan())

    def test_one_without_a_time_of_start_is_told_by_its_command(self, state: StateFolder) -> None:
        self.write(state, DEAD, process=ProcessMark(30))
        processes = FakeProcesses()
        assert reap(state, processes, spare_detached=False).pids == ()
        self.write(state, DEAD, process=ProcessMark(30))
        processes.servers = {30}
        assert reap(state, processes, spare_detached=False).pids == (30,)

    def test_one_that_was_never_written_down_is_told_by_its_key_file(self, state: StateFolder) -> None:
        self.write(state, DEAD, process=None, port=None, key_file="/state/embed-0.2.key")
        processes = FakeProcesses()
        processes.by_key["/state/embed-0.2.key"] = ProcessMark(31, 4.0)
        assert reap(state, processes, spare_detached=False).pids == (31,)

    @pytest.mark.parametrize(("spare", "left"), [(True, 1), (False, 0)])
    def test_one_left_running_on_purpose_is_spared_only_while_that_is_wanted(
        self, state: StateFolder, spare: bool, left: int
    ) -> None:
        state.write(replace(self.write(state, DEAD), detached=True))
        reap(state, FakeProcesses(ProcessMark(30, 3.0)), spare_detached=spare)
        assert len(list(state.scan())) == left

    def test_everything_means_living_owners_too(self, state: StateFolder) -> None:
        self.write(state, ME)
        processes = FakeProcesses(ME, ProcessMark(30, 3.0))
        assert reap(state, processes, spare_detached=False, everything=True).pids == (30,)
        assert not list(state.scan())


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    popen = subprocess.Popen(
        [sys.executable, "-S", "-c", "import time; time.sleep(60)", "/state/x.key"], start_new_session=True
    )
    yield popen
    popen.kill()
    popen.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX's")
class TestRealProcesses:
    def test_a_mark_is_of_one_process_alone(self, sleeper: subprocess.Popen[bytes]) -> None:
        mark = ProcessMark.of(sleeper.pid)
        assert mark.is_alive
        assert not replace(mark, started=(mark.started or 0) + 5).is_alive
        assert not ProcessMark(sleeper.pid).is_alive
        assert ProcessMark.me().pid == os.getpid()
        sleeper.kill()
        psutil.Process(sleeper.pid).wait(10)
        assert not mark.is_alive
        assert ProcessMark.of(2**22 + 1).started is None

    def test_a_process_is_found_by_its_key_file_and_ended(self, sleeper: subprocess.Popen[bytes]) -> None:
        processes = SystemProcesses()
        deadline = time.monotonic() + 10
        while not (found := processes.find(server(key_file="/state/x.key"))):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert [mark.pid for mark in found] == [sleeper.pid]
        assert processes.find(server(key_file="/state/y.key")) == []
        processes.end(found)
        assert sleeper.poll() is not None or not found[0].is_alive

    def test_a_stranger_is_no_server(self, sleeper: subprocess.Popen[bytes]) -> None:
        processes = SystemProcesses()
        assert not processes.is_server(ProcessMark(sleeper.pid), server())
        assert not processes.is_server(ProcessMark(2**22 + 1), server())

    def test_an_old_record_is_matched_by_program_and_model(self, tmp_path: Path) -> None:
        program = tmp_path / "llama-server"
        program.symlink_to(sys.executable)
        code = "import time; time.sleep(60)"
        popen = subprocess.Popen([program, "-S", "-c", code, "--model", "m.gguf"], start_new_session=True)
        try:
            processes = SystemProcesses()
            deadline = time.monotonic() + 10
            while not processes.is_server(ProcessMark(popen.pid), server()):  # its command is told a moment late
                assert time.monotonic() < deadline
                time.sleep(0.01)
            assert not processes.is_server(ProcessMark(popen.pid), server(model="other.gguf"))
        finally:
            popen.kill()
            popen.wait()

    def test_one_that_ignores_the_request_is_made_to_end(self) -> None:
        code = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
        popen = subprocess.Popen([sys.executable, "-S", "-c", code], start_new_session=True, stdout=subprocess.PIPE)
        assert popen.stdout is not None
        popen.stdout.readline()
        mark = ProcessMark.of(popen.pid)
        SystemProcesses(grace_s=0.2).end([mark])
        popen.stdout.close()
        assert not mark.is_alive
        popen.wait(10)

    def test_reaping_what_died_with_its_file_left(self, state: StateFolder, sleeper: subprocess.Popen[bytes]) -> None:
        record = GroupRecord(group="embed", owner=DEAD, servers=(server(process=ProcessMark.of(sleeper.pid)),))
        state.write(record)
        assert reap(state, SystemProcesses(), spare_detached=False).pids == (sleeper.pid,)
        assert not list(state.folder.iterdir())


class TestInventory:
    def test_what_runs_and_who_owns_it(self, state: StateFolder) -> None:
        state.write(GroupRecord(group="embed", owner=ME, servers=(server(),)))
        state.write(
            GroupRecord(group="chat", owner=DEAD, servers=(server("chat-0", process=ProcessMark(31, 1.0), port=None),))
        )
        state.write(
            GroupRecord(group="vision", owner=DEAD, servers=(server("vision-0", process=ProcessMark(32, 1.0)),))
        )
        found = running(state, FakeProcesses(ME, ProcessMark(30, 3.0), ProcessMark(31, 1.0)))
        assert [(one.id, one.state, one.owner_pid) for one in found] == [
            ("chat-0", "starting", 2),
            ("embed-0", "ready", 1),
        ]
        assert found[0].error
        assert not found[1].error
        assert found[1].url == "http://127.0.0.1:8080/v1"
        assert "secret" not in json.dumps([one.to_dict() for one in found])

    def test_logs_by_id_or_role(self, state: StateFolder, tmp_path: Path) -> None:
        log = tmp_path / "a.log"
        log.write_text("one\ntwo\n")
        state.write(GroupRecord(group="embed", owner=ME, servers=(server(log_file=str(log)),)))
        assert log_of(state, "embed-0", 1) == log_of(state, "embed", 1) == "two"
        state.write(GroupRecord(group="embed", owner=DEAD, servers=(server(log_file=str(log)),)))
        assert log_of(state, "embed", 5) == "== embed-0 of process 1\none\ntwo\n\n== embed-0 of process 2\none\ntwo"
        with pytest.raises(FleetError, match=r"'chat'.*embed-0"):
            log_of(state, "chat", 5)

    def test_what_dead_processes_wrote_down_is_forgotten_by_whoever_looks(self, state: StateFolder) -> None:
        """Nothing is ended by looking: a server that outlived its owner stays, and so does its record."""
        log = state.folder / "a.log"
        for number, group in enumerate(("embed", "vision", "chat")):
            owner = ME if group == "chat" else DEAD
            mark = ProcessMark(30 + number, 1.0)
            files = {"log_file": str(log), "key_file": str(state.folder / "a.key")} if group == "embed" else {}
            state.write(GroupRecord(group=group, owner=owner, servers=(server(f"{group}-0", process=mark, **files),)))
        log.write_text("last words\n")
        (state.folder / "a.key").write_text("secret")
        processes = FakeProcesses(ME, ProcessMark(31, 1.0))
        assert [one.id for one in running(state, processes)] == ["vision-0"]
        assert [record.group for record in state.scan()] == ["chat", "vision"]
        assert sorted(path.name for path in state.folder.glob("a.*")) == []
        assert processes.ended == []
        assert log_of(state, "embed", 5).endswith("last words")

    def test_what_is_kept_warm_is_told_as_left_running_once_its_owner_is_gone(self, state: StateFolder) -> None:
        for owner in (ME, DEAD):
            state.write(GroupRecord(group="embed", owner=owner, detached=True, servers=(server(),)))
        found = running(state, FakeProcesses(ME, ProcessMark(30, 3.0)))
        assert [(one.owner_pid, one.detached, one.error) for one in found] == [(1, False, ""), (2, True, "")]

    def test_the_last_logs_of_each_server_that_ended_are_kept(self, state: StateFolder) -> None:
        state.prepare()
        for number in range(6):
            for name in ("embed-0", "embed-1"):
                log = state.folder / "x.log"
                log.write_text(f"{name} said {number}\n" * 20_000)
                keep(log, name, ended_at=1_750_000_000.0 + number)
                assert not log.exists()
        kept = [one.path for one in ended(state.folder)]
        assert len(kept) == 6  # three of each
        assert all(path.stat().st_size <= 200_000 for path in kept)
        empty = state.folder / "x.log"
        empty.touch()
        keep(empty, "embed-0")
        assert not empty.exists()
        assert len(ended(state.folder)) == 6
        assert log_of(state, "embed-1", 1) == "== embed-1, ended 2025-06-15T15:06:45Z\nembed-1 said 5"
        assert [line for line in log_of(state, "embed", 1).splitlines() if "said" in line] == [
            "embed-0 said 5", "embed-1 said 5",
        ]  # fmt: skip
        # One that runs comes first; those that ended are there for who asks for them, the latest last.
        log.write_text("running\n")
        state.write(GroupRecord(group="embed", owner=ME, servers=(server(log_file=str(log)),)))
        assert log_of(state, "embed", 5) == "running"
        told = log_of(state, "embed-0", 1, ended=True)
        assert [line[-1] for line in told.splitlines() if "said" in line] == ["3", "4", "5"]
        with pytest.raises(FleetError, match=r"'chat'.*running: embed-0; ended: embed-0, embed-1"):
            log_of(state, "chat", 5)
