"""What a question is about, where it is about several things."""

from __future__ import annotations

import re

_PART = "\0"
_COMPARES = re.compile(
    r"\b(?:compar(?:e[ds]?|ing|isons?|er|aison|ar|ación)|differ(?:s|ed|ent|ences?)?|better|worse|more|less|"
    r"vergleich(?:e|en|t)?|unterschiede?|unterscheid(?:en|et)|différences?|diferencias?)\b",
    re.IGNORECASE,
)
_SETS_APART = re.compile(r"\b(?:vs|versus|between|zwischen|entre|both|or)\b", re.IGNORECASE)
_JOINS = re.compile(
    r"\b(?:and|or|vs|versus|than|between|und|oder|als|gegenüber|zwischen|et|ou|entre|y)\b\.?", re.IGNORECASE
)
_JOINS_COMPARED = re.compile(r"\b(?:from|with|to|mit|von|avec|con)\b", re.IGNORECASE)
_LISTS = re.compile(r"[,;/&]")


def subjects(question: str) -> tuple[str, ...]:
    """Return the parts of a question that speak of one thing each; the whole where none are joined.

    "How do bees differ from wasps?" has the parts "How do bees" and "wasps?": words that only compare belong to none.
    English, German, French and Spanish are read; in another language a question is one part.
    """
    parts = question
    if _COMPARES.search(parts) or _SETS_APART.search(parts):
        parts = _JOINS_COMPARED.sub(_PART, _COMPARES.sub(" ", parts))
    parts = _JOINS.sub(_PART, parts)
    if _PART not in parts:
        return (question,)
    found = [part.strip() for part in _LISTS.sub(_PART, parts).split(_PART)]
    return tuple(part for part in found if part) or (question,)
