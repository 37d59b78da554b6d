"""What people write about time, as days (R186, R187; design 11.16). Every test says which day it is."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.search._dates import Days, read_dates, without_recent

MONDAY = date(2026, 3, 2)


def said(text: str, today: date = MONDAY, *, language: str | None = None) -> tuple[str | None, str | None, str]:
    """Return the first and the last but one day that a text names, and its other words."""
    read = read_dates(text, today, language=language)
    if read is None or read.days is None:
        return None, None, text
    first, end = read.days.first, read.days.end
    return first.isoformat() if first else None, end.isoformat() if end else None, read.rest


@pytest.mark.parametrize(
    ("text", "first", "end", "rest"),
    [
        ("gate oiled today", "2026-03-02", "2026-03-03", "gate oiled"),
        ("gate oiled yesterday", "2026-03-01", "2026-03-02", "gate oiled"),
        ("yesterday's gate", "2026-03-01", "2026-03-02", "gate"),
        ("gate this week", "2026-03-02", "2026-03-09", "gate"),
        ("gate last week", "2026-02-23", "2026-03-02", "gate"),
        ("gate this month", "2026-03-01", "2026-04-01", "gate"),
        ("gate last month", "2026-02-01", "2026-03-01", "gate"),
        ("Last Month gate", "2026-02-01", "2026-03-01", "gate"),
        ("gate this year", "2026-01-01", "2027-01-01", "gate"),
        ("gate last year", "2025-01-01", "2026-01-01", "gate"),
        ("gate in the last 3 days", "2026-02-27", "2026-03-03", "gate in the"),
        ("gate past two weeks", "2026-02-16", "2026-03-03", "gate"),
        ("gate last 2 months", "2026-01-02", "2026-03-03", "gate"),
        ("gate the past year", "2025-03-02", "2026-03-03", "gate"),
        ("gate during last month", "2026-02-01", "2026-03-01", "gate"),
        ("gate since last month", "2026-02-01", None, "gate"),
        ("gate before yesterday", None, "2026-03-01", "gate"),
        ("gate until yesterday", None, "2026-03-02", "gate"),
        ("gate from last week to yesterday", "2026-02-23", "2026-03-02", "gate"),
        ("gate yesterday or today", "2026-03-01", "2026-03-03", "gate or"),
    ],
)
def test_days_by_word(text, first, end, rest):
    assert said(text) == (first, end, rest)


@pytest.mark.parametrize(
    ("text", "first", "end"),
    [
        ("gate on 2024-03-05", "2024-03-05", "2024-03-06"),
        ("gate on 5 March 2024", "2024-03-05", "2024-03-06"),
        ("gate on 5th of March, 2024", "2024-03-05", "2024-03-06"),
        ("gate on March 5th, 2024", "2024-03-05", "2024-03-06"),
        ("gate on Mar. 5 2024", "2024-03-05", "2024-03-06"),
        ("gate on 2024/3/5", "2024-03-05", "2024-03-06"),
        ("gate in 2024-03", "2024-03-01", "2024-04-01"),
        ("gate in March 2024", "2024-03-01", "2024-04-01"),
        ("gate from December 2024", "2024-12-01", "2025-01-01"),
        ("gate since 2024-03", "2024-03-01", None),
        ("gate since 2024", "2024-01-01", None),
        ("gate after 2024-03", "2024-04-01", None),
        ("gate after 2024-03-05", "2024-03-06", None),
        ("gate before March 2024", None, "2024-03-01"),
        ("gate until 2024-03-05", None, "2024-03-06"),
        ("gate between 2024-03 and 2024-05", "2024-03-01", "2024-06-01"),
        ("gate between March 2024 and 5 May 2024", "2024-03-01", "2024-05-06"),
        ("gate from 2024-03-01 until 2024-03-05", "2024-03-01", "2024-03-06"),
        ("gate since 2024-03 before 2024-05", "2024-03-01", "2024-05-01"),
        ("gate in March 2024 or in May 2024", "2024-03-01", "2024-06-01"),
        ("gate on 2024-02-29", "2024-02-29", "2024-03-01"),
        ("gate since 9999-12-31", "9999-12-31", None),
        ("gate before 0001-01-01", None, "0001-01-01"),
    ],
)
def test_days_by_date(text, first, end):
    assert said(text)[:2] == (first, end)


@pytest.mark.parametrize(
    "text",
    [
        "gate oiled",
        "gate 2024-03-05",
        "minutes March 2024",
        "elections in 2024",
        "storms between 1980 and 1984",
        "inventions before 1900",
        "USA Today article",
        'the song "last week"',
        'gate "since 2024-03-05"',
        "notes/since-2024-03-05.md",
        "on 2024-03-05.md",
        "port 8080 since boot",
        "last in first out",
        "past tense",
        "this weekend",
        "yesterdays",
        "may 2024 be better",
        "version 2024-03-05-rc1 since",
        "in ２０２４-03",
    ],
)
def test_words_that_stay_words(text):
    assert read_dates(text, MONDAY) is None


def test_recent_and_latest_name_no_days():
    for text in ("recent gate notes", "what changed recently", "the Latest gate"):
        read = read_dates(text, MONDAY)
        assert read is not None
        assert (read.newest, read.days, read.rest) == (True, None, text)
    assert read_dates('"latest" gate', MONDAY) is None
    assert read_dates("latest.md gate", MONDAY) is None
    assert without_recent('the latest "recent gate"') == 'the  "recent gate"'


@pytest.mark.parametrize(
    ("text", "language", "first", "rest"),
    [
        ("Rechnung von gestern", None, "2026-03-01", "Rechnung von"),
        ("Rechnung letzte Woche", None, "2026-02-23", "Rechnung"),
        ("Rechnung im letzten Monat", None, "2026-02-01", "Rechnung"),
        ("Rechnung vom 5. März 2024", None, "2024-03-05", "Rechnung"),
        ("Rechnung seit 05.03.2024", None, "2024-03-05", "Rechnung"),
        ("Rechnung zwischen März 2024 und Mai 2024", None, "2024-03-01", "Rechnung"),
        ("facture d’hier", "fr", "2026-03-01", "facture d’"),
        ("facture hier", "fr", "2026-03-01", "facture"),
        ("hier ist die Rechnung", "de", None, ""),
        ("facture la semaine dernière", None, "2026-02-23", "facture"),
        ("facture du 5 mars 2024", None, "2024-03-05", "facture"),
        ("factura de ayer", "es", "2026-03-01", "factura de"),
        ("A. J. Ayer", "en", None, ""),
        ("factura del 5 de marzo de 2024", None, "2024-03-05", "factura"),
        ("facturas los últimos 5 días", None, "2026-02-25", "facturas"),
    ],
)
def test_other_languages(text, language, first, rest):
    found = said(text, language=language)
    assert found[0] == first
    assert first is None or found[2] == rest


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("gate since 2026-02-30", ["2026-02-30", "no such date"]),
        ("gate on 2023-02-29", ["2023-02-29"]),
        ("gate in 2024-13", ["2024-13"]),
        ("gate on 0000-01-01", ["0000-01-01"]),
        ("gate between 2026-02-30 and 2026-03-01", ["2026-02-30"]),
        ("gate between 2024-05 and 2024-03", ["2024-05", "2024-03", "no day"]),
        ("gate after 2024-05-01 before 2023-01-01", ["2024-05-01", "2023-01-01", "no day"]),
    ],
)
def test_impossible_dates_are_named_and_taken_as_words(text, parts):
    read = read_dates(text, MONDAY)

    assert read is not None
    assert (read.days, read.rest) == (None, text)
    assert all(part in read.warnings[0] for part in parts)


@pytest.mark.parametrize(
    ("today", "text", "first", "end"),
    [
        (date(2026, 1, 1), "yesterday", "2025-12-31", "2026-01-01"),
        (date(2026, 1, 15), "last month", "2025-12-01", "2026-01-01"),
        (date(2024, 2, 29), "last year", "2023-01-01", "2024-01-01"),
        (date(2024, 2, 29), "past year", "2023-02-28", "2024-03-01"),
        (date(2024, 3, 31), "last 1 months", "2024-02-29", "2024-04-01"),
        (date(2026, 3, 8), "this week", "2026-03-02", "2026-03-09"),
        (date(2026, 3, 8), "last week", "2026-02-23", "2026-03-02"),
        (date(2021, 1, 3), "this week", "2020-12-28", "2021-01-04"),
        (date(9999, 12, 31), "today", "9999-12-31", None),
        (date(9999, 12, 31), "this year", "9999-01-01", None),
        (date(1, 1, 1), "last week", None, "0001-01-01"),
        (date(1, 1, 1), "last month", None, "0001-01-01"),
        (date(2026, 3, 2), "last 9999 years", None, "2026-03-03"),
    ],
)
def test_edges_of_the_calendar(today, text, first, end):
    assert said(text, today)[:2] == (first, end)


def test_days_are_told_as_people_say_them():
    assert str(Days(date(2026, 3, 1), date(2026, 3, 2))) == "2026-03-01"
    assert str(Days(date(2026, 3, 1), date(2026, 3, 9))) == "from 2026-03-01 to 2026-03-08"
    assert str(Days(date(2026, 3, 1))) == "from 2026-03-01"
    assert str(Days(None, date(2026, 3, 1))) == "to 2026-02-28"
    assert str(Days(None, date(1, 1, 1))) == "before 0001-01-01"


PIECES = ["gate", "last week", "since", "before", "between", "and", "2024-03", "2024-02-30", "March 2024", '"', "to",
          "from", "latest", "yesterday", "0000-00-00", "9999-12-31", "'s", "Ω", "in", "letzte 3 Wochen"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=9).map(" ".join), st.dates())
def test_anything_can_be_typed(text, today):
    read = read_dates(text, today)

    if read is not None:
        assert read.days is None or not read.days.is_empty
        assert read.days != Days()
        assert len(read.rest) <= len(text)
        assert read.rest == text or read.days is not None
        assert [word for word in read.rest.split() if word not in text.split()] == []


@given(st.text(max_size=200))
def test_any_text_is_read(text):
    read_dates(text, MONDAY)
