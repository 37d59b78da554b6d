"""P9: what many small syncs leave on disk."""

from __future__ import annotations

import json
import shutil

from tests.bench._figures import Figure, Report, at_most_times
from tests.bench._libraries import Library
from tests.bench._measure import run
from tests.bench._servers import Record
from tests.bench._world import ROOT, World, tool


def test_many_small_syncs(world: World, report: Report, big: Library) -> None:
    folder, data, fresh = (world.folder / name for name in ("code-live", "code-live-data", "code-live-fresh"))
    # Indexed anew: data that were copied from a folder which is still there would hold its collection, too.
    shutil.copytree(big.corpus.folder, folder)
    times = world.size(500)
    told: Record = json.loads(run(tool("small_syncs", folder, data, fresh, times), env=world.env(), cwd=ROOT).out)
    assert told["chunks"][0] == told["chunks"][1]
    report.add(
        Figure(
            id="P9",
            what=f"on disk after {times} small syncs",
            note=f"{told['most_bytes'] / 1e6:.1f} MB at the most",
            value=told["bytes"] / 1e6,
            unit="MB",
            base=told["fresh_bytes"] / 1e6,
            base_name="built anew",
            goal=at_most_times(1.3),
        ),
        Figure(
            id="P9",
            what=f"a small sync, p50 of {times}",
            note=f"{big.chunks} chunks, p95 {told['p95_s']:.2f} s; last tenth against the first",
            value=told["last_s"],
            unit="s",
            base=told["first_s"],
            base_name="first tenth",
        ),
    )
