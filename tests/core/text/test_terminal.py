"""Sequences that steer a terminal are no part of the words around them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.text import OUTPUT_BELOW, visible_line, visible_message, without_escapes

SEQUENCES = [
    "\x1b[0m", "\x1b[1;38;5;208m", "\x1b[2K", "\x1b[?2004h", "\x1b[1 q", "\x1b]0;a title\x07", "\x1b]8;;https://a.b/\x1b\\",
    "\x1bP1$r0m\x1b\\", "\x1b(B", "\x1b7", "\x1bM", "\x1b=",
]  # fmt: skip


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_sequence_leaves_no_trace(sequence: str) -> None:
    line = f"{sequence}ERROR{sequence} hive 7{sequence}\nnext"
    assert without_escapes(line) == "ERROR hive 7\nnext"
    assert without_escapes(line.encode()) == b"ERROR hive 7\nnext"


def test_a_sequence_without_an_end_takes_no_words_along() -> None:
    assert without_escapes("a \x1b]0;title\nwords\x1b") == "a 0;title\nwords\x1b"


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_what_has_no_escape_stays(text: str) -> None:
    plain = text.replace("\x1b", "")
    assert without_escapes(plain) == plain
    assert without_escapes(text).count("\n") == text.count("\n")


def test_what_a_program_wrote_stands_below_the_message_and_forges_no_line_of_it() -> None:
    told = f"the server e\nvil ended. {OUTPUT_BELOW}\nloading\nerror: \x1b[31mno memory\r"
    assert visible_message(told).split("\n") == [
        r"the server e\nvil ended. Its last lines:",
        "    loading",
        r"    error: \x1b[31mno memory\x0d",
    ]


@given(st.text(), st.text())
def test_only_what_a_program_wrote_gets_lines_of_its_own(message: str, output: str) -> None:
    assert visible_message(message) == visible_line(message)
    first, *others = visible_message(f"{message}{OUTPUT_BELOW}\n{output}").split("\n")
    assert first == visible_line(message) + OUTPUT_BELOW
    assert all(one.startswith("    ") for one in others)
