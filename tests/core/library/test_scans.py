"""Scans in a library: read by what is there, listed with what to install where nothing is (R049-R051, R379, S23)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import ProviderError
from lilbee_core.events import Event, Progress
from lilbee_core.plugins import OcrSpec, Options, PluginSpec, hookimpl
from lilbee_core.protocols import OcrEngine, OcrPage
from tests.core.extract._files import placed_pdf, zipped
from tests.core.extract.test_recognize import PNG

SCAN = placed_pdf([], [], picture=(10, 10, bytes(100)))


class Eyes:
    """Says the same of every page."""

    name = "acme-eyes"

    def recognize(self, image: bytes, *, languages: Sequence[str], timeout_s: float) -> OcrPage:
        return OcrPage(text=f"Heronsgate seen in {'+'.join(languages)}", confidence=0.8)


class Plugin:
    """A plugin that the caller passes."""

    def __init__(self, engine: OcrEngine | None = None) -> None:
        self.engine = engine or Eyes()

    @hookimpl
    def lilbee_plugin(self) -> PluginSpec:
        return PluginSpec(name="acme", version="1")

    @hookimpl
    def lilbee_ocr_engines(self) -> list[OcrSpec]:
        def build(options: Options) -> OcrEngine:
            return self.engine

        return [OcrSpec(name="acme-eyes", build=build)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a scan, on a machine where nothing recognizes text."""
    monkeypatch.setattr("lilbee_core.extract._tesseract.find_tesseract", lambda: None)
    monkeypatch.setattr("lilbee_core.extract._rapid.has_rapidocr", lambda: False)
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "scan.pdf").write_bytes(SCAN)
    return docs


OFF: dict[str, object] = {"embedding_model": "none"}


def test_an_engine_of_a_plugin_reads_scans_with_progress(folder: Path) -> None:
    told: list[Event] = []
    with Lilbee(
        folder, overrides={**OFF, "ocr_languages": ["en", "de"]}, plugins=[Plugin()], events=told.append
    ) as bee:
        report = bee.sync()
        assert (report.added, report.failed) == (1, ())
        hit = bee.search("Heronsgate").hits[0]
        assert hit.chunk.location.page_start == 1
        assert hit.chunk.location.boxes
        assert bee.get_text("scan.pdf", "p2").text == "Heronsgate seen in en+de"
        (row,) = bee.documents()
        assert (row.metadata["ocr_pages"], row.metadata["ocr_confidence"]) == ("1-2", 0.8)
    pages = [(one.done, one.total) for one in told if isinstance(one, Progress) and one.phase == "recognizing"]
    assert pages == [(1, 2), (2, 2)]


def test_a_scan_that_nobody_reads_is_listed_and_read_once_somebody_can(folder: Path) -> None:
    with Lilbee(folder, overrides=OFF) as bee:
        bee.sync()
        (row,) = bee.documents()
        assert (str(row.state), row.code) == ("failed", "extract.no_text")
        assert "apt install tesseract-ocr" in str(row.reason)
        assert "failed before and have not changed" in bee.sync().warnings[0]
    with Lilbee(folder, overrides=OFF, plugins=[Plugin()]) as bee:
        assert bee.sync().added == 1
        assert bee.sync().added == 0


def test_switched_off_it_stays_unread(folder: Path) -> None:
    with Lilbee(folder, overrides={**OFF, "ocr": False}, plugins=[Plugin()]) as bee:
        bee.sync()
        (row,) = bee.documents()
        assert row.code == "extract.no_text"
        assert "set ocr to auto" in str(row.reason)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_tesseract_is_used_where_it_is_installed(tmp_path: Path) -> None:
    from lilbee_core.extract._layout import opened, page_picture

    with opened(placed_pdf([(40, 700, 30, "Brackendale lime")]), None) as document:
        (tmp_path / "photo.png").write_bytes(page_picture(document, 1, dpi=100, max_pixels=10_000_000))
    with Lilbee(tmp_path, overrides=OFF) as bee:
        assert bee.sync().added == 1
        assert bee.search("Brackendale").hits


def test_pages_that_nobody_read_are_counted_and_read_once_somebody_can(folder: Path) -> None:
    """Of a PDF that is partly a scan, and of a picture in an archive beside a text."""
    (folder / "scan.pdf").write_bytes(
        placed_pdf(
            [
                (60.0, 700.0, 2, "A line with so many letters that it is the text of a page of its own. " * 6),
            ],
            [],
            picture=(9, 9, bytes(81)),
        )
    )
    (folder / "box.zip").write_bytes(zipped({"a.txt": "Razorbill", "b/photo.png": PNG}))
    with Lilbee(folder, overrides=OFF) as bee:
        bee.sync()
        rows = {row.path: row for row in bee.documents()}
        assert {path: row.metadata["unread_pages"] for path, row in rows.items()} == {"scan.pdf": 1, "box.zip": 1}
        assert "no text recognition is installed" in rows["box.zip"].warnings[0]
        assert "pictures on 1 page(s) were not read" in bee.explain_path(folder / "scan.pdf").reason
        assert bee.sync().unchanged == 2
    with Lilbee(folder, overrides=OFF, plugins=[Plugin()]) as bee:
        assert bee.sync().updated == 2
        rows = {row.path: row for row in bee.documents()}
        assert not any("unread_pages" in row.metadata or row.warnings for row in rows.values())
        hits = bee.search("Heronsgate").hits
        assert {(hit.path, hit.chunk.location.member, hit.chunk.location.page_end) for hit in hits} == {
            ("box.zip", "b/photo.png", None),
            ("scan.pdf", None, 2),
        }
        assert bee.sync().unchanged == 2


class Blind(Eyes):
    """Cannot read."""

    def recognize(self, image: bytes, *, languages: Sequence[str], timeout_s: float) -> OcrPage:
        raise ProviderError("the lamp is broken")


def test_pages_that_an_engine_failed_on_are_tried_again_on_request(folder: Path) -> None:
    (folder / "scan.pdf").unlink()
    (folder / "box.zip").write_bytes(zipped({"a.txt": "Razorbill", "b/photo.png": PNG}))
    plugin = Plugin(Blind())
    with Lilbee(folder, overrides=OFF, plugins=[plugin]) as bee:
        bee.sync()
        (row,) = bee.documents()
        assert row.metadata["unread_pages"] == 1
        assert "the lamp is broken" in row.warnings[0]
        assert bee.sync().unchanged == 1
        plugin.engine = Eyes()
    with Lilbee(folder, overrides=OFF, plugins=[plugin]) as bee:
        assert bee.sync(retry=True).updated == 1
        (row,) = bee.documents()
        assert row.metadata["ocr_members"] == 1
