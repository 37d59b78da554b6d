"""What the tests of the store share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SMALL_MB = 4


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 4 MB in memory; needs the right to mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_MB}m", "tmpfs", str(place)]
    try:
        made = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        made = False
    if not made:
        pytest.skip("no right to mount a small disk")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture
def write_protect() -> Callable[[Path], None]:
    """Makes a mounted disk read-only."""

    def protect(disk: Path) -> None:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)

    return protect
