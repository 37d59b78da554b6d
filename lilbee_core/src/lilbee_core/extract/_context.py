"""What an extractor may ask for while it reads a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _never() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContext:
    """An `ExtractContext` of plain values. `stop` raises when the file should be given up."""

    max_chars: int
    password: str | None = None
    languages: tuple[str, ...] = ()
    memory_mb: int | None = None
    """The limit under which the process stands, as far as it is told."""
    stop: Callable[[], None] = _never

    def check(self) -> None:
        self.stop()
