"""Search a library over and over while nothing else happens, then while it is synced, here or by the command line.

The library is a copy that may be changed: every `share`-th note gets new text before each sync.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

from lilbee_core import Lilbee
from tests.bench._measure import percentile
from tests.bench._world import lilbee, note

QUERIES = (
    "when does the swarm leave", "margin of the budget", "anchor in the harbor", "rye crumb", "symbol scope", "summit"
)  # fmt: skip
PAUSE_S = 0.02


def change(folder: Path, share: int, edition: int) -> int:
    """Give notes new text; return how many."""
    paths = sorted(folder.rglob("note-*.md"))[::share]
    for path in paths:
        path.write_text(note(int(path.stem.removeprefix("note-")), edition), encoding="utf-8")
    return len(paths)


def latencies_ms(bee: Lilbee, go_on: Callable[[], bool]) -> list[float]:
    """Search for as long as `go_on` says so, with a pause after each search as a person makes one."""
    found: list[float] = []
    for number, query in enumerate(cycle(QUERIES)):
        if not go_on():
            return found
        began = time.perf_counter()
        bee.search(f"{query} {number % 500}")
        found.append((time.perf_counter() - began) * 1000)
        time.sleep(PAUSE_S)
    raise AssertionError("unreachable")


@contextmanager
def sync_elsewhere(folder: Path, data: str) -> Iterator[Callable[[], bool]]:
    """Sync by the command line; the value says whether it still runs."""
    command = [*lilbee(), "sync", "--quiet", "--library", str(folder), "--data-dir", data]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        yield lambda: process.poll() is None


@contextmanager
def sync_here(bee: Lilbee) -> Iterator[Callable[[], bool]]:
    """Sync in a thread of this process."""
    thread = threading.Thread(target=bee.sync)
    thread.start()
    yield thread.is_alive
    thread.join()


def main(arguments: Sequence[str]) -> int:
    folder, data, share, idle_s = Path(arguments[0]), arguments[1], int(arguments[2]), float(arguments[3])
    told: dict[str, object] = {}
    with Lilbee(folder, data_dir=data) as bee:
        bee.sync()
        warm = time.monotonic() + 1
        latencies_ms(bee, lambda: time.monotonic() < warm)
        end = time.monotonic() + idle_s
        idle = latencies_ms(bee, lambda: time.monotonic() < end)
        told["changed"] = change(folder, share, 1)
        with sync_elsewhere(folder, data) as running:
            elsewhere = latencies_ms(bee, running)
        change(folder, share, 2)
        with sync_here(bee) as running:
            here = latencies_ms(bee, running)
    for name, found in {"idle": idle, "elsewhere": elsewhere, "here": here}.items():
        told[name] = {"p50_ms": percentile(found, 0.5), "p95_ms": percentile(found, 0.95), "searches": len(found)}
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
