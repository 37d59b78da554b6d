"""What is kept of a page (R055): its content and no boilerplate, structure, links, letters, and what it says of itself.

`data/` holds pages of our own in the manner of well-known kinds of sites; the figures in the decisions come from them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.crawl._charset import decode_page
from lilbee_core.crawl._kinds import ending_of, may_be_page, real_media_type
from lilbee_core.crawl._page import Page, read_html
from lilbee_core.extract import builtin_extractors

DATA = Path(__file__).with_name("data")
EXPECTED: dict[str, dict[str, list[str]]] = json.loads((DATA / "expected.json").read_text("utf-8"))
URL = "https://example.org/guide/page"


def page_of(html: str | bytes, url: str = URL, **headers: str) -> Page:
    body = html if isinstance(html, bytes) else html.encode()
    return read_html(body, headers.pop("content_type", "text/html"), url, headers)


def text_of(html: str) -> str:
    return page_of(html).text


# ------------------------------------------------------------------ content


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_content_stays_boilerplate_goes_structure_is_kept(name: str) -> None:
    text = re.sub(r"\\(.)", r"\1", page_of((DATA / f"{name}.html").read_bytes()).text)
    expected = EXPECTED[name]
    assert [one for one in expected["keep"] if one not in text] == []
    assert [one for one in expected.get("drop", []) if one in text] == []
    assert [one for one in expected.get("shape", []) if one not in text] == []


def test_links_become_whole_addresses_and_others_become_text() -> None:
    html = (
        "<main><p>See <a href='../install?utm_source=x#top'>the guide</a>, <a href='#part'>below</a>, "
        "<a href='mailto:ann@example.org'>Ann</a>, <a href='javascript:go()'>go</a>, "
        "<a href='http://user:secret@other.example/x'>other</a>.</p></main>"
    )
    expected = "See [the guide](https://example.org/install), below, Ann, go, [other](http://other.example/x).\n"
    assert text_of(html) == expected


def test_the_base_of_a_page_counts_for_its_links() -> None:
    page = page_of("<head><base href='/v2/'></head><main><p><a href='a'>A</a> and more words</p></main>")
    assert page.links == ("https://example.org/v2/a",)
    assert "(https://example.org/v2/a)" in page.text


def test_pictures_are_kept_for_what_they_show() -> None:
    html = (
        "<main><img src=/a.png alt='A  heron'><img src=/b.png><img src='data:image/png;base64,AAAA' alt='Dot'>x</main>"
    )
    text = text_of(html)
    assert "![A heron](https://example.org/a.png)" in text
    assert "b.png" not in text
    assert "base64" not in text
    assert "Dot" in text


def test_code_keeps_its_lines_and_its_language() -> None:
    html = "<main><pre><code class='language-python'>def f(x):\n    return x &lt; 1\n\n\n\nf(2)</code></pre></main>"
    assert "```python\ndef f(x):\n    return x < 1\n" in text_of(html)


def test_a_page_without_text_is_empty_and_a_shell_says_so() -> None:
    assert page_of("").text == ""
    assert page_of("<html><body>   </body></html>").text == ""
    shell = page_of((DATA / "spa_shell.html").read_bytes())
    assert shell.looks_empty
    assert not page_of((DATA / "tiny.html").read_bytes()).looks_empty


def test_nesting_without_end_neither_crashes_nor_loses_text() -> None:
    page = page_of("<div>" * 5000 + "deep heron" + "</div>" * 5000 + "<p>after</p>")
    assert "deep heron" in page.text
    assert "after" in page.text
    assert "quote" in text_of("<blockquote>" * 3000 + "quote" + "</blockquote>" * 3000)


@pytest.mark.slow
def test_very_big_pages_keep_their_words() -> None:
    rows = "<p>one <b>two</b></p>" * 160_000
    page = page_of(f"<h1>Log</h1><nav>navword</nav>{rows}<p><a href=/last>last</a></p>")
    assert page.text.startswith("Log\none\ntwo\none\n")
    assert page.text.endswith("last\n")
    assert page.links == ("https://example.org/last",)
    assert "navword" not in page.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "html",
    [
        "<p " + " ".join(f"a{number}=1" for number in range(100_000)) + ">word</p>",
        "<article>word</article>" * 10_000,
        "<div>" * 150 + "<p>word</p>" * 10_000 + "</div>" * 150,
        "<table><tr><td>" * 90 + "word",
        "<" * 500_000 + "<p>word",
        "<div class='" + "menu-" * 50_000 + "'><a href=/a>word</a></div>",
    ],
    ids=["attributes", "articles", "nested", "tables", "signs", "names"],
)
def test_what_takes_squares_of_time_elsewhere_takes_a_moment(html: str) -> None:
    """The limit is generous: without care some of these take minutes."""
    import time

    started = time.process_time()
    assert "word" in page_of(html).text
    assert time.process_time() - started < 20


@given(st.text(alphabet=st.sampled_from("<>/abdivpulitreh1\"'= \n&;#xé\x00\ud800"), max_size=400))
def test_no_page_breaks_the_reader(html: str) -> None:
    page = page_of(html.encode("utf-8", "replace"))
    page.to_file().decode("utf-8")


# ------------------------------------------------------------------ what a page says of itself


def test_facts() -> None:
    html = """<html lang="de-DE"><head><title> Der
    Reiher </title><link rel="canonical" href="/reiher">
    <meta name="author" content="Ann Lee"><meta property="article:published_time" content="2024-05-03T10:00:00+02:00">
    <meta name="description" content="Vom Reiher."><meta property="og:site_name" content="Vogelbuch"></head>
    <body><main><h1>Reiher</h1><p>Er steht.</p></main></body></html>"""
    facts = page_of(html).facts
    assert (facts.title, facts.language, facts.date) == ("Der Reiher", "de-de", "2024-05-03")
    assert (facts.canonical, facts.author, facts.site) == ("https://example.org/reiher", "Ann Lee", "Vogelbuch")
    assert facts.description == "Vom Reiher."


@pytest.mark.parametrize(
    ("head", "date"),
    [
        ("<meta name=date content='2023-1-9'>", "2023-01-09"),
        ("<meta name=date content='yesterday'><meta name=dc.date content='2023/02/03'>", "2023-02-03"),
        ('<script type="application/ld+json">{"@graph":[{"datePublished":"2022-12-01T00:00:00Z"}]}</script>',
         "2022-12-01"),
        ('<script type="application/ld+json">{broken</script>', ""),
        ("<meta name=date content='2023-13-45'>", ""),
        ("<meta name=last-modified content='Tue, 03 Mar 2020 10:00:00 GMT'>", "2020-03-03"),
    ],
)  # fmt: skip
def test_dates(head: str, date: str) -> None:
    assert page_of(f"<html><head>{head}</head><body><p>x</p></body></html>").facts.date == date


def test_what_robots_may_do_is_read_from_page_and_headers() -> None:
    page = page_of("<meta name=robots content='NOINDEX, nofollow'><a href=/a>a</a>")
    assert (page.facts.noindex, page.facts.nofollow, page.links) == (True, True, ())
    assert page_of("<p>x</p>", **{"x-robots-tag": "none"}).facts.noindex
    assert page_of("<a href=/a rel='nofollow ugc'>a</a><a href=/b>b</a>").links == ("https://example.org/b",)


def test_links_are_found_wherever_they_stand() -> None:
    html = (
        "<head><link rel=next href=/2><link rel=stylesheet href=/x.css></head><nav><a href=/menu>m</a></nav>"
        "<iframe src=/frame></iframe><area href=/area><a href='/menu'>again</a><a href='http://[x'>broken</a>"
    )
    assert page_of(html).links == tuple(f"https://example.org/{name}" for name in ("2", "menu", "frame", "area"))


def test_the_file_is_read_back_with_all_that_the_page_said() -> None:
    html = (
        '<html lang=en><head><title>A "quoted": title\\</title><meta name=date content=2024-05-03>'
        "<link rel=canonical href=/c></head><main><h1>Heron</h1><p>It stands.</p></main></html>"
    )
    document = extracted(page_of(html).to_file())
    assert document.title == 'A "quoted": title\\'
    assert (document.language, document.date) == ("en", "2024-05-03")
    assert document.metadata["url"] == URL
    assert document.metadata["canonical"] == "https://example.org/c"
    assert document.text[document.body_start :].strip() == "# Heron\n\nIt stands."
    assert [heading.title for heading in document.headings] == ["Heron"]


def extracted(body: bytes) -> Any:
    from lilbee_core.plugins.specs import ExtractServices
    from lilbee_core.testing import ReadContext
    from lilbee_core.types import Source

    spec = next(one for one in builtin_extractors() if one.name == "markdown")
    source = Source(collection="web", path="a.md", media_type="text/markdown", data=body, size=len(body))
    return spec.build({}, ExtractServices()).extract(source, ReadContext())


# ------------------------------------------------------------------ letters


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("größe".encode(), "text/html"),
        ("größe".encode("cp1252"), "text/html; charset=iso-8859-1"),
        ("größe".encode("cp1252"), "text/html; charset=utf-8"),  # the server lies
        ("größe".encode(), "text/html; charset=iso-8859-1"),  # the server lies the other way
        ("<meta charset=windows-1252>größe".encode("cp1252"), "text/html"),
        ("<meta charset=utf-16>größe".encode(), "text/html"),  # what could be read as ASCII is not UTF-16
        ("<?xml version='1.0' encoding='iso-8859-15'?>größe".encode("iso-8859-15"), "application/xhtml+xml"),
        ("\ufeffgröße".encode("utf-16-le"), "text/html; charset=utf-8"),
        (b"\xef\xbb\xbf" + "größe".encode(), "text/html; charset=latin1"),
        ("größe".encode(), "text/html; charset=no-such-letters"),
        ("größe".encode(), "text/html; charset=base64"),
    ],
)
def test_letters_come_out_right_whoever_lies(body: bytes, content_type: str) -> None:
    assert decode_page(body, content_type).endswith("größe")


def test_a_few_damaged_letters_do_not_change_the_rest() -> None:
    text = decode_page(("größe " * 200).encode() + b"\xff" + " weiß".encode(), "text/html; charset=utf-8")
    assert text.count("größe") == 200
    assert text.endswith("weiß")


@pytest.mark.parametrize(
    ("text", "codec"), [("日本語の案内", "shift_jis"), ("中文网页", "gb2312"), ("Привет", "koi8-r")]
)
def test_letters_of_other_scripts(text: str, codec: str) -> None:
    assert decode_page(text.encode(codec), f"text/html; charset={codec}") == text


# ------------------------------------------------------------------ kinds


@pytest.mark.parametrize(
    ("declared", "body", "url", "media_type", "ending"),
    [
        ("text/html; charset=x", b"<p>x", "/a", "text/html", "html"),
        ("text/html", b"%PDF-1.7 ...", "/a", "application/pdf", "pdf"),
        ("application/pdf", b"<!DOCTYPE html><p>log in</p>", "/a.pdf", "text/html", "html"),
        ("application/octet-stream", b"# Notes\n", "/notes.md", "text/markdown", "md"),
        ("text/plain", b"<html> as an example", "/a", "text/plain", "txt"),
        ("text/plain", b"plain", "/a.log", "text/plain", "log"),
        ("text/plain", b"plain", "/a.php", "text/plain", "txt"),
        ("", b"\x89PNG\r\n\x1a\n....", "/a", "image/png", "png"),
        ("application/json", b"{}", "/a", "application/json", "json"),
        ("application/octet-stream", b"PK\x03\x04...", "/a.docx",
         "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
        ("application/octet-stream", b"PK\x03\x04...", "/a.zip", "application/zip", None),
        ("text/html", b"\x00\x01\x02\x03", "/a", "application/octet-stream", None),
        ("text/csv", b"a,b\n", "/a", "text/csv", "csv"),
        ("application/msword", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "/a", "application/msword", "doc"),
    ],
)  # fmt: skip
def test_kinds_by_their_bytes_where_the_server_lies(
    declared: str, body: bytes, url: str, media_type: str, ending: str | None
) -> None:
    url = f"http://example.org{url}"
    assert real_media_type(declared, body, url) == media_type
    assert ending_of(media_type, url) == ending


def test_links_to_programs_and_pictures_of_the_page_are_not_followed() -> None:
    assert may_be_page("http://example.org/a")
    assert may_be_page("http://example.org/a.v2/page.html")
    assert may_be_page("http://example.org/a.pdf")
    assert not may_be_page("http://example.org/app.js")
    assert not may_be_page("http://example.org/film.MP4?x=1")
