"""A file that the engine committed though it was cut off costs the batch that wrote it, nothing else."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lilbee_core.errors import StoreError
from lilbee_core.store import Store
from lilbee_core.store._engine import newest_version
from lilbee_core.store._tables import Tables
from tests.core.store._build import Words, a_document, ids

WORDS = " ".join(f"word{number * 7919 % 1_000_003}" for number in range(2_000))


def cut_in_two(folder: Path, known: set[str]) -> None:
    (new,) = set(os.listdir(folder)) - known
    os.truncate(folder / new, (folder / new).stat().st_size // 2)


@pytest.mark.parametrize("name", ["chunks", "texts", "documents"])
def test_a_commit_with_a_file_that_is_cut_off_is_taken_back(tmp_path: Path, name: str) -> None:
    with Store.open(tmp_path) as store:
        store.put([a_document("a"), a_document("b")])
    folder = tmp_path / "index" / f"{name}.lance"
    known = set(os.listdir(folder / "data"))
    tables = Tables(tmp_path)
    rows = tables.require(name).search().to_arrow()

    def write() -> None:
        with tables.engine("write the rows", name):
            tables.require(name).add(rows)
            cut_in_two(folder / "data", known)

    with pytest.raises(StoreError) as caught:
        write()
    tables.close()
    assert caught.value.code == "store.full"
    with Store.open(tmp_path) as store:
        assert store.check() == ()
        assert len(list(store.rows())) == 2
        store.put([a_document("c")])
        store.maintain(force=True)
        assert store.check() == ()
        assert len(ids(store.lexical(Words("alpha"), limit=9))) == 3


def test_files_put_together_that_are_cut_off_are_taken_back_before_the_old_ones_go(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        for name in "abc":
            store.put([a_document(name)])
    folder = tmp_path / "index" / "texts.lance"
    known, version = set(os.listdir(folder / "data")), newest_version(folder)
    tables = Tables(tmp_path)

    def tidy() -> None:
        with tables.engine("tidy the table", "texts"):
            tables.require("texts").optimize()
            assert newest_version(folder) != version
            cut_in_two(folder / "data", known)

    with pytest.raises(StoreError) as caught:
        tidy()
    tables.close()
    assert caught.value.code == "store.full"
    with Store.open(tmp_path) as store:
        assert store.check() == ()


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    resource = pytest.importorskip("resource")
    before, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, hard))
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.slow
@pytest.mark.parametrize("size", [7_500, 9_000, 12_000, 19_500, 22_500, 31_500])
def test_a_limit_on_the_size_of_files_leaves_a_whole_index(tmp_path: Path, size: int) -> None:
    texts = [WORDS[start : start + 400] for start in range(0, 16_000, 400)]
    with Store.open(tmp_path) as store:
        store.put([a_document("first")])
        with largest_file(size):
            for number in range(4):
                with suppress(StoreError):
                    store.put([a_document(f"doc{number}", texts)])
            with suppress(StoreError):
                store.maintain(force=True)
        assert store.row(a_document("first").row.id) is not None
    with Store.open(tmp_path) as store:
        store.sweep()
        store.repair()
        assert store.check() == ()
        store.put([a_document(f"doc{number}", texts) for number in range(4)])
        store.maintain(force=True)
        assert store.check() == ()
        assert len(list(store.rows())) == 5
