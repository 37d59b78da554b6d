"""What the product does not have yet. A case that needs one of these is skipped; delete an entry with the work that
makes it true."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from tests.cases._case import Case, all_steps

STEPS = {
    "http": "the cases do not drive the HTTP server yet",
    "serve": "the cases do not drive the HTTP server yet",
    "mcp": "the cases do not drive the MCP server yet",
    "kill_parent": "the cases do not drive the MCP server yet",
    "backend": "model servers are not there yet",
}
"""Kinds of steps without a feature behind them."""

UNKEPT: dict[str, str] = {}
"""Those of our own cases whose promise is not kept yet, and why. They must fail: one that passes has to leave."""

OWN = Path(__file__).with_name("data")
"""Where our own cases lie."""


def why_skipped(case: Case) -> str | None:
    """Return why a case cannot be run here, None if it can."""
    for need in case.needs:
        if need not in _MACHINE:
            return f"unknown need {need!r}"
        if not _MACHINE[need]():
            return f"this machine does not offer {need}"
    for step in all_steps(case.steps):
        if step["do"] in STEPS:
            return f"{step['do']}: {STEPS[step['do']]}"
    return None


def _can_link() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.symlink(folder, Path(folder) / "link")
        except OSError:
            return False
        return True


def _sees_case() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "name").touch()
        return not (Path(folder) / "NAME").exists()


_MACHINE: dict[str, Callable[[], bool]] = {
    "posix": lambda: os.name == "posix",
    "symlinks": _can_link,
    "case_sensitive": _sees_case,
    "not_root": lambda: hasattr(os, "geteuid") and os.geteuid() != 0,
    "tesseract": lambda: shutil.which("tesseract") is not None,
    "ocr": lambda: shutil.which("tesseract") is not None,
    "linux": lambda: sys.platform == "linux",
    "concepts": lambda: find_spec("graspologic_native") is not None,
}
