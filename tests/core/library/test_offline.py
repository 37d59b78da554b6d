"""Nothing leaves the machine, and nothing lands where it was not asked for (R030)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

LIBRARY = Path(__file__).resolve().parents[3] / "examples" / "library"

# Runs in the process itself and in every process that it starts: Python loads `sitecustomize` first of all.
GUARD = """
import json, os, socket, sys

def watch(event, args):
    if event == "socket.connect" and args[0].family == socket.AF_UNIX:
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"):
        with open(os.environ["TRIED"], "a") as out:
            out.write(json.dumps([event, repr(args[1:] if event.startswith("socket.s") else args)]) + "\\n")
        raise OSError("there is no network in this test")

sys.addaudithook(watch)
"""
# A whole run with the built-in model: every format of the sample library, words and meaning, an answer, its stream.
RUN = """
import json, sys
from lilbee_core import Lilbee

def main():
    with Lilbee(sys.argv[1]) as bee:
        report = bee.sync()
        found = bee.search("how much honey must stay in the hive for winter")
        answer = bee.ask("When did hive seven swarm, and who caught the swarm?")
        list(bee.ask_stream("What went wrong with the two colonies that died?"))
        print(json.dumps({
            "added": report.added, "failed": len(report.failed), "embedded": report.embedded,
            "stages": sorted(dict(found[0].scores)), "citations": len(answer.citations),
            "embedder": bee.status().embedder, "counters": counters(),
        }))

def counters():
    totals = {}
    for file in ("/proc/net/snmp", "/proc/net/snmp6"):
        try:
            lines = open(file).read().splitlines()
        except OSError:
            continue
        if file.endswith("6"):
            totals.update({name: int(value) for name, value in (line.split() for line in lines)})
            continue
        for names, values in zip(lines[::2], lines[1::2]):
            kind, *names = names.split()
            totals.update({kind.rstrip(":") + name: int(value) for name, value in zip(names, values.split()[1:])})
    return {name: totals.get(name) for name in
            ("TcpActiveOpens", "UdpOutDatagrams", "IpOutNoRoutes", "Ip6OutNoRoutes", "Udp6OutDatagrams")}

if __name__ == "__main__":
    main()
"""
# Shows that the counters would tell: it tries what a native library might try, past Python's hooks.
PROBE = """
import ctypes, socket
libc = ctypes.CDLL(None, use_errno=True)
handle = libc.socket(socket.AF_INET, socket.SOCK_STREAM, 0)
address = bytes([2, 0, 0, 80, 192, 0, 2, 1]) + bytes(8)
assert libc.connect(handle, address, 16) == -1
"""


class Place:
    """A home of its own with a copy of the sample library, and a guard that is in every Python process."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.temporary = folder / "tmp"
        self.library = folder / "library"
        self.tried = folder / "tried.jsonl"
        self.site = folder / "site"
        for made in (self.home, self.temporary, self.site):
            made.mkdir()
        (self.site / "sitecustomize.py").write_text(GUARD, "utf-8")
        (self.site / "run.py").write_text(RUN, "utf-8")
        shutil.copytree(LIBRARY, self.library, ignore=shutil.ignore_patterns(".lilbee"))

    @property
    def environment(self) -> dict[str, str]:
        leave_out = ("LILBEE_", "XDG_", "HF_", "ORT_", "COVERAGE_", "PYTHON")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(leave_out)}
        own = {"HOME": str(self.home), "USERPROFILE": str(self.home), "TMPDIR": str(self.temporary)}
        return {**kept, **own, "PYTHONPATH": str(self.site), "TRIED": str(self.tried)}

    def run(self, *, wrapper: Sequence[str] = ()) -> dict[str, Any]:
        command = [*wrapper, sys.executable, str(self.site / "run.py"), str(self.library)]
        done = subprocess.run(
            command, env=self.environment, cwd=self.library, capture_output=True, text=True, timeout=280, check=False
        )
        assert done.returncode == 0, done.stderr
        said: dict[str, Any] = json.loads(done.stdout)
        return said

    def attempts(self) -> list[str]:
        return self.tried.read_text("utf-8").splitlines() if self.tried.exists() else []

    def written_at_home(self) -> set[str]:
        """The folders of the home that hold a file, three levels deep."""
        files = [path.relative_to(self.home) for path in self.home.rglob("*") if not path.is_dir()]
        return {Path(*file.parts[:-1][:3]).as_posix() for file in files}


NO_NETWORK = ("unshare", "--net")
"""Runs a command where there is no network device that is up, not even the loopback one."""


@cache
def can_cut_off() -> bool:
    if shutil.which("unshare") is None or not Path("/proc/net/snmp").exists():
        return False
    return subprocess.run([*NO_NETWORK, "true"], capture_output=True, check=False).returncode == 0


def needs_to_cut_off() -> None:
    if not can_cut_off():
        pytest.skip("this system does not let a test run without a network (unshare --net)")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, dict[str, Any]]:
    """One run, cut off from every network where the system lets us."""
    place = Place(tmp_path_factory.mktemp("offline"))
    said = place.run(wrapper=NO_NETWORK if can_cut_off() else ())
    assert said["added"] >= 12
    assert said["failed"] == 0
    assert said["embedded"] > 40
    assert {"dense", "lexical"} <= set(said["stages"])
    assert said["citations"] > 0
    assert said["embedder"] == "builtin/all-MiniLM-L6-v2"
    return place, said


@pytest.mark.slow
def test_a_whole_run_connects_to_nothing_not_even_to_this_machine(ran: tuple[Place, dict[str, Any]]) -> None:
    place, _ = ran
    assert place.attempts() == []


@pytest.mark.slow
def test_native_code_tries_nothing_either(ran: tuple[Place, dict[str, Any]]) -> None:
    """Where there is no network the kernel counts whoever tries; the hooks of Python see only Python."""
    needs_to_cut_off()
    _, said = ran
    assert {name: count for name, count in said["counters"].items() if count} == {}


@pytest.mark.slow
def test_it_writes_to_the_library_and_to_the_users_cache_alone(ran: tuple[Place, dict[str, Any]]) -> None:
    place, _ = ran
    caches = (".cache/lilbee", "Library/Caches/lilbee", "AppData/Local/lilbee")
    # kreuzberg unpacks the library that reads PDF into the folder for native code; nothing of a document.
    assert place.written_at_home() <= {*caches, *(f"{cache}/native" for cache in caches)}
    assert list(place.temporary.iterdir()) == []
    here = {path.relative_to(place.library) for path in place.library.rglob("*")}
    given = {path.relative_to(LIBRARY) for path in LIBRARY.rglob("*")}
    assert {path.parts[0] for path in here if path.parts[0] == ".lilbee" or path not in given} == {".lilbee"}


# --------------------------------------------------------------------------- that it would be seen


def test_the_guard_sees_what_python_tries(place: Place) -> None:
    """In the process itself, and in one that it starts."""
    tries = (
        "import socket\n"
        "for act in (lambda: socket.create_connection(('127.0.0.1', 9), 1),"
        " lambda: socket.getaddrinfo('example.org', 80)):\n"
        "    try:\n        act()\n    except OSError:\n        pass\n"
    )
    nested = f"import subprocess, sys\n{tries}subprocess.run([sys.executable, '-c', {tries!r}], check=True)\n"
    subprocess.run([sys.executable, "-c", nested], env=place.environment, check=True, timeout=60)
    assert len(place.attempts()) >= 4


def test_the_kernel_counts_an_attempt(place: Place) -> None:
    needs_to_cut_off()
    code = RUN.replace('if __name__ == "__main__":\n    main()', f"{PROBE}\nprint(json.dumps(counters()))")
    code = code.replace("from lilbee_core import Lilbee", "")
    done = subprocess.run(
        [*NO_NETWORK, sys.executable, "-c", code],
        env=place.environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert any(json.loads(done.stdout).values()), done.stdout
