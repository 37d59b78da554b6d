"""Web pages: what a reader sees, each line with its line in the file."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.errors import NoText
from lilbee_core.extract._context import FileContext
from lilbee_core.extract._html import read_page
from lilbee_core.types import Document
from tests.core.extract.conftest import Read

ReadDocument = Callable[..., Document]
CONTEXT = FileContext(max_chars=10_000_000)


def text_of(html: str) -> str:
    return read_page(html, CONTEXT).text


def test_title_language_date_and_facts_come_from_the_head(document: ReadDocument) -> None:
    html = (
        '<!doctype html><html lang="de-AT"><head><title>Bäckerei –  Zeiten</title>'
        '<meta property="article:published_time" content="2024-05-01T08:00:00+02:00">'
        '<meta name="author" content="Ada"><link rel="canonical" href="https://x.example/a"></head><body><h1>Zeiten</h1>'
        "<p>Offen.</p></body></html>"
    )
    found = document("a.html", html.encode())
    assert (found.title, found.language, found.date) == ("Bäckerei – Zeiten", "de-at", "2024-05-01T08:00:00+02:00")
    assert dict(found.metadata) == {"author": "Ada", "url": "https://x.example/a"}
    assert found.text == "Zeiten\n\nOffen."
    assert [(one.level, one.title, one.start) for one in found.headings] == [(1, "Zeiten", 0)]


def test_unseen_parts_are_left_out() -> None:
    html = (
        "<script>var a='dunlin';</script><style>.x{}</style><!-- knot --><p>Seen</p><div hidden>no</div>"
        '<div style="display: none">no<p>no</p></div><p aria-hidden="true">no</p><template>no</template>'
        "<svg><title>no</title><style>no</style><path/></svg><noscript>no</noscript><datalist><option>no</datalist>"
        '<input type="hidden" value="no"><input type="password" value="no"><img alt="no" hidden><p>too</p>'
    )
    assert text_of(html) == "Seen\n\ntoo"


def test_what_stands_around_the_text_is_seen() -> None:
    html = (
        "<header>Curlew Bakery</header><nav><ul>"
        + "".join(f"<li><a href='{n}'>Page {n}</a></li>" for n in range(30))
        + f"</ul></nav><aside>Closed in May.</aside><main><p>{'The text. ' * 10}</p></main>"
        "<div role='complementary'>Related</div><footer>Tax no. 4711</footer>"
    )
    text = text_of(html)
    assert text.startswith("Curlew Bakery\n\n- Page 0\n- Page 1\n")
    prose = ("The text. " * 10).strip()
    assert text.endswith(f"- Page 29\n\nClosed in May.\n\n{prose}\n\nRelated\n\nTax no. 4711")


def test_questions_about_cookies_are_left_out_and_recipes_are_not() -> None:
    banner = "<div id='cookie-banner'>We use cookies</div>"
    assert text_of(f"{banner}<p>Text of the page.</p>") == "Text of the page."
    assert text_of(banner) == "We use cookies"
    recipes = f"<div class='cookies'>{'Butter and sugar. ' * 60}</div>"
    assert text_of(f"{recipes}<p>More.</p>").startswith("Butter and sugar.")


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<p>a <img src="x" alt="Two ducks">b</p>', "a Two ducks b"),
        ('<img src="x" alt="">', ""),
        ('<a href="/"><img src="x"></a><a href="/s" aria-label="Shop"><svg><path/></svg></a>', "Shop"),
        ('<button title="Close">×</button><button title="Send"><i></i></button>', "× Send"),
        ("<textarea>line one\n  line two</textarea>", "line one\n  line two"),
        ("<label>Color <select><option>Red<option selected>Green</select></label>", "Color\n\n- Red\n- Green"),
        ('<select><optgroup label="Warm"><option label="Reddish"></optgroup></select>', "Warm\n\n- Reddish"),
        ('<input value="typed"><input placeholder="Your name"><input type=submit value="Go">', "typed Your name Go"),
        ('<input type="checkbox" value="no"> Yes', "Yes"),
        ("<svg><text x='1'>Axis</text><text>Time</text></svg>", "Axis\n\nTime"),
        ("<p><math><mi>x</mi><mo>=</mo><mn>2</mn><annotation>no</annotation></math>.</p>", "x=2."),
        ("<details><summary>More</summary>inside</details>", "More\n\ninside"),
    ],
)
def test_fields_pictures_and_drawings_show_their_texts(html: str, text: str) -> None:
    assert text_of(html) == text


def test_the_text_of_a_picture_has_its_own_line() -> None:
    page = read_page('<p>a</p>\n<img src="x"\n  alt="Two ducks">\n<p>b</p>', CONTEXT)
    assert (page.text, page.line_map) == ("a\n\nTwo ducks\n\nb", (1, 1, 3, 3, 4))


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("<p>one<p>two", "one\n\ntwo"),
        ("a<br>b", "a\nb"),
        ("L<b>orem</b> <i>ip</i>sum", "Lorem ipsum"),
        ("x &lt; y &amp; z&nbsp;!", "x < y & z !"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<ol start=3><li>a</li><li>b</li></ol>", "3. a\n4. b"),
        ("<table><tr><th>Day<th>Hours<tr><td>Tue<td>6–14</table>", "Day | Hours\nTue | 6–14"),
        ("<table><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>", "a\n\nb\n\nc"),
        ("<table><tr><td><table><tr><td>x</td><td>y</td></tr></table></td></tr></table>", "x | y"),
        ("<pre>  a\n    b</pre>", "  a\n    b"),
        ("<h2>Head</h2>text", "Head\n\ntext"),
        ("<div>a<span>b</span></div><div>c</div>", "ab\n\nc"),
        ("<dl><dt>Term<dd>Meaning</dl>", "Term\n\nMeaning"),
        ("<p>a</p></div></p></section><p>b", "a\n\nb"),
        ("<![if !IE]>x<![endif]><p>y", "x\n\ny"),
        ("<!DOCTYPE><![CDATA[odd]]><p>y</p>", "y"),
        ("plain words, no tags", "plain words, no tags"),
    ],
)
def test_blocks(html: str, text: str) -> None:
    assert text_of(html) == text


def test_lines_are_those_of_the_file() -> None:
    html = (
        "<html>\n<body>\n<h1>Title</h1>\n<p>first\n   second\n\nthird</p>\n<pre>\ncode\n\n  more\n</pre>\n<p>end</p>\n"
    )
    page = read_page(html, CONTEXT)
    lines = page.text.split("\n")
    assert len(page.line_map) == len(lines)
    source = html.split("\n")
    for line, number in zip(lines, page.line_map, strict=True):
        assert line.strip() in source[number - 1]
    assert [number for line, number in zip(lines, page.line_map, strict=True) if line] == [3, 4, 5, 7, 9, 11, 13]


def test_charsets_are_read_as_declared_or_told(document: ReadDocument) -> None:
    assert document("a.html", '<meta charset="windows-1252"><p>café'.encode("cp1252")).text == "café"
    assert document("a.html", "<p>Grüße</p>".encode("utf-16")).text == "Grüße"
    assert document("a.html", "<p>Kvinnan åt köttbullar".encode("cp1252")).text == "Kvinnan åt köttbullar"


def test_a_page_that_shows_nothing_holds_no_text(read: Read) -> None:
    assert isinstance(read("a.html", b"<html><script>x</script></html>"), NoText)


def test_an_empty_page_is_an_empty_document(document: ReadDocument) -> None:
    assert document("a.html", b"").text == ""


def test_deep_nesting_is_no_trouble() -> None:
    depth = 20_000
    assert text_of("<div>" * depth + "deep" + "</div>" * depth) == "deep"
    assert text_of("<p>a" + "</span>" * depth) == "a"


PIECES = [
    "<", ">", "</", "p", "div", "a", "ä", "&", "amp;", "<table>", "<tr>", "<td>", "</td>", "<li>", "<ul>", "</ul>",
    "<pre>", "</pre>", "<h1>", "</h1>", "<!--", "-->", "<br>", "<title>", "<main>", "<nav>", "=", '"', "hidden", " ",
    "<option>", "<select>", "<textarea>", '<img alt="x">', "<svg>", "</svg>", '<a title="y">', "</a>",
    "\n",
]  # fmt: skip
MARKUP = st.lists(st.sampled_from(PIECES), max_size=120).map("".join)


@given(MARKUP)
def test_any_markup_gives_a_text_with_a_line_for_each_line(html: str) -> None:
    page = read_page(html, CONTEXT)
    if page.text:
        assert len(page.line_map) == page.text.count("\n") + 1
        assert all(1 <= number <= html.count("\n") + 1 for number in page.line_map)
        assert list(page.line_map) == sorted(page.line_map) or "<t" in html
    for heading in page.headings:
        assert heading.title.split()[0] in page.text[heading.start :]
