"""Texts with gaps."""

from __future__ import annotations

import re

_GAP = re.compile(r"\{\{\s*([A-Za-z][A-Za-z0-9_.]*)\s*\}\}")


def fill(template: str, **values: str) -> str:
    """Return the template with each ``{{name}}`` replaced by its value.

    A name without a value stays as it is. Values are put in as they are: what looks like a gap in one is not filled.
    """
    return _GAP.sub(lambda gap: values.get(gap[1], gap[0]), template)


def gaps(template: str) -> tuple[str, ...]:
    """Return the names that a template has gaps for, each once, in order."""
    return tuple(dict.fromkeys(_GAP.findall(template)))
