"""Style, complexity and formatting hold wherever the tests run, not only where somebody thinks of `nox -s lint`.

Shows R014.
"""

from __future__ import annotations

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
