"""An index that was made otherwise: by a version without some columns, or cut in other sizes (R019, R072, R390)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lilbee_core import Lilbee, Settings
from lilbee_core.errors import SettingsError
from lilbee_core.store._engine import connect
from lilbee_core.testing import HashEmbedder

OLD = 1_700_000_000


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    for name in ("bees", "boats", "herons"):
        file = root / f"{name}.md"
        file.write_text(f"# On {name}\n\nAll about {name}.\n", encoding="utf-8")
        os.utime(file, (OLD, OLD))
    with Lilbee(root, Settings(), embedder=HashEmbedder()) as bee:
        assert bee.sync().added == 3
    return root


def same_size_same_time(file: Path) -> None:
    """Change a file so that only its content tells: whoever trusts size and time does not read it."""
    before = file.stat()
    file.write_bytes(file.read_bytes()[::-1])
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_size_and_time_that_an_old_ledger_lacks_are_filled_in_by_one_hash(root: Path) -> None:
    connect(root / ".lilbee" / "index").open_table("documents").drop_columns(["size", "mtime_ns"])
    embedder = HashEmbedder()
    with Lilbee(root, Settings(), embedder=embedder) as bee:
        assert {row.size for row in bee.documents()} == {0}
        report = bee.sync()
        assert (report.unchanged, report.added, report.updated) == (3, 0, 0)
        assert {row.path: row.size for row in bee.documents()} == {
            path.name: path.stat().st_size for path in root.glob("*.md")
        }
        assert {row.mtime_ns for row in bee.documents()} == {OLD * 10**9}
        # From here on an equal pair is trusted, so nothing is hashed any more.
        same_size_same_time(root / "bees.md")
        assert bee.sync().unchanged == 3
    assert embedder.texts == []


def test_without_a_pair_to_trust_content_decides(root: Path) -> None:
    same_size_same_time(root / "bees.md")
    connect(root / ".lilbee" / "index").open_table("documents").drop_columns(["mtime_ns"])
    with Lilbee(root, Settings(), embedder=HashEmbedder()) as bee:
        report = bee.sync()
        assert (report.unchanged, report.updated) == (2, 1)


def test_numbers_of_files_that_an_old_ledger_lacks_are_filled_in_by_one_hash(root: Path) -> None:
    connect(root / ".lilbee" / "index").open_table("documents").drop_columns(["inode"])
    embedder = HashEmbedder()
    with Lilbee(root, Settings(), embedder=embedder) as bee:
        for _ in range(2):
            assert bee.sync().unchanged == 3
            assert {row.inode for row in bee.documents()} == {path.stat().st_ino for path in root.glob("*.md")}
    assert embedder.texts == []


@pytest.mark.parametrize("values", [{"chunk_size": 300}, {"chunk_overlap": 20}])
def test_another_cut_is_refused_until_everything_is_cut_anew(root: Path, values: dict[str, int]) -> None:
    changed = Settings().changed(values)
    (root / "new.md").write_text("Something new.\n", encoding="utf-8")
    with Lilbee(root, changed, embedder=HashEmbedder()) as bee:
        before = list(bee.documents())
        for write in (bee.sync, lambda: bee.add(root / "new.md"), lambda: bee.add_documents([])):
            with pytest.raises(SettingsError) as caught:
                write()
            assert caught.value.code == "store.chunking_mismatch"
            assert "512" in caught.value.message
            assert str(next(iter(values.values()))) in caught.value.message
            assert "lilbee rebuild" in caught.value.hint
        assert list(bee.documents()) == before
        assert bee.search("all about bees")[0].path == "bees.md"
        assert bee.rebuild().added == 4
        assert bee.sync().unchanged == 4
    with Lilbee(root, Settings(), embedder=HashEmbedder()) as bee, pytest.raises(SettingsError):
        bee.sync()
