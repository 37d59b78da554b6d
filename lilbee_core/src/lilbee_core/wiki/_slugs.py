"""Names of pages: what a title is called as a file and in a link."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from lilbee_core.analysis import fold

_OTHER = re.compile(r"[\W_]+")
_LONGEST = 80
# Windows gives these to devices, and the folder's own files must not be overwritten.
_TAKEN = frozenset(
    ["con", "prn", "aux", "nul", "index", "log", *(f"{one}{n}" for one in ("com", "lpt") for n in range(1, 10))]
)


def slug_of(title: str) -> str:
    """Return the name of a page: lower case, hyphens between words, letters of any script."""
    slug = _OTHER.sub("-", fold(title)).strip("-")[:_LONGEST].rstrip("-")
    return slug if slug and slug not in _TAKEN else f"{slug or 'page'}-{_digest(title)}"


def slugs_of(titles: Mapping[str, str]) -> dict[str, str]:
    """Return a name for each key, no two alike: where titles would give the same one, all get a mark of their key."""
    plain = {key: slug_of(title) for key, title in titles.items()}
    times: dict[str, int] = {}
    for slug in plain.values():
        times[slug] = times.get(slug, 0) + 1
    return {key: slug if times[slug] == 1 else f"{slug}-{_digest(key)}" for key, slug in plain.items()}


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=3).hexdigest()
