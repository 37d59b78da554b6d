"""Formulas of Office files on one line: ``E=mc^2``, ``(a+b)/2``, ``√(x)``."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element

from lilbee_core.extract._package import attribute, child, local

_MAX_DEPTH = 60


def formula(element: Element) -> str:
    """Return a formula as one line of text."""
    return " ".join(_all(element, 0).split())


def _all(element: Element | None, depth: int) -> str:
    if element is None or depth > _MAX_DEPTH:
        return ""
    return "".join(_one(child_, depth + 1) for child_ in element)


def _one(element: Element, depth: int) -> str:
    name = local(element)
    if name == "t":
        return element.text or ""
    if name.endswith("Pr") or name in {"Fallback", "del"}:
        return ""
    write = _FORMS.get(name)
    return write(element, depth) if write else _all(element, depth)


def _grouped(element: Element | None, depth: int) -> str:
    text = _all(element, depth).strip()
    return f"({text})" if len(text) > 1 and not (text[0] == "(" and text[-1] == ")") else text


def _part(element: Element, name: str, depth: int, mark: str = "") -> str:
    text = _grouped(child(element, name), depth)
    return f"{mark}{text}" if text else ""


def _scripts(element: Element, depth: int) -> str:
    base = _all(child(element, "e"), depth)
    return f"{base}{_part(element, 'sub', depth, '_')}{_part(element, 'sup', depth, '^')}"


def _fraction(element: Element, depth: int) -> str:
    return f"{_part(element, 'num', depth)}/{_part(element, 'den', depth)}"


def _root(element: Element, depth: int) -> str:
    return f"{_all(child(element, 'deg'), depth)}√{_part(element, 'e', depth)}"


def _operator(element: Element, depth: int) -> str:
    sign = child(element, "naryPr", "chr")
    shown = attribute(sign, "val", "∫") if sign is not None else "∫"
    bounds = f"{_part(element, 'sub', depth, '_')}{_part(element, 'sup', depth, '^')}"
    return f"{shown}{bounds} {_all(child(element, 'e'), depth)}"


def _delimited(element: Element, depth: int) -> str:
    first, last = child(element, "dPr", "begChr"), child(element, "dPr", "endChr")
    inner = ", ".join(_all(one, depth) for one in element if local(one) == "e")
    opening = attribute(first, "val") if first is not None else "("
    closing = attribute(last, "val") if last is not None else ")"
    return f"{opening}{inner}{closing}"


def _limit(element: Element, depth: int) -> str:
    return f"{_all(child(element, 'e'), depth)}{_part(element, 'lim', depth, '_')} "


_FORMS: dict[str, Callable[[Element, int], str]] = {
    "sSup": _scripts,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "f": _fraction,
    "rad": _root,
    "nary": _operator,
    "d": _delimited,
    "limLow": _limit,
    "limUpp": _limit,
}
