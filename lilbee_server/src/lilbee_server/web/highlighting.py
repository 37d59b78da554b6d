"""Source code with its words marked by classes; what they look like is said by the style of the page."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

PREFIX = "hl-"
"""What the classes begin with."""
_LONGEST = 20_000


@lru_cache(maxsize=256)
def highlighted(code: str, language: str, _attributes: str = "") -> str:
    """Return code as HTML, nothing where the language is not known or the code is too long.

    A reply that is being written is read again and again: what stands in it already is kept.
    """
    if not language or len(code) > _LONGEST:
        return ""
    lexers: Any = import_module("pygments.lexers")
    formatters: Any = import_module("pygments.formatters.html")
    try:
        lexer = lexers.get_lexer_by_name(language[:40], stripnl=False, ensurenl=False)
    except ValueError:  # pygments.util.ClassNotFound
        return ""
    made: str = import_module("pygments").highlight(
        code, lexer, formatters.HtmlFormatter(nowrap=True, classprefix=PREFIX)
    )
    return made
