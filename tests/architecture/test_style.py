"""Style, complexity and formatting hold wherever the tests run, not only where somebody thinks of `nox -s lint`.

Shows R014.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture._source import ROOT


@pytest.mark.parametrize("command", [("check", "--output-format", "concise"), ("format", "--check")])
def test_ruff_has_nothing_to_say(command: tuple[str, ...]) -> None:
    ruff = Path(sys.executable).with_name("ruff")
    result = subprocess.run([str(ruff), *command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)[*+?]\+(?!,)")
"""A group repeated without going back. Signs in the order of ASCII (``)*+,``) are none."""


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python before 3.11.5 matches some of them without end, and takes all memory."""
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted(ROOT.glob("lilbee_*/src/**/*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if POSSESSIVE_GROUP.search(line)
    ]
    assert wrong == []
