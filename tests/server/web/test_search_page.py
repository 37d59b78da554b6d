"""Searching and reading by the page: what is found, where it stands, what is said when something is wrong."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Citation, Document, Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_core.types import ChunkId, Location
from lilbee_server.web.places import read_url
from tests.core.extract._files import pdf
from tests.server.web.conftest import ORIGIN, PIECE, new_code, page_app
from tests.support.hostile import PAGE, PAYLOADS, STEERS, offenses_of_page

ZEBRA = "the zebra ends it\n"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CODE = '"""Doc."""\n\n\ndef hive(bees: int) -> int:\n    return bees + 1  # swarm\n'


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shelf") / "notes"
    folder.mkdir()
    (folder / "bees.md").write_text(
        "# Bees\n\nThe queen lays eggs in spring. See [boats](boats.md), [none](../../etc/passwd).\n", "utf-8"
    )
    (folder / "boats.md").write_text("# Boats\n\nThe ferry leaves at noon.\n", "utf-8")
    (folder / "hive.py").write_text(CODE, "utf-8")
    (folder / "long.txt").write_text("".join(f"line {at} of the weather\n" for at in range(5000)) + ZEBRA, "utf-8")
    (folder / "wide.txt").write_text("ostrich " * 20_000, "utf-8")
    (folder / "photo.png").write_bytes(PNG)
    (folder / "fake.png").write_bytes(b"<svg onload=alert(1)>")
    (folder / "report.pdf").write_bytes(
        pdf([(12, "The weir was repaired by the miller")], [(12, "The mill was sold to a baker")])
    )
    return folder


@pytest.fixture(scope="module")
def bee(root: Path) -> Iterator[Lilbee]:
    with Lilbee(root, embedder=HashEmbedder()) as opened:
        opened.sync()
        opened.add_documents(
            Document(path=f"gnu{at}", text=f"A gnu {' '.join(chr(97 + (at * step) % 26) * 5 for step in range(1, 9))}")
            for at in range(40)
        )
        names = (one for one in PAYLOADS if "\0" not in one and one.strip(" ./"))
        opened.add_documents(
            Document(path=f"x{at}{name}", text=f"{name}\nwombat {name}", title=name) for at, name in enumerate(names)
        )
        yield opened


@pytest.fixture(scope="module")
def page(bee: Lilbee) -> Iterator[TestClient[Litestar]]:
    with TestClient(page_app(bee), base_url=ORIGIN) as client:
        assert client.get(f"/sign-in?code={new_code(client)}").status_code == 200
        client.headers["Origin"] = ORIGIN
        yield client


def first_hit(page: TestClient[Litestar], query: str, **others: str) -> str:
    """Return the address that the first hit of a search leads to."""
    found = page.get("/search", params={"q": query, **others}).text
    match = re.search(r'<h2><a href="(/read[^"]*)"', found)
    assert match is not None, found
    return unescape(match[1])


# ------------------------------------------------------------------ searching


def test_hits_are_shown_with_exact_places_and_marked_words(page: TestClient[Litestar]) -> None:
    found = page.get("/search?q=queen+eggs").text
    assert "bees.md:1-3</a>" in found
    assert "<mark>queen</mark>" in found
    assert 'value="queen eggs"' in found
    assert re.search(r"\d+ hits? in \d+ ms", found)


@pytest.mark.parametrize(
    ("asked", "there", "missing"),
    [
        ({"type": "pdf"}, {"report.pdf"}, {"bees.md", "hive.py"}),
        ({"type": "md, py"}, {"bees.md", "hive.py"}, {"report.pdf"}),
        ({"path": "b*"}, {"bees.md"}, {"hive.py", "report.pdf"}),
        ({"collection": "notes"}, {"bees.md"}, set()),
        ({"after": "2001-01-01", "before": "", "path": "", "type": " , "}, {"bees.md"}, set()),
        ({"before": "2001-01-01"}, set(), {"bees.md", "hive.py", "report.pdf"}),
        ({"scope": "wiki"}, set(), {"bees.md"}),
        ({"scope": "nonsense", "top": "-5", "profile": "keyword"}, {"bees.md"}, set()),
    ],
)
def test_filters_narrow_it_down(
    page: TestClient[Litestar], asked: dict[str, str], there: set[str], missing: set[str]
) -> None:
    found = page.get("/search", params={"q": "queen lays hive bees weir miller", "top": "100", **asked}).text
    paths = {
        one.partition(":")[0].partition(" ")[0] for one in re.findall(r'<h2><a href="/read[^>]*>([^<]*)</a>', found)
    }
    assert there <= paths
    assert not missing & paths
    assert '<details class="filters" open>' in found or set(asked) <= {"scope", "top"}


def test_the_address_says_what_was_looked_for(page: TestClient[Litestar]) -> None:
    typed = {"q": "queen", "type": "md,txt", "path": "", "after": "", "before": "", "scope": "raw", "profile": ""}
    piece = page.get("/search", params=typed, headers=PIECE)
    address = piece.headers["hx-replace-url"]
    assert address == "/search?q=queen&type=md&type=txt"
    again = page.get(address).text
    assert 'name="type" value="md, txt"' in again
    assert re.sub(r"\d+ ms", "", piece.text).strip() in re.sub(r"\d+ ms", "", again)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"q": "x", "after": "soon"}, "is not a date"),
        ({"q": "type:"}, "type"),
        ({"q": "x", "profile": "nonsense"}, "nonsense"),
        ({"q": "x", "collection": "nowhere"}, "nowhere"),
        ({"q": "x", "path": "../../etc"}, ""),
    ],
)
def test_what_is_wrong_is_said_where_the_hits_would_be(
    page: TestClient[Litestar], asked: dict[str, str], told: str
) -> None:
    whole, piece = page.get("/search", params=asked), page.get("/search", params=asked, headers=PIECE)
    assert piece.status_code == 200, "what is typed is not finished yet"
    assert whole.status_code in ((400, 404) if told and "notice bad" in whole.text else (200, 400))
    assert told in piece.text
    assert 'id="q"' in whole.text


@pytest.mark.parametrize(
    "query", ["", "   ", "\0", "queen\0eggs", "q" * 9000, "a b " * 2000, '"', "((((", "'; DROP", "%", "\ud83d"]
)
def test_odd_queries_get_a_page(page: TestClient[Litestar], query: str) -> None:
    found = page.get("/search", params={"q": query.encode("utf-8", "surrogatepass")})
    assert found.status_code in (200, 400)
    assert 'id="q"' in found.text
    assert not STEERS.search(found.text)


def test_nothing_found_says_what_to_do_and_nothing_that_fits_is_called_weak(page: TestClient[Litestar]) -> None:
    none = page.get("/search", params={"q": "queen", "path": "nowhere/"}).text
    assert "Nothing found" in none
    assert 'href="/search?q=queen">look everywhere' in none
    far = page.get("/search", params={"q": "xylophone quasar"}).text
    assert "None of these looks like an answer" in far or "Nothing found" in far


def test_more_hits_are_a_link_away(page: TestClient[Litestar]) -> None:
    some = page.get("/search?q=gnu").text
    more = re.search(r'class="button" href="([^"]*)"', some)
    assert more is not None
    many = page.get(unescape(more[1])).text
    assert many.count('class="hit"') > some.count('class="hit"') == 20


def test_how_it_was_found_is_explained(page: TestClient[Litestar]) -> None:
    found = page.get("/search?q=queen&explain=1").text
    assert '<th scope="row">' in found
    assert 'class="soft scores"' in found
    why = page.get("/explain?q=queen&document=boats.md", headers=PIECE).text
    assert "notes/boats.md" in why
    assert page.get("/explain?q=queen").status_code == 400
    assert page.get("/explain?q=&document=boats.md").status_code == 400


def test_a_library_without_files_says_how_to_begin(tmp_path: Path) -> None:
    with Lilbee(tmp_path, embedder=HashEmbedder()) as bee, TestClient(page_app(bee), base_url=ORIGIN) as client:
        client.get(f"/sign-in?code={new_code(client)}")
        start, searched = client.get("/").text, client.get("/search?q=anything").text
    assert "Nothing is indexed here yet" in start
    assert f"<code>{tmp_path}</code>" in start
    assert "Read it now" in start
    assert "lilbee sync" in searched


# ------------------------------------------------------------------ reading


def test_a_hit_opens_at_its_passage(page: TestClient[Litestar]) -> None:
    read = page.get(first_hit(page, "zebra ends")).text
    marked = "".join(unescape(re.sub("<[^>]*>", "", one)) for one in re.findall(r'<mark class="here.*?</mark>', read))
    assert marked.endswith("the zebra ends it")
    assert read.count('id="passage"') == 1
    assert 'data-n="5001"' in read
    assert "<b>zebra</b>" in read
    assert 'href="/search?q=zebra+ends"' in read
    assert len(read) < 80_000, "of a long document only the part around it is shown"
    before = re.search(r'rel="prev" href="([^"]*)"', read)
    assert before is not None
    assert "Next part" in page.get(unescape(before[1])).text


def test_code_is_shown_with_its_lines_and_kinds_of_words(page: TestClient[Litestar]) -> None:
    read = page.get("/read?document=hive.py").text
    assert '<span class="l" id="L4" data-n="4"><span class="hl-k">def</span>' in read
    shown = re.search(r"<pre.*?</pre>", read, re.DOTALL)
    assert shown is not None
    assert unescape(re.sub("<[^>]*>", "", shown[0])) == CODE, "copied, it is the file"


def test_markdown_reads_as_it_is_meant_and_its_links_stay_in_the_library(page: TestClient[Litestar]) -> None:
    read = page.get("/read?document=bees.md").text
    link = re.search(r'<a href="(/read[^"]*)"[^>]*>boats</a>', read)
    assert link is not None
    assert "ferry" in page.get(unescape(link[1])).text
    assert "passwd" not in read.replace("none](../../etc/passwd", "")
    written = re.search(r'href="([^"]*view=text[^"]*)"', read)
    assert written is not None
    assert "[boats](boats.md)" in re.sub("<[^>]*>", "", page.get(unescape(written[1])).text)


def test_the_words_are_marked_that_the_search_found_and_no_others(page: TestClient[Litestar]) -> None:
    address = first_hit(page, "when does the queen lay eggs in spring")
    marked = {one.casefold() for one in re.findall(r"<b>([^<]*)</b>", page.get(address).text)}
    assert {"queen", "spring"} <= marked
    assert not marked & {"the", "in"}, "of a word that says nothing, not even where another begins with it"


def test_a_page_of_a_pdf_is_shown_beside_its_text_with_the_passage_marked(page: TestClient[Litestar]) -> None:
    read = page.get(first_hit(page, "mill sold baker")).text
    assert "page 2 of 2" in read, "of a passage on two pages, the one that answers"
    address = re.search(r'hx-get="(/read/sheet[^"]*)"', read)
    assert address is not None
    sheet = page.get(unescape(address[1]), headers=PIECE).text
    assert 'class="box"' in sheet
    image = re.search(r'<image href="([^"]*)"', sheet)
    assert image is not None
    drawn = page.get(unescape(image[1]))
    assert drawn.headers["content-type"] == "image/png"
    assert "sandbox" in drawn.headers["content-security-policy"]
    assert drawn.headers["cache-control"] == "no-store"
    assert drawn.content.startswith(b"\x89PNG")
    assert "page 1 of 2" in page.get("/read?document=report.pdf&place=p1").text


def test_a_picture_is_shown_as_it_is_also_where_nobody_read_its_text(page: TestClient[Litestar]) -> None:
    read = page.get("/read?document=photo.png")
    assert read.status_code == 200
    sheet = page.get("/read/sheet?document=photo.png", headers=PIECE).text
    image = re.search(r'<img src="([^"]*)" alt="photo.png">', sheet)
    assert image is not None
    shown = page.get(unescape(image[1]))
    assert shown.content == PNG
    assert shown.headers["content-type"] == "image/png"
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert page.get("/picture?document=fake.png").status_code >= 400, "what is no picture is not shown as one"


def test_a_citation_opens_at_its_quote(page: TestClient[Litestar], bee: Lilbee) -> None:
    row = bee.document("bees.md")
    cited = Citation(
        marker=1, chunk_id=ChunkId("c"), document_id=row.id, collection="notes", path=row.path,
        quote="The queen  lays", location=Location(line_start=3, line_end=3),
    )  # fmt: skip
    assert ">The queen lays</mark>" in page.get(read_url(cited)).text
    gone = page.get(read_url(cited).replace("queen", "king")).text
    assert "does not stand at this place" in gone
    assert 'id="passage"' in gone


def test_a_document_that_changed_is_told_from_one_where_it_still_stands(tmp_path: Path) -> None:
    file = tmp_path / "bees.md"
    file.write_text("# Bees\n\nThe queen lays eggs.\n", "utf-8")
    (tmp_path / "boats.md").write_text("The ferry leaves at noon.\n", "utf-8")
    with Lilbee(tmp_path, embedder=HashEmbedder()) as bee, TestClient(page_app(bee), base_url=ORIGIN) as client:
        client.get(f"/sign-in?code={new_code(client)}")
        bee.sync()
        address = first_hit(client, "queen")
        assert "has changed" not in client.get(address).text
        file.write_text("A longer beginning.\n\n# Bees\n\nThe queen sleeps.\n", "utf-8")
        assert "changed since it was indexed" in client.get("/search?q=queen").text
        bee.sync()
        assert "The document has changed since" in client.get(address).text
        file.unlink()
        bee.sync()
        assert client.get(address).status_code == 404


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/read", 400),
        ("/read?document=", 404),
        ("/read?document=none", 404),
        ("/read?document=../notes/bees.md", 404),
        ("/read?document=/etc/passwd", 404),
        ("/read?document=%00", 400),
        ("/read?document=bees.md%00", 400),
        ("/read?document=" + "x" * 9000, 404),
        ("/read?document=bees.md&at=-1", 400),
        ("/read?document=bees.md&at=x", 400),
        ("/read?document=bees.md&at=999999", 200),
        ("/read?document=bees.md&place=99", 404),
        ("/read?document=bees.md&place=%00", 404),
        ("/read?document=report.pdf&place=p9", 200),
        ("/read?document=bees.md&span=9-1&sum=x", 200),
        ("/read?document=bees.md&span=0-999999999999&sum=x", 200),
        ("/read?document=bees.md&span=%C2%B2-%C2%B3", 200),
        ("/read?document=wide.txt", 200),
        ("/read?document=wide.txt&at=70000", 200),
        ("/picture?document=bees.md", 415),
        ("/picture?document=report.pdf&page=3", 400),
        ("/picture?document=report.pdf&page=0", 400),
        ("/picture?document=report.pdf&dpi=100000", 400),
        ("/picture?document=none", 404),
        ("/read/sheet?document=report.pdf&page=9", 200),
        ("/read/sheet?document=report.pdf&span=0-99999999999999999999", 200),
    ],
)
def test_odd_addresses_are_answered_by_a_page(page: TestClient[Litestar], path: str, status: int) -> None:
    got = page.get(path)
    assert got.status_code == status
    assert "<main" in got.text
    assert len(got.text) < 100_000
    assert not STEERS.search(got.text)


def test_a_library_that_goes_away_while_it_is_open_is_told(tmp_path: Path) -> None:
    import shutil

    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("The queen lays eggs.\n", "utf-8")
    with Lilbee(root, embedder=HashEmbedder()) as bee, TestClient(page_app(bee), base_url=ORIGIN) as client:
        client.get(f"/sign-in?code={new_code(client)}")
        bee.sync()
        address = first_hit(client, "queen")
        shutil.rmtree(root)
        for path in ("/", "/search?q=queen", address, "/documents"):
            got = client.get(path)
            assert got.status_code == 200 or "moved or deleted while it was open" in got.text, path
            assert got.status_code in (200, 404, 503), "what may come back is no fault of the server"
            assert "Traceback" not in got.text
            assert "<main" in got.text


@pytest.mark.slow
def test_whatever_documents_and_their_names_say_is_no_more_than_words(page: TestClient[Litestar], bee: Lilbee) -> None:
    found = page.get("/search?q=wombat&top=200&explain=1").text
    assert found.count('class="hit"') > 100
    assert not offenses_of_page(found)
    assert not STEERS.search(found)
    for address in re.findall(r'<h2><a href="(/read[^"]*)"', found):
        assert set(parse_qs(urlsplit(unescape(address)).query)) <= {"document", "place", "span", "sum", "q", "words"}
    for row in list(bee.documents())[::7]:
        read = page.get("/read", params={"document": str(row.id), "q": row.path})
        assert read.status_code == 200
        assert not offenses_of_page(read.text), row.path
        assert not STEERS.search(read.text)
    for one in PAGE[::6]:
        for path in ("/search", "/read", "/explain", "/sign-in"):
            odd = page.get(path, params=dict.fromkeys(("q", "document", "code", "next", "place", "path", "type"), one))
            assert not offenses_of_page(odd.text), (path, one)
