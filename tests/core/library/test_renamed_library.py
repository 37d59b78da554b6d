"""A library that is renamed, copied, mounted elsewhere or lost its settings is the same library (R201)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lilbee_core import Lilbee, Settings
from lilbee_core.testing import HashEmbedder

OLD = 1_600_000_000


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder that was indexed without `init`; boats.md was removed on request."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for number, name in enumerate(("bees", "boats", "herons")):
        file = docs / f"{name}.md"
        file.write_text(f"# On {name}\n\nAll about {name}.\n", encoding="utf-8")
        os.utime(file, (OLD + number, OLD + number))
    with Lilbee(docs, embedder=HashEmbedder()) as bee:
        bee.sync()
        bee.remove("boats.md")
    return docs


def check_same(folder: Path, name: str = "docs", **how: object) -> None:
    """Assert that what is indexed is known in `folder`, before and after a sync that has nothing to do."""
    embedder = HashEmbedder()
    with Lilbee(folder, embedder=embedder, **how) as bee:  # type: ignore[arg-type]
        hits = bee.search("all about bees")
        assert [(hit.collection, hit.path, hit.stale) for hit in hits][:1] == [(name, "bees.md", False)]
        assert bee.explain_path(folder / "boats.md").state == "excluded"
        embedder.texts.clear()
        report = bee.sync()
        assert (report.added, report.updated, report.removed, report.unchanged) == (0, 0, 0, 2)
        assert embedder.texts == []
        assert {row.ref: str(row.state) for row in bee.documents()} == {
            f"{name}/bees.md": "indexed",
            f"{name}/boats.md": "excluded",
            f"{name}/herons.md": "indexed",
        }
        assert [(one.name, one.root) for one in bee.collections.list()] == [(name, str(folder.resolve()))]
        assert bee.status().warnings == ()


def renamed(docs: Path) -> Path:
    return docs.rename(docs.parent / "notes")


def copied(docs: Path) -> Path:
    return Path(shutil.copytree(docs, docs.parent / "copy"))


def linked(docs: Path) -> Path:
    link = docs.parent / "shortcut"
    link.symlink_to(docs, target_is_directory=True)
    return link


@pytest.mark.parametrize("how", [renamed, copied, linked])
def test_a_folder_under_another_name_is_the_same_library(docs: Path, how: Callable[[Path], Path]) -> None:
    check_same(how(docs))


def test_it_stays_the_same_under_one_name_after_the_other(docs: Path) -> None:
    check_same(renamed(docs))
    check_same((docs.parent / "notes").rename(docs.parent / "papers"))


@pytest.mark.parametrize("loss", ["empty", "absent"])
def test_settings_that_are_lost_change_no_collection(docs: Path, loss: str) -> None:
    with Lilbee(docs, embedder=HashEmbedder()) as bee:
        bee.init()
        bee.collections.rename("docs", "papers")
    folder = renamed(docs)
    config = folder / ".lilbee" / "config.toml"
    assert "papers" in config.read_text(encoding="utf-8")
    if loss == "empty":
        config.write_text("", encoding="utf-8")
    else:
        config.unlink()
    check_same(folder, "papers")


@pytest.mark.parametrize("damage", [b"", b"no database" * 500])
def test_where_no_name_was_kept_the_ledger_tells(docs: Path, damage: bytes) -> None:
    folder = renamed(docs)
    for path in (folder / ".lilbee").glob("state.sqlite*"):
        path.unlink()
    if damage:
        (folder / ".lilbee" / "state.sqlite").write_bytes(damage)
        with Lilbee(folder, embedder=HashEmbedder()) as bee:
            assert bee.documents()
        return
    check_same(folder)


def test_the_name_outlives_the_index(docs: Path) -> None:
    folder = renamed(docs)
    shutil.rmtree(folder / ".lilbee" / "index")
    with Lilbee(folder, embedder=HashEmbedder()) as bee:
        assert bee.sync().added == 2
    check_same(folder)


def test_data_elsewhere_follow_a_folder_that_was_renamed(docs: Path, tmp_path: Path) -> None:
    data = Path(shutil.move(docs / ".lilbee", tmp_path / "data"))
    with Lilbee(docs, data_dir=data, embedder=HashEmbedder()) as bee:
        assert bee.sync().unchanged == 2
    check_same(renamed(docs), data_dir=data)


def test_two_folders_with_their_data_in_one_place_are_two_collections(tmp_path: Path) -> None:
    data = tmp_path / "data"
    folders = [tmp_path / name / "docs" for name in "ab"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "a.md").write_text(f"all about {folder.parent.name}\n", encoding="utf-8")
        with Lilbee(folder, data_dir=data, embedder=HashEmbedder()) as bee:
            assert bee.sync().added == 1
    for folder, name in zip(folders, ("docs", "docs-2"), strict=True):
        with Lilbee(folder, data_dir=data, embedder=HashEmbedder()) as bee:
            assert bee.sync().unchanged == 1
            assert {row.collection for row in bee.documents()} == {"docs", "docs-2"}
            assert [one.name for one in bee.collections.list() if one.root] == [name]


def test_a_collection_without_a_folder_is_told(docs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "ships.md").write_text("all about ships\n", encoding="utf-8")
    with Lilbee(docs, embedder=HashEmbedder()) as bee:
        bee.add(other)
        assert bee.status().warnings == ()
    (docs / ".lilbee" / "config.toml").unlink()
    with Lilbee(docs, Settings(), embedder=HashEmbedder()) as bee:
        bee.sync()
        (warning,) = bee.status().warnings
        assert "collection other" in warning
        assert "lilbee collection remove other" in warning
        bee.collections.add(other, name="other")
        assert bee.sync().added == 0
        assert bee.status().warnings == ()
