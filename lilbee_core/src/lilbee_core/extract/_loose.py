"""Values of unknown shape, as parsers return them, taken apart safely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast


def fields(value: object) -> Mapping[str, object]:
    """Return a mapping with text keys; anything else counts as empty."""
    if not isinstance(value, Mapping):
        return {}
    return {str(key): one for key, one in cast("Mapping[object, object]", value).items()}


def items(value: object) -> list[object]:
    """Return the items of a list, a tuple or a set; anything else has none."""
    return list(cast("list[object]", value)) if isinstance(value, list | tuple | set) else []


def texts(value: object) -> list[str]:
    """Return a text or a list of texts as a list of texts."""
    return [value] if isinstance(value, str) else [str(one) for one in items(value)]
