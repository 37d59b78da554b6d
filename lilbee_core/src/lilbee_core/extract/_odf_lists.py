"""The numbers and marks that OpenDocument puts before the items of its lists."""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element

from lilbee_core.extract._numbering import formatted
from lilbee_core.extract._package import attribute, descendants, local

_FORMS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_MOST_DIGITS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    form: str
    prefix: str
    suffix: str
    shown: int
    start: int


class ListMarks:
    """Counts the items of lists. One object reads one document from its start."""

    def __init__(self, *trees: Element | None) -> None:
        """Take the trees in which styles of lists are defined."""
        self._levels: dict[tuple[str, int], _Level] = {}
        self._styles: list[str] = []
        self._counts: list[int | None] = []
        self._ends: dict[str, int] = {}
        for tree in trees:
            for style in descendants(tree, "list-style") if tree is not None else ():
                self._define(style)

    def _define(self, style: Element) -> None:
        for level in style:
            if local(level) != "list-level-style-number":
                continue
            form = _FORMS.get(attribute(level, "num-format"))
            if form is not None:
                depth = _number(attribute(level, "level"), 1) - 1
                self._levels[attribute(style, "name"), depth] = _Level(
                    form=form,
                    prefix=attribute(level, "num-prefix"),
                    suffix=attribute(level, "num-suffix"),
                    shown=_number(attribute(level, "display-levels"), 1),
                    start=_number(attribute(level, "start-value"), 1),
                )

    def begin(self, element: Element) -> None:
        """Enter a list; one without a style of its own has that of the list around it."""
        style = attribute(element, "style-name") or (self._styles[-1] if self._styles else "")
        goes_on = attribute(element, "continue-numbering") == "true" or bool(attribute(element, "continue-list"))
        self._styles.append(style)
        self._counts.append(self._ends.get(style) if goes_on and len(self._styles) == 1 else None)

    def end(self) -> None:
        """Leave the list."""
        style, count = self._styles.pop(), self._counts.pop()
        if not self._styles and count is not None:
            self._ends[style] = count

    def mark(self, item: Element) -> str:
        """Count an item and return what stands before it."""
        depth = len(self._styles) - 1
        style = self._styles[-1]
        level = self._levels.get((style, depth))
        if level is None:
            return "-"
        before = self._counts[-1]
        told = attribute(item, "start-value")
        count = _number(told, level.start) if told or before is None else before + 1
        self._counts[-1] = count
        numbers = [self._shown(style, at) for at in range(max(0, depth + 1 - level.shown), depth)]
        own = formatted(count, level.form)
        return f"{level.prefix}{'.'.join([*(one for one in numbers if one), own])}{level.suffix}".strip() or "-"

    def _shown(self, style: str, depth: int) -> str:
        level, count = self._levels.get((style, depth)), self._counts[depth]
        return "" if level is None else formatted(level.start if count is None else count, level.form)


def _number(text: str, default: int) -> int:
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else default
