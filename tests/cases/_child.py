"""A process of its own for a case: a sync that waits to be ended, or a list of steps."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

from lilbee_core import Lilbee, Settings
from lilbee_core.events import Event
from tests.cases._world import World

BATCH_DOCUMENTS = 4
"""Small batches, so that the end falls between batches and not behind the only one."""


def sync_and_wait(world: World, after_files: int) -> int:
    """Sync, and wait for the parent's signal once so many files are done. Ctrl-C ends it as it ends the command."""
    from lilbee_cli.main import stopped

    done = 0

    def watch(event: Event) -> None:
        nonlocal done
        done += event.name == "DocumentIndexed"
        if done == after_files and event.name == "DocumentIndexed":
            print("waiting", flush=True)
            sys.stdin.read()

    settings = Settings().changed({**world.settings, "batch_documents": BATCH_DOCUMENTS})
    try:
        with Lilbee(world.root, settings, data_dir=world.data_dir, embedder=world.embedder, events=watch) as bee:
            report = bee.sync()
    except KeyboardInterrupt:
        return stopped()
    print("cancelled" if report.cancelled else "finished", flush=True)
    return 0


def run_steps(world: World, steps: list[dict[str, Any]], number: int) -> int:
    """Run steps and print what was wrong as a list."""
    from tests.cases._case import Findings
    from tests.cases._run import run_steps as run

    findings = Findings(case=f"process {number}")
    run(world, steps, findings)
    world.close()
    print(json.dumps(findings.failures))
    return 0


def main() -> int:
    # Whoever runs the tests in the background of a script has them ignore Ctrl-C, and their children too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    task = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    world = World.from_dict(task["world"])
    if "sync" in task:
        return sync_and_wait(world, task["sync"])
    return run_steps(world, task["steps"], task["number"])


if __name__ == "__main__":
    sys.exit(main())
