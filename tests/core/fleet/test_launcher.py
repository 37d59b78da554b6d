"""Processes of our own: a group each, a log each, and none that outlives us unless it shall (R132, R138, R144)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lilbee_core.fleet import _logs
from lilbee_core.fleet._launcher import SystemLauncher, child_environment
from lilbee_core.protocols import Launch, Launcher
from lilbee_core.testing.contracts import LauncherContract

WAIT_S = 20.0
needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="process groups are POSIX's")
only_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")


def python(code: str, **values: object) -> Launch:
    return Launch(command=(sys.executable, "-S", "-c", code), **values)  # type: ignore[arg-type]


@pytest.fixture
def launcher() -> Iterator[SystemLauncher]:
    launcher = SystemLauncher()
    yield launcher
    launcher.close()


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until(condition: object, what: str = "it") -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.01)


class TestSystemLauncher(LauncherContract):
    def make(self) -> Launcher:
        return SystemLauncher()


class TestProcess:
    def test_its_output_goes_to_its_log(self, launcher: SystemLauncher, tmp_path: Path) -> None:
        log = tmp_path / "logs" / "a.log"
        code = "import sys; print('out'); sys.stdout.flush(); sys.stderr.write('err\\n'); sys.exit(3)"
        process = launcher.start(python(code, log_file=log))
        assert process.wait(WAIT_S) == 3
        assert process.log_tail() == "out\nerr"
        assert process.log_tail(1) == "err"

    def test_a_program_that_is_not_there(self, launcher: SystemLauncher, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            launcher.start(Launch(command=(str(tmp_path / "nothing"),)))
        (tmp_path / "plain").write_text("no program")
        with pytest.raises(PermissionError):
            launcher.start(Launch(command=(str(tmp_path / "plain"),)))

    @needs_posix
    def test_it_leads_a_group_and_ends_with_all_of_it(self, launcher: SystemLauncher, tmp_path: Path) -> None:
        log = tmp_path / "a.log"
        code = (
            "import subprocess, sys, time\n"
            "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)'])\n"
            "print(child.pid, flush=True)\n"
            "time.sleep(60)"
        )
        process = launcher.start(python(code, log_file=log))
        wait_until(process.log_tail)
        child = int(process.log_tail())
        assert os.getpgid(process.pid) == process.pid == os.getpgid(child)
        process.terminate()
        assert process.wait(WAIT_S) == -signal.SIGTERM
        wait_until(lambda: gone(child))

    @needs_posix
    def test_what_it_leaves_behind_when_it_ends_by_itself_is_ended(
        self, launcher: SystemLauncher, tmp_path: Path
    ) -> None:
        log = tmp_path / "a.log"
        code = (
            "import subprocess, sys\n"
            "print(subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)']).pid, flush=True)"
        )
        process = launcher.start(python(code, log_file=log))
        assert process.wait(WAIT_S) == 0
        child = int(process.log_tail())
        wait_until(lambda: gone(child))

    @needs_posix
    def test_one_that_ignores_the_request_is_killed(self, launcher: SystemLauncher, tmp_path: Path) -> None:
        log = tmp_path / "a.log"
        code = (
            "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up', flush=True)\n"
            "time.sleep(60)"
        )
        process = launcher.start(python(code, log_file=log))
        wait_until(lambda: process.log_tail() == "up")
        process.terminate()
        assert process.wait(0.1) is None
        process.kill()
        assert process.wait(WAIT_S) == -signal.SIGKILL
        process.kill()  # twice is once
        process.terminate()

    @only_linux
    def test_the_thread_that_asks_may_end_before_the_process(self, launcher: SystemLauncher) -> None:
        started = []
        thread = threading.Thread(target=lambda: started.append(launcher.start(python("import time; time.sleep(60)"))))
        thread.start()
        thread.join()
        assert started[0].wait(0.2) is None
        started[0].kill()
        assert started[0].wait(WAIT_S) is not None

    @only_linux
    @pytest.mark.slow
    @pytest.mark.parametrize("outlives", [False, True])
    def test_it_ends_when_we_are_killed_unless_it_shall_outlive_us(self, tmp_path: Path, outlives: bool) -> None:
        code = (
            "import os, signal, sys, time\n"
            "from lilbee_core.fleet._launcher import SystemLauncher\n"
            "from lilbee_core.protocols import Launch\n"
            f"launch = Launch(command=({sys.executable!r}, '-S', '-c', 'import time; time.sleep(60)'), "
            f"outlives={outlives})\n"
            "print(SystemLauncher().start(launch).pid, flush=True)\n"
            "time.sleep(0.3)\n"
            "os.kill(os.getpid(), signal.SIGKILL)"
        )
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        child = int(said.stdout)
        if outlives:
            assert not gone(child)
            os.kill(child, signal.SIGKILL)
        wait_until(lambda: gone(child))


class TestEnvironment:
    def test_a_server_does_not_see_our_keys_nor_settings_that_would_change_it(self) -> None:
        env = {
            "PATH": "/bin",
            "LILBEE_OPENAI_API_KEY": "k",
            "LLAMA_ARG_PORT": "1",
            "LLAMA_API_KEY": "k",
            "HF_TOKEN": "t",
        }
        assert child_environment((("CUDA_VISIBLE_DEVICES", "1"),), env) == {"PATH": "/bin", "CUDA_VISIBLE_DEVICES": "1"}


class TestLogs:
    def test_a_long_log_is_cut_to_its_end_while_it_is_written(self, tmp_path: Path) -> None:
        path = tmp_path / "a.log"
        with path.open("ab") as writer:
            for number in range(2000):
                writer.write(f"line {number:05}\n".encode())
            writer.flush()
            _logs.shorten(path, largest_bytes=10_000)
            assert path.stat().st_size <= 5_000
            assert path.read_text().startswith("line 01")
            writer.write(b"the last\n")
        assert _logs.tail(path, 2) == "line 01999\nthe last"

    def test_a_short_or_missing_log_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "a.log"
        _logs.shorten(path)
        path.write_text("short\n")
        _logs.shorten(path)
        assert path.read_text() == "short\n"
        assert _logs.tail(tmp_path / "none", 5) == ""
        assert _logs.tail(None, 5) == ""
