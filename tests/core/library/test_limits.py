"""Limits that a user sets: what is beyond them is in the ledger with its reason, and read once they are raised."""

from __future__ import annotations

from pathlib import Path

import pytest

from lilbee_core import Lilbee
from tests.core.extract._files import docx, paragraph, zipped

OFF: dict[str, object] = {"embedding_model": "none"}
HUGE_PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (5_000).to_bytes(4, "big") * 2 + b"\x08\0\0\0\0"


def rows(folder: Path, **limits: object) -> dict[str, tuple[str, str | None, str]]:
    with Lilbee(folder, overrides={**OFF, **limits}) as bee:
        bee.sync(retry=True)
        return {row.path: (str(row.state), row.code, row.reason or " ".join(row.warnings)) for row in bee.documents()}


@pytest.mark.slow
def test_files_too_big_for_a_worker_are_listed(tmp_path: Path) -> None:
    noise = bytes(index * 7919 >> 3 & 255 for index in range(1_500_000))
    (tmp_path / "big.docx").write_bytes(docx(paragraph("Razorbill")) + noise)
    (tmp_path / "text.txt").write_text("word " * 400_000)
    found = rows(tmp_path, max_binary_mb=1)
    assert found["big.docx"][:2] == ("failed", "extract.limit")
    assert "more than the limit of 1 MB" in found["big.docx"][2]
    assert found["text.txt"][0] == "indexed"


@pytest.mark.slow
def test_limits_of_archives_are_listed(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"big.txt": "word " * 400_000, "small.txt": "Razorbill"}))
    (tmp_path / "many.zip").write_bytes(zipped({f"{number}.txt": "word" for number in range(4)}))
    found = rows(tmp_path, archive_max_member_mb=1, archive_max_members=3)
    assert found["a.zip"][0] == "indexed"
    assert "big.txt unpacks to more than the limit of 1 MB" in found["a.zip"][2]
    assert found["many.zip"][:2] == ("failed", "extract.limit")
    assert rows(tmp_path)["many.zip"][0] == "indexed"


@pytest.mark.slow
def test_images_beyond_the_limit_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lilbee_core.extract._rapid.has_rapidocr", lambda: False)
    monkeypatch.setattr("lilbee_core.extract._tesseract.find_tesseract", lambda: "/bin/false")
    (tmp_path / "huge.png").write_bytes(HUGE_PNG)
    found = rows(tmp_path, ocr_max_megapixels=20)
    assert found["huge.png"][:2] == ("failed", "extract.limit")
    assert "5000 x 5000 pixels" in found["huge.png"][2]
