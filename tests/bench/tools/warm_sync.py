"""Sync FOLDER, in which nothing has changed, TIMES times in one process; beside it, walk and stat its files."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence

from lilbee_core import Lilbee


def walk_and_stat(folder: str) -> int:
    """Look at every file as cheaply as Python can."""
    count = 0
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    entry.stat()
                    count += 1
    return count


def best_s(work: Callable[[], object], times: int) -> float:
    """Return the seconds of the run that was disturbed least."""
    found: list[float] = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return min(found)


def main(arguments: Sequence[str]) -> int:
    folder, data, times = arguments[0], arguments[1], int(arguments[2])
    with Lilbee(folder, data_dir=data) as bee:
        report = bee.sync()  # the first one loads the libraries
        sync_s = best_s(bee.sync, times)
        cpu = time.process_time()
        bee.sync()
        cpu_s = time.process_time() - cpu
    told = {
        "sync_s": sync_s,
        "cpu_s": cpu_s,
        "floor_s": best_s(lambda: walk_and_stat(folder), times),
        "unchanged": report.unchanged,
        "embedded": report.embedded,
        "written": report.added + report.updated + report.removed + report.moved,
    }
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
