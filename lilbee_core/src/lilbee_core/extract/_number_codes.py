"""The codes by which spreadsheets say how a number looks (``#,##0.00 "t"``), taken apart. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

GENERAL = "General"
DAY = "yyyy-mm-dd"
"""What stands for the short date of the system, which a file does not tell."""

_MONEY = '"$"#,##0'
_BOOK = '_("$"* #,##0'
BUILT_IN = {
    0: GENERAL, 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00",
    5: f"{_MONEY}_);({_MONEY})", 6: f"{_MONEY}_);[Red]({_MONEY})",
    7: f"{_MONEY}.00_);({_MONEY}.00)", 8: f"{_MONEY}.00_);[Red]({_MONEY}.00)",
    9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: DAY, 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm",
    21: "h:mm:ss", 22: f"{DAY} h:mm", **dict.fromkeys((*range(27, 32), 36, *range(50, 55), 57, 58), DAY),
    32: "h:mm", 33: "h:mm:ss", 34: "h:mm", 35: "h:mm:ss", 55: "h:mm", 56: "h:mm:ss",
    37: "#,##0_);(#,##0)", 38: "#,##0_);[Red](#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)",
    41: "_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)", 42: f"{_BOOK}_);_(\"$\"* (#,##0);_(\"$\"* \"-\"_);_(@_)",
    43: "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
    44: f"{_BOOK}.00_);_(\"$\"* (#,##0.00);_(\"$\"* \"-\"??_);_(@_)",
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip
"""Codes that files name by number alone. Dates that follow the system's settings are shown as ISO dates."""

Token: TypeAlias = tuple[str, str]
"""A kind (``text``, ``digit``, ``point``, ``comma``, ``percent``, ``exponent``, ``slash``, ``date``, ``elapsed``,
``half``, ``general``, ``value``) and how it is written."""

_TOKEN = re.compile(
    r"""
      "(?P<quoted>[^"]*)"? | \\(?P<escaped>.) | _(?P<space>.) | \*(?P<fill>.)
    | \[(?P<bracket>[^\]]*)\]
    | (?P<general>general)
    | (?P<half>am/pm|a/p)
    | (?P<exponent>e[+-])
    | (?P<date>y+|m+|d+|h+|s+|b+|e+|g+)
    | (?P<digit>[0#?]) | (?P<point>\.) | (?P<comma>,) | (?P<percent>%) | (?P<slash>/) | (?P<value>@)
    | (?P<text>.)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_CONDITION = re.compile(r"(<=|>=|<>|=|<|>)\s*(-?\d+(?:\.\d*)?(?:e[+-]?\d+)?)$", re.IGNORECASE)
_ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
_SYSTEM = {"$-f800": f"{DAY}", "$-f400": "h:mm:ss", "$-x-sysdate": f"{DAY}", "$-x-systime": "h:mm:ss"}
_MOMENTS = frozenset(("date", "elapsed", "half"))
_PLAIN = re.compile(r"(#,##|#*)(0*)(?:\.(0+))?")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": lambda value, than: value < than,
    ">": lambda value, than: value > than,
    "<=": lambda value, than: value <= than,
    ">=": lambda value, than: value >= than,
    "=": lambda value, than: value == than,
    "<>": lambda value, than: value != than,
}


@dataclass(frozen=True, slots=True)
class Plain:
    """What nearly all codes for numbers come to: words, digits with or without groups, places, words."""

    before: str
    zeros: int
    grouped: bool
    places: int
    after: str
    percents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of a code: which numbers it is for, where that is said, and what it is made of."""

    tokens: tuple[Token, ...]
    kinds: frozenset[str]
    condition: tuple[str, float] | None = None
    plain: Plain | None = None

    @property
    def is_date(self) -> bool:
        """Say whether it shows a moment or a duration."""
        return not self.kinds.isdisjoint(_MOMENTS)

    def admits(self, value: float) -> bool:
        """Say whether the section is for a number."""
        return self.condition is None or _COMPARE[self.condition[0]](value, self.condition[1])

    @property
    def only_below_zero(self) -> bool:
        """Say whether only numbers below zero are shown by it, which then show no sign of their own."""
        return self.condition is not None and self.condition[0] in {"<", "<="} and self.condition[1] <= 0


@dataclass(frozen=True, slots=True)
class Code:
    """A code: its sections for numbers, and the one for texts."""

    numbers: tuple[Section, ...]
    text: Section | None
    conditional: bool = False

    def section(self, value: float) -> tuple[Section | None, bool]:
        """Return the section for a number, and whether the number loses its sign there."""
        sections = self.numbers
        if self.conditional:
            found = next((one for one in sections if one.admits(value)), None)
            return found, found is not None and found.only_below_zero
        if value < 0 and len(sections) > 1:
            return sections[1], True
        return sections[2 if len(sections) > 2 and value == 0 else 0], False


@lru_cache(maxsize=2048)
def read_code(code: str) -> Code:
    """Take a code apart. Nothing is too odd: what means nothing is text."""
    sections = [_section(tokens) for tokens in _sections(_system(code))]
    text = sections[3] if len(sections) > 3 else None
    if text is None and "value" in sections[-1].kinds:
        text = sections[-1]
        if len(sections) > 1 and not sections[-1].kinds & {"digit", "date"}:
            del sections[-1]
    numbers = tuple(sections[:3])
    return Code(numbers, text, any(one.condition is not None for one in numbers))


def _system(code: str) -> str:
    """Return the code that stands for one which follows the system's settings."""
    lowered = code.strip().lower()
    for mark, stands in _SYSTEM.items():
        if lowered.startswith(f"[{mark}]"):
            return stands
    return code or GENERAL


def _sections(code: str) -> list[list[Token]]:
    found: list[list[Token]] = [[]]
    for token in _tokens(code):
        if token == ("text", ";"):
            found.append([])
        else:
            found[-1].append(token)
    return found


def _tokens(code: str) -> Iterator[Token]:
    for match in _TOKEN.finditer(code):
        kind, written = match.lastgroup or "text", match[match.lastgroup or 0]
        if kind in {"quoted", "escaped"}:
            yield "quoted", written
        elif kind == "space":
            yield "quoted", " "
        elif kind == "bracket":
            yield from _bracket(written)
        elif kind != "fill":
            yield kind, written


def _bracket(inner: str) -> Iterator[Token]:
    if inner.startswith("$"):
        if symbol := inner[1:].split("-", 1)[0]:
            yield "quoted", symbol
    elif _ELAPSED.fullmatch(inner):
        yield "elapsed", inner
    elif _CONDITION.match(inner):
        yield "condition", inner
    # Everything else is a color.


def _section(tokens: Sequence[Token]) -> Section:
    told = next((found for kind, one in tokens if kind == "condition" and (found := _CONDITION.match(one))), None)
    kept = tuple(("text" if kind == "quoted" else kind, one) for kind, one in tokens if kind != "condition")
    return Section(
        tokens=kept,
        kinds=frozenset(kind for kind, _ in kept),
        condition=(told[1], float(told[2])) if told else None,
        plain=_plain(kept),
    )


def _plain(tokens: Sequence[Token]) -> Plain | None:
    """Return what the tokens come to, None where they come to more."""
    places = [at for at, (kind, _) in enumerate(tokens) if kind in {"digit", "point", "comma"}]
    if not places:
        return None
    first, last = places[0], places[-1] + 1
    found = _PLAIN.fullmatch("".join(one for _, one in tokens[first:last]))
    around = (*tokens[:first], *tokens[last:])
    if found is None or not found[2] or any(kind not in {"text", "percent"} for kind, _ in around):
        return None
    return Plain(
        before="".join(one for _, one in tokens[:first]),
        zeros=len(found[2]),
        grouped="," in found[1],
        places=len(found[3] or ""),
        after="".join(one for _, one in tokens[last:]),
        percents=sum(kind == "percent" for kind, _ in around),
    )
