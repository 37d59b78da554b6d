"""Dates as documents write them, brought to ISO 8601."""

from __future__ import annotations

import re
from datetime import date, datetime
from email.utils import parsedate_to_datetime

_FORMATS = ("%d.%m.%Y", "%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y", "%Y/%m/%d")
_PDF_DATE = re.compile(r"^D:(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?")
_EARLIEST, _LATEST = 1000, 2200


def iso_date(value: object) -> str | None:
    """Return a date or a time as ISO 8601, or None when `value` is neither.

    A day stays a day (``2024-05-01``); a time keeps its zone if it has one.
    """
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds") if _plausible(value) else None
    if isinstance(value, date):
        return value.isoformat() if _plausible(value) else None
    if not isinstance(value, str) or not 4 <= len(value.strip()) <= 64:
        return None
    text = value.strip()
    return _from_iso(text) or _from_pdf(text) or _from_mail(text) or _from_formats(text)


def _plausible(value: date) -> bool:
    return _EARLIEST <= value.year <= _LATEST


def _from_iso(text: str) -> str | None:
    if re.fullmatch(r"\d{4}(-\d{2})?", text):
        return text if _EARLIEST <= int(text[:4]) <= _LATEST else None
    # Some writers give nine digits of a second; the parser takes six.
    text = re.sub(r"(\.\d{6})\d+", r"\1", text)
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}|\d{8}", text):
            return iso_date(date.fromisoformat(text))
        return iso_date(datetime.fromisoformat(text))
    except ValueError:
        return None


def _from_pdf(text: str) -> str | None:
    found = _PDF_DATE.match(text)
    if not found:
        return None
    numbers = [int(part) if part else None for part in found.groups()]
    year, month, day, *clock = numbers
    try:
        if clock[0] is None:
            return iso_date(date(year or 0, month or 1, day or 1))
        hour, minute, second = (part or 0 for part in clock)
        return iso_date(datetime(year or 0, month or 1, day or 1, hour, minute, second))  # noqa: DTZ001 - none is given
    except ValueError:
        return None


def _from_mail(text: str) -> str | None:
    try:
        return iso_date(parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _from_formats(text: str) -> str | None:
    for form in _FORMATS:
        try:
            return iso_date(datetime.strptime(text, form).date())  # noqa: DTZ007 - a day has no zone
        except ValueError:
            continue
    return None
