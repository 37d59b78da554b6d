"""Stretches of a document that chunks do not leave."""

from __future__ import annotations

from dataclasses import dataclass


def tiny_tokens(size: int) -> int:
    """Return below how many tokens a piece is tiny, in chunks of `size`.

    Tiny pieces are joined to a neighbor where that is true to their place: tiny chunks win searches wrongly.
    """
    return min(16, size // 8)


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch ``[start, end)`` with the headings and the definition that it belongs to."""

    start: int
    end: int
    headings: tuple[str, ...] = ()
    symbol: str | None = None
    kind: str | None = None
