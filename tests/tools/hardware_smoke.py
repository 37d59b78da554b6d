"""Try the fleet on a machine with cards: `python -m tests.tools.hardware_smoke MODEL.gguf [--embed MODEL.gguf]`.

No test has a card, so this is for people who do. It lists the cards, shows the plan, loads the models, sends requests
at once, kills a server and an owner, looks for what is left, and prints one line for each step; it ends with 1 if one
fails. Nothing that ran before is touched: it keeps its state in a folder of its own.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from lilbee_core.errors import LilbeeError
from lilbee_core.fleet import Fleet, FleetOptions, ModelPlanner, PlanOptions, RoleModel
from lilbee_core.models import read_facts
from lilbee_core.types import LoadProgress

REQUESTS, AT_ONCE = 32, 8
OWNER = "import sys; from tests.tools.hardware_smoke import own; own(sys.argv[1:])"


def fleet_of(models: dict[str, str], state: Path, *, warm: bool = False) -> Fleet:
    """Return a fleet for these model files, by role."""
    found = [RoleModel(role=role, ref=name, facts=read_facts(Path(name).resolve())) for role, name in models.items()]
    planner = ModelPlanner(models=lambda: found, options=PlanOptions())
    return Fleet(planner, state_dir=state, options=FleetOptions(keep_warm=warm), version="smoke")


def own(arguments: list[str]) -> None:
    """Start a server, say which, and die without ending it."""
    role, name, state = arguments
    fleet = fleet_of({role: name}, Path(state), warm=True)
    fleet.endpoint(role)
    sys.stdout.write(f"{fleet.status()[0].pid}\n")
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGKILL)


class Smoke:
    """The steps, each of which says what it saw or raises."""

    def __init__(self, models: dict[str, str], state: Path) -> None:
        self._models = models
        self._state = state
        self._fleet = fleet_of(models, state)

    def steps(self) -> list[tuple[str, Callable[[], str]]]:
        """Return the steps by name, in order."""
        return [
            ("cards", self.cards),
            ("plan", self.plan),
            ("load", self.load),
            ("memory", self.memory),
            ("requests", self.requests),
            ("restart", self.restart),
            ("end", self.end),
            ("orphans", self.orphans),
        ]

    def cards(self) -> str:
        machine = self._fleet.machine()
        if not machine.devices and machine.accelerator is None:
            raise RuntimeError(f"{self._fleet.engine().file} lists no card")
        return "; ".join(map(str, machine.devices or (machine.accelerator,)))

    def plan(self) -> str:
        plan = self._fleet.plan()
        if plan.refusals:
            raise RuntimeError("; ".join(one.reason for one in plan.refusals))
        return "; ".join(f"{one.id} on {','.join(one.devices) or 'memory'}" for one in plan.servers)

    def load(self) -> str:
        told: list[str] = []
        for role in self._models:
            begun = time.monotonic()
            seen: list[LoadProgress] = []
            self._fleet.wait(role, on_progress=seen.append)
            told.append(f"{role} in {time.monotonic() - begun:.1f} s, {len({one.phase for one in seen})} phases")
        return "; ".join(told)

    def memory(self) -> str:
        """Compare what the cards have lost with what was planned."""
        before = {one.label: one.free_bytes for one in self._fleet.plan().machine.devices}
        told = [
            f"{one.label} {(before[one.label] - one.free_bytes) / 1e9:.1f} GB taken, "
            f"{self._fleet.plan().charged(one.label) / 1e9:.1f} planned"
            for one in self._fleet.machine().devices
        ]
        return "; ".join(told) or "shared memory"

    def requests(self) -> str:
        role = next(iter(self._models))

        def ask(number: int) -> str:
            with self._fleet.lease(role) as lease:
                if not self._fleet.probe.properties(lease.endpoint):
                    raise RuntimeError(f"{lease.id} did not answer request {number}")
                return lease.id

        with ThreadPoolExecutor(AT_ONCE) as pool:
            answered = set(pool.map(ask, range(REQUESTS)))
        return f"{REQUESTS} answered by {', '.join(sorted(answered))}"

    def restart(self) -> str:
        server = next((one for one in self._fleet.status() if one.pid is not None), None)
        if server is None or server.pid is None:
            raise RuntimeError("no server runs")
        os.kill(server.pid, signal.SIGKILL)
        begun = time.monotonic()
        while True:
            now = next(one for one in self._fleet.status() if one.id == server.id)
            if now.state == "ready" and now.pid != server.pid:
                return f"{server.id} was back after {time.monotonic() - begun:.1f} s"
            if time.monotonic() - begun > 600:
                raise RuntimeError(f"{server.id} is {now.state}: {now.error}")
            time.sleep(0.1)

    def end(self) -> str:
        pids = [one.pid for one in self._fleet.status() if one.pid is not None]
        self._fleet.close()
        left = [pid for pid in pids if psutil.pid_exists(pid)]
        files = [path.name for path in self._state.iterdir() if path.name not in ("lock", "ended")]
        if left or files:
            raise RuntimeError(f"left behind: processes {left}, files {files}")
        return f"{len(pids)} servers ended, nothing left"

    def orphans(self) -> str:
        role, name = next(iter(self._models.items()))
        command = [sys.executable, "-c", OWNER, role, name, str(self._state)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not done.stdout.strip():
            raise RuntimeError(done.stderr[-500:])
        orphan = int(done.stdout)
        with fleet_of({role: name}, self._state) as fleet:
            fleet.endpoint(role)
            if psutil.pid_exists(orphan):
                raise RuntimeError(f"process {orphan} of a dead owner still runs")
        return f"process {orphan} of a dead owner was ended"


def main() -> int:
    """Read the command line and go through the steps."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("chat", help="a chat model")
    parser.add_argument("--embed", help="an embedding model")
    given = parser.parse_args()
    models = {"chat": str(given.chat), **({"embed": str(given.embed)} if given.embed else {})}
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        smoke = Smoke(models, Path(folder) / "state")
        for name, step in smoke.steps():
            try:
                print(f"ok    {name}: {step()}", flush=True)
            except (LilbeeError, RuntimeError, OSError) as error:
                failed += 1
                print(f"fault {name}: {error}", flush=True)
        smoke.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
