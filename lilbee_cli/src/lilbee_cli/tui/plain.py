"""Screens for terminals without UTF-8: every sign is one of ASCII."""

from __future__ import annotations

from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_LIKE = str.maketrans({
    **dict.fromkeys("─━═╌┄┈▁▔▂🭶🭷▀▄", "-"), **dict.fromkeys("│┃║▏▎▌▐▕┊┆", "|"), **dict.fromkeys("█▇▆▅▃▉▊▋▍■", "#"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯╔╗╚╝", "+"), "…": ".", "“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "–": "-",
    "—": "-", "•": "*", "·": ".", "\xa0": " ", "↑": "^", "↓": "v", "←": "<", "→": ">",
})  # fmt: skip


@lru_cache(4096)
def ascii_of(text: str) -> str:
    """Return a text of the same width in ASCII; what has no likeness there becomes a question mark."""
    if text.isascii():
        return text
    return "".join(one if one.isascii() else "?" * cell_len(one) for one in text.translate(_LIKE))


class AsciiFilter(LineFilter):
    """Writes nothing but ASCII."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the line with every sign replaced that a terminal without UTF-8 cannot show."""
        return [segment if segment.control else Segment(ascii_of(segment.text), segment.style) for segment in segments]
