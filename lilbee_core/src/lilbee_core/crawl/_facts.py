"""What a page says about itself: title, date, language, author, its canonical address, and what robots may do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from lilbee_core.crawl._tree import Node, is_inside, words_of
from lilbee_core.crawl._urls import joined

_DATES = (
    "article:published_time", "datepublished", "date", "dc.date", "dcterms.date", "dcterms.created", "dc.date.issued",
    "pubdate", "publish_date", "citation_publication_date", "article:modified_time", "og:updated_time", "datemodified",
    "last-modified",
)  # fmt: skip
_ISO_DATE = re.compile(r"\s*(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?!\d)")
_JSON_DATES = ("datePublished", "dateCreated", "dateModified")
_MAX_JSON = 200_000
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a page says about itself; empty where it says nothing. `base` is what its links start from."""

    base: str
    title: str = ""
    canonical: str = ""
    date: str = ""
    language: str = ""
    author: str = ""
    description: str = ""
    site: str = ""
    noindex: bool = False
    nofollow: bool = False


def read_facts(root: Node, url: str, headers: Mapping[str, str]) -> Facts:
    """Return what the page at `url` says about itself."""
    meta = dict(_meta(root))
    base = _base(root, url)
    robots = {word.strip() for word in f"{meta.get('robots', '')},{headers.get('x-robots-tag', '')}".lower().split(",")}
    return Facts(
        base=base,
        title=_title(root, meta),
        canonical=_canonical(root, base) or "",
        date=_date(root, meta),
        language=_language(root, meta, headers),
        author=meta.get("author") or meta.get("article:author") or meta.get("dc.creator") or "",
        description=meta.get("description") or meta.get("og:description") or "",
        site=meta.get("og:site_name") or meta.get("application-name") or "",
        noindex=bool(robots & {"noindex", "none"}),
        nofollow=bool(robots & {"nofollow", "none"}),
    )


def links_of(root: Node, facts: Facts) -> tuple[str, ...]:
    """Return where the links of a page lead, in order and once each; those that it does not vouch for are left out."""
    if facts.nofollow:
        return ()
    found: dict[str, None] = {}
    for node in root.iter("a", "area", "link", "frame", "iframe"):
        href = node.get("src") if node.tag in {"frame", "iframe"} else node.get("href")
        relations = (node.get("rel") or "").lower().split()
        if not href or "nofollow" in relations or (node.tag == "link" and not {"next", "prev"} & set(relations)):
            continue
        if node.get("download") is not None and node.tag == "a" and href.startswith(("blob:", "data:")):
            continue
        target = joined(facts.base, href)
        if target is not None:
            found[target] = None
    return tuple(found)


def _meta(root: Node) -> Iterator[tuple[str, str]]:
    """Yield names and contents; of equal names the last one yielded wins, so the first of the page comes last."""
    for node in reversed(list(root.iter("meta"))):
        name = node.get("property") or node.get("name") or node.get("itemprop") or node.get("http-equiv") or ""
        content = " ".join((node.get("content") or "").split())
        if name and content:
            yield name.strip().lower(), content[:2000]


def _base(root: Node, url: str) -> str:
    node = next(root.iter("base"), None)
    return joined(url, (node.get("href") or "") if node is not None else "") or url


def _title(root: Node, meta: Mapping[str, str]) -> str:
    inside_picture = (node for node in root.iter("title") if not is_inside(node, "svg"))
    node = next(inside_picture, None)
    title = words_of(node) if node is not None else ""
    heading = next(root.iter("h1"), None)
    return (title or meta.get("og:title") or (words_of(heading) if heading is not None else ""))[:500]


def _canonical(root: Node, base: str) -> str | None:
    for node in root.iter("link"):
        if "canonical" in (node.get("rel") or "").lower().split():
            return joined(base, node.get("href") or "")
    return None


def _language(root: Node, meta: Mapping[str, str], headers: Mapping[str, str]) -> str:
    told = (
        root.get("lang")
        or root.get("xml:lang")
        or meta.get("content-language")
        or headers.get("content-language")
        or ""
    )
    found = _LANGUAGE.match(told.strip())
    return found[0].lower().replace("_", "-") if found else ""


# ------------------------------------------------------------------ dates


def _date(root: Node, meta: Mapping[str, str]) -> str:
    told = [meta[name] for name in _DATES if name in meta]
    told += _json_dates(root)
    told += [node.get("datetime") or "" for node in root.iter("time") if is_inside(node, "article", "main", "header")]
    return next((day for one in told if (day := _day(one))), "")


def _day(text: str) -> str:
    from datetime import date
    from email.utils import parsedate_to_datetime

    found = _ISO_DATE.match(text)
    try:
        if found:
            return date(int(found[1]), int(found[2]), int(found[3])).isoformat()
        return parsedate_to_datetime(text).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return ""


def _json_dates(root: Node) -> list[str]:
    found: dict[str, str] = {}
    for node in root.iter("script"):
        if "ld+json" not in (node.get("type") or "") or not node.text or len(node.text) > _MAX_JSON:
            continue
        try:
            values: object = json.loads(node.text)
        except (ValueError, RecursionError):
            continue
        for name, value in _pairs(values, depth=4):
            found.setdefault(name, value)
    return [found[name] for name in _JSON_DATES if name in found]


def _pairs(values: object, *, depth: int) -> Iterator[tuple[str, str]]:
    if depth == 0:
        return
    if isinstance(values, list):
        for one in cast("list[object]", values)[:50]:
            yield from _pairs(one, depth=depth - 1)
    elif isinstance(values, dict):
        for name, value in cast("dict[str, object]", values).items():
            if isinstance(value, str):
                yield name, value
            else:
                yield from _pairs(value, depth=depth - 1)
