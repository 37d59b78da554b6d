"""What a `Filter` lets through, said once more and more simply than the store says it in SQL."""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import normalize

from lilbee_core.errors import InvalidFilter
from lilbee_core.types import Chunk, Filter, Scope

_DATE = re.compile(r"\d{4}(-\d{2}(-\d{2}([T ].*)?)?)?")
_GLOB = re.compile(r"\*\*/|\*\*|\*|\?|\[[^\]]+\]|.", re.DOTALL)
_GLOB_PARTS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def passes(chunk: Chunk, filters: Filter, scope: Scope) -> bool:
    """Say whether a query with this filter and scope may see the chunk."""
    after, before = _date(filters.after), _date(filters.before)
    if scope is not Scope.BOTH and chunk.scope != scope.value:
        return False
    tests: tuple[tuple[tuple[str, ...], Callable[[str], bool]], ...] = (
        (filters.paths, lambda one: _on_path(one, chunk.path)),
        (filters.media_types, lambda one: _of_type(one, chunk)),
        (filters.languages, lambda one: one.lower() == (chunk.language or "").lower()),
        (filters.collections, lambda one: one == chunk.collection),
        (filters.document_ids, lambda one: one == chunk.document_id),
    )
    if not all(any(map(test, values)) for values, test in tests if values):
        return False
    dated = chunk.date is not None
    return (not after or (dated and after <= str(chunk.date))) and (not before or (dated and str(chunk.date) < before))


def _date(text: str | None) -> str | None:
    if text and not _DATE.fullmatch(text.strip()):
        raise InvalidFilter(f"{text!r} is not a date", hint="Write an ISO date such as 2026-03-14.")
    return text.strip() if text else None


def _on_path(given: str, path: str) -> bool:
    pattern = normalize("NFC", given.strip()).removeprefix("./").lstrip("/")
    if not pattern:
        raise InvalidFilter(f"{given!r} is not a path", hint="Give a folder, a file, or a glob such as *.md.")
    if any(sign in pattern for sign in "*?["):
        expression = "".join(_translated(match.group()) for match in _GLOB.finditer(pattern))
        return re.fullmatch(expression, path if "/" in pattern else path.rpartition("/")[2], re.DOTALL) is not None
    if pattern.endswith("/"):
        return path.startswith(pattern)
    if "/" in pattern:
        return path == pattern or path.startswith(f"{pattern}/")
    return pattern in path.split("/")


def _translated(piece: str) -> str:
    if piece.startswith("[") and len(piece) > 1:
        return f"[^/{piece[2:]}" if piece[1] in "!^" else piece
    return _GLOB_PARTS.get(piece) or re.escape(piece)


def _of_type(given: str, chunk: Chunk) -> bool:
    kind = given.strip().lower()
    if "/" not in kind:
        ending = "." + kind.removeprefix("*").removeprefix(".")
        return any(name.lower().endswith(ending) for name in (chunk.path, chunk.location.member or ""))
    media_type = chunk.media_type.lower()
    return media_type.startswith(kind[:-1]) if kind.endswith("/*") else media_type == kind
