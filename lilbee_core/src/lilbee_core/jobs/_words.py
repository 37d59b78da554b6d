"""What a job works on, and what came of it, in a line for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

_NAMED = ("paths", "urls", "collections", "model")
_COUNTS = ("added", "updated", "removed", "moved", "embedded")
_LISTS = {
    "failed": ("failed", "failed"),
    "skipped": ("skipped", "skipped"),
    "pages": ("page changed", "pages changed"),
    "drafts": ("draft to review", "drafts to review"),
}


def subject(options: Mapping[str, object]) -> str:
    """Return what a job was told to work on; empty where that is the whole library."""
    return " ".join(str(one) for name in _NAMED for one in _items(options.get(name)))


def outcome(result: Mapping[str, object]) -> str:
    """Say what a sync, a crawl, a build of the wiki or a download did."""
    inner = _table(result.get("report")) or _table(result.get("sync")) or result
    told = [f"{inner[name]} {name}" for name in _COUNTS if inner.get(name)]
    told += [f"{result['ref']} is here"] if "ref" in result else []
    counts = [(len(_listed(inner.get(name))), words) for name, words in _LISTS.items()]
    told += [f"{count} {words[count != 1]}" for count, words in counts if count]
    if not told and "unchanged" in inner:
        told = [f"nothing changed, {inner['unchanged']} unchanged"]
    return ", ".join(told)


def _table(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _listed(value: object) -> list[object]:
    return list(cast("list[object]", value)) if isinstance(value, list | tuple) else []


def _items(value: object) -> list[object]:
    return [value] if isinstance(value, str) else _listed(value)
