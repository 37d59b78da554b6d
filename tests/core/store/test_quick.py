"""The short way to the engine: the same rows, the newest commit, and its number without asking."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lilbee_core.store import Store, _quick
from lilbee_core.store._engine import connect, newest_version, word_query
from lilbee_core.store._quick import QuickConnection
from tests.core.store._build import a_document, unit_vectors


def test_the_newest_commit_is_told_by_the_names_of_files(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        table = None
        for number in range(12):
            store.put([a_document(f"doc{number}")])
            table = table or connect(tmp_path / "index").open_table("chunks")
            assert newest_version(tmp_path / "index" / "chunks.lance") == table.version
        before = store.version
        store.maintain(force=True)
        assert table is not None
        assert newest_version(tmp_path / "index" / "chunks.lance") == table.version
        assert store.version > before


@pytest.mark.parametrize("names", [[], ["1.manifest", "2.manifest"], ["readme"], ["x" * 20 + ".manifest"]])
def test_names_of_another_kind_tell_nothing(tmp_path: Path, names: list[str]) -> None:
    assert newest_version(tmp_path / "absent.lance") is None
    folder = tmp_path / "chunks.lance" / "_versions"
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).touch()
    assert newest_version(folder.parent) is None


def test_without_telling_names_the_engine_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path) as store:
        store.put([a_document()])
        told = store.version
        monkeypatch.setattr("lilbee_core.store._newest.newest_version", lambda folder: None)
        assert store.version == told


def test_it_finds_what_the_other_way_finds(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.put([a_document(f"doc{number}", vectors=unit_vectors(2, number)) for number in range(8)])
        index = tmp_path / "index"
        table, quick = connect(index).open_table("chunks"), QuickConnection(index, None).open_table("chunks")
        rows = table.search().select(["id", "_rowid", "words"]).to_arrow().to_pylist()
        word = str(rows[3]["words"]).split()[0]

        found = table.search(word_query("words", word), query_type="fts").select(["id", "_score"]).limit(9).to_arrow()
        assert quick.words(word_query("words", word), ["id", "_score"], 9, None).to_pylist() == found.to_pylist()
        assert quick.words(word_query("words", word), ["id", "_score"], 9, "id = 'nobody'").num_rows == 0
        assert quick.words(word_query("words", word), ["id", "_score"], 10**30, None).num_rows == found.num_rows

        vector = unit_vectors(1, 99)[0]
        near = table.search(vector).distance_type("cosine").select(["id", "_distance"]).where("has_vector").limit(5)
        assert quick.scan(vector, ["id", "_distance"], 5, "has_vector").to_pylist() == near.to_arrow().to_pylist()

        numbered = {int(row["_rowid"]): row["id"] for row in rows}
        assert set(quick.take([*numbered, 999_999], ["id"]).column("id").to_pylist()) == set(numbered.values())
        taken = quick.take_numbered(list(numbered), ["id"]).to_pylist()
        assert {row["_rowid"]: row["id"] for row in taken} == numbered

        store.put([a_document("later")])
        assert quick.words(word_query("words", word), ["id"], 99, None).num_rows > found.num_rows


class _Unknown:
    """A query as another version of the engine may have it."""

    __slots__ = ()

    async def to_arrow(self) -> str:
        return "rows"


class _Asking:
    """A query as the engine has it."""

    async def _maybe_add_blob_row_id(self) -> None:
        raise AssertionError("asked for the schema")

    async def to_arrow(self) -> str:
        await self._maybe_add_blob_row_id()
        return "rows"


@pytest.mark.parametrize("query", [_Unknown(), _Asking()])
def test_no_read_looks_for_columns_of_blobs(query: Any) -> None:
    read: Any = _quick._read
    assert read(query) == "rows"
