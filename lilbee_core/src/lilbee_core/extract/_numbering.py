"""The numbers and marks that Word puts before paragraphs of lists and numbered headings."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from lilbee_core.extract._package import attribute, child, children, local

_PLACE = re.compile(r"%([1-9])")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


class Numbering:
    """Counts list items as Word does. One object reads one document from its start."""

    def __init__(self, tree: Element | None) -> None:
        self._levels: dict[tuple[str, int], tuple[str, str, int]] = {}
        self._abstract: dict[str, str] = {}
        self._counters: dict[tuple[str, int], int] = {}
        self._styled: dict[tuple[str, str], int] = {}
        self._indents: dict[tuple[str, int], int] = {}
        self._restarts: dict[tuple[str, int], int] = {}
        lists = [one for one in children(tree) if local(one) == "abstractNum"]
        abstract = {attribute(one, "abstractNumId"): one for one in lists}
        # A list may say no more than that it looks like a style of lists, which another one defines.
        styles = {_value(one, "styleLink"): one for one in lists if child(one, "styleLink") is not None}
        for key, one in abstract.items():
            abstract[key] = styles.get(_value(one, "numStyleLink"), one)
        for one in children(tree):
            if local(one) == "num":
                self._read(one, abstract)

    def _read(self, num: Element, abstract: dict[str, Element]) -> None:
        number = attribute(num, "numId")
        link = child(num, "abstractNumId")
        base = attribute(link, "val") if link is not None else ""
        self._abstract[number] = base
        for level in children(abstract.get(base)):
            if local(level) == "lvl":
                self._define(number, level)
        for override in num:
            replaced = child(override, "lvl")
            if replaced is not None:
                self._define(number, replaced)
            if start := _value(override, "startOverride"):
                self._restarts[number, _integer(attribute(override, "ilvl"), 0)] = _integer(start, 1)

    def _define(self, number: str, level: Element) -> None:
        values = {local(one): attribute(one, "val") for one in level}
        depth = _integer(attribute(level, "ilvl"), 0)
        text = values.get("lvlText", "")
        if style := values.get("pStyle"):
            self._styled[number, style] = depth
        place = child(level, "pPr", "ind")
        self._indents[number, depth] = indent_of(place)
        self._levels[number, depth] = (values.get("numFmt", "decimal"), text, _integer(values.get("start", ""), 1))

    def depth_of(self, number: str, style: str) -> int:
        """Return the level of a list that a style stands for."""
        return self._styled.get((number, style), 0)

    def indent(self, number: str, depth: int) -> int:
        """Return how far a level of a list is indented, in twentieths of a point."""
        return self._indents.get((number, depth), 0)

    def mark(self, number: str, depth: int) -> str:
        """Count one paragraph and return what stands before it (``2.1``, ``b)``, ``-``), or an empty string."""
        defined = self._levels.get((number, depth))
        if defined is None:
            return ""
        form, text, start = defined
        if form == "bullet":
            return "-"
        if form == "none":
            return ""
        group = self._abstract.get(number, number)
        if (first := self._restarts.pop((number, depth), None)) is not None:
            self._counters[group, depth] = first - 1
        self._counters[group, depth] = self._counters.get((group, depth), start - 1) + 1
        for key in [key for key in self._counters if key[0] == group and key[1] > depth]:
            del self._counters[key]
        return _PLACE.sub(lambda found: self._shown(number, group, int(found[1]) - 1), text).strip()

    def _shown(self, number: str, group: str, depth: int) -> str:
        form, _, start = self._levels.get((number, depth), ("decimal", "", 1))
        return formatted(self._counters.get((group, depth), start), form)


def formatted(value: int, form: str) -> str:
    """Return a number as a list shows it (`decimal`, `lowerLetter`, `upperRoman`, …)."""
    if form in {"lowerLetter", "upperLetter"} and value > 0:
        letter = chr(ord("a") + (value - 1) % 26) * min(5, (value - 1) // 26 + 1)
        return letter.upper() if form == "upperLetter" else letter
    if form in {"lowerRoman", "upperRoman"} and 0 < value < 4000:
        roman = _roman(value)
        return roman.upper() if form == "upperRoman" else roman
    return f"{value:02}" if form == "decimalZero" else str(value)


def _roman(value: int) -> str:
    found = ""
    for size, letters in _ROMAN:
        while value >= size:
            found += letters
            value -= size
    return found


def _value(holder: Element, name: str) -> str:
    found = child(holder, name)
    return attribute(found, "val") if found is not None else ""


def indent_of(place: Element | None) -> int:
    """Return the left indentation that an element tells, 0 for none."""
    told = "" if place is None else attribute(place, "left") or attribute(place, "start")
    return _integer(told, 0)


def _integer(text: str, default: int) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else default
