"""Each line of the page on security names tests, and each of them is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "security.md"
FILE = re.compile(r"`([\w/]+\.py)`(?: and `([\w/]+\.py)`)?(?:: ((?:`\w+`(?:, )?)+))?")


def rows() -> list[str]:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    return [line.strip("| ").split(" | ")[-1] for line in lines[2:]]


@pytest.mark.parametrize("held_by", rows())
def test_what_holds_a_line_is_there(held_by: str) -> None:
    found = FILE.findall(held_by)
    assert found, held_by
    for first, second, names in found:
        for file in filter(None, (first, second)):
            text = (ROOT / "tests" / file).read_text("utf-8")
            for name in re.findall(r"`(\w+)`", names):
                assert f"def {name}(" in text, (file, name)
