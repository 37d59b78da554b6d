"""Patterns of ignore files, matched the way git does: one entry at a time, the last pattern that fits decides.

A library that matches whole paths cannot tell that a folder was taken back by one file and its content by another;
git itself never asks about the content of an ignored folder. Plain names, paths and endings, which most patterns
are, are looked up; only the others are tried one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lilbee_core.ingest._names import composed

_SPECIAL = frozenset("*?[\\")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CLASSES = {
    "alnum": r"0-9A-Za-z", "alpha": r"A-Za-z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "digit": r"0-9",
    "graph": r"!-~", "lower": r"a-z", "print": r" -~", "punct": r"!-/:-@\[-`{-~", "space": r" \t\n\r\f\v",
    "upper": r"A-Z", "xdigit": r"0-9A-Fa-f",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of an ignore file.

    `glob` is without negation and slashes around it. A pattern without a slash inside is compared with names at any
    depth, another one with the path from the folder of its file on.
    """

    text: str
    glob: str
    negated: bool
    folders_only: bool
    anchored: bool


def parse(line: str) -> Pattern | None:
    """Return the pattern of a line; None for comments, blank lines and patterns that can never match."""
    if line.startswith("#"):
        return None
    text = composed(_without_blanks(line))
    glob, negated = (text[1:], True) if text.startswith("!") else (text, False)
    folders_only = glob.endswith("/")
    glob = glob[:-1] if folders_only else glob
    anchored = "/" in glob
    glob = glob.removeprefix("/")
    if not glob or _ends_open(glob):
        return None
    return Pattern(text, glob, negated, folders_only, anchored)


def _without_blanks(line: str) -> str:
    """Return the line without the blanks at its end, of which one behind a backslash stays."""
    kept = line.rstrip(" ")
    return kept + " " if kept != line and _ends_open(kept) else kept


def _ends_open(text: str) -> bool:
    """Say whether the text ends in a backslash that protects nothing."""
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


class Matcher:
    """Finds the pattern that decides about an entry. Threads may share it."""

    __slots__ = ("_endings", "_globs", "_names", "_paths", "_patterns")

    def __init__(self, lines: Iterable[str]) -> None:
        self._patterns: list[Pattern] = []
        self._names: dict[str, list[int]] = {}
        self._paths: dict[str, list[int]] = {}
        self._endings: dict[str, list[int]] = {}
        self._globs: list[tuple[int, bool, Callable[[str], object]]] = []
        for pattern in (found for line in lines if (found := parse(line)) is not None):
            self._add(len(self._patterns), pattern)
            self._patterns.append(pattern)
        self._globs.reverse()

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def __iter__(self) -> Iterator[Pattern]:
        return iter(self._patterns)

    def _add(self, index: int, pattern: Pattern) -> None:
        glob = pattern.glob
        if not _SPECIAL & set(glob):
            (self._paths if pattern.anchored else self._names).setdefault(glob, []).append(index)
            return
        ending = glob[1:]
        if not pattern.anchored and glob[0] == "*" and ending.rfind(".") == 0 and not _SPECIAL & set(ending):
            self._endings.setdefault(ending, []).append(index)
            return
        test = compiled(glob, whole_path=pattern.anchored)
        if test is not None:
            self._globs.append((index, pattern.anchored, test))

    def find(self, path: str, name: str, is_folder: bool) -> Pattern | None:
        """Return the last pattern that fits the entry at `path`, whose last part is `name`."""
        best = self._last(path, name, is_folder)
        return self._patterns[best] if best >= 0 else None

    def covers(self, path: str, is_folder: bool) -> bool:
        """Say whether the last pattern that fits the entry at `path`, or a folder above it, is not negated."""
        best = -1
        while path:
            best = max(best, self._last(path, path.rpartition("/")[2], is_folder))
            path, is_folder = path.rpartition("/")[0], True
        return best >= 0 and not self._patterns[best].negated

    def _last(self, path: str, name: str, is_folder: bool) -> int:
        best = -1
        for index in (*self._names.get(name, ()), *self._paths.get(path, ())):
            if index > best and (is_folder or not self._patterns[index].folders_only):
                best = index
        dot = name.rfind(".")
        if dot >= 0:
            for index in self._endings.get(name[dot:], ()):
                if index > best and (is_folder or not self._patterns[index].folders_only):
                    best = index
        for index, anchored, test in self._globs:
            if index <= best:
                break
            if (is_folder or not self._patterns[index].folders_only) and test(path if anchored else name):
                best = index
                break
        return best


@lru_cache(maxsize=1024)
def compiled(glob: str, *, whole_path: bool) -> Callable[[str], object] | None:
    """Return a test for a glob; None for one that can never match (a bracket that is not closed)."""
    expression = _expression(glob, whole_path=whole_path)
    return None if expression is None else re.compile(expression, re.DOTALL).fullmatch


def _expression(glob: str, *, whole_path: bool) -> str | None:
    parts: list[str] = []
    at = 0
    while at < len(glob):
        sign = glob[at]
        if sign == "*":
            piece, at = _stars(glob, at, whole_path=whole_path)
        elif sign == "?":
            piece, at = ("[^/]" if whole_path else "."), at + 1
        elif sign == "[":
            found = _bracket(glob, at, whole_path=whole_path)
            if found is None:
                return None
            piece, at = found
        elif sign == "\\":
            piece, at = re.escape(glob[at + 1]), at + 2
        else:
            piece, at = re.escape(sign), at + 1
        parts.append(piece)
    return "".join(parts)


def _stars(glob: str, at: int, *, whole_path: bool) -> tuple[str, int]:
    end = at
    while end < len(glob) and glob[end] == "*":
        end += 1
    if not whole_path:
        return ".*", end
    starts = at == 0 or glob[at - 1] == "/"
    if end - at > 1 and starts and glob[end : end + 1] == "/":
        return "(?:.*/)?", end + 1
    if end - at > 1 and starts and end == len(glob):
        return ".*" if at == 0 else ".+", end
    return "[^/]*", end


def _bracket(glob: str, at: int, *, whole_path: bool) -> tuple[str, int] | None:
    """Return the class that starts at `at` and where it ends; None when it does not end."""
    at += 1
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    pieces: list[str] = []
    first = True
    while at < len(glob) and (glob[at] != "]" or first):
        first = False
        if glob.startswith("[:", at) and (end := glob.find(":]", at)) > 0:
            if glob[at + 2 : end] not in _CLASSES:
                return None
            pieces.append(_CLASSES[glob[at + 2 : end]])
            at = end + 2
            continue
        low, at = _sign(glob, at)
        if glob[at : at + 1] == "-" and glob[at + 1 : at + 2] not in ("", "]"):
            high, at = _sign(glob, at + 1)
            pieces.append(f"{re.escape(low)}-{re.escape(high)}" if low <= high else re.escape(low))
        else:
            pieces.append(re.escape(low))
    if at >= len(glob):
        return None
    body = "".join(pieces)
    slash = "(?!/)" if whole_path else ""
    if not body:
        return (f"{slash}." if negated else "(?!)"), at + 1
    return f"{slash}[{'^' if negated else ''}{body}]", at + 1


def _sign(glob: str, at: int) -> tuple[str, int]:
    """Return a sign inside brackets, and where the next one is."""
    if glob[at] == "\\" and at + 1 < len(glob):
        return glob[at + 1], at + 2
    return glob[at], at + 1


def literal_prefix(pattern: Pattern) -> Sequence[str]:
    """Return the folders that a path must lie in to fit: the parts of the glob before the first wild one."""
    if not pattern.anchored:
        return ()
    parts = pattern.glob.split("/")
    wild = next((at for at, part in enumerate(parts) if _SPECIAL & set(part)), len(parts))
    return parts[:wild]


def first_name(pattern: Pattern) -> str | None:
    """Return the name of the one entry in which, or in whose folder, everything lies that fits; None if many may."""
    if not pattern.anchored:
        return None
    first = pattern.glob.partition("/")[0]
    return None if _SPECIAL & set(_ESCAPED.sub("", first)) else _ESCAPED.sub(r"\1", first)
