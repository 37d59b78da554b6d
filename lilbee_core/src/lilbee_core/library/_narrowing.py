"""Filters that name what is not there: an unknown collection is an error, an unknown type a warning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from lilbee_core.errors import NotFound
from lilbee_core.library._parts import Parts

if TYPE_CHECKING:
    from lilbee_core.types import DocumentRow, SearchResult

_SHOWN = 8


def collection_names(parts: Parts) -> list[str]:
    """Return the names of the collections: those of the settings, and those that hold documents."""
    named = [root.collection for root in parts.roots()]
    return list(dict.fromkeys([*named, *(collection for collection, _ in parts.store.counts())]))


def check_collections(parts: Parts, names: Iterable[str]) -> None:
    """Refuse names of collections that do not exist.

    Raises:
        NotFound: With the names that do.
    """
    wanted = list(names)
    if not wanted:
        return
    known = collection_names(parts)
    for name in wanted:
        if name not in known:
            nearest = get_close_matches(name, known, n=1)
            meant = f"Did you mean {nearest[0]}? " if nearest else ""
            listed = f"Choose one of {', '.join(known)}." if known else "Run `lilbee add FOLDER` to make one."
            raise NotFound(f"there is no collection {name!r}", hint=meant + listed)


def type_warnings(parts: Parts, result: SearchResult) -> tuple[str, ...]:
    """Say which types of a search that found nothing no document has, and which there are."""
    kinds = result.query.filters.media_types
    if result.hits or not kinds:
        return ()
    rows = list(parts.store.rows(states=("indexed",)))
    missing = [kind for kind in kinds if not any(_is_of(row, kind.lower()) for row in rows)]
    if not missing:
        return ()
    counts = Counter(_ending(row) or row.media_type for row in rows)
    there = ", ".join(f"{kind} ({count})" for kind, count in counts.most_common(_SHOWN)) or "none"
    return (f"no document has the type {' or '.join(missing)}; there are: {there}",)


def _is_of(row: DocumentRow, kind: str) -> bool:
    if "/" not in kind:
        return _ending(row) == kind.lstrip(".")
    media_type = row.media_type.lower()
    return media_type.startswith(kind[:-1]) if kind.endswith("/*") else media_type == kind


def _ending(row: DocumentRow) -> str:
    return PurePosixPath(row.path).suffix.lstrip(".").lower()
