"""Pages as pictures for people: drawn from the file, within bounds, or refused with a reason."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core import Document, Lilbee
from lilbee_core.errors import ExtractError, InvalidArgument, LilbeeError, NotFound, UnsupportedFormat
from lilbee_core.testing import HashEmbedder
from tests.core.extract._files import pdf

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bee(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lilbee]:
    folder = tmp_path_factory.mktemp("papers")
    (folder / "report.pdf").write_bytes(pdf([(12, "The weir was repaired")], [(12, "The mill was sold")]))
    (folder / "notes.md").write_text("# Notes\n\nOf the mill.\n", encoding="utf-8")
    (folder / "gone.pdf").write_bytes(pdf([(12, "A page that is lost")]))
    (folder / "broken.pdf").write_bytes(pdf([(12, "A page that is spoiled")]))
    with Lilbee(folder, embedder=HashEmbedder()) as opened:
        opened.sync()
        opened.add_documents([Document(path="memo", text="From memory.")])
        (folder / "gone.pdf").unlink()
        (folder / "broken.pdf").write_bytes(b"%PDF-1.7\n" + bytes(200))
        yield opened


def _size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack_from(">II", png, 16)
    return width, height


def test_a_page_is_drawn_in_color_at_the_size_that_is_asked_for(bee: Lilbee) -> None:
    first, second = bee.get_picture("report.pdf"), bee.get_picture("report.pdf", 2, dpi=72)
    assert (first.media_type, first.page, first.pages, first.stale) == ("image/png", 1, 2, False)
    assert _size(second.data) == (595, 842)
    assert (first.width, first.height) == (595, 842)
    assert _size(first.data) == (910, 1287)
    assert first.data[25] == 2, "a PNG of three colors"
    assert first.data != second.data


@pytest.mark.parametrize(
    ("ref", "page", "dpi", "kind"),
    [
        ("report.pdf", 3, 110, InvalidArgument),
        ("report.pdf", 0, 110, InvalidArgument),
        ("report.pdf", -1, 110, InvalidArgument),
        ("report.pdf", 10**12, 110, LilbeeError),
        ("report.pdf", 1, 10_000, InvalidArgument),
        ("report.pdf", 1, 0, InvalidArgument),
        ("notes.md", 1, 110, UnsupportedFormat),
        ("gone.pdf", 1, 110, NotFound),
        ("broken.pdf", 1, 110, ExtractError),
        ("memo", 1, 110, UnsupportedFormat),
        ("nothing.pdf", 1, 110, NotFound),
        ("../report.pdf", 1, 110, NotFound),
    ],
)
def test_what_cannot_be_drawn_is_said(bee: Lilbee, ref: str, page: int, dpi: int, kind: type[LilbeeError]) -> None:
    with pytest.raises(kind) as caught:
        bee.get_picture(ref, page, dpi=dpi)
    assert caught.value.hint
    assert isinstance(caught.value, LilbeeError)


def test_a_page_as_large_as_a_house_is_drawn_within_bounds(tmp_path: Path) -> None:
    data = pdf([(12, "A plan of the house")]).replace(b"[0 0 595 842]", b"[0 0 9000 9000]")
    (tmp_path / "plan.pdf").write_bytes(data)
    with Lilbee(tmp_path, embedder=HashEmbedder()) as bee:
        bee.sync()
        width, height = _size(bee.get_picture("plan.pdf", dpi=300).data)
    assert width * height <= 8_100_000


def test_a_file_that_has_changed_since_is_told(tmp_path: Path) -> None:
    file = tmp_path / "report.pdf"
    file.write_bytes(pdf([(12, "One page")]))
    with Lilbee(tmp_path, embedder=HashEmbedder()) as bee:
        bee.sync()
        file.write_bytes(pdf([(12, "Another page")], [(12, "and one more")]))
        drawn = bee.get_picture("report.pdf", 2)
    assert drawn.stale
    assert drawn.pages == 2
