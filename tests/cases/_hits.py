"""Which hits an entry of a case means."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lilbee_core.types import Hit

Entry = Mapping[str, Any]
_COUNTS = frozenset({"count", "count_at_least", "distinct_lines", "path_compare"})


def folded(text: str) -> str:
    """Return `text` with all white space as single blanks."""
    return " ".join(text.split())


def meets(hit: Hit, entry: Entry) -> bool:
    """Say whether a hit is meant by an entry, counts aside.

    Raises:
        KeyError: If the entry has a key that is not known.
    """
    normal = entry.get("path_compare") == "normal form"
    for key, wanted in entry.items():
        if key in _COUNTS:
            continue
        if key == "path" and normal:
            if unicodedata.normalize("NFC", hit.path) != unicodedata.normalize("NFC", wanted):
                return False
        elif not _KEYS[key](hit, wanted):
            return False
    return True


def missing(hits: Sequence[Hit], entry: Entry) -> bool:
    """Say whether the hits lack what the entry asks for."""
    meant = [hit for hit in hits if meets(hit, entry)]
    if "count" in entry and len(meant) != entry["count"]:
        return True
    if len(meant) < max(1, entry.get("count_at_least", 1)) and entry.get("count") != 0:
        return True
    places = [(hit.path, hit.line_start, hit.line_end) for hit in meant]
    return bool(entry.get("distinct_lines")) and len(set(places)) != len(places)


def ghosts(hits: Sequence[Hit], entry: Entry) -> list[Hit]:
    """Return the hits that the entry forbids. A file counts also where a hit lists it as holding the same text."""
    found = [hit for hit in hits if meets(hit, entry)]
    if set(entry) == {"path"}:
        found += [hit for hit in hits if any(place.path == entry["path"] for place in hit.also_at)]
    return found


def shown(hits: Sequence[Hit], most: int = 6) -> str:
    """Return hits as a line for people."""
    if not hits:
        return "no hits"
    lines = [f"#{hit.rank} {hit.path} ({hit.chunk.location}) {folded(hit.text)[:70]!r}" for hit in hits[:most]]
    return "; ".join(lines) + (f"; and {len(hits) - most} more" if len(hits) > most else "")


def _text(hit: Hit, wanted: str | Sequence[str]) -> bool:
    text = folded(hit.text)
    return any(folded(one) in text for one in ([wanted] if isinstance(wanted, str) else wanted))


def _page(hit: Hit, wanted: int) -> bool:
    return hit.page_start is not None and hit.page_start <= wanted <= (hit.page_end or hit.page_start)


def _lines_cover(hit: Hit, wanted: Sequence[int]) -> bool:
    if hit.line_start is None or hit.line_end is None:
        return False
    return hit.line_start <= wanted[0] and wanted[1] <= hit.line_end


def _section(hit: Hit, wanted: str) -> bool:
    return any(wanted in (part or "") for part in (hit.heading, hit.symbol, hit.chunk.location.label))


_KEYS: Mapping[str, Callable[[Hit, Any], bool]] = {
    "path": lambda hit, wanted: hit.path == wanted,
    "text": _text,
    "rank_at_most": lambda hit, wanted: hit.rank <= wanted,
    "page": _page,
    "lines_cover": _lines_cover,
    "lines_start": lambda hit, wanted: hit.line_start == wanted,
    "section": _section,
    "member": lambda hit, wanted: hit.chunk.location.member == wanted,
}
