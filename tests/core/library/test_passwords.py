"""Files that are locked: said, and opened as soon as a password fits."""

from __future__ import annotations

from pathlib import Path

import pytest

from lilbee_core import Lilbee, Settings
from lilbee_core.testing import HashEmbedder

LOCKED = Path(__file__).parents[2] / "cases" / "data" / "files" / "S24" / "locked.pdf"


def opened(root: Path, password: str = "") -> Lilbee:
    settings = Settings().changed({"extract_password": password})
    return Lilbee(root, settings, data_dir=root.parent / "data", embedder=HashEmbedder())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "locked.pdf").write_bytes(LOCKED.read_bytes())
    (folder / "broken.docx").write_bytes(b"not a document")
    return folder


def failures(root: Path, password: str = "") -> dict[str, str]:
    with opened(root, password) as bee:
        return {one.path: one.code for one in bee.sync().failed}


@pytest.mark.slow
def test_a_locked_file_is_tried_again_once_there_is_a_password(root: Path) -> None:
    assert failures(root) == {"locked.pdf": "extract.encrypted", "broken.docx": "extract.damaged"}
    assert failures(root) == {}, "without a password nothing new can come of it"
    assert failures(root, "wrong") == {"locked.pdf": "extract.encrypted"}
    assert failures(root, "also wrong") == {"locked.pdf": "extract.encrypted"}
    with opened(root, "wrong\notter-stairs") as bee:
        report = bee.sync()
        assert (report.added, report.failed) == (1, ())
        assert [hit.path for hit in bee.search("Bramling", profile="keyword")] == ["locked.pdf"]
        assert bee.sync().unchanged == 1


def test_the_example_is_locked_indeed() -> None:
    assert b"/Encrypt" in LOCKED.read_bytes()
