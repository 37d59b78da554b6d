"""Content as Markdown: headings, lists, tables, code and links stay what they are."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any
from urllib.parse import urljoin

from lilbee_core.crawl._fetcher import need_extra
from lilbee_core.crawl._tree import Node, is_inside, to_html, words_of
from lilbee_core.crawl._urls import joined

_BLANK_LINES = re.compile(r"\n{3,}")
_CODE_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:)[-\s]?([\w+#.-]{1,20})")
_MAX_URL = 500
_WRAPPERS = ("div", "section", "center", "span", "font")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def to_markdown(content: Node, base: str) -> str:
    """Return the content as Markdown with whole addresses in its links.

    Raises:
        ExtraMissing: If markdownify is not installed.
    """
    need_extra("markdownify", "bs4")
    _unwrap_layout(content)
    _join_wrappers(content)
    _whole_links(content, base)
    _name_code(content)
    markdownify: Any = import_module("markdownify")
    try:
        text = str(
            markdownify.markdownify(
                to_html(content),
                heading_style="ATX",
                bullets="-",
                escape_misc=False,
                escape_asterisks=False,
                escape_underscores=False,
                table_infer_header=True,
                bs4_options={"features": "lxml"},
                code_language_callback=_code_language,
            )
        )
    except RecursionError:
        text = words_of(content)
    return _tidied(text)


def to_lines(content: Node) -> str:
    """Return the words of the content, piece by piece and without their shape: for pages that are too big for more."""
    pieces = [piece for node in content.iter() for piece in (node.text, node.tail if node is not content else None)]
    return "\n".join(words for piece in pieces if piece and (words := " ".join(piece.split()))) + "\n"


def _unwrap_layout(content: Node) -> None:
    """Take tables apart that hold other tables or headings: they only place things on the screen."""
    for table in list(content.iter("table")):
        if next((one for one in table.iter("table", *_HEADINGS) if one is not table), None) is None:
            continue
        for node in list(table.iter("table", "thead", "tbody", "tr", "td", "th")):
            if node is table or next(node.iterancestors("table"), table) is table:
                node.tag = "div"


def _join_wrappers(content: Node) -> None:
    """Make one of what only wraps one other thing: each level costs time for every piece of text in it."""
    for node in list(content.iter(*_WRAPPERS)):
        parent = node.getparent()
        if node is content or parent is None or parent.tag not in _WRAPPERS or len(parent) != 1:
            continue
        if not (parent.text or "").strip() and not (node.tail or "").strip():
            node.drop_tag()


def _whole_links(content: Node, base: str) -> None:
    for node in list(content.iter("a", "img")):
        if node.tag == "img":
            _keep_description(node, base)
            continue
        href = node.get("href") or ""
        target = joined(base, href)
        is_mail = href.lower().startswith(("mailto:", "tel:"))
        is_heading = is_inside(node, *_HEADINGS)
        if target is None or len(target) > _MAX_URL or is_mail or is_heading or not words_of(node):
            node.drop_tag()
        else:
            node.set("href", target)
            if node.get("title") is not None:
                node.set("title", "")


def _keep_description(node: Node, base: str) -> None:
    """Keep a picture for what it shows; one without words is left out."""
    alt = " ".join((node.get("alt") or "").split())
    source = node.get("src") or ""
    if not alt or len(source) > _MAX_URL or source.startswith("data:"):
        node.tag = "span"
        node.text = alt
    else:
        node.set("alt", alt)
        node.set("src", urljoin(base, source))
        node.set("title", "")


def _name_code(content: Node) -> None:
    for pre in content.iter("pre"):
        for node in (pre, *pre.iter("code")):
            found = _CODE_LANGUAGE.search(node.get("class") or "")
            if found:
                pre.set("data-language", found[1])
                break


def _code_language(pre: Any) -> str:
    return str(pre.get("data-language") or "")


def _tidied(text: str) -> str:
    lines = [line.rstrip() if not line.endswith("  ") else line.rstrip() + "  " for line in text.splitlines()]
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n").rstrip() + "\n" if text.strip() else ""
