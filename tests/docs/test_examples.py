"""Every example runs as a program of its own and says something (R001, R275)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
MAX_LINES = 60


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES)
def test_example_runs(example: str, tmp_path: Path) -> None:
    """It runs in an empty folder with a home of its own, so it depends on nothing that lies about."""
    home = tmp_path / "home"
    work = tmp_path / "work"
    home.mkdir()
    work.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LILBEE_", "XDG_"))}
    result = subprocess.run(
        [sys.executable, str(ROOT / "examples" / example)],
        cwd=work,
        env={**kept, "HOME": str(home), "USERPROFILE": str(home)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_is_short_and_has_a_main(example: str) -> None:
    text = (ROOT / "examples" / example).read_text("utf-8")
    assert len(text.splitlines()) < MAX_LINES
    assert "def main() -> None:" in text
