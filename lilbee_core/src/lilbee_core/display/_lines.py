"""Lines of a text for people: a name with a line end in it must not make two of one, nor steer what shows it."""

from __future__ import annotations

from collections.abc import Iterable

_STEERING = (*range(32), *range(127, 160), 0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
_ESCAPES = {code: repr(chr(code))[1:-1] for code in _STEERING}
_ESCAPES_IN_TEXT = {code: shown for code, shown in _ESCAPES.items() if chr(code) not in "\n\t"}


def one_line(text: str) -> str:
    """Return a name or a message on one line, with what would steer a terminal or turn a line around made visible."""
    return text.translate(_ESCAPES)


def several_lines(text: str) -> str:
    """Return a text that keeps its lines and tabs, with everything else that steers made visible."""
    return text.translate(_ESCAPES_IN_TEXT)


def joined(lines: Iterable[str]) -> str:
    """Return the lines as one text, with line ends and control characters inside of them made visible."""
    return "\n".join(one_line(line) for line in lines)
