"""P6 and P8: syncs that have nothing or little to do, and searches while a sync goes on."""

from __future__ import annotations

import json
import shutil
import sys

from tests.bench._figures import Figure, Report, at_most, at_most_more, at_most_times, exactly
from tests.bench._libraries import Library
from tests.bench._measure import alternating, median, run
from tests.bench._servers import Record
from tests.bench._world import ROOT, World, lilbee, tool


def test_sync_of_unchanged_files(world: World, report: Report, many: Library) -> None:
    folder, env = many.corpus.folder, world.env()
    warm: Record = json.loads(run(tool("warm_sync", folder, many.data, world.times(7)), env=env, cwd=ROOT).out)
    assert warm["unchanged"] == many.corpus.files
    cold = alternating(
        {
            "sync": lambda: run([*lilbee(), "sync", *many.options, "--json"], env=env, every_s=0.02),
            "floor": lambda: run([sys.executable, "-c", "import lancedb"], env=env, every_s=0.02),
        },
        world.times(5),
    )
    report.add(
        Figure(
            id="P6",
            what="sync of unchanged files in a warm process",
            note=f"{many.corpus.files} files, {warm['cpu_s']:.2f} CPU s",
            value=warm["sync_s"],
            unit="s",
            base=warm["floor_s"],
            base_name="walk + stat",
            goal=at_most(0.5),
        ),
        Figure(
            id="P6",
            what="documents that it embedded or wrote",
            value=warm["embedded"] + warm["written"],
            unit="",
            goal=exactly(0),
        ),
        Figure(
            id="P6",
            what="`lilbee sync` of unchanged files",
            note=f"{cold['sync'].cpu_s:.1f} and {cold['floor'].cpu_s:.1f} CPU s",
            value=cold["sync"].wall_s,
            unit="s",
            base=cold["floor"].wall_s,
            base_name="import lancedb",
            goal=at_most_more(0.6, "s"),
        ),
    )


def test_one_changed_file(world: World, report: Report, many: Library) -> None:
    told: Record = json.loads(
        run(tool("live_change", many.corpus.folder, many.data, world.times(9)), env=world.env(), cwd=ROOT).out
    )
    report.add(
        Figure(
            id="P8",
            what="one changed file, until a search finds it, warm",
            note=f"{many.corpus.files} files, slowest {max(told['seconds']):.2f} s",
            value=median(told["seconds"]),
            unit="s",
            goal=at_most(1.0),
        )
    )


def test_searches_while_a_sync_goes_on(world: World, report: Report, many: Library) -> None:
    folder, data = world.folder / "notes-live", world.folder / "notes-live-data"
    shutil.copytree(many.corpus.folder, folder)
    shutil.copytree(many.data, data)
    told: Record = json.loads(
        run(tool("search_during_sync", folder, data, 10, 2 if world.quick else 15), env=world.env(), cwd=ROOT).out
    )
    idle = told["idle"]
    for where, goal in (("elsewhere", at_most_times(2)), ("here", None)):
        found = told[where]
        name = "another process" if where == "elsewhere" else "the same process"
        report.add(
            Figure(
                id="P8",
                what=f"p95 of searches while {name} syncs",
                note=f"{told['changed']} changed files, {found['searches']} searches, p50 {found['p50_ms']:.1f} ms",
                value=found["p95_ms"],
                unit="ms",
                base=idle["p95_ms"],
                base_name=f"idle, p50 {idle['p50_ms']:.1f} ms",
                goal=goal,
            )
        )
