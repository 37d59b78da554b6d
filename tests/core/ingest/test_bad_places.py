"""Full and read-only disks, copies, damage, processes that meet: defined, and nothing lost (R390)."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import LilbeeError, StoreError, StoreLocked
from lilbee_core.types import Document, DocumentState
from tests.core.ingest._process import TURNS, outcome, start
from tests.core.ingest.conftest import a_library

pytestmark = pytest.mark.slow
Check = Callable[[Path, Path], None]
OLD = 1_700_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    write(folder, range(12), "heron")
    return folder


def write(folder: Path, numbers: range, bird: str, lines: int = 3) -> None:
    for number in numbers:
        path = folder / f"{number % 3}" / f"{number:04}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "".join(f"The {bird} of note {number} stands at weir {k * 7919 % 997}.\n" for k in range(lines))
        )
        os.utime(path, (OLD + number, OLD + number))


def finds(bee: Lilbee, word: str) -> int:
    return len(bee.search(word, top_k=50).hits)


def code_of(verb: Callable[[], object]) -> str:
    """Return the code of the error that a verb ends with, if it does."""
    try:
        verb()
    except LilbeeError as error:
        return error.code
    return ""


# ------------------------------------------------------------------ full disks


@contextmanager
def leaving(disk: Path, free_kb: int) -> Iterator[None]:
    """Fill a disk up to so many KB inside the block."""
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as out:
        while True:
            out.write(b"x" * 4096)
    with ballast.open("r+b") as out:
        out.truncate(max(ballast.stat().st_size - free_kb * 1024, 0))
    try:
        yield
    finally:
        ballast.unlink()


@pytest.mark.parametrize("free_kb", [0, 8, 24, 64, 160, 400, 900])
def test_a_disk_that_is_full_at_any_write(folder: Path, small_disk: Path, equals_fresh: Check, free_kb: int) -> None:
    data = small_disk / "data"
    with a_library(folder, data) as bee:
        bee.sync()
        write(folder, range(300), "kestrel", lines=20)
        with leaving(small_disk, free_kb):
            assert code_of(bee.sync) in {"store.full", ""}
            with a_library(folder, data) as other:
                for one in (bee, other):
                    assert finds(one, "note") > 0, "it claims that there is nothing"
        bee.sync()
    equals_fresh(folder, data)


@pytest.mark.parametrize("free_kb", [0, 4, 12, 40, 100, 250])
def test_a_disk_that_is_full_from_the_beginning(
    folder: Path, small_disk: Path, equals_fresh: Check, free_kb: int
) -> None:
    data = small_disk / "data"
    write(folder, range(200), "kestrel", lines=20)
    with leaving(small_disk, free_kb), a_library(folder, data) as bee:
        assert code_of(bee.sync) in {"store.full", ""}
    with a_library(folder, data) as bee:
        bee.sync()
    assert (data / ".gitignore").read_text() == "*\n"
    equals_fresh(folder, data)


def test_a_file_that_may_not_grow_any_more(folder: Path, tmp_path: Path, equals_fresh: Check) -> None:
    """The engine may take half a file for a whole one then: if so, it is told, and a rebuild mends it."""
    data = tmp_path / "data"
    with a_library(folder, data) as bee:
        bee.sync()
        write(folder, range(120), "kestrel", lines=60)
        failed = outcome(start("sync", folder, data, max_file_bytes=2_000))["sync"]
        assert failed["code"] == "store.full", failed
        assert finds(bee, "note") > 0
        assert code_of(bee.sync) in {"", "store.damaged"}
        if bee._parts.store.check():
            bee.rebuild()
    equals_fresh(folder, data)


# ------------------------------------------------------------------ read-only, copied, moved


def test_a_library_that_may_only_be_read(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    outcome(start("sync", folder, data))
    before = stamps(data)
    write(folder, range(3), "kestrel")
    places = [data, *(path for path in data.rglob("*"))]
    for path in places:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        told = outcome(start("search sync", folder, data, bound=True))
    finally:
        for path in places:
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert told["search"] > 0
    assert told["sync"]["code"] == "store.read_only", told["sync"]
    assert stamps(data) == before


def stamps(place: Path) -> dict[str, int]:
    return {path.relative_to(place).as_posix(): path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}


@pytest.mark.parametrize("how", ["copied", "moved"])
def test_a_library_in_another_place(folder: Path, tmp_path: Path, how: str, equals_fresh: Check) -> None:
    with a_library(folder) as bee:
        bee.sync()
        hits = [hit.chunk for hit in bee.search("heron weir").hits]
    other = tmp_path / "elsewhere" / "notes"
    if how == "copied":
        shutil.copytree(folder, other)
    else:
        other.parent.mkdir()
        folder.rename(other)
    with a_library(other) as bee:
        assert [hit.chunk for hit in bee.search("heron weir").hits] == hits
        report = bee.sync()
        assert (report.unchanged, report.embedded, report.added, report.updated) == (12, 0, 0, 0)
    equals_fresh(other, other / ".lilbee")


def test_a_copy_and_its_original_go_their_own_ways(folder: Path, tmp_path: Path) -> None:
    with a_library(folder) as bee:
        bee.sync()
    shutil.copytree(folder, tmp_path / "copy" / "notes")
    with a_library(folder) as one, a_library(tmp_path / "copy" / "notes") as two:
        write(folder, range(1), "kestrel")
        assert one.sync().updated == 1
        assert two.sync().unchanged == 12
        assert finds(one, "term:kestrel") == 1
        assert finds(two, "term:kestrel") == 0


# ------------------------------------------------------------------ damage


def halve(index: Path) -> None:
    for number, path in enumerate(sorted(path for path in index.rglob("*") if path.is_file())):
        if number % 2:
            path.unlink()


def without(*names: str) -> Callable[[Path], None]:
    def remove(index: Path) -> None:
        for name in names:
            path = index / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return remove


DAMAGES = {
    "half of the files": halve,
    "chunks": without("chunks.lance"),
    "ledger": without("documents.lance"),
    "texts": without("texts.lance"),
    "all but the layout": lambda index: without(*(p.name for p in index.iterdir() if p.name != "layout.json"))(index),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_an_index_that_is_half_deleted(folder: Path, equals_fresh: Check, damage: Callable[[Path], None]) -> None:
    data = folder / ".lilbee"
    with a_library(folder) as bee:
        bee.sync()
    damage(data / "index")
    with a_library(folder) as bee:
        with pytest.raises(StoreError) as caught:
            bee.sync()
        assert caught.value.code == "store.damaged"
        assert "lilbee rebuild" in caught.value.hint
        try:
            assert finds(bee, "heron") == 12, "it claims that there is less"
        except StoreError as error:
            assert error.code == "store.damaged"  # noqa: PT017 - words may still be found where only texts are gone
        bee.rebuild()
        assert finds(bee, "heron") > 0
    equals_fresh(folder, data)


def test_an_index_that_is_gone_is_made_anew(folder: Path, equals_fresh: Check) -> None:
    with a_library(folder) as bee:
        bee.sync()
    shutil.rmtree(folder / ".lilbee" / "index")
    with a_library(folder) as bee:
        assert bee.sync().added == 12
    equals_fresh(folder, folder / ".lilbee")


# ------------------------------------------------------------------ several at once


def test_two_processes_that_sync_at_once(folder: Path, tmp_path: Path, equals_fresh: Check) -> None:
    write(folder, range(80), "kestrel")
    data = tmp_path / "data"
    told = [outcome(one)["sync"] for one in [start("sync", folder, data) for _ in range(3)]]
    assert sum(one["added"] for one in told) == 80
    assert sum(one["unchanged"] for one in told) == 160
    equals_fresh(folder, data)


def test_many_processes_that_write_lose_and_double_nothing(folder: Path, tmp_path: Path) -> None:
    data, workers = tmp_path / "data", [f"worker{number}" for number in range(3)]
    for process in [start(worker, folder, data) for worker in workers]:
        assert "done" in outcome(process)
    with a_library(folder, data) as bee:
        paths = [row.path for row in bee.documents() if row.collection == "memory"]
        kept = [f"{worker}-{turn}-{part}" for worker in workers for turn in range(TURNS) for part in (1, 2)]
        assert sorted(paths) == sorted([*kept, "shared"])
        text = bee.get_text("memory/shared").text
        assert text in {f"{worker} turn {TURNS - 1} " * 40 for worker in workers}
        assert sum(row.path.endswith(".md") for row in bee.documents()) == 12
        assert bee._parts.store.check() == ()


def test_a_sync_that_waits_too_long_says_for_whom(folder: Path) -> None:
    with a_library(folder) as one, a_library(folder, lock_timeout_s=0.05) as two:
        one.sync()
        caught: list[BaseException] = []

        def other() -> None:
            try:
                two.sync()
            except BaseException as error:  # noqa: BLE001 - looked at below
                caught.append(error)

        with one._parts.store.writing():
            thread = threading.Thread(target=other)
            thread.start()
            thread.join(30)
        assert isinstance(caught[0], StoreLocked)
        assert str(os.getpid()) in caught[0].message
        assert finds(two, "heron") > 0


def test_a_sync_during_a_rebuild(folder: Path, equals_fresh: Check) -> None:
    with a_library(folder) as one, a_library(folder) as two, a_library(folder) as reader:
        one.add_documents([Document(path="m", text="a heron from memory", collection="kept")])
        one.sync()
        one.remove("0/0000.md")
        write(folder, range(10, 40), "kestrel")
        failures: list[BaseException] = []

        def run(verb: Callable[[], object]) -> None:
            try:
                verb()
            except BaseException as error:  # noqa: BLE001 - looked at below
                failures.append(error)

        threads = [threading.Thread(target=run, args=(verb,)) for verb in (one.rebuild, two.sync)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            assert finds(reader, "heron") > 0, "a rebuild hides what is there"
        assert failures == []
        assert {row.path for row in reader.documents() if row.state is DocumentState.EXCLUDED} == {"0/0000.md"}
        assert reader.get_text("kept/m").text == "a heron from memory"
        one.remove("kept/m")
        one.add(folder / "0/0000.md")
    equals_fresh(folder, folder / ".lilbee")


# ------------------------------------------------------------------ clocks


def test_files_from_the_future_are_like_others(folder: Path, equals_fresh: Check) -> None:
    path = folder / "0/0000.md"
    os.utime(path, (4_000_000_000, 4_000_000_000))
    with a_library(folder) as bee:
        bee.sync()
        assert bee.sync().unchanged == 12
        path.write_text("Now it is an kestrel.\n")
        os.utime(path, (OLD, OLD))
        assert bee.sync().updated == 1
        assert finds(bee, "term:kestrel") == 1
    equals_fresh(folder, folder / ".lilbee")
