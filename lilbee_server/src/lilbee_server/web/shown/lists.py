"""Long lists, page by page, and the addresses that they have."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

PAGE_SIZE = 50
_LAST_PAGE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """Which part of a list is shown. Pages count from 1; one beyond the end is the last."""

    page: int
    total: int
    size: int = PAGE_SIZE

    @classmethod
    def of(cls, page: int, total: int, *, size: int = PAGE_SIZE) -> Pages:
        count = max(1, -(-total // size))
        return cls(page=max(1, min(page, count)), total=total, size=size)

    @property
    def count(self) -> int:
        """How many pages there are."""
        return max(1, -(-self.total // self.size))

    @property
    def start(self) -> int:
        """How many rows stand on the pages before."""
        return (self.page - 1) * self.size

    @property
    def told(self) -> str:
        """Which rows are shown: ``51-100 of 1,234``."""
        if not self.total:
            return "none"
        last = min(self.total, self.start + self.size)
        return f"{self.start + 1:,}-{last:,} of {self.total:,}" if self.count > 1 else f"{self.total:,}"


def page_number(text: str) -> int:
    """Return the page that an address names; the first for what is no number."""
    return max(1, min(_LAST_PAGE, int(text))) if text.isascii() and text.isdigit() and len(text) < 8 else 1


def address(path: str, **asked: object) -> str:
    """Return an address with what is asked for, without what is left blank."""
    told = urlencode([(name, str(value)) for name, value in asked.items() if value not in ("", None, False, 1)])
    return f"{path}?{told}" if told else path


def size(amount: int) -> str:
    """Return bytes for people, or nothing where there are none."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if amount >= scale:
            return f"{amount / scale:.1f} {unit}"
    return f"{amount} B" if amount else ""


def moment(time: str | None) -> str:
    """Return a time of the library, which is UTC in ISO 8601, to the minute."""
    return f"{time[:10]} {time[11:16]} UTC" if time and len(time) >= 16 else time or ""
