"""Full disks, read-only disks, damaged, old and newer indexes: a clear error, nothing lost, never an empty answer.

Shows R390.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from lilbee_core.errors import InvalidArgument, LilbeeError, StoreError, StoreTooNew
from lilbee_core.store import Store
from lilbee_core.store._engine import connect
from lilbee_core.types import DocumentId
from tests.core.store._build import Words, a_document, ids, unit_vectors


def is_plain(error: LilbeeError) -> bool:
    """Say whether an error speaks to a person: no text of the engine, and something to do."""
    rude = (".rs", "lance", "cargo", "RuntimeError", "Traceback", "DataFusion", "Arrow")
    return bool(error.hint) and not any(word in error.message.replace("chunks.lance", "") for word in rude)


def everything_of(store: Store) -> dict[str, Callable[[], object]]:
    return {
        "count": store.count,
        "words": lambda: store.lexical(Words("alpha"), limit=5),
        "vectors": lambda: store.dense(unit_vectors(1, 0)[0], limit=5),
        "get": lambda: store.get([chunk.id for chunk in store.chunks_of(DocumentId("doc0"))]),
        "rows": lambda: list(store.rows()),
        "text": lambda: store.text(DocumentId("doc0")),
        "languages": store.languages,
        "stats": store.stats,
    }


# --------------------------------------------------------------------------- full disks


@pytest.mark.slow
def test_a_full_disk_costs_only_the_batch(small_disk: Path) -> None:
    place = small_disk / "library"
    with Store.open(place) as store:
        batches, error = _put_until_full(store)
        assert error.code == "store.full"
        assert is_plain(error)
        assert batches > 1
        for name, ask in everything_of(store).items():
            assert ask(), f"{name} claims that there is nothing"
        with Store.open(place) as fresh:
            assert fresh.count() >= batches * 10
        with pytest.raises(StoreError) as caught:
            store.state.save("kind", "key", {"big": os.urandom(500_000).hex()})
        assert caught.value.code == "store.full"


def _put_until_full(store: Store) -> tuple[int, StoreError]:
    for batches in itertools.count():
        texts = [f"alpha {os.urandom(400).hex()}" for _ in range(10)]
        try:
            store.put([a_document(f"doc{batches}", texts, language="en")])
        except StoreError as error:
            return batches, error
    raise AssertionError("the disk never filled up")


@pytest.mark.slow
def test_a_disk_that_is_freed_again_works_as_before(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    with Store.open(small_disk / "library") as store:
        store.put([a_document("before")])
        _fill(ballast)
        with pytest.raises(StoreError):
            store.put([a_document("during", ["gamma " + os.urandom(400).hex()] * 50)])
        with Store.open(small_disk / "second") as second:
            with pytest.raises(StoreError) as caught:
                second.put([a_document("first")])
            assert caught.value.code == "store.full"
            assert second.count() == 0  # nothing was ever committed there
            ballast.unlink()
            second.put([a_document("first")])
            assert second.check() == ()
        store.sweep()
        store.put([a_document("during"), a_document("after")])
        assert store.check() == ()
        assert {row.id for row in store.rows()} == {"before", "during", "after"}


def _fill(place: Path) -> None:
    with suppress(OSError), open(place, "wb", buffering=0) as handle:
        while True:
            handle.write(b"x" * 4096)


# --------------------------------------------------------------------------- read-only


def test_a_read_only_disk_can_be_searched(small_disk: Path, write_protect: Callable[[Path], None]) -> None:
    with Store.open(small_disk / "library") as store:
        store.put([a_document("doc0", language="en")])
        store.state.save("kind", "key", {"x": 1})
    write_protect(small_disk)
    for read_only in (False, True):
        with Store.open(small_disk / "library", read_only=read_only) as store:
            for name, ask in everything_of(store).items():
                assert ask(), f"{name} finds nothing"
            assert store.check() == ()
            assert store.state.load("kind", "key") == {"x": 1}
            for write in (lambda s=store: s.put([a_document()]), store.maintain, store.reset,
                          lambda s=store: s.state.save("a", "b", {})):  # fmt: skip
                with pytest.raises(StoreError) as caught:
                    write()
                assert caught.value.code == "store.read_only"
                assert is_plain(caught.value)


def test_a_store_opened_for_reading_refuses_to_write(tmp_path: Path) -> None:
    with Store.open(tmp_path / "absent", read_only=True) as store:
        assert store.count() == 0
        with pytest.raises(StoreError) as caught:
            store.put([a_document()])
        assert caught.value.code == "store.read_only"
    assert not (tmp_path / "absent").exists()


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidArgument, match="is a file"):
        Store.open(tmp_path / "file")


# --------------------------------------------------------------------------- damage


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("healthy") / "library"
    with Store.open(place) as store:
        store.put([a_document(f"doc{i}", language="en") for i in range(5)])
        store.maintain(force=True)
        store.put([a_document("last")])
    return place


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _wipe(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def _scramble(path: Path) -> None:
    path.write_bytes(os.urandom(path.stat().st_size))


DAMAGES = [
    ("chunks.lance", _remove), ("documents.lance", _remove), ("texts.lance", _remove),
    ("chunks.lance/data", _remove), ("chunks.lance/_versions", _remove),
    *((place, how) for place in ("chunks.lance/data/*", "chunks.lance/_versions/*", "documents.lance/data/*")
      for how in (_cut, _wipe, _scramble)),
]  # fmt: skip


@pytest.mark.parametrize(("where", "damage"), DAMAGES)
def test_a_damaged_index_says_so_and_can_be_reset(
    healthy: Path, tmp_path: Path, where: str, damage: Callable[[Path], None]
) -> None:
    place = tmp_path / "library"
    shutil.copytree(healthy, place)
    for path in list((place / "index").glob(where)):
        damage(path)
    failures: list[StoreError] = []
    with Store.open(place) as store:
        for name, ask in everything_of(store).items():
            try:
                assert ask(), f"{name} claims that there is nothing"
            except StoreError as error:
                failures.append(error)
        assert failures
        for error in failures:
            assert error.code == "store.damaged"
            assert "lilbee rebuild" in error.hint
            assert is_plain(error)
        assert store.check() != ()
        store.reset()
        store.put([a_document("again")])
        assert store.check() == ()
        assert store.count() == 2


@pytest.mark.parametrize(
    ("where", "damage"),
    [
        ("_indices", _remove),
        ("_indices/*", _remove),
        *(("_indices/*/*.lance", how) for how in (_cut, _wipe, _scramble)),
    ],
)
def test_what_indexes_are_for_is_answered_without_them(
    healthy: Path, tmp_path: Path, where: str, damage: Callable[[Path], None]
) -> None:
    place = tmp_path / "library"
    shutil.copytree(healthy, place)
    with Store.open(place) as store:
        expected = ids(store.lexical(Words("alpha"), limit=20))
    for path in list((place / "index" / "chunks.lance").glob(where)):
        damage(path)
    with Store.open(place) as store:
        assert all(ask() for ask in everything_of(store).values())
        assert ids(store.lexical(Words("alpha"), limit=20)) == expected
        assert ["word index" in one and "lilbee sync" in one for one in store.warnings()] == [True]
        assert any("word index" in one and "lilbee sync" in one for one in store.check())
    with Store.open(place) as store:
        assert ["word index" in one for one in store.repair()] == [True]
        assert store.repair() == store.warnings() == store.check() == ()
        assert ids(store.lexical(Words("alpha"), limit=20)) == expected


LAYOUT = Path("index") / "layout.json"
LOSSES = [_remove, _cut, _wipe, _scramble]


@pytest.mark.parametrize("damage", LOSSES)
def test_a_lost_layout_is_seen_in_the_tables_and_written_again(
    healthy: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    place = tmp_path / "library"
    shutil.copytree(healthy, place)
    with Store.open(place) as store:
        expected = [row.id for row in store.rows()]
        version = store.version
    damage(place / LAYOUT)
    with Store.open(place, read_only=True) as store:
        assert all(ask() for ask in everything_of(store).values())
        assert [row.id for row in store.rows()] == expected
        assert store.check() == ()
    with Store.open(place) as store:
        store.sweep()
        (told,) = store.repair()
        assert "was lost" in told
        assert store.repair() == store.check() == store.warnings() == ()
        assert json.loads((place / LAYOUT).read_text())["restored"] is False
        assert store.version > version
        store.put([a_document("new")])
        assert len(list(store.rows())) == len(expected) + 1


@pytest.mark.parametrize("missing", ["meta.lance", "chunks.lance/_versions", "concepts.lance"])
def test_a_lost_layout_is_not_guessed_where_a_table_is_missing_too(healthy: Path, tmp_path: Path, missing: str) -> None:
    place = tmp_path / "library"
    shutil.copytree(healthy, place)
    (place / LAYOUT).unlink()
    _remove(place / "index" / missing)
    with Store.open(place) as store, pytest.raises(StoreError) as caught:
        store.count()
    assert caught.value.code == "store.damaged"
    assert "lilbee rebuild" in caught.value.hint
    assert "documents from memory" in caught.value.hint


def test_a_lost_layout_of_a_newer_version_is_refused(healthy: Path, tmp_path: Path) -> None:
    place = tmp_path / "library"
    shutil.copytree(healthy, place)
    (place / LAYOUT).unlink()
    (place / "manifest.json").write_text(json.dumps({"schema": 99}))
    with Store.open(place) as store, pytest.raises(StoreTooNew, match="99") as caught:
        store.count()
    assert "documents from memory" in caught.value.hint


def test_parts_that_a_lost_layout_had_hidden_are_taken_back(tmp_path: Path) -> None:
    old, new = a_document("doc", ("alpha", "beta")), a_document("doc", ("gamma", "delta", "epsilon"))
    with Store.open(tmp_path) as store:
        store.put([old])
        with store.writing():
            store.stage(new.text).__enter__().add([new])  # killed here
    (tmp_path / LAYOUT).unlink()
    with Store.open(tmp_path) as store:
        store.sweep()
        assert store.check() == ()
        assert [chunk.text for chunk in store.chunks_of(old.row.id)] == ["alpha", "beta"]


def test_a_damaged_state_says_so(tmp_path: Path) -> None:
    (tmp_path / "state.sqlite").write_bytes(os.urandom(5_000))
    with Store.open(tmp_path) as store, pytest.raises(StoreError) as caught:
        store.state.load("a", "b")
    assert caught.value.code == "store.damaged"
    assert is_plain(caught.value)


# --------------------------------------------------------------------------- versions


def test_a_newer_index_is_refused_until_it_is_reset(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.put([a_document()])
    layout = tmp_path / "index" / "layout.json"
    layout.write_text(json.dumps({**json.loads(layout.read_text()), "schema": 99}))
    with Store.open(tmp_path) as store:
        for ask in (store.count, lambda: store.put([a_document()])):
            with pytest.raises(StoreTooNew) as caught:
                ask()
            assert "99" in str(caught.value)
            assert "lilbee rebuild" in caught.value.hint
        store.reset()
        store.put([a_document()])
        assert store.count() == 2


def test_an_older_index_is_read_and_gets_new_columns_at_the_first_write(tmp_path: Path) -> None:
    document = a_document("doc0", symbol="f", symbol_kind="function")
    with Store.open(tmp_path) as store:
        store.put([document])
    index = connect(tmp_path / "index")
    index.open_table("chunks").drop_columns(["symbol_kind", "member"])
    index.open_table("documents").drop_columns(["warnings"])
    with Store.open(tmp_path) as store:
        old = store.chunks_of(document.row.id)
        assert [(chunk.symbol, chunk.symbol_kind) for chunk in old] == [("f", None)] * 2
        assert store.row(document.row.id) == document.row
        assert len(store.lexical(Words("alpha"), limit=5)) == 1
        store.put([a_document("new", symbol="g", symbol_kind="class")])
        assert [chunk.symbol_kind for chunk in store.chunks_of(DocumentId("new"))] == ["class"] * 2
        assert store.check() == ()


def test_a_library_that_is_copied_works(healthy: Path, tmp_path: Path) -> None:
    shutil.copytree(healthy, tmp_path / "copy")
    with Store.open(tmp_path / "copy") as store:
        store.put([a_document("more")])
        assert store.count() == 14
        assert store.check() == ()
