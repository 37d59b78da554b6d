"""The one path from markdown to the HTML of the page: answers, whole or being written, pages of the wiki, documents.

What documents and models write is not trusted: whatever comes out of markdown goes through a list of what may stand in
the page. Nothing in it runs, loads, sends or looks like a part of the page that it is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any, cast

from lilbee_core.text import visible
from lilbee_server.web.highlighting import highlighted

if TYPE_CHECKING:
    import nh3
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token
    from markdown_it.utils import OptionsDict

LONGEST = 400_000
"""Longer texts are shown as they are: to read markdown of such a length takes seconds."""
_SCHEMES = frozenset({"http", "https", "mailto"})
_OURS = ("/read", "/wiki", "/documents")
_TAGS = frozenset({
    "a", "abbr", "b", "blockquote", "br", "caption", "cite", "code", "col", "colgroup", "dd", "del", "details",
    "dfn", "div", "dl", "dt", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "ins", "kbd", "li", "mark", "ol",
    "p", "pre", "q", "s", "samp", "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "u", "ul", "var",
})  # fmt: skip
_CLASS = re.compile(r"(?:cite|page|no-page|image|wide|hl-[a-z0-9]{1,4}|language-[A-Za-z0-9_+#.-]{1,30})")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_MARK = re.compile(r"\[\^?(\d{1,4})\](?![(:])")
_DEFINITION = re.compile(r"\[\^(\d{1,4})\]:")
_PAGE_LINK = re.compile(r"\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")
_TAG_NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a mark leads: an address of this site, and what is told of it before one goes there."""

    href: str
    told: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """Where the marks and links of one text lead.

    Args:
        cited: The places behind marks such as ``[1]`` and ``[^1]``; a mark without one stays text.
        page: Gives the address of a page of the wiki that is linked as ``[[name]]``, None where there is no such page.
        document: Gives the address of what a document links to within its library, None where that is nothing to open.
    """

    cited: Mapping[int, Place] = field(default_factory=dict[int, Place])
    page: Callable[[str], str | None] | None = None
    document: Callable[[str], str | None] | None = None


NO_LINKS = Links()


def to_html(text: str, links: Links = NO_LINKS, *, below: int = 2, html: bool = False) -> str:
    """Return markdown as HTML that may stand in a page.

    Control characters, and those that turn text around, are made visible. Pictures are told by their description.

    Args:
        text: The markdown.
        links: Where its marks and links lead; links to the web stay, all others become text.
        below: The level of the heading that it stands under.
        html: Let through the harmless HTML of documents; otherwise all HTML is shown as it is written, as in an answer.
    """
    shown = visible(text)
    env: dict[str, Any] = {"links": links, "below": below}
    made = _cleaner().clean(_parser(html).render(shown, env)) if len(shown) <= LONGEST else ""
    if made or not shown.strip():
        return made
    # It is too long, or nested so deep that nothing was read of it.
    return f'<pre tabindex="0">{escape(shown)}</pre>'


def code_to_html(text: str, language: str) -> str:
    """Return source code as HTML, its words marked by classes if the language is known."""
    shown = visible(text)
    return _cleaner().clean(f"<pre><code>{highlighted(shown, language) or escape(shown)}</code></pre>")


# ---------------------------------------------------------------------- what may come out


@lru_cache(maxsize=1)
def _cleaner() -> nh3.Cleaner:
    import nh3

    return nh3.Cleaner(
        tags=set(_TAGS),
        clean_content_tags={"script", "style", "template", "noscript", "iframe", "object", "title"},
        attributes={
            "*": {"class", "title", "lang", "dir"},
            "a": {"href"},
            "ol": {"start"},
            "td": {"colspan", "rowspan"},
            "th": {"colspan", "rowspan"},
        },
        attribute_filter=_kept_value,
        tag_attribute_values={"div": {"tabindex": {"0"}}, "details": {"open": {""}}},
        set_tag_attribute_values={"pre": {"tabindex": "0"}},
        url_schemes=set(_SCHEMES),
        url_relative=lambda url: url if url.startswith(_OURS) else None,
        link_rel="noopener noreferrer nofollow",
    )


def _kept_value(tag: str, name: str, value: str) -> str | None:
    """Return a value as it may stand; classes are ours alone, since they decide what a thing looks like."""
    if name == "class":
        return " ".join(one for one in value.split() if _CLASS.fullmatch(one)) or None
    if name in ("start", "colspan", "rowspan"):
        return value if value.isascii() and value.isdigit() and int(value[:6]) <= 10_000 else None
    if name == "dir":
        return value if value in ("ltr", "rtl", "auto") else None
    return value


# ---------------------------------------------------------------------- markdown


@lru_cache(maxsize=2)
def _parser(html: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": html, "highlight": highlighted}).enable(["table", "strikethrough"])
    parser.block.ruler.before("reference", "definition", _definition, {"alt": ["paragraph"]})
    parser.inline.ruler.before("link", "mark", _mark)
    parser.inline.ruler.before("mark", "page_link", _page_link)
    for name, rule in {
        "heading_open": _heading, "heading_close": _heading, "link_open": _link_open, "link_close": _link_close,
        "image": _image, "html_inline": _html_inline, "table_open": _table_open, "table_close": _table_close,
        "ours": _ours,
    }.items():  # fmt: skip
        parser.add_render_rule(name, rule)
    return parser


def _links_of(env: Mapping[str, Any]) -> Links:
    return cast("Links", env["links"])


def _definition(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Leave out a line that says what a mark stands for: the mark itself leads there."""
    if state.is_code_block(start):
        return False
    match = _DEFINITION.match(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start])
    if match is None or int(match[1]) not in _links_of(state.env).cited:
        return False
    if not silent:
        state.line = start + 1
    return True


def _mark(state: StateInline, silent: bool) -> bool:
    match = _MARK.match(state.src, state.pos, state.posMax)
    place = _links_of(state.env).cited.get(int(match[1])) if match else None
    if match is None or place is None:
        return False
    if not silent:
        _push_link(state, place.href, f"[{match[1]}]", kind="cite", title=place.told)
    state.pos = match.end()
    return True


def _page_link(state: StateInline, silent: bool) -> bool:
    page = _links_of(state.env).page
    match = _PAGE_LINK.match(state.src, state.pos, state.posMax) if page is not None else None
    if match is None or page is None:
        return False
    if not silent:
        name = match[1].strip()
        address = page(name)
        _push_link(state, address, (match[2] or name).strip(), kind="page" if address else "no-page")
    state.pos = match.end()
    return True


def _push_link(state: StateInline, href: str | None, text: str, *, kind: str, title: str = "") -> None:
    """Put in a link that is ours; without an address, a word that looks as if it might have been one."""
    named = f' title="{escape(title)}"' if title else ""
    head = f'<a class="{kind}" href="{escape(href)}"{named}>' if href is not None else f'<span class="{kind}">'
    token = state.push("ours", "", 0)
    token.content = f"{head}{escape(text)}</{'span' if href is None else 'a'}>"


# ---------------------------------------------------------------------- how tokens are written

_Env = MutableMapping[str, Any]


def _heading(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: _Env) -> str:
    """Write a heading below the one that the text stands under."""
    token = tokens[at]
    level = min(6, int(token.tag[1]) + int(env["below"]))
    return f"<h{level}>" if token.nesting > 0 else f"</h{level}>\n"


def _link_open(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: _Env) -> str:
    token = tokens[at]
    href = _leads(str(token.attrs.get("href") or ""), _links_of(env))
    env.setdefault("open", []).append(href is not None)
    title = str(token.attrs.get("title") or "")
    named = f' title="{escape(title)}"' if title else ""
    return "" if href is None else f'<a href="{escape(href)}"{named}>'


def _link_close(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: _Env) -> str:
    return "</a>" if env["open"].pop() else ""


def _leads(href: str, links: Links) -> str | None:
    scheme = _SCHEME.match(href)
    if scheme is not None:
        return href if scheme[1].lower() in _SCHEMES else None
    return links.document(href) if links.document is not None and href else None


def _image(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: _Env) -> str:
    """Tell a picture by its description: to load one from elsewhere would tell who reads what."""
    told = tokens[at].content.strip()
    return f'<span class="image">{escape(told or "picture")}</span>'


def _html_inline(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: _Env) -> str:
    """Show what only looks like HTML, such as ``List<String>``, as it is written."""
    content = tokens[at].content
    name = _TAG_NAME.match(content)
    return content if content.startswith("<!--") or (name and name[1].lower() in _TAGS) else escape(content)


def _ours(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: _Env) -> str:
    return tokens[at].content


def _table_open(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: _Env) -> str:
    return '<div class="wide" tabindex="0"><table>\n'


def _table_close(_: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: _Env) -> str:
    return "</table></div>\n"
