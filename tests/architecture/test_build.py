"""Building twice gives the same bytes (R303)."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture._source import DISTRIBUTIONS, ROOT

# Run by hatchling itself, without a build front end and its own environment: no network, half a second each.
BUILD = """
import sys
from hatchling.build import build_sdist, build_wheel
build_sdist(sys.argv[1])
build_wheel(sys.argv[1])
"""


def build(distribution: str, folder: Path) -> dict[str, str]:
    folder.mkdir()
    subprocess.run(
        [sys.executable, "-c", BUILD, str(folder)],
        cwd=ROOT / distribution,
        env={"SOURCE_DATE_EPOCH": "1795996800"},
        capture_output=True,
        text=True,
        check=True,
    )
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.mark.slow
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_archives_are_reproducible(distribution: str, tmp_path: Path) -> None:
    first = build(distribution, tmp_path / "first")
    assert sorted(name.rsplit(".", 1)[1] for name in first) == ["gz", "whl"]
    assert build(distribution, tmp_path / "second") == first
