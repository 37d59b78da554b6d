"""P1 and P2: how long a search takes in a process that lives."""

from __future__ import annotations

import json

from tests.bench._figures import Figure, Report, at_most_times
from tests.bench._libraries import Library, build
from tests.bench._measure import run
from tests.bench._servers import Record
from tests.bench._world import ROOT, World, standard_library, tool

SMALL_SHARE = 64
"""Each 64th source file makes about 1,000 chunks."""


def test_warm_search(world: World, report: Report, big: Library, rival: dict[str, Record] | None) -> None:
    small = build(world, standard_library(world.folder / "little-code", every=SMALL_SHARE), "little-code-data")
    for library in (small, big):
        told: Record = json.loads(
            run(
                tool("search_latency", library.corpus.folder, library.data, world.times(5)), env=world.env(), cwd=ROOT
            ).out
        )
        ours, floor = told["ours"], told["floor"]
        is_big = library is big
        report.add(
            Figure(
                id="P1",
                what=f"warm hybrid search, p50, {library.chunks} chunks",
                note=", ".join(f"{name} {ms:.1f}" for name, ms in told["stages"].items()),
                value=ours["p50_ms"],
                unit="ms",
                base=floor["p50_ms"],
                base_name="bare sum",
                goal=at_most_times(2.5) if is_big else None,
            ),
            Figure(
                id="P1",
                what="the same, p95",
                value=ours["p95_ms"],
                unit="ms",
                base=floor["p95_ms"],
                base_name="bare sum",
            ),
        )
        if is_big:
            report.add(
                Figure(
                    id="P1",
                    what=f"warm hybrid search, p50, {library.chunks} chunks",
                    value=ours["p50_ms"],
                    unit="ms",
                    base=rival["search hybrid"]["p50_ms"] if rival else None,
                    base_name="rival",
                    goal=at_most_times(0.25),
                )
            )


def test_exact_vector_search(world: World, report: Report) -> None:
    rows = world.size(50_000)
    told: Record = json.loads(
        run(tool("exact_vectors", world.folder / "vectors", rows, world.times(100)), env=world.env(), cwd=ROOT).out
    )
    report.add(
        Figure(
            id="P2",
            what=f"exact 30 of {rows} vectors",
            note=f"{told['same']:.0%} of the hits are the same",
            value=told["ours_ms"],
            unit="ms",
            base=told["flat_ms"],
            base_name="LanceDB flat",
            goal=at_most_times(0.25),
        ),
        Figure(
            id="P2",
            what=f"exact 30 of {rows} vectors",
            value=told["ours_ms"],
            unit="ms",
            base=told["numpy_ms"],
            base_name="numpy",
            goal=at_most_times(1.5),
        ),
    )
