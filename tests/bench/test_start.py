"""P7: what starting costs, in time and memory."""

from __future__ import annotations

import json
import re
import sys

from tests.bench._figures import Figure, Report, at_most, at_most_more, at_most_times
from tests.bench._libraries import Library
from tests.bench._measure import Run, alternating, run
from tests.bench._servers import Record
from tests.bench._world import ROOT, TOOLS, World, lilbee

QUERY = "decode base64 data"
_OWN_PEAK = "print(open('/proc/self/status').read())"


def test_import(world: World, report: Report) -> None:
    env = world.env()
    imported = f"import lilbee_core; {_OWN_PEAK}" if sys.platform == "linux" else "import lilbee_core"
    found = alternating(
        {
            "import": lambda: run([sys.executable, "-c", imported], env=env, every_s=0.02),
            "floor": lambda: run([sys.executable, "-c", "pass"], env=env, every_s=0.02),
        },
        world.times(15),
    )
    report.add(
        Figure(
            id="P7",
            what="import lilbee_core",
            value=found["import"].wall_s,
            unit="s",
            base=found["floor"].wall_s,
            base_name="python -c pass",
            goal=at_most_more(0.08, "s"),
        ),
        Figure(id="P7", what="the same, memory", value=_peak_mb(found["import"]), unit="MB", goal=at_most(40)),
    )


def test_help(world: World, report: Report, rival: dict[str, Record] | None) -> None:
    env = world.env()
    found = alternating(
        {
            "help": lambda: run([*lilbee(), "--help"], env=env, every_s=0.02),
            "floor": lambda: run([sys.executable, "-c", "import click"], env=env, every_s=0.02),
        },
        world.times(15),
    )
    report.add(
        Figure(
            id="P7",
            what="lilbee --help",
            value=found["help"].wall_s,
            unit="s",
            base=found["floor"].wall_s,
            base_name="import click",
            goal=at_most_times(4),
        ),
        Figure(
            id="P7",
            what="lilbee --help",
            value=found["help"].wall_s,
            unit="s",
            base=rival["startup"]["help_s"] if rival else None,
            base_name="rival",
        ),
    )


def test_cold_search(world: World, report: Report, big: Library, rival: dict[str, Record] | None) -> None:
    env = world.env()
    bare = [sys.executable, str(TOOLS / "bare_search.py"), str(big.data / "index"), *_model(env), QUERY]
    ours = [*lilbee(), "search", QUERY, "-k", "10", "--json", *big.options]
    found = alternating(
        {
            "search": lambda: run(ours, env=env, every_s=0.02),
            "floor": lambda: run(bare, env=env, every_s=0.02),
        },
        world.times(7),
    )
    search, floor = found["search"], found["floor"]
    assert json.loads(search.out)["hits"], "the search found nothing"
    report.add(
        Figure(
            id="P7",
            what="cold `lilbee search`",
            note=f"{big.chunks} chunks; {search.cpu_s:.2f} and {floor.cpu_s:.2f} CPU s",
            value=search.wall_s,
            unit="s",
            base=floor.wall_s,
            base_name="bare script",
            goal=at_most_more(0.4, "s"),
        ),
        Figure(
            id="P7",
            what="the same, memory",
            value=search.peak_mb,
            unit="MB",
            base=floor.peak_mb,
            base_name="bare script",
            goal=at_most_more(60, "MB"),
        ),
        Figure(
            id="P7",
            what="cold `lilbee search`",
            value=search.wall_s,
            unit="s",
            base=rival["cli_search"]["median_s"] if rival else None,
            base_name="rival",
            goal=at_most_times(0.25),
        ),
    )


def _model(env: dict[str, str]) -> list[str]:
    """Return the files of the built-in model, which exist once it was used."""
    code = (
        "from pathlib import Path; from lilbee_core.embed._weights import model_file, tokenizer_file;"
        f"print(model_file(Path({env['LILBEE_CACHE_DIR']!r}))); print(tokenizer_file())"
    )
    return run([sys.executable, "-c", code], env=env, cwd=ROOT / "tests").out.split()


def _peak_mb(one: Run) -> float:
    """Return the most that the process itself says it had, where the system tells; what was seen otherwise."""
    told = re.search(r"VmHWM:\s+(\d+) kB", one.out)
    return int(told[1]) * 1024 / 1e6 if told else one.peak_mb
