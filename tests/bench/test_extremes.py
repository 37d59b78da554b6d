"""What is far from usual: very many files, a very long log, a very long line. Time and memory, nothing to beat."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bench._figures import Figure, Report
from tests.bench._measure import folder_bytes, run
from tests.bench._servers import EmbedServer
from tests.bench._world import World, lilbee

FILES = 100_000
LOG_BYTES = 200_000_000
LINE_BYTES = 50_000_000


def test_very_many_files(world: World, report: Report, server: EmbedServer) -> None:
    folder, count = world.folder / "tiny", world.size(FILES)
    for number in range(count):
        path = folder / f"{number // 1000:03}" / f"{number:06}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"tiny file {number} of the harbor, berth {number * 7919 % 10_007}\n")
    asked = f"tiny file {count // 3} of the harbor"
    measure(world, report, server, folder, f"ingest of {count} tiny files", asked)


@pytest.mark.parametrize("what", ["log", "line"])
def test_a_very_long_file(world: World, report: Report, server: EmbedServer, what: str) -> None:
    size = world.size(LOG_BYTES if what == "log" else LINE_BYTES)
    folder = world.folder / f"one-{what}"
    folder.mkdir()
    with (folder / f"harbor.{'log' if what == 'log' else 'txt'}").open("w") as out:
        written = 0
        for piece in pieces(what):
            written += out.write(piece)
            if written >= size:
                break
    measure(world, report, server, folder, f"ingest of a {what} of {size // 1_000_000} MB", "buoy 7919 was lit")


def pieces(what: str) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        lamp = f"buoy {number * 7919 % 1_000_003} was {'lit' if number % 3 else 'out'}"
        yield f"2026-03-01T{number % 24:02}:00:00Z harbor[{number}] {lamp}\n" if what == "log" else f"{lamp}, "


def measure(world: World, report: Report, server: EmbedServer, folder: Path, what: str, asked: str) -> None:
    """Sync, sync again with nothing to do, and search."""
    data = world.folder / f"{folder.name}-data"
    place = ["--library", str(folder), "--data-dir", str(data), "--json"]
    env = world.env(**server.settings)
    done = run([*lilbee(), "sync", *place], env=env)
    told = json.loads(done.out)
    again = run([*lilbee(), "sync", *place], env=env)
    assert json.loads(again.out)["unchanged"] == told["added"]
    search = run([*lilbee(), "search", *place, asked], env=env)
    assert all(word in json.loads(search.out)["hits"][0]["text"] for word in asked.split())
    size = sum(path.stat().st_size for path in folder.rglob("*.*"))
    note = f"{told['added']} files, {told['chunks']} chunks, {folder_bytes(data) / 1e6:.0f} MB on disk"
    report.add(
        Figure(id="wide", what=what, value=done.wall_s, unit="s", note=note),
        Figure(
            id="wide",
            what="the same, memory of all processes at the most",
            value=done.peak_mb,
            unit="MB",
            base=size / 1e6,
            base_name="MB of text",
            note=f"{done.cpu_s:.0f} CPU s",
        ),
        Figure(
            id="wide",
            what="the same again, with nothing to do",
            value=again.wall_s,
            unit="s",
            note=f"{again.cpu_s:.1f} CPU s, {again.peak_mb:.0f} MB",
        ),
        Figure(
            id="wide",
            what="a search in it, from the command line",
            value=search.wall_s,
            unit="s",
            note=f"{search.cpu_s:.1f} CPU s, {search.peak_mb:.0f} MB",
        ),
    )
