"""One server: started once, watched, rested, stopped, with every way to fail (R095, R132, R133, R138, R141)."""

from __future__ import annotations

import stat
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lilbee_core.errors import FleetError
from lilbee_core.events import ServerStarted, ServerStopped
from lilbee_core.fleet._loading import MOST_TRIES, backoff_s, load_limit_s, weights_bytes
from lilbee_core.fleet._server import COOLDOWN_S, STEADY_S, Server, State
from lilbee_core.fleet._state import ProcessMark, ServerRecord
from lilbee_core.protocols import Endpoint
from lilbee_core.testing import FakeLauncher, FakeProcess, ManualClock, RecordingSink
from lilbee_core.types import ModelFootprint
from tests.support.fleets import ScriptedProbe, listening, placed, surroundings

WAIT_S = 10.0


class Bench:
    """A server with everything around it in the test's hands."""

    def __init__(self, folder: Path, prepare: Callable[[FakeProcess], None] = listening, **values: Any) -> None:
        self.clock = ManualClock()
        self.launcher = FakeLauncher(prepare)
        self.probe = ScriptedProbe()
        self.events = RecordingSink()
        model = folder / "m.gguf"
        model.write_bytes(b"GGUF" * 256)
        self.around = surroundings(
            folder / "state", self.launcher, self.clock, probe=self.probe, events=self.events, **values
        )
        self.recorded: list[ServerRecord | None] = []
        self.on_disk = True
        self.server = Server(
            placed("embed", model, pooling="mean"), self.around, record=self._record, is_recorded=lambda: self.on_disk
        )

    def _record(self) -> None:
        self.recorded.append(self.server.record())

    def start(self) -> Endpoint:
        return self.server.begin().result(WAIT_S)

    def failing(self) -> FleetError:
        with pytest.raises(FleetError) as caught:
            self.start()
        return caught.value


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def saying(*lines: str, code: int | None = None) -> Callable[[FakeProcess], None]:
    def prepare(process: FakeProcess) -> None:
        process.lines += lines
        if code is not None:
            process.exit(code)

    return prepare


class TestStart:
    def test_it_is_ready_when_it_says_so(self, bench: Bench) -> None:
        bench.probe.loading["m.gguf"] = 3
        endpoint = bench.start()
        assert endpoint.base_url == "http://127.0.0.1:21000/v1"
        assert endpoint.model == "m.gguf"
        assert endpoint.api_key
        assert bench.probe.asked == 4
        assert bench.server.state is State.READY
        assert bench.events.of(ServerStarted) == [ServerStarted(role="embed", endpoint=endpoint.base_url)]

    def test_many_who_ask_at_once_start_one(self, bench: Bench) -> None:
        gate = threading.Event()
        bench.launcher = FakeLauncher(lambda process: (gate.wait(WAIT_S), listening(process))[1])
        object.__setattr__(bench.around, "launcher", bench.launcher)
        futures: list[Future[Endpoint]] = [bench.server.begin() for _ in range(50)]
        gate.set()
        assert len({future.result(WAIT_S).base_url for future in futures}) == 1
        assert len(bench.launcher.processes) == 1
        assert bench.server.starts == 1

    def test_the_key_is_in_a_file_for_us_alone_until_the_server_has_read_it(self, tmp_path: Path) -> None:
        seen: list[tuple[str, int]] = []

        def prepare(process: FakeProcess) -> None:
            command = process.launch.command
            path = Path(command[command.index("--api-key-file") + 1])
            seen.append((path.read_text(), stat.S_IMODE(path.stat().st_mode)))
            listening(process)

        bench = Bench(tmp_path, prepare)
        endpoint = bench.start()
        assert seen == [(f"{endpoint.api_key}\n", 0o600)]
        assert endpoint.api_key not in bench.launcher.processes[0].launch.command
        assert not list(bench.around.folder.glob("*.key"))

    def test_it_is_written_down_before_it_exists_when_it_does_and_when_it_listens(self, bench: Bench) -> None:
        bench.start()
        before, started, ready = bench.recorded
        assert before is not None
        assert (before.process, before.port) == (None, None)
        assert before.key_file
        assert started is not None
        assert (started.process, started.port) == (ProcessMark(1000, 1.0), None)
        assert ready is not None
        assert ready.port == 21000
        assert "--api-key-file" not in ready.signature

    def test_progress_tells_what_was_read(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, bytes_read=lambda pid: 512)
        assert bench.server.progress().phase == "waiting"
        bench.probe.gate.clear()
        future = bench.server.begin()
        deadline = time.monotonic() + WAIT_S
        while not bench.probe.asked and time.monotonic() < deadline:
            time.sleep(0.001)
        progress = bench.server.progress()
        assert (progress.phase, progress.bytes_read, progress.bytes_total) == ("loading", 512, 1024)
        assert progress.fraction == 0.5
        bench.probe.gate.set()
        future.result(WAIT_S)
        assert bench.server.progress().fraction == 1


class TestFailingToStart:
    @pytest.mark.parametrize(
        ("lines", "code", "stable", "words"),
        [
            (("E ggml_vulkan: Device memory allocation failed: ErrorOutOfDeviceMemory",), 1, "fleet.out_of_memory", ""),
            (("CUDA error: out of memory",), 1, "fleet.out_of_memory", "num_ctx"),
            (("E gguf_init_from_reader: invalid magic characters: 'secr'",), 1, "fleet.bad_model", "Fetch it again"),
            (
                ("llama_model_load: error loading model: unknown model architecture: 'x'",),
                1,
                "fleet.bad_model",
                "newer",
            ),
            (("mtmd_init_from_file: error: Failed to load CLIP model from p.gguf",), 1, "fleet.bad_model", "mmproj"),
            (("error: invalid argument: --offline",), 1, "fleet.engine_too_old", "Update llama.cpp"),
            (
                ("start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 1",),
                1,
                "fleet.port_taken",
                "again",
            ),
            (("llama-server: error while loading shared libraries: libgomp.so.1",), 127, "fleet.no_engine", "libgomp1"),
            ((), -9, "fleet.out_of_memory", "run out of memory"),
            ((), -4, "fleet.wrong_processor", "xllamacpp"),
            (("something else",), 3, "fleet.start_failed", ""),
        ],
    )
    def test_the_error_has_its_last_lines_and_says_what_to_do(
        self, tmp_path: Path, lines: tuple[str, ...], code: int, stable: str, words: str
    ) -> None:
        bench = Bench(tmp_path, saying(*lines, code=code))
        error = bench.failing()
        assert error.code == stable
        assert words in error.hint
        assert all(line.removeprefix("E ") in error.message for line in lines)
        assert "embed-0" in error.message
        assert bench.server.state is State.FAILED
        # What would be the same at another try is not tried again.
        again = code == -9 or stable in ("fleet.port_taken", "fleet.start_failed")
        assert len(bench.launcher.processes) == (MOST_TRIES if again else 1)
        assert (f"{MOST_TRIES} times in a row" in error.message) is again

    def test_one_that_is_killed_while_it_loads_is_started_again_after_the_usual_back_off(self, tmp_path: Path) -> None:
        codes = [-9, 134]

        def prepare(process: FakeProcess) -> None:
            (process.exit(codes.pop(0), "loading tensors") if codes else listening(process))

        bench = Bench(tmp_path, prepare)
        before = bench.clock.monotonic()
        assert bench.start().base_url == "http://127.0.0.1:21002/v1"
        assert bench.clock.monotonic() - before == pytest.approx(backoff_s(1) + backoff_s(2))
        assert (bench.server.starts, bench.server.error, bench.server.state) == (3, None, State.READY)
        # A dead process is never what is written down.
        assert [one.process.pid if one is not None and one.process is not None else None for one in bench.recorded] == [
            None, 1000, None, 1001, None, 1002, 1002,
        ]  # fmt: skip

    def test_one_that_is_stopped_on_purpose_while_it_loads_is_not(self, tmp_path: Path) -> None:
        """`lilbee engine stop` in another terminal takes the record away and ends the process."""

        def prepare(process: FakeProcess) -> None:
            made.on_disk = False
            process.exit(-15)

        made = Bench(tmp_path, prepare)
        assert "stopped while it loaded" in made.failing().message
        assert len(made.launcher.processes) == 1
        assert made.server.state is State.STOPPED

    def test_a_start_that_is_given_up_is_not_tried_again(self, tmp_path: Path) -> None:
        def prepare(process: FakeProcess) -> None:
            process.exit(-9)
            made.server.ask_to_end()

        made = Bench(tmp_path, prepare)
        assert "stopped while it loaded" in made.failing().message
        assert len(made.launcher.processes) == 1

    def test_time_stamps_and_repeated_lines_are_left_out(self, tmp_path: Path) -> None:
        line = "0.00.006.760 E gguf_init_from_file: failed to open GGUF file 'nope.gguf'"
        error = Bench(tmp_path, saying(line, line, code=1)).failing()
        assert error.message.count("failed to open") == 1
        assert "0.00.006" not in error.message

    def test_a_program_that_cannot_be_run(self, bench: Bench) -> None:
        bench.launcher.fail(PermissionError(13, "Permission denied"))
        error = bench.failing()
        assert "/opt/llama-server: Permission denied" in error.message
        assert not list(bench.around.folder.glob("*.key"))

    def test_one_that_hangs_is_ended_after_the_limit(self, bench: Bench) -> None:
        bench.probe.loading["m.gguf"] = 10**9
        error = bench.failing()
        assert error.code == "fleet.start_timeout"
        assert bench.clock.monotonic() >= 600
        assert not bench.launcher.running

    def test_the_limit_grows_with_the_weights(self) -> None:
        assert load_limit_s(1_000_000) == 600
        assert load_limit_s(100_000_000_000) == 2000

    def test_weights_count_the_projector_and_what_the_plan_says(self, tmp_path: Path) -> None:
        (tmp_path / "m").write_bytes(b"x" * 100)
        (tmp_path / "p").write_bytes(b"x" * 10)
        assert weights_bytes(placed("vision", tmp_path / "m", projector_file=tmp_path / "p")) == 110
        parts = ModelFootprint(weights_bytes=500, kv_bytes=0, compute_bytes=0, discrete_bytes=0, unified_bytes=0)
        assert weights_bytes(placed("chat", tmp_path / "m", footprint=parts)) == 500

    def test_it_is_left_alone_for_a_while_and_tells_the_same_again(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, saying("boom", code=1))
        first = bench.failing()
        assert bench.failing() is first
        assert len(bench.launcher.processes) == MOST_TRIES
        assert not bench.server.wants_restart  # it never ran: nobody waits for it
        bench.clock.advance(backoff_s(2))
        bench.failing()
        assert len(bench.launcher.processes) == 2 * MOST_TRIES
        bench.clock.advance(backoff_s(2))
        assert not bench.server.may_start
        bench.clock.advance(backoff_s(3))
        assert bench.server.may_start

    def test_backoff_grows_and_ends(self) -> None:
        assert [backoff_s(number) for number in (0, 1, 2, 3, 4, 50)] == [0, 0, 1, 2, 4, 60]

    def test_a_folder_that_cannot_be_written_is_an_error_and_nobody_waits_forever(self, bench: Bench) -> None:
        bench.around.folder.parent.joinpath("state").write_text("a file")
        error = bench.failing()
        assert error.code == "fleet.start_failed"
        assert bench.server.state is State.FAILED


class TestWatching:
    def test_one_that_died_is_found_and_wants_a_restart_at_once(self, bench: Bench) -> None:
        bench.start()
        bench.launcher.processes[0].exit(134, "GGML_ASSERT failed")
        assert bench.server.look()
        assert not bench.server.look()
        assert bench.server.state is State.FAILED
        assert bench.server.error is not None
        assert bench.server.error.code == "fleet.died"
        assert "GGML_ASSERT failed" in bench.server.error.message
        assert bench.server.wants_restart
        assert bench.server.endpoint is None
        assert bench.recorded[-1] is None
        bench.start()
        assert bench.server.starts == 2
        assert bench.server.error is None

    def test_one_that_dies_again_and_again_is_given_up(self, bench: Bench) -> None:
        for _ in range(6):
            bench.clock.advance(120)
            bench.server.begin().result(WAIT_S)
            bench.launcher.processes[-1].exit(1)
            bench.server.look()
        bench.clock.advance(120)
        assert not bench.server.wants_restart
        assert bench.server.may_start  # whoever needs it may still try

    def test_one_that_ran_long_starts_with_a_clean_slate(self, bench: Bench) -> None:
        for _ in range(8):
            bench.start()
            bench.clock.advance(STEADY_S + 1)
            assert not bench.server.look()
            bench.launcher.processes[-1].exit(1)
            bench.server.look()
            assert bench.server.may_start

    def test_one_that_was_ended_from_elsewhere_is_not_restarted(self, bench: Bench) -> None:
        bench.start()
        bench.on_disk = False
        bench.launcher.processes[0].exit(0)
        assert bench.server.look()
        assert bench.server.state is State.STOPPED
        assert not bench.server.wants_restart
        assert bench.server.error is None

    def test_a_failed_connection_cools_it_down(self, bench: Bench) -> None:
        bench.start()
        bench.server.enter()
        bench.server.leave(failed=True)
        assert bench.server.cooling_s == COOLDOWN_S
        assert bench.server.status().cooling
        bench.clock.advance(COOLDOWN_S)
        assert bench.server.cooling_s == 0

    def test_one_that_answers_nothing_after_a_failure_is_ended(self, bench: Bench) -> None:
        bench.start()
        bench.server.examine()
        assert bench.server.state is State.READY
        bench.probe.down.add("m.gguf")
        bench.server.examine()
        assert bench.server.state is State.FAILED
        assert not bench.launcher.running
        assert bench.server.wants_restart

    def test_one_that_died_and_may_be_tried_soon_is_waited_for(self, bench: Bench) -> None:
        for _ in range(2):
            bench.start()
            bench.launcher.processes[-1].exit(1)
            bench.server.look()
        before = bench.clock.monotonic()
        bench.server.wait_out(0.5)
        assert bench.clock.monotonic() == before
        bench.server.wait_out(5)
        assert bench.clock.monotonic() == before + backoff_s(2)
        assert bench.start()

    def test_it_rests_only_when_nobody_uses_it(self, bench: Bench) -> None:
        bench.start()
        bench.server.enter()
        bench.clock.advance(1000)
        assert not bench.server.retire(300)
        bench.server.leave(failed=False)
        assert not bench.server.retire(300)
        bench.clock.advance(300)
        assert bench.server.retire(300)
        bench.server.stop("idle")
        assert bench.server.state is State.STOPPED
        assert bench.events.of(ServerStopped)[-1].reason == "idle"
        assert bench.start()

    def test_status_says_it_all(self, bench: Bench) -> None:
        assert bench.server.status().state == "stopped"
        bench.start()
        bench.clock.advance(7)
        status = bench.server.status()
        assert (status.id, status.role, status.model, status.state) == ("embed-0", "embed", "m.gguf", "ready")
        assert (status.pid, status.idle_s, status.starts, status.owner_pid) == (1000, 7, 1, 4711)
        assert status.to_dict()["url"] == "http://127.0.0.1:21000/v1"


class TestStopping:
    def test_it_is_asked_and_then_made_to(self, tmp_path: Path) -> None:
        def stubborn(process: FakeProcess) -> None:
            process.ignores_terminate = True
            listening(process)

        bench = Bench(tmp_path, stubborn)
        bench.start()
        bench.server.stop()
        assert bench.launcher.processes[0].poll() == -9
        assert bench.server.state is State.STOPPED
        assert bench.recorded[-1] is None
        assert bench.events.of(ServerStopped) == [ServerStopped(role="embed", server="embed-0", reason="closed")]

    def test_stopping_gives_up_a_start(self, bench: Bench) -> None:
        bench.probe.loading["m.gguf"] = 10**9
        object.__setattr__(bench.around, "shortest_limit_s", 1e9)
        future = bench.server.begin()
        bench.server.stop()
        with pytest.raises(FleetError, match="stopped while it loaded"):
            future.result(WAIT_S)
        assert bench.server.state is State.STOPPED
        assert not bench.launcher.running

    def test_stopping_what_does_not_run_does_nothing(self, bench: Bench) -> None:
        bench.server.stop()
        bench.server.stop()
        assert not bench.events.events

    def test_a_closed_one_cannot_be_started(self, bench: Bench) -> None:
        bench.start()
        bench.server.close()
        error = bench.failing()
        assert error.code == "fleet.gone"
        assert not list(bench.around.folder.glob("*"))

    def test_releasing_leaves_the_process(self, bench: Bench) -> None:
        bench.start()
        bench.server.release()
        assert bench.launcher.running
        assert bench.failing().code == "fleet.gone"


class TestAdopting:
    def record(self, bench: Bench, **values: Any) -> ServerRecord:
        bench.start()
        found = bench.server.record()
        assert found is not None
        bench.server.release()
        return found

    def fresh(self, bench: Bench) -> Server:
        return Server(bench.server.placed, bench.around, record=lambda: None)

    def test_one_that_answers_and_is_the_same_is_taken_over(self, bench: Bench) -> None:
        record, server = self.record(bench), self.fresh(bench)
        assert server.adopt(record, bench.launcher.processes[0])
        assert server.endpoint is not None
        assert server.endpoint.api_key == record.api_key
        assert server.status().adopted
        assert server.starts == 0

    def test_one_whose_owner_died_before_it_wrote_down_the_port_is_found_by_its_log(self, bench: Bench) -> None:
        record, server = replace(self.record(bench), port=None), self.fresh(bench)
        assert server.adopt(record, bench.launcher.processes[0])
        assert server.endpoint is not None
        assert server.endpoint.base_url == "http://127.0.0.1:21000/v1"
        bench.launcher.processes[0].lines.clear()  # it has not come so far
        assert not self.fresh(bench).adopt(record, bench.launcher.processes[0])

    def test_one_that_does_not_answer_is_not(self, bench: Bench) -> None:
        record, server = self.record(bench), self.fresh(bench)
        bench.probe.down.add("m.gguf")
        assert not server.adopt(record, bench.launcher.processes[0])
        assert server.state is State.STOPPED

    def test_one_with_another_model_is_not(self, bench: Bench) -> None:
        record, server = self.record(bench), self.fresh(bench)
        bench.probe.alias = "other.gguf"
        assert not server.adopt(record, bench.launcher.processes[0])

    def test_one_with_another_command_is_not(self, bench: Bench) -> None:
        record = self.record(bench)
        other = placed("embed", bench.server.placed.model_file, pooling="cls")
        assert not Server(other, bench.around, record=lambda: None).adopt(record, bench.launcher.processes[0])

    def test_one_that_is_gone_is_not(self, bench: Bench) -> None:
        record, server = self.record(bench), self.fresh(bench)
        bench.launcher.processes[0].exit(0)
        assert not server.adopt(record, bench.launcher.processes[0])
