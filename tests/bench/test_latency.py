"""P1, P2 and P3: how long a search takes in a process that lives, and what the vector index finds."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.bench._figures import Figure, Report, at_least, at_most_more, at_most_times
from tests.bench._libraries import Library, build
from tests.bench._measure import run
from tests.bench._servers import Record
from tests.bench._world import ROOT, World, standard_library, tool

SMALL_SHARE = 64
"""Each 64th source file makes about 1,000 chunks."""
EXACT_ROWS, MANY_ROWS = 50_000, 200_000
"""Without an index of vectors, and with one."""
LEAST_MS = 0.05
EVAL = "LILBEE_EVAL_DIR"


def test_warm_search(world: World, report: Report, big: Library, rival: dict[str, Record] | None) -> None:
    small = build(world, standard_library(world.folder / "little-code", every=SMALL_SHARE), "little-code-data")
    _stages(report, small.chunks, _searched(world, small.corpus.folder, small.data))
    told = _searched(world, big.corpus.folder, big.data)
    _stages(report, big.chunks, told)
    ours, what = told["ours"]["p50_ms"], f"warm hybrid search, p50, {big.chunks} chunks"
    theirs = rival["search hybrid"]["p50_ms"] if rival else None
    report.add(
        Figure(
            id="P1",
            what=what,
            value=ours,
            unit="ms",
            base=told["floor"]["p50_ms"],
            base_name="bare sum",
            goal=at_most_times(2.5),
        ),
        Figure(id="P1", what=what, value=ours, unit="ms", base=theirs, base_name="rival", goal=at_most_times(0.25)),
        Figure(
            id="P1",
            what="the same beside vector search alone",
            value=ours,
            unit="ms",
            base=told["vectors"]["p50_ms"],
            base_name="vectors alone",
            goal=at_most_more(5, "ms"),
        ),
        Figure(
            id="P1",
            what="the same with the reports of its stages",
            value=told["traced_ms"],
            unit="ms",
            base=told["untraced_ms"],
            base_name="without",
            goal=at_most_times(1.02),
        ),
    )


def _searched(world: World, folder: Path, data: Path) -> Record:
    told: Record = json.loads(run(tool("search_latency", folder, data, world.times(5)), env=world.env(), cwd=ROOT).out)
    return told


def _stages(report: Report, chunks: int, told: Record) -> None:
    """Take the times of a library as they are: of the whole search and of each stage."""
    for share in ("p50", "p95"):
        stages = [(name, times[f"{share}_ms"]) for name, times in told["stages"].items()]
        report.add(
            Figure(
                id="P1",
                what=f"warm hybrid search, {share}, {chunks} chunks",
                note=", ".join(f"{name} {ms:.1f}" for name, ms in stages if ms >= LEAST_MS),
                value=told["ours"][f"{share}_ms"],
                unit="ms",
                base=told["floor"][f"{share}_ms"],
                base_name="bare sum",
            )
        )


def test_many_chunks(world: World, report: Report) -> None:
    nowhere = world.folder / "nowhere"
    nowhere.mkdir()
    for full in (EXACT_ROWS, MANY_ROWS):
        rows, data = world.size(full), world.folder / f"many-{full}"
        run(tool("fill_store", data, rows), env=_with_eval(world), cwd=ROOT, every_s=1.0)
        if full == MANY_ROWS:
            _approximate(world, report, data, rows)
        _stages(report, rows, _searched(world, nowhere, data))


def _approximate(world: World, report: Report, data: Path, rows: int) -> None:
    command = tool("approximate_vectors", data, 20 if world.quick else 100)
    told: Record = json.loads(run(command, env=_with_eval(world), cwd=ROOT).out)
    report.add(
        Figure(id="P3", what=f"recall@10, {rows} vectors", value=told["recall"], unit="", goal=at_least(0.99)),
        Figure(
            id="P3",
            what="the same with a filter that keeps 5 %",
            note=f"{told['narrow_ms']:.1f} ms",
            value=told["narrow_recall"],
            unit="",
            goal=at_least(0.99),
        ),
        Figure(
            id="P3",
            what=f"nearest 10 of {rows} by the index, p50",
            note=f"{told['probes']} partitions; engine's flat scan {told['flat_ms']:.0f} ms",
            value=told["ours_ms"],
            unit="ms",
            base=told["exact_ms"],
            base_name="exact search",
            goal=at_most_times(0.25),
        ),
        Figure(
            id="P3",
            what="building and calibrating it",
            note=f"{told['searches_meanwhile']} searches meanwhile, the longest {told['longest_ms']:.0f} ms",
            value=told["ours_s"],
            unit="s",
            base=told["plain_s"],
            base_name="plain build",
            goal=at_most_times(2),
        ),
    )


def _with_eval(world: World) -> dict[str, str]:
    """Return the environment, with the judged collections where there are some: their texts and questions are used."""
    folder = os.environ.get(EVAL)
    return world.env(**{EVAL: folder} if folder else {})


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
