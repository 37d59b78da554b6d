"""Source code with its words marked by classes; what they look like is said by the style of the page."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

PREFIX = "hl-"
"""What the classes begin with."""
_LONGEST = 20_000
_SHOWN_KINDS = ("k", "s", "m", "c", "nb", "nc", "nd", "nf", "nt", "g")
"""Kinds that look like something; marks of the others would make a page three times as long."""


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


def kinds_in(code: str, path: str) -> list[tuple[int, int, str]]:
    """Return the words of code with the classes of their kinds, none where its language is not known by its name.

    Each is a start, an end and a class, in order.
    """
    lexer = _lexer_of(path.rpartition("/")[2][-100:])
    if lexer is None:
        return []
    classes: Any = import_module("pygments.token").STANDARD_TYPES
    found = ((at, at + len(text), str(classes.get(kind, ""))) for at, kind, text in lexer.get_tokens_unprocessed(code))
    return [(start, end, f"{PREFIX}{kind}") for start, end, kind in found if kind.startswith(_SHOWN_KINDS)]


@lru_cache(maxsize=256)
def _lexer_of(name: str) -> Any:
    """Return what tells the words of a file apart, by its name; None where nothing does."""
    lexers: Any = import_module("pygments.lexers")
    try:
        return lexers.get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ValueError:  # pygments.util.ClassNotFound
        return None
