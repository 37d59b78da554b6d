"""S1 and S2: many writers at once, and an ingest that is killed again and again."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from lilbee_core import Lilbee, Settings
from lilbee_core.store import Store
from lilbee_core.types import DocumentId
from tests.bench._figures import Figure, Report, at_most, exactly
from tests.bench._measure import run
from tests.bench._servers import EmbedServer
from tests.bench._world import ROOT, World, lilbee, note, standard_library, tool
from tests.bench.tools.write_and_delete import SHARED, document, kept
from tests.support.wholeness import Editions, Watcher, differences, editions, uncommitted

WRITERS, TURNS = 16, 50
KILLS, SEED = 20, 11
BATCH = 64
WORDS = ("note", "import", "queen honey", "edition1mark", "class error", "entry line buoy")


def test_sixteen_writers(world: World, report: Report) -> None:
    place, turns = world.folder / "writers", world.size(TURNS)
    began = time.perf_counter()
    processes = [
        subprocess.Popen(
            tool("write_and_delete", place, number, turns), cwd=ROOT, env=world.env(), stdout=subprocess.PIPE
        )
        for number in range(WRITERS)
    ]
    told = [json.loads(process.communicate(timeout=1_200)[0] or "null") for process in processes]
    seconds = time.perf_counter() - began
    failed = [error for one in told for error in (one["failed"] if one else ["it crashed"])]
    with Store.open(place) as store:
        rows = [row.id for row in store.rows()]
        expected = {name for worker in range(WRITERS) for name in kept(worker, turns)} | shared(turns)
        lost = expected - set(rows) | {id_ for id_ in rows if not is_of_one_turn(store, id_, turns)}
        doubled = [id_ for id_, count in Counter(rows).items() if count > 1]
        beyond = set(rows) - expected
        unsound = store.check()
    note_ = f"{seconds:.0f} s, longest wait of one turn {max(one['longest_s'] for one in told if one):.1f} s"
    for what, value in (
        (f"{WRITERS} processes x {turns} upserts and deletes: failed", len(failed)),
        ("the same: documents lost or not whole", len(lost)),
        ("the same: documents doubled or not deleted", len(doubled) + len(beyond)),
        ("the same: inconsistencies found", len(unsound)),
    ):
        report.add(Figure(id="S1", what=what, value=value, unit="", goal=exactly(0), note=note_))
        note_ = "; ".join(failed[:2])


def shared(turns: int) -> set[str]:
    """Return the documents that all writers write."""
    return {f"shared-{number % SHARED}" for number in range(min(turns + 1, SHARED))}


def is_of_one_turn(store: Store, id_: DocumentId, turns: int) -> bool:
    """Say whether a document is exactly as one turn wrote it."""
    chunks = store.chunks_of(id_)
    if not chunks:
        return False
    worker, turn = (int(word.removeprefix("worker").removeprefix("turn")) for word in chunks[0].text.split()[:2])
    written = document(id_, worker, turn)
    text = store.text(id_)
    return turn < turns and chunks == written.chunks and text is not None and text.text == written.text.text


# ------------------------------------------------------------------ S2


def test_an_ingest_that_is_killed(world: World, report: Report, server: EmbedServer) -> None:
    folder, data = world.folder / "killed", world.folder / "killed-data"
    variables = world.env(**server.settings)
    settings = Settings().changed({name.removeprefix("LILBEE_").lower(): v for name, v in server.settings.items()})

    def sync(where: Path) -> list[str]:
        return [*lilbee(), "sync", "--library", str(folder), "--data-dir", str(where), "--json"]

    first_edition(folder, world)
    run(sync(data), env=variables)
    before = read(data)
    second_edition(folder, world)
    undisturbed = world.folder / "undisturbed-data"
    shutil.copytree(data, undisturbed)
    whole_s = run(sync(undisturbed), env=variables).wall_s
    start_s = run(sync(undisturbed), env=variables).wall_s
    after = read(undisturbed)
    redone: list[int] = []
    chance = random.Random(SEED)
    with Lilbee(folder, settings, data_dir=data) as bee:
        watcher = Watcher(bee, [before, after], WORDS)
        with watcher.watching():
            for left in range(KILLS, 0, -1):
                with Store.open(data) as store:
                    share = open_share(store, after)
                if not killed(sync(data), variables, delay_s(chance, start_s, share * (whole_s - start_s) / left)):
                    break
                with Store.open(data) as store:
                    redone.append(len(uncommitted(store)))
            last = json.loads(run(sync(data), env=variables).out)
    differing = differences(read(data), after)
    with Store.open(data) as store:
        unsound = store.check()
    done = f"{len(after)} files, {sum(len(one.chunks) for one in after.values())} chunks, undisturbed {whole_s:.1f} s"
    looked = f"{watcher.reads} documents read, {watcher.searches} searches"
    report.add(
        Figure(id="S2", what="kills in one ingest", value=len(redone), unit="", goal=exactly(KILLS), note=done),
        Figure(
            id="S2",
            what="documents that were written, but not committed, when a kill came: most",
            value=max(redone, default=0),
            unit="",
            goal=at_most(BATCH),
            note=f"{sum(redone)} in all, {last['added'] + last['updated']} were left to the last run",
        ),
        Figure(
            id="S2",
            what="documents that differ from an undisturbed index",
            value=len(differing),
            unit="",
            goal=exactly(0),
            note="; ".join(differing[:3]),
        ),
        Figure(id="S2", what="inconsistencies found in the end", value=len(unsound), unit="", goal=exactly(0)),
        Figure(id="S2", what="mixed documents seen", value=len(watcher.mixed), unit="", goal=exactly(0), note=looked),
        Figure(
            id="S2",
            what="reads that failed",
            value=len(watcher.errors),
            unit="",
            goal=exactly(0),
            note="; ".join(sorted(set(watcher.errors))[:2]),
        ),
    )


def first_edition(folder: Path, world: World) -> None:
    """Make the folder as it was indexed before: notes, sources, a log too big for one batch."""
    standard_library(folder / "lib", every=180 if world.quick else 18)
    write_notes(folder, range(world.size(250)), edition=0)
    write_log(folder, world.size(60_000), "first")


def second_edition(folder: Path, world: World) -> None:
    """Change and add many files."""
    standard_library(folder / "more", every=30 if world.quick else 3, first=1)
    write_notes(folder, range(world.size(500)), edition=1)
    write_log(folder, world.size(70_000), "second")


def write_notes(folder: Path, numbers: range, *, edition: int) -> None:
    for number in numbers:
        path = folder / "notes" / f"note-{number:05}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note(number, edition), encoding="utf-8")


def write_log(folder: Path, lines: int, edition: str) -> None:
    text = "".join(f"{edition} entry {n}: buoy {n * 7919 % 10_007} was lit, line {n}\n" for n in range(lines))
    (folder / "harbor.log").write_text(text, encoding="utf-8")


def read(data: Path) -> Editions:
    with Store.open(data) as store:
        return editions(store)


def open_share(store: Store, after: Editions) -> float:
    """Return the share of the documents in the end that the ledger does not have yet."""
    committed = {row.id: row.sha256 for row in store.rows()}
    return sum(one.row is not None and committed.get(id_) != one.row.sha256 for id_, one in after.items()) / len(after)


def delay_s(chance: random.Random, start_s: float, work_s: float) -> float:
    """Return when a kill comes: now and then while the process starts, mostly at a moment of its share of the work."""
    return chance.uniform(0.6 * start_s, 1.3 * start_s + 2 * work_s)


def killed(command: list[str], env: Mapping[str, str], delay_s: float) -> bool:
    """Start a command and kill it; false if it was done before."""
    process = subprocess.Popen(command, env=dict(env), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(delay_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True
    return False
