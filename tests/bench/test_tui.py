"""The screens: how long they take to start, and from a key to what is shown of it."""

from __future__ import annotations

import json
import sys

import pytest

from tests.bench._figures import Figure, Report, at_most
from tests.bench._libraries import Library
from tests.bench._measure import median, run
from tests.bench._servers import Record
from tests.bench._world import ROOT, World, lilbee, tool

MOST_START_S, MOST_KEY_MS = 2.0, 50.0


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
def test_start(world: World, report: Report, big: Library) -> None:
    command = tool("start_screens", *lilbee(), "tui", *big.options)
    found: list[Record] = [
        json.loads(run(command, env={**world.env(), "TERM": "xterm-256color"}, cwd=ROOT).out)
        for _ in range(world.times(5))
    ]
    for name, what in (("picture", "the first picture"), ("open", "the library is open"), ("hits", "hits of a word")):
        goal = None if name == "hits" else at_most(MOST_START_S)
        value = median([one[name] for one in found])
        report.add(Figure(id="TUI", what=f"start of the screens: {what}", value=value, unit="s", goal=goal))


def test_live_search(world: World, report: Report, big: Library) -> None:
    command = tool("live_search", big.corpus.folder, big.data, world.times(5))
    told: Record = json.loads(run(command, env=world.env(), cwd=ROOT).out)
    for name, what in (("echo", "the letter"), ("hits", "the hits")):
        for share in ("p50", "p95"):
            report.add(
                Figure(
                    id="TUI",
                    what=f"from a key to {what} on the screen, {share}, {big.chunks} chunks",
                    value=told[name][share],
                    unit="ms",
                    goal=at_most(MOST_KEY_MS),
                    note=f"{told['keys']} keys, {told['cpu_ms']:.0f} ms of CPU each",
                )
            )
