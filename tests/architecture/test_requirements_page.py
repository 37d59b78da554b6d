"""The requirements page is complete and agrees with the tests."""

from __future__ import annotations

from tests.tools import requirements_page as tool

# Ids are put together here, since a test that spells one out counts as showing that requirement.
FIRST, SECOND, LAST, UNKNOWN = ("R" + number for number in ("001", "002", "394", "999"))
PAGE = f"""# Requirements

<!-- counts -->
<!-- end of counts -->

| id | part | requirement | state | tested in |
|---|---|---|---|---|
| {FIRST} | core | One `a \\| b` thing. | done | |
| {SECOND} | core | Another. | out |  |
"""


def test_the_page_is_complete_and_agrees_with_the_tests() -> None:
    decided = tool.anchors(tool.DECISIONS.read_text("utf-8"))
    assert tool.problems(tool.PAGE.read_text("utf-8"), tool.mentions(tool.ROOT / "tests"), decided) == []


def test_ranges_are_spelled_out() -> None:
    assert list(tool.ids_in(f"see {FIRST}-{SECOND[1:]} and {LAST}, but not X{FIRST}")) == [FIRST, SECOND, LAST]


def test_tests_and_counts_are_filled_in() -> None:
    named = {FIRST: ("core/test_a.py", "core/test_b.py")}
    page = tool.rewrite(PAGE, named)
    assert "2 lines: 0 open, 0 partly, 1 done, 0 changed, 1 out." in page
    assert "| done | `core/test_a.py`, `core/test_b.py` |" in page
    assert tool.rewrite(page, named) == page


def test_contradictions_are_named() -> None:
    doubled = PAGE + f"| {SECOND} | core | Again. | maybe |  |\n"
    found = tool.problems(doubled, {UNKNOWN: ("core/test_a.py",)})
    assert f"{FIRST} is done, but no test names it" in found
    assert f"{SECOND} stands 2 times" in found
    assert f"{SECOND} has the unknown state 'maybe'" in found
    assert f"{LAST} is missing" in found
    assert f"core/test_a.py names {UNKNOWN}, which is no requirement" in found


def test_a_note_follows_its_state() -> None:
    page = PAGE.replace("| done | |", "| partly: two are missing (`a`, `b`) | |")
    written = tool.rewrite(page, {FIRST: ("core/test_a.py",)})
    assert "2 lines: 0 open, 1 partly, 0 done, 0 changed, 1 out." in written
    assert "| partly: two are missing (`a`, `b`) | `core/test_a.py` |" in written
    assert tool.rewrite(written, {FIRST: ("core/test_a.py",)}) == written


def test_what_was_changed_names_a_decision_that_is_there() -> None:
    decided = tool.anchors("# Decisions\n\n## Bees, and *their* wax\n")
    named = {FIRST: ("core/test_a.py",)}
    missing = f"{FIRST} is changed, but names no decision"
    for note, wrong in (
        ("", True),
        (": [wax](explanation/decisions.md#honey)", True),
        (": [wax](explanation/decisions.md#bees-and-their-wax)", False),
    ):
        page = PAGE.replace("| done | |", f"| changed{note} | |")
        assert (missing in tool.problems(page, named, decided)) is wrong, note
