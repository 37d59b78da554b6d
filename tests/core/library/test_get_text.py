"""A place in a document is opened as a hit shows it: lines, pages, slides, cells, members, with what stands around."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument, NotFound
from tests.core.extract._files import pdf, pptx, shape, xlsx, zipped


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    docs = tmp_path_factory.mktemp("places") / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("\n".join(f"line {n}" for n in range(1, 31)))
    (docs / "b.pdf").write_bytes(pdf([(11, "first page"), (11, "goes on")], [(11, "second page")]))
    (docs / "c.xlsx").write_bytes(xlsx({"Fees": [["Pier", "Fee"], *([f"Pier {n}", f"{n}.50"] for n in range(2, 12))]}))
    (docs / "d.pptx").write_bytes(pptx([shape("One"), shape("Two")]))
    (docs / "e.zip").write_bytes(zipped({"in/x.txt": b"inner words", "y.txt": b"other words"}))
    two = pdf([(11, "of the second, page one")], [(11, "of the second, page two")])
    box = zipped(
        {"one.pdf": pdf([(11, "of the first")], [(11, "of the first, too")]), "in/two.pdf": two, "n#1.txt": "sign"}
    )
    (docs / "f.tgz").write_bytes(gzip.compress(tarred({"dir/box.zip": box, "dir/z.txt": b"last"})))
    return docs


def tarred(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in parts.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


@pytest.fixture(scope="module")
def bee(folder: Path) -> Iterator[Lilbee]:
    with Lilbee(folder, overrides={"embedding_model": "none"}) as bee:
        assert bee.sync().added == 6
        yield bee


@pytest.mark.parametrize(
    ("ref", "place", "text"),
    [
        ("a.md", "3-4", "line 3\nline 4\n"),
        ("b.pdf", "p2", "second page"),
        ("c.xlsx", "Fees!A3:B4", "Pier 3 | 3.50\nPier 4 | 4.50"),
        ("c.xlsx", "fees!a3", "Pier 3 | 3.50"),
        ("c.xlsx", "Fees!A2:B2 to Fees!A3:B3", "Pier 2 | 2.50\nPier 3 | 3.50"),
        ("d.pptx", "slide 2", "Two"),
        ("d.pptx", "slide 1 to slide 2", "One\n\nTwo"),
        ("e.zip", "in/x.txt", "inner words"),
    ],
)
def test_places_by_their_names(bee: Lilbee, ref: str, place: str, text: str) -> None:
    assert bee.get_text(ref, place).text == text


@pytest.mark.parametrize(
    ("ref", "text"),
    [
        ("e.zip#in/x.txt", "inner words"),
        ("e.zip/in/x.txt", "inner words"),
        ("e.zip!in/x.txt", "inner words"),
        ("docs/e.zip#IN/X.TXT", "inner words"),
        ("e.zip#in", "inner words"),
        ("f.tgz/dir/box.zip/in/two.pdf", "of the second, page one\n\nof the second, page two"),
        ("f.tgz#dir/box.zip/in/two.pdf#page=2", "of the second, page two"),
        ("f.tgz#dir/box.zip/one.pdf", "of the first\n\nof the first, too"),
        ("f.tgz#dir/box.zip/n#1.txt", "sign"),
        ("b.pdf#page=2", "second page"),
        ("c.xlsx#Fees!A3:B3", "Pier 3 | 3.50"),
        ("d.pptx#slide=2", "Two"),
    ],
)
def test_a_document_and_a_place_in_one_name(bee: Lilbee, ref: str, text: str) -> None:
    assert bee.get_text(ref).text == text


def test_a_page_of_a_member_is_not_that_of_another_one(bee: Lilbee) -> None:
    assert bee.get_text("f.tgz#dir/box.zip/in/two.pdf", "p2").text == "of the second, page two"
    (hit,) = (hit for hit in bee.search("second page two").hits[:1])
    where = hit.chunk.location
    assert where.member == "dir/box.zip/in/two.pdf"
    assert bee.get_text(hit.path, where).text == bee.get_text(hit.path, hit).text


def test_names_of_nothing_are_told(bee: Lilbee) -> None:
    for ref in ("e.zip/in/no.txt", "g.zip#in/x.txt", "e.zip/", "#", "/in/x.txt"):
        with pytest.raises(NotFound, match="there is no document"):
            bee.get_text(ref)
    with pytest.raises(InvalidArgument, match="no place in this document"):
        bee.get_text("e.zip#in/no.txt")


def test_a_whole_sheet_is_its_name(bee: Lilbee) -> None:
    assert bee.get_text("c.xlsx", "Fees").text.startswith("Fees\n\nPier | Fee\n")


@pytest.mark.parametrize(
    ("ref", "place", "around", "text"),
    [
        ("a.md", "3", 1, "line 2\nline 3\nline 4\n"),
        ("a.md", "1", 1, "line 1\nline 2\n"),
        ("a.md", "30", 5, "line 25\nline 26\nline 27\nline 28\nline 29\nline 30"),
        ("b.pdf", "p2", 2, "goes on\n\nsecond page"),
    ],
)
def test_lines_around_a_place(bee: Lilbee, ref: str, place: str, around: int, text: str) -> None:
    found = bee.get_text(ref, place, around=around)
    assert found.text == text
    assert found.text == bee.get_text(ref).text[found.span.start : found.span.end]


def test_hits_open_where_they_stand(bee: Lilbee) -> None:
    for query in ("second page", "Pier 7", "inner words", "line 17"):
        hit = bee.search(query).hits[0]
        assert bee.get_text(hit.chunk.path, hit).text == hit.chunk.text
        assert hit.chunk.text.split("\n")[-1] in bee.get_text(hit.chunk.path, hit.chunk.location).text


def test_places_that_are_none_are_refused_with_what_there_is(bee: Lilbee) -> None:
    with pytest.raises(InvalidArgument, match="'slide 9' is no place") as caught:
        bee.get_text("d.pptx", "slide 9")
    assert "slide 1" in caught.value.hint
    with pytest.raises(InvalidArgument, match="is no place"):
        bee.get_text("c.xlsx", "Fees!A90:B91")
    with pytest.raises(InvalidArgument, match="is no place"):
        bee.get_text("a.md", "nonsense")
    with pytest.raises(InvalidArgument, match="around must not be negative"):
        bee.get_text("a.md", "3", around=-1)
