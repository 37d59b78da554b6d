"""Days, times and durations as a spreadsheet shows them: counted in days, shown by the code of their cell. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Decimal

from lilbee_core.extract._number_codes import Token

_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December")  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAY_S = 86_400
_LAST = 2_958_466
"""The first day that is no day any more: 10000-01-01."""
_TOO_LONG = 1e9
_NO_SUCH_DAY = 60
"""The 29th of February 1900, which spreadsheets count and calendars do not."""
_BUDDHIST = 543


def shown_moment(value: float, tokens: Sequence[Token], *, from_1904: bool) -> str | None:
    """Return a number of days as a moment or a duration, or None when it is none that the code can show."""
    if abs(value) >= _TOO_LONG:
        return None
    places = _fraction_places(tokens)
    seconds = (Decimal(repr(value)) * _DAY_S).quantize(Decimal("0.001"), rounding=ROUND_HALF_UP)
    if any(kind == "date" and one[0] in "sS" for kind, one in tokens) or places:
        seconds = seconds.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    elapsed = any(kind == "elapsed" for kind, _ in tokens)
    if seconds < 0 and not elapsed:
        return None
    size = abs(seconds)
    days, rest = divmod(size, _DAY_S)
    if not elapsed and int(days) >= _LAST:
        return None
    parts = _Parts(int(days), rest, size, from_1904=from_1904, half=any(kind == "half" for kind, _ in tokens))
    return ("-" if seconds < 0 else "") + "".join(_pieces(tokens, parts)).strip()


def _fraction_places(tokens: Sequence[Token]) -> int:
    found = 0
    for before, (kind, _), after in _around(tokens):
        if kind == "point" and before in "sS" and after:
            found = after
    return found


def _around(tokens: Sequence[Token]) -> list[tuple[str, Token, int]]:
    """Return each token with the first letter of the last field before it and the count of zeros right behind it."""
    found: list[tuple[str, Token, int]] = []
    before = "-"
    for at, token in enumerate(tokens):
        zeros = 0
        while at + zeros + 1 < len(tokens) and tokens[at + zeros + 1] == ("digit", "0"):
            zeros += 1
        found.append((before, token, min(zeros, 3)))
        if token[0] in {"date", "elapsed"}:
            before = token[1][0]
    return found


class _Parts:
    """What the fields of a code are filled with."""

    def __init__(self, days: int, rest: Decimal, size: Decimal, *, from_1904: bool, half: bool) -> None:
        self.seconds = size
        self.days = days
        self.from_1904 = from_1904
        whole = int(rest.to_integral_value(rounding=ROUND_FLOOR))
        self.part = rest - whole
        self.hour, self.minute, self.second = whole // 3600, whole // 60 % 60, whole % 60
        self.half = half

    def field(self, written: str, *, is_minute: bool) -> str:
        """Return one field (``yyyy``, ``mm``, ``h``)."""
        letter, wide = written[0].lower(), len(written) > 1
        if letter == "h":
            hour = (self.hour % 12 or 12) if self.half else self.hour
            return f"{hour:02}" if wide else str(hour)
        if letter == "s" or (letter == "m" and is_minute):
            value = self.second if letter == "s" else self.minute
            return f"{value:02}" if wide else str(value)
        return self._of_day(letter, len(written))

    def _of_day(self, letter: str, width: int) -> str:
        year, month, day, weekday = self._date()
        if letter == "d":
            name = _DAYS[weekday]
            return (str(day), f"{day:02}", name[:3], name)[min(width, 4) - 1]
        if letter == "m":
            name = _MONTHS[month - 1]
            return (str(month), f"{month:02}", name[:3], name, name[0])[min(width, 5) - 1]
        if letter == "g":
            return ""
        shown = year + _BUDDHIST if letter == "b" else year
        return f"{shown % 100:02}" if width < 3 and letter != "e" else f"{shown:04}"

    def _date(self) -> tuple[int, int, int, int]:
        if self.from_1904:
            found = date(1904, 1, 1) + timedelta(days=self.days)
        elif self.days == _NO_SUCH_DAY:
            return 1900, 2, 29, self._weekday
        elif self.days == 0:
            return 1900, 1, 0, self._weekday
        else:
            found = date(1899, 12, 30) + timedelta(days=self.days + (self.days < _NO_SUCH_DAY))
        return found.year, found.month, found.day, found.weekday() if self.from_1904 else self._weekday

    @property
    def _weekday(self) -> int:
        """Return the day of the week as spreadsheets count it, who are a day off before March 1900."""
        return (self.days + 5) % 7

    def elapsed(self, written: str) -> str:
        """Return all hours, minutes or seconds of a duration."""
        unit = {"h": 3600, "m": 60, "s": 1}[written[0].lower()]
        return f"{int(self.seconds // unit):0{len(written)}}"


def _pieces(tokens: Sequence[Token], parts: _Parts) -> list[str]:
    out: list[str] = []
    zeros = 0
    for at, (before, (kind, written), after) in enumerate(_around(tokens)):
        if zeros and (kind, written) == ("digit", "0"):
            zeros -= 1
        elif kind == "date":
            is_minute = written[0] in "mM" and len(written) < 3 and (before in "hH" or _seconds_follow(tokens, at))
            out.append(parts.field(written, is_minute=is_minute))
        elif kind == "elapsed":
            out.append(parts.elapsed(written))
        elif kind == "half":
            name = "PM" if parts.hour >= 12 else "AM"
            out.append(name if len(written) > 3 else name[0])
        elif kind == "point" and before in "sS" and after:
            zeros = after
            out.append(f"{parts.part:.{after}f}"[1:])
        else:
            out.append(written)
    return out


def _seconds_follow(tokens: Sequence[Token], at: int) -> bool:
    follows = next((one for kind, one in tokens[at + 1 :] if kind in {"date", "elapsed"}), "-")
    return follows[0] in "sS"
