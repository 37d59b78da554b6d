"""Dates as documents write them."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.extract._dates import iso_date


@pytest.mark.parametrize(
    ("value", "iso"),
    [
        (date(2024, 5, 1), "2024-05-01"),
        (datetime(2024, 5, 1, 8, tzinfo=UTC), "2024-05-01T08:00:00+00:00"),
        ("2024-05-01", "2024-05-01"),
        ("20240501", "2024-05-01"),
        (" 2024-05-01T08:00:00Z ", "2024-05-01T08:00:00+00:00"),
        ("2026-06-23T06:14:53.147505000", "2026-06-23T06:14:53"),
        ("1913", "1913"),
        ("2019-08", "2019-08"),
        ("D:20250124135915Z", "2025-01-24T13:59:15"),
        ("D:202501", "2025-01-01"),
        ("Mon, 02 Mar 2026 08:15:00 +0100", "2026-03-02T08:15:00+01:00"),
        ("1.5.2024", "2024-05-01"),
        ("May 3, 2024", "2024-05-03"),
        ("3 May 2024", "2024-05-03"),
        ("2024/05/03", "2024-05-03"),
    ],
)
def test_dates_are_brought_to_one_form(value: object, iso: str) -> None:
    assert iso_date(value) == iso


@pytest.mark.parametrize(
    "value", [None, 3, "", "soon", "2024-13-01", "0000", "99999", "D:20251399", "x" * 99, date(1, 1, 1)]
)
def test_other_values_are_none(value: object) -> None:
    assert iso_date(value) is None


@given(st.text(max_size=70))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = iso_date(text)
    assert found is None or found[:4].isdecimal()
