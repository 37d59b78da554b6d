"""An index that is gone or broken is said to be, is searched as far as it can be, and is built again (R201)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lilbee_core import Document, Lilbee, Settings
from lilbee_core.errors import NotFound, StoreError
from lilbee_core.testing import HashEmbedder

OLD = 1_600_000_000
INDICES = Path("index") / "chunks.lance" / "_indices"


def a_library(root: Path, **settings: object) -> Lilbee:
    return Lilbee(root, Settings().changed(settings), embedder=HashEmbedder())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    for number in range(12):
        file = root / f"n{number}.md"
        file.write_text(f"# On bees\n\nHive number{number} has many bees.\n", encoding="utf-8")
        os.utime(file, (OLD + number, OLD + number))
    with a_library(root) as bee:
        bee.sync()
        bee.optimize()
    return root


# ------------------------------------------------------------------ gone


def test_an_index_that_is_gone_is_told_and_built_again(root: Path) -> None:
    shutil.rmtree(root / ".lilbee" / "index")
    with a_library(root) as bee:
        for warnings in (
            bee.search("bees").warnings,
            bee.search("bees", profile="keyword").warnings,
            bee.ask("How many bees?").warnings[-1:],
            bee.status().warnings,
        ):
            assert len(warnings) == 1
            assert "is gone" in warnings[0]
            assert "`lilbee sync`" in warnings[0]
        assert any(check.name == "index" and "is gone" in check.detail for check in bee.doctor.run() if not check.ok)
        for ask in (
            lambda: list(bee.documents()),
            lambda: bee.get_text("n1.md"),
            lambda: bee.remove("n1.md"),
            lambda: bee.explain_document("n1.md", "bees"),
        ):
            with pytest.raises(StoreError, match="is gone") as caught:
                ask()
            assert caught.value.code == "store.damaged"
            assert "lilbee sync" in caught.value.hint
        report = bee.sync()
        assert report.added == 12
        assert any("every file is read again" in one for one in report.warnings)
        assert bee.search("bees").warnings == ()
        assert bee.status().warnings == ()
        assert bee.sync().warnings == ()


def test_an_open_library_whose_folder_moved_away_says_so(root: Path, tmp_path: Path) -> None:
    with a_library(root) as bee:
        assert bee.search("bees").hits
        root.rename(tmp_path / "elsewhere")
        (warning,) = bee.search("bees").warnings
        assert "moved or deleted while it was open" in warning
        assert warning in bee.status().warnings
        with pytest.raises(StoreError, match="moved or deleted"):
            list(bee.documents())
        with pytest.raises(NotFound):
            bee.sync()
        (tmp_path / "elsewhere").rename(root)
        assert bee.search("bees").hits
        assert bee.search("bees").warnings == ()


def test_data_that_went_while_they_were_open_are_made_anew(root: Path) -> None:
    with a_library(root) as bee:
        assert bee.search("bees").hits
        shutil.rmtree(root / ".lilbee")
        assert "moved or deleted while it was open" in bee.search("bees").warnings[0]
        assert bee.sync().added == 12
        assert bee.search("bees").hits
        assert bee.search("bees").warnings == ()


def test_a_folder_that_was_never_indexed_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("bees", encoding="utf-8")
    with a_library(tmp_path) as bee:
        result = bee.search("bees")
        assert (len(result), result.warnings) == (0, ("nothing is indexed here yet; run `lilbee sync`",))
        assert bee.status().warnings == ()
        bee.sync()
        assert bee.search("bees").warnings == ()


def test_an_index_that_is_emptied_for_a_rebuild_says_so(root: Path) -> None:
    with a_library(root) as bee:
        bee._parts.store.reset()
        (warning,) = bee.search("bees").warnings
        assert "being built anew" in warning
        assert bee.sync().added == 12
        assert bee.search("bees").warnings == ()


# ------------------------------------------------------------------ without its description


@pytest.mark.parametrize("verb", ["sync", "rebuild", "add"])
def test_a_lost_layout_loses_no_document_from_memory(root: Path, verb: str) -> None:
    layout = root / ".lilbee" / "index" / "layout.json"
    with a_library(root) as bee:
        bee.add_documents([Document(path="kept", text="The heron stands by the weir.")])
    layout.unlink()
    with a_library(root) as bee:
        assert bee.search("heron weir")[0].path == "kept"
        if verb == "sync":
            report = bee.sync()
            assert (report.added, report.unchanged) == (0, 12)
            assert [one for one in report.warnings if "was lost" in one]
        elif verb == "rebuild":
            assert not [one for one in bee.rebuild().warnings if "memory" in one]
        else:
            assert bee.add_documents([Document(path="other", text="A godwit.")]).added == 1
        assert layout.exists()
        assert bee.get_text("documents/kept").text == "The heron stands by the weir."
        assert bee.search("heron weir")[0].path == "kept"
        assert len(list(bee.documents())) == 13 + (verb == "add")
        assert bee._parts.store.check() == ()


def test_errors_that_send_to_a_rebuild_warn_of_documents_from_memory(root: Path) -> None:
    shutil.rmtree(root / ".lilbee" / "index" / "documents.lance")
    with a_library(root) as bee, pytest.raises(StoreError, match="damaged") as caught:
        bee.sync()
    assert "lilbee rebuild" in caught.value.hint
    assert "documents from memory" in caught.value.hint


# ------------------------------------------------------------------ broken


def no_indices(data: Path) -> None:
    shutil.rmtree(data / INDICES)


def part(name: str, how: str) -> Callable[[Path], None]:
    def damage(data: Path) -> None:
        newest = max((data / INDICES).iterdir(), key=lambda folder: folder.stat().st_mtime_ns)
        (path,) = newest.rglob(name)
        content = path.read_bytes()
        if how == "gone":
            path.unlink()
        elif how == "short":
            path.write_bytes(content[: len(content) // 2])
        else:
            path.write_bytes(bytes(len(content)))

    return damage


PARTS = ("metadata.lance", "part_0_docs.lance", "part_0_invert.lance", "part_0_tokens.lance")
DAMAGES = {
    "all": no_indices,
    **{f"{name} {how}": part(name, how) for name in PARTS for how in ("gone", "short", "zeros")},
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_words_are_found_without_their_index_until_a_sync_builds_it_again(
    root: Path, damage: Callable[[Path], None]
) -> None:
    with a_library(root) as bee:
        expected = {
            query: [hit.path for hit in bee.search(query, profile="keyword", top_k=3)]
            for query in ("hive number7", '"number7 has many"', "number3 path:n3.md")
        }
        assert [paths[0] for paths in expected.values()] == ["n7.md", "n7.md", "n3.md"]
    damage(root / ".lilbee")
    with a_library(root) as bee:
        for query, paths in expected.items():
            result = bee.search(query, profile="keyword", top_k=3)
            assert [hit.path for hit in result] == paths
            (warning,) = result.warnings
            assert "word index" in warning
            assert "`lilbee sync`" in warning
        assert bee.search("hive number7")[0].path == "n7.md"
        assert [one for one in bee.status().warnings if "word index" in one]
        assert any("word index" in check.detail for check in bee.doctor.run() if not check.ok)
        report = bee.sync()
        assert report.unchanged == 12
        assert [one for one in report.warnings if "word index" in one and "built again" in one]
        for query, paths in expected.items():
            result = bee.search(query, profile="keyword", top_k=3)
            assert [hit.path for hit in result] == paths
            assert result.warnings == ()
        assert bee.sync().warnings == ()
        assert bee.status().warnings == ()
        assert all(check.ok for check in bee.doctor.run() if check.name == "index")


def test_a_new_file_is_found_while_the_index_is_broken(root: Path) -> None:
    no_indices(root / ".lilbee")
    (root / "new.md").write_text("A swarm of wasps.\n", encoding="utf-8")
    with a_library(root) as bee:
        assert bee.sync().added == 1
        assert bee.search("wasps", profile="keyword")[0].path == "new.md"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["all gone", "files gone", "zeros"])
def test_vectors_are_compared_without_their_index_until_a_sync_builds_it_again(tmp_path: Path, how: str) -> None:
    root = tmp_path / "many"
    root.mkdir()
    for number in range(600):
        (root / f"n{number}.md").write_text(f"Hive number{number} has bees and {number % 7} queens.\n")
        os.utime(root / f"n{number}.md", (OLD, OLD))
    with a_library(root) as bee:
        bee.sync()
        bee.index()
        expected = [hit.path for hit in bee.search("hive number7 has bees", profile="semantic", top_k=5)]
    indices = root / ".lilbee" / INDICES
    vectors = next(path.parent for path in indices.rglob("auxiliary.idx"))
    if how == "all gone":
        shutil.rmtree(indices)
    elif how == "files gone":
        (vectors / "auxiliary.idx").unlink()
    else:
        for path in vectors.iterdir():
            path.write_bytes(bytes(path.stat().st_size))
    with a_library(root) as bee:
        result = bee.search("hive number7 has bees", profile="semantic", top_k=5)
        assert [hit.path for hit in result] == expected
        assert any("vector index" in one for one in result.warnings)
    with a_library(root) as bee:
        report = bee.sync()
        assert report.unchanged == 600
        assert any("vector index" in one for one in report.warnings)
        result = bee.search("hive number7 has bees", profile="semantic", top_k=5)
        assert [hit.path for hit in result][:1] == expected[:1]
        assert result.warnings == ()


def test_damaged_tables_are_not_repaired_in_silence(root: Path) -> None:
    for path in (root / ".lilbee" / "index" / "chunks.lance" / "data").iterdir():
        path.unlink()
    no_indices(root / ".lilbee")
    with a_library(root) as bee:
        for do in (lambda: bee.search("bees", profile="keyword"), bee.sync):
            with pytest.raises(StoreError) as caught:
                do()
            assert caught.value.code == "store.damaged"
            assert "lilbee rebuild" in caught.value.hint
        assert bee.rebuild().added == 12
        assert bee.search("bees").warnings == ()
