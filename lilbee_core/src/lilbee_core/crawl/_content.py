"""The main content of a page: what is left when menus, banners, footers and what nobody sees are taken away.

By what the page says of its parts (elements, roles, names of classes), never by guessing which text is good: a short
page, a table, a list of links are content too. What would leave nothing is not taken away.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lilbee_core.crawl._tree import Counts, Node, is_inside

_NEVER_READ = (
    "script", "style", "noscript", "template", "iframe", "frame", "object", "embed", "applet", "svg", "canvas", "audio",
    "video", "source", "track", "map", "button", "input", "select", "textarea", "option", "datalist", "dialog", "link",
    "meta", "base",
)  # fmt: skip
_AROUND_ROLES = frozenset(
    {"navigation", "contentinfo", "search", "menu", "menubar", "dialog", "alertdialog", "toolbar"}
)
_CONSENT_NAMES = re.compile(r"(?:^|[-_])(?:cookies?|cookiebar|consent|gdpr|ccpa|onetrust)(?:$|[-_])")
_AROUND_NAMES = re.compile(
    r"(?:^|[-_])(?:nav|navbar|navigation|navmenu|menu|menubar|topnav|subnav|"
    r"breadcrumbs?|footer|sidebar|sidenav|skiplinks?|skip|share|sharing|social|sharedaddy|addtoany|newsletter|subscribe|"
    r"signup|advert|advertisement|ads|adsbygoogle|promo|banner|recommendations?|recommended|related|popup|modal|"
    r"headerlink|editsection|noprint|toolbar|pagination|pager|sitemap|masthead)(?:$|[-_])"
)
_NAME_END = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_KEPT = ("html", "body", "main", "article", "h1")
_MAIN_SHARE = 0.3
_LARGEST_NAMED_SHARE = 0.5
_LINKS, _LINK_SHARE, _LINK_CHARS, _LINK_BLOCK_SHARE = 4, 0.85, 30, 0.3


def take_content(root: Node) -> Node:
    """Return the part of the page that holds its content; the page is changed."""
    body = next(root.iter("body"), root)
    for node in list(body.iter(*_NEVER_READ)):
        _drop(node)
    _drop_where(body, _is_hidden)
    first_heading = next(body.iter("h1"), None)
    counts = _drop_where(body, _is_around) or Counts(body)
    counts = _drop_named(body, counts) or counts
    counts = _drop_menus(body, counts) or counts
    main = _main(body, counts)
    if first_heading is not None and next(main.iter("h1"), None) is None:
        main.insert(0, _moved(first_heading))
        if main.text and main.text.strip():
            first_heading.tail, main.text = main.text, None
    return main


def _main(body: Node, counts: Counts) -> Node:
    """Return the one element that says it is the content, if enough of the text is in it."""
    least = max(1, counts.of(body).letters * _MAIN_SHARE)
    for tag_or_role in ("main", "article"):
        found = {
            node for node in body.iter() if _tag(node) == tag_or_role or (node.get("role") or "").lower() == tag_or_role
        }
        outer = [node for node in found if found.isdisjoint(node.iterancestors())]
        if len(outer) == 1 and counts.of(outer[0]).letters >= least:
            return outer[0]
    return body


# ------------------------------------------------------------------ what stands around


def _is_hidden(node: Node) -> bool:
    if node.get("hidden") is not None or (node.get("aria-hidden") or "").lower() == "true":
        return True
    return _HIDDEN_STYLE.search(node.get("style") or "") is not None


def _is_around(node: Node) -> bool:
    tag, role = _tag(node), (node.get("role") or "").lower()
    if tag == "nav" or role in _AROUND_ROLES:
        return True
    if tag in {"footer", "header", "aside"} or role in {"banner", "complementary"}:
        return not is_inside(node, "main", "article", "section", "blockquote") and not _is_in_main_role(node)
    return False


def _is_in_main_role(node: Node) -> bool:
    return any((one.get("role") or "").lower() == "main" for one in node.iterancestors())


def _drop_named(body: Node, counts: Counts) -> Counts | None:
    """Drop what calls itself a menu, a banner and so on, unless it holds the content."""
    largest = counts.of(body).letters * _LARGEST_NAMED_SHARE

    def is_named(node: Node) -> bool:
        names = [
            _NAME_END.sub("-", name).lower() for name in f"{node.get('class') or ''} {node.get('id') or ''}".split()
        ]
        is_consent = any(map(_CONSENT_NAMES.search, names))
        if not is_consent and not any(map(_AROUND_NAMES.search, names)):
            return False
        if _tag(node) in _KEPT or next((one for one in node.iter(*_KEPT) if one is not node), None) is not None:
            return False
        return is_consent or counts.of(node).letters <= largest

    return _drop_where(body, is_named, counts)


def _drop_menus(body: Node, counts: Counts) -> Counts | None:
    """Drop blocks outside of the content that are nothing but a few short links."""
    largest = counts.of(body).letters * _LINK_BLOCK_SHARE

    def is_menu(node: Node) -> bool:
        own = counts.of(node)
        if _tag(node) not in {"ul", "ol", "div", "td", "p", "section"} or not 0 < own.letters <= largest:
            return False
        is_linked = own.links >= _LINKS and own.linked >= own.letters * _LINK_SHARE
        return is_linked and own.linked <= own.links * _LINK_CHARS and not is_inside(node, "main", "article")

    return _drop_where(body, is_menu, counts)


def _drop_where(body: Node, fits: Callable[[Node], bool], counts: Counts | None = None) -> Counts | None:
    """Drop the elements that fit, outermost first, unless nothing would be left; return new counts if it did."""
    found: list[Node] = []
    stack = list(body)
    while stack:
        node = stack.pop()
        if fits(node):
            found.append(node)
        else:
            stack.extend(node)
    if not found:
        return None
    counts = counts or Counts(body)
    if sum(counts.of(node).letters for node in found) >= counts.of(body).letters:
        return None
    for node in found:
        _drop(node)
    return Counts(body)


def _drop(node: Node) -> None:
    if node.getparent() is not None:
        node.drop_tree()


def _moved(node: Node) -> Node:
    if node.getparent() is not None:
        node.drop_tree()
    node.tail = None
    return node


def _tag(node: Node) -> str:
    return node.tag.lower()
