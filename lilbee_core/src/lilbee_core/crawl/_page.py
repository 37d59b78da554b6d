"""A page as it is kept: Markdown with what the page says of itself at its head."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from lilbee_core.crawl._charset import decode_page
from lilbee_core.crawl._content import take_content
from lilbee_core.crawl._facts import Facts, links_of, read_facts
from lilbee_core.crawl._markdown import to_lines, to_markdown
from lilbee_core.crawl._tree import Node, parse_page, words_of

_SHAPED_CHARS = 3_000_000
_SHELL_CHARS = 200
_APP_ROOTS = frozenset({"root", "app", "application", "main", "__next", "__nuxt", "___gatsby", "svelte", "mount"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What came out of an HTML page: its text as Markdown, its links, and what it says about itself."""

    url: str
    facts: Facts
    text: str
    links: tuple[str, ...]
    looks_empty: bool = False

    @property
    def digest(self) -> str:
        """Stands for title and text: pages with an equal one say the same."""
        return digest_of(f"{self.facts.title}\n{self.text}".encode("utf-8", "surrogatepass"))

    def to_file(self) -> bytes:
        """Return the file that is kept: front matter, then the text."""
        facts = self.facts
        told = {
            "title": facts.title,
            "url": self.url,
            "canonical": facts.canonical if facts.canonical != self.url else "",
            "date": facts.date,
            "language": facts.language,
            "author": facts.author,
            "site": facts.site,
            "description": facts.description,
        }
        # A JSON string is a YAML string too.
        lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in told.items() if value]
        return "\n".join(["---", *lines, "---", "", self.text]).encode("utf-8", "replace")


def read_html(body: bytes, content_type: str, url: str, headers: Mapping[str, str]) -> Page:
    """Return what an HTML page holds.

    Raises:
        ExtraMissing: If what reads pages is not installed.
    """
    html = decode_page(body, content_type)
    root = parse_page(html)
    if root is None:
        return Page(url=url, facts=Facts(base=url), text="", links=(), looks_empty=True)
    facts = read_facts(root, url, headers)
    links = links_of(root, facts)
    is_shell = _is_shell(root)
    content = take_content(root)
    text = to_markdown(content, facts.base) if len(html) <= _SHAPED_CHARS else to_lines(content)
    looks_empty = is_shell and len(text) < _SHELL_CHARS and len(links) < 2
    return Page(url=url, facts=facts, text=text, links=links, looks_empty=looks_empty)


def _is_shell(root: Node) -> bool:
    """Say whether a page looks as if its scripts made what it shows: with a place for it, or with excuses."""
    if next(root.iter("script"), None) is None:
        return False
    if any("script" in words_of(node).lower() for node in root.iter("noscript")):
        return True
    return any(node.get("id") in _APP_ROOTS and not words_of(node) for node in root.iter("div", "main", "section"))


def digest_of(body: bytes) -> str:
    """Return a digest of a file."""
    return hashlib.sha256(body).hexdigest()
