"""Lines of a text for people: a name with a line end in it must not make two of one."""

from __future__ import annotations

from collections.abc import Iterable

_ESCAPES = {code: repr(chr(code))[1:-1] for code in (*range(32), *range(127, 160), 0x2028, 0x2029)}


def joined(lines: Iterable[str]) -> str:
    """Return the lines as one text, with line ends and control characters inside of them made visible."""
    return "\n".join(line.translate(_ESCAPES) for line in lines)
