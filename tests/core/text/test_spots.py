"""Ranges of cells and boxes on pages, joined."""

from __future__ import annotations

import pytest

from lilbee_core.text import LineIndex, locate
from lilbee_core.text._spots import join_boxes, join_labels
from lilbee_core.types import Box, Segment, Span


@pytest.mark.parametrize(
    ("first", "last", "joined"),
    [
        ("slide 1", "slide 1", "slide 1"),
        ("slide 1", "slide 2", "slide 1 to slide 2"),
        ("Costs!A1:C1", "Costs!A9:C9", "Costs!A1:C9"),
        ("Costs!B2:Z2", "Costs!A3:AB3", "Costs!A2:AB3"),
        ("Costs!A1:C1", "Plan!A1:C1", "Costs!A1:C1 to Plan!A1:C1"),
        ("a!b!A1:A1", "a!b!A2:A2", "a!b!A1:A2"),
    ],
)
def test_labels(first: str, last: str, joined: str) -> None:
    assert join_labels(first, last) == joined


def box(page: int, left: float, bottom: float, right: float, top: float) -> Box:
    return Box(page=page, left=left, bottom=bottom, right=right, top=top)


def test_boxes_of_one_column_become_one() -> None:
    assert join_boxes([box(1, 40, 700, 200, 710), box(1, 40, 685, 190, 695)]) == (box(1, 40, 685, 200, 710),)


def test_boxes_of_other_columns_and_pages_stay_apart() -> None:
    three = [box(1, 40, 100, 200, 110), box(1, 300, 700, 500, 710), box(2, 300, 700, 500, 710)]
    assert join_boxes([*three, three[-1]]) == tuple(three)


def test_a_fine_label_says_more_than_that_of_its_sheet() -> None:
    segments = [
        Segment(span=Span(0, 30), label="Costs"),
        Segment(span=Span(6, 15), label="Costs!A1:B1", fine=True),
        Segment(span=Span(16, 30), label="Costs!A2:B2", fine=True),
    ]
    assert locate(Span(0, 5), lines=None, segments=segments).label == "Costs"
    assert locate(Span(8, 12), lines=None, segments=segments).label == "Costs!A1:B1"
    assert locate(Span(8, 20), lines=LineIndex("x" * 30), segments=segments).label == "Costs!A1:B2"
