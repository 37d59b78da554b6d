"""A server that works for minutes while files change, its workers die, and it is killed itself: what is lost.

`--soak-minutes` says for how long; ten unless the run is a quick one. The server is killed in the first quarter of
that time alone, so that the memory of one process can be followed over the last three fifths: by then it has loaded
its libraries and its model, which is no growth.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from lilbee_core import Lilbee
from tests.bench._figures import Figure, Report, at_least, at_most, exactly
from tests.bench._measure import MB, percentile
from tests.bench._servers import EmbedServer
from tests.bench._world import World, note

FILES, SEED = 300, 7
KILL_SERVER_S, KILL_WORKER_S, LOOK_S = 25.0, 15.0, 1.0
RESTARTS_UNTIL, SETTLED_FROM = 0.25, 0.4
MOST_MB_A_MINUTE = 1.0
WORDS = ("hive swarm", "invoice budget", "keel harbor", "crumb crust", "parser token", "glacier ridge")


@dataclass
class Served:
    """A server on one folder that is started again when it is killed, and everything that it answered."""

    folder: Path
    env: dict[str, str]
    process: subprocess.Popen[bytes] | None = None
    url: str = ""
    token: str = ""
    up: threading.Event = field(default_factory=threading.Event)
    answers: Counter[str] = field(default_factory=Counter[str])
    untyped: list[str] = field(default_factory=list[str])
    search_ms: list[float] = field(default_factory=list[float])

    def start(self) -> None:
        file = self.folder / ".lilbee" / "server.json"
        file.unlink(missing_ok=True)
        command = [sys.executable, "-m", "lilbee_server.main", "--library", str(self.folder), "--port", "0", "--watch"]
        self.process = subprocess.Popen(command, env=self.env, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while not file.exists():
            assert time.monotonic() < deadline, "the server did not start"
            assert self.process.poll() is None, "the server ended"
            time.sleep(0.1)
        time.sleep(0.5)
        there = json.loads(file.read_text(encoding="utf-8"))
        self.url, self.token = there["url"], there["token"]
        self.up.set()

    def kill(self) -> None:
        assert self.process is not None
        self.up.clear()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None:
            self.up.clear()
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(60)
            self.process.kill()

    def ask(self, path: str, body: dict[str, object] | None = None) -> dict[str, Any] | None:
        """Ask; None for an error. One without a code, or for which lilbee blames itself, is kept as such."""
        self.up.wait(120)
        url, up = self.url, self.up.is_set()
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url + path, data=data, headers={"Authorization": f"Bearer {self.token}"})
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                self.answers["ok"] += 1
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            self._refused(path, error)
        except (OSError, ValueError) as error:
            # A connection that is cut off by the end of the server is no answer; one of a server that lives would be.
            if up and self.up.is_set() and url == self.url:
                self.untyped.append(f"{path}: {error!r}")
            self.answers["cut off"] += 1
        return None

    def _refused(self, path: str, error: urllib.error.HTTPError) -> None:
        text = error.read().decode("utf-8", "replace")
        try:
            code = json.loads(text)["error"]["code"]
        except (ValueError, KeyError, TypeError):
            code = ""
        self.answers[str(code or error.code)] += 1
        if not code or code == "internal":
            self.untyped.append(f"{path}: {error.code} {text[:200]}")


class Files:
    """Files that come, change, move and go; what they hold is known at any time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.held: dict[str, str] = {}
        self._chance = random.Random(SEED)
        self._edition = 0

    def change(self) -> None:
        """Do one thing."""
        self._edition += 1
        number = self._chance.randrange(FILES)
        kind = ".py" if number % 5 == 0 else ".md"
        path, roll = f"{number % 10}/{number}{kind}", self._chance.random()
        if path in self.held and roll < 0.15:
            (self.folder / path).unlink()
            del self.held[path]
        elif path in self.held and roll < 0.25:
            other = f"moved/{number}-{self._edition}{kind}"
            self._place(other)
            (self.folder / path).replace(self.folder / other)
            self.held[other] = self.held.pop(path)
        else:
            self._write(path, number, kind)

    def _write(self, path: str, number: int, kind: str) -> None:
        text = note(number, self._edition)
        if kind == ".py":
            text = f'def f{number}():\n    """{text}"""\n    return {self._edition}\n'
        temporary = self._place(path).with_name(f".{number}.tmp~")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(self.folder / path)
        self.held[path] = text

    def _place(self, path: str) -> Path:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        return self.folder / path


class Soak:
    """Everything that goes on at the same time, each in a thread of its own."""

    def __init__(self, served: Served, files: Files) -> None:
        self.served, self.files = served, files
        self.memory: list[tuple[float, float]] = []
        self.kills: Counter[str] = Counter()
        self._chance = random.Random(SEED)
        self._stop = threading.Event()
        self._failed: list[Exception] = []
        self._began = time.monotonic()

    @property
    def passed_s(self) -> float:
        """How long it goes on already."""
        return time.monotonic() - self._began

    @contextmanager
    def going(self) -> Iterator[None]:
        """Do everything while the block runs."""
        works = (
            (self.files.change, 0.2), (self._search, 0.05), (self._search, 0.1), (self._ask, 1.0), (self._sync, 7.0),
            (self._add, 5.0), (self._status, 3.0), (self._look, LOOK_S), (self._kill_worker, KILL_WORKER_S),
        )  # fmt: skip
        threads = [threading.Thread(target=self._repeat, args=one, daemon=True) for one in works]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join(180)
        if self._failed:
            raise self._failed[0]

    def kill_server(self) -> None:
        """Kill the server, and start it again."""
        self.served.kill()
        self.served.start()
        self.kills["servers"] += 1

    def _repeat(self, work: Callable[[], None], every_s: float) -> None:
        while not self._stop.wait(every_s):
            try:
                work()
            except Exception as error:  # noqa: BLE001 - raised where the run ends
                self._failed.append(error)
                return

    def _search(self) -> None:
        started = time.monotonic()
        if self.served.ask(f"/api/search?query={self._chance.choice(WORDS).replace(' ', '+')}") is not None:
            self.served.search_ms.append((time.monotonic() - started) * 1000)

    def _ask(self) -> None:
        self.served.ask("/api/ask", {"question": f"What of the {self._chance.choice(WORDS)}?"})

    def _sync(self) -> None:
        self.served.ask("/api/sync", {})

    def _status(self) -> None:
        self.served.ask("/api/status")

    def _add(self) -> None:
        path = self._chance.choice(list(self.files.held))
        self.served.ask("/api/add", {"paths": [str(self.files.folder / path)]})

    def _look(self) -> None:
        process = self.served.process
        if self.served.up.is_set() and process is not None:
            with suppress(psutil.Error):
                self.memory.append((self.passed_s, psutil.Process(process.pid).memory_info().rss / MB))

    def _kill_worker(self) -> None:
        process = self.served.process
        with suppress(psutil.Error):
            workers = psutil.Process(process.pid).children(recursive=True) if process is not None else []
            if workers:
                self._chance.choice(workers).send_signal(signal.SIGKILL)
                self.kills["workers"] += 1


def test_soak(world: World, report: Report, server: EmbedServer, pytestconfig: pytest.Config) -> None:
    given = pytestconfig.getoption("--soak-minutes")
    seconds = 60.0 * (float(given) if given else 2.0 if world.quick else 10.0)
    folder = world.folder / "soak"
    folder.mkdir()
    env = world.env(**server.settings, LILBEE_REQUESTS_PER_MINUTE="0", LILBEE_WATCH_DEBOUNCE_S="0.5")
    soak = Soak(Served(folder, env), Files(folder))
    for _ in range(FILES):
        soak.files.change()
    soak.served.start()
    try:
        with soak.going():
            while soak.passed_s < seconds * RESTARTS_UNTIL:
                time.sleep(min(KILL_SERVER_S, seconds * RESTARTS_UNTIL / 2))
                soak.kill_server()
            time.sleep(max(0.0, seconds - soak.passed_s))
    finally:
        soak.served.stop()
    assert soak.served.search_ms, soak.served.answers
    lost = what_is_lost(folder, soak.files.held, env)
    figures(report, soak, lost, settled_s=seconds * SETTLED_FROM)
    assert not lost
    assert not soak.served.untyped


def figures(report: Report, soak: Soak, lost: list[str], *, settled_s: float) -> None:
    """Report what came of it."""
    served, settled = soak.served, [one for one in soak.memory if one[0] >= settled_s]
    minutes = (settled[-1][0] - settled[0][0]) / 60
    late = [one for one in settled if one[0] >= settled_s + (settled[-1][0] - settled_s) / 2]
    report.add(
        Figure(id="soak", what="minutes that one server was followed", value=minutes, unit="min"),
        Figure(id="soak", what="memory that the server grows by", value=slope(settled) * 60, unit="MB/min",
               goal=at_most(MOST_MB_A_MINUTE), note=f"from {settled[0][1]:.0f} to {settled[-1][1]:.0f} MB"),
        Figure(id="soak", what="the same in the second half of that", value=slope(late) * 60, unit="MB/min"),
        Figure(id="soak", what="files lost, or not as they are", value=len(lost), unit="files", goal=exactly(0),
               note="; ".join(lost[:3])),
        Figure(id="soak", what="errors without a code", value=len(served.untyped), unit="errors", goal=exactly(0),
               note="; ".join(served.untyped[:3])),
        Figure(id="soak", what="requests answered", value=served.answers["ok"], unit="requests", goal=at_least(1),
               note=", ".join(f"{name} {count}" for name, count in served.answers.items())),
        Figure(id="soak", what="searches, 95 % within", value=percentile(served.search_ms, 0.95), unit="ms"),
        Figure(id="soak", what="servers killed", value=soak.kills["servers"], unit="kills",
               note=f"and {soak.kills['workers']} workers"),
    )  # fmt: skip


def slope(points: list[tuple[float, float]]) -> float:
    """Return by how much the second number grows with the first: the line that fits best."""
    if len(points) < 2:
        return 0.0
    x = sum(one for one, _ in points) / len(points)
    y = sum(one for _, one in points) / len(points)
    spread = sum((one - x) ** 2 for one, _ in points)
    return sum((one - x) * (other - y) for one, other in points) / spread if spread else 0.0


def what_is_lost(folder: Path, held: dict[str, str], env: dict[str, str]) -> list[str]:
    """Sync once more, and return what the index does not hold as the files do."""
    os.environ.update({name: value for name, value in env.items() if name.startswith("LILBEE_")})
    lost: list[str] = []
    with Lilbee(folder) as bee:
        report = bee.sync()
        lost += [f"{one.path}: {one.code}" for one in report.failed]
        rows = {row.path: row for row in bee.documents(state="indexed")}
        lost += [f"{path} is not in the index" for path in held.keys() - rows.keys()]
        lost += [f"{path} is in the index" for path in rows.keys() - held.keys()]
        lost += [
            f"{path} is not as it is" for path, text in held.items() if path in rows and bee.get_text(path).text != text
        ]
        status = bee.status()
        if status.embedded != status.chunks:
            lost.append(f"{status.chunks - status.embedded} chunks have no vector")
    return lost
