"""Markdown as the page shows it: what is meant is seen, and nothing that others wrote runs (R326, R327)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_server.web.rendering import LONGEST, Links, Place, code_to_html, to_html
from lilbee_server.web.unfinished import completed
from tests.support.hostile import PAGE, PAYLOADS, STEERS, offenses, offenses_of_page

READ = "/read?document=1&place=3"
LINKS = Links(
    cited={1: Place(READ, 'bees.md:3 "q"'), 12: Place("/read?document=2")},
    page=lambda name: "/wiki/queen" if name == "Queen" else None,
    document=lambda to: f"/read?document={to}" if to == "boats.md" else None,
)
REL = 'rel="noopener noreferrer nofollow"'
LEADS = '<a class="cite" href="/read?document=1&amp;place=3" title="bees.md:3 &quot;q&quot;" ' + REL


TABLE = (
    '<div class="wide" tabindex="0"><table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n'
    "<tbody>\n<tr>\n<td>1</td>\n</tr>\n</tbody>\n</table></div>"
)
CODE = (
    '<pre tabindex="0"><code class="language-python"><span class="hl-k">return</span> '
    '<span class="hl-mi">1</span>\n</code></pre>'
)


@pytest.mark.parametrize("html", [False, True])
def test_nothing_that_others_wrote_runs(html: bool) -> None:
    assert len(PAGE) >= 200
    assert len(set(PAYLOADS)) == len(PAYLOADS)
    for evil in PAYLOADS:
        around = (
            evil,
            f"The queen {evil} lays",
            f"# {evil}\n\n- {evil}\n\n> {evil}",
            f"**{evil}** `{evil}` [1]\n{evil}",
        )
        for text in around:
            for shown in (to_html(text, LINKS, html=html), to_html(completed(text), LINKS, html=html)):
                assert offenses(shown) == [], (text, shown)
                assert STEERS.search(shown) is None, (text, shown)
        assert offenses(code_to_html(evil, "html")) == []


def test_the_check_itself_finds_what_it_looks_for() -> None:
    raw = [evil for evil in PAGE if evil.startswith("<") and "javascript:x" not in evil]
    assert sum(bool(offenses(evil)) for evil in raw) > 0.9 * len(raw)
    assert offenses('<p onclick="x" hx-get="/y" style="z"><a href="java&#10;script:x" class="toast">') == [
        "onclick=x", "hx-get=/y", "style=z", "href=java\nscript:x", "class=toast",
    ]  # fmt: skip
    assert offenses('<p class="wide"><a href="/read?x" title="t" rel="noopener">x</a><a href="https://x">') == []
    assert offenses_of_page('<script>x</script><p style="x"><a href="javascript:x"><form action="//evil">') == [
        "<script>", "style=x", "href=javascript:x", "action=//evil",
    ]  # fmt: skip
    assert offenses_of_page('<script src="/static/a.js"></script><form action="/chat" hx-post="/chat">') == []


@given(st.text(alphabet="<>\"'`&[]()!*_~#:/\\ \n\tajscript=on1^|-{}\u202e\x00", max_size=60), st.booleans())
def test_nothing_that_anybody_could_write_runs(text: str, html: bool) -> None:
    shown = to_html(text, LINKS, html=html)
    assert offenses(shown) == []
    assert STEERS.search(shown) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The queen lays [1].", f'<p>The queen lays {LEADS}>[1]</a>.</p>'),
        ("So [^1] too", f'<p>So {LEADS}>[1]</a> too</p>'),
        ("Not [2], nor [^3], nor `[1]`.", "<p>Not [2], nor [^3], nor <code>[1]</code>.</p>"),
        ("Said.\n\n[^1]: bees.md, line 3\n[^9]: unknown here", "<p>Said.</p>\n<p>[^9]: unknown here</p>"),
        ("[[Queen|the queen]]", f'<p><a class="page" href="/wiki/queen" {REL}>the queen</a></p>'),
        ("[[Drone]]", '<p><span class="no-page">Drone</span></p>'),
        ("[b](boats.md) [c](../x.md)", f'<p><a href="/read?document=boats.md" {REL}>b</a> c</p>'),
        ("[s](https://e.example/)", f'<p><a href="https://e.example/" {REL}>s</a></p>'),
        ("![A hive](https://e.example/pixel.png) ![](x.png)",
         '<p><span class="image">A hive</span> <span class="image">picture</span></p>'),
        ("# A\n\n##### B", "<h3>A</h3>\n<h6>B</h6>"),
        ("List<String> & <b>x</b>", "<p>List&lt;String&gt; &amp; &lt;b&gt;x&lt;/b&gt;</p>"),
        ("a\u202eb\x1b[31m", "<p>a\\u202eb\\x1b[31m</p>"),
        ("|a|\n|-|\n|1|", TABLE),
        ("```python\nreturn 1\n```", CODE),
        ("```nonesuch\na < b\n```", '<pre tabindex="0"><code class="language-nonesuch">a &lt; b\n</code></pre>'),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>'),
    ],
)  # fmt: skip
def test_what_is_meant_is_seen(text: str, shown: str) -> None:
    assert to_html(text, LINKS).strip() == shown


def test_documents_keep_their_harmless_html() -> None:
    text = "Press <kbd>A</kbd>, List<String>.<br>\n\n<details><summary>More</summary>\n\n*hidden*\n\n</details>\n"
    shown = to_html(text, html=True)
    assert "<kbd>A</kbd>, List&lt;String&gt;.<br>" in shown
    assert "<details><summary>More</summary>" in shown
    assert "<em>hidden</em>" in shown
    assert "<kbd>" not in to_html(text)


def test_a_text_of_any_length_is_shown() -> None:
    assert to_html("<b>*x*\n" * (LONGEST // 4)).startswith('<pre tabindex="0">&lt;b&gt;*x*\n')
    for slow in (
        "[" * 9_000,
        "*a **b _c ~~d " * 2_000,
        "``a`" * 10_000,
        "[a](" * 10_000,
        "<a " * 20_000,
        "> " * 9_000 + "a",
    ):
        assert to_html(completed(slow))


# ---------------------------------------------------------------------- being written

SAMPLE = """# Title of it

The **queen** lays *many* eggs [1], and `code` with ~~old~~ words. See [the site](https://e.example/a_b) for **bold \
with *italic* inside** it.

- one **item**
- two `item`
  1. nested

> quoted *text*

```python
def f(x):
    return "**x**"
```

| a | b |
|---|---|
| 1 | **2** |

Setext
======

***both*** and __under__ and _one_ and 2 x 3. End **here**."""


def test_a_reply_that_is_being_written_shows_no_signs_that_vanish_later() -> None:
    for end in range(len(SAMPLE) + 1):
        shown = to_html(completed(SAMPLE[:end]), LINKS)
        text = re.sub(r"<[^>]*>", "", re.sub(r"<pre.*?</pre>", "", shown, flags=re.DOTALL))
        found = re.search(r"[*`~]|__|\]\(|(?<!\w)_|\[(?!1\]|the site\])", text)
        assert found is None, (SAMPLE[max(0, end - 30) : end], text[-60:])
    assert to_html(completed(SAMPLE), LINKS) == to_html(SAMPLE, LINKS)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a **b", "a **b**"), ("a **b **", "a **b**"), ("a *b **c", "a *b **c***"), ("a `b", "a `b`"),
        ("a ``b` c", "a ``b` c``"), ("**a `b", "**a `b`**"), ("a [b](http://x", "a b"), ("a [b", "a b"), ("a [1", "a "),
        ("a [^", "a "), ("a\n-", "a\n"), ("a\n==", "a\n"), ("a\n## ", "a\n"), ("- a\n- ", "- a\n"), ("2 * 3", "2 * 3"),
        ("a \\*b", "a \\*b"), ("* a", "* a"), ("```\na **b", "```\na **b"), ("```\na\n``", "```\na\n"),
        ("~~~\na\n```", "~~~\na\n```"), ("a **b*", "a **b**"), ("snake_case_name", "snake_case_name"),
        ("**a**\n\nb **c", "**a**\n\nb **c**"), ("a ~~b", "a ~~b~~"), ("", ""),
    ],
)  # fmt: skip
def test_what_is_open_at_the_end_is_closed(text: str, told: str) -> None:
    assert completed(text) == told


@given(st.text(alphabet="*_`~[]#-=|>\\ \nab1^:.", max_size=80))
def test_no_word_is_lost_while_it_is_written(text: str) -> None:
    assert re.findall("[ab]", completed(text)) == re.findall("[ab]", text)
