"""The parts of questions about several things."""

from __future__ import annotations

import pytest

from lilbee_core.text import subjects


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("compare bees and wasps", ("bees", "wasps")),
        ("How do bees differ from wasps?", ("How do bees", "wasps?")),
        ("bees vs. wasps", ("bees", "wasps")),
        ("Compare bees, wasps & hornets with ants", ("bees", "wasps", "hornets", "ants")),
        ("Who wrote Hamlet and Macbeth?", ("Who wrote Hamlet", "Macbeth?")),
        ("Vergleiche Bienen mit Wespen", ("Bienen", "Wespen")),
        ("la différence entre le miel et la cire", ("la", "le miel", "la cire")),
        ("¿Son más grandes las abejas y las avispas?", ("¿Son más grandes las abejas", "las avispas?")),
    ],
)
def test_what_is_joined_is_taken_apart(question: str, parts: tuple[str, ...]) -> None:
    assert subjects(question) == parts


@pytest.mark.parametrize(
    "question", ["", " ", "and", "compare", "the honey, stored in May", "sandwich order", "蜜蜂和黄蜂"]
)
def test_what_joins_nothing_stays_whole(question: str) -> None:
    assert subjects(question) == (question,)
