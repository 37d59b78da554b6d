"""Which cases run, and what is told of wishes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cases._case import load_cases
from tests.cases._missing import OWN


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        named = metafunc.config.getoption("cases_dir") or os.environ.get("LILBEE_CASES_DIR")
        cases = load_cases(Path(named) if named else OWN)
        metafunc.parametrize("case", cases, ids=str)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell which wishes of the cases (`should`) are not met; they fail nothing."""
    reports = [one for group in ("passed", "failed", "xfailed") for one in terminalreporter.stats.get(group, ())]
    wishes = [str(value) for one in reports for name, value in getattr(one, "user_properties", ()) if name == "wish"]
    if wishes:
        terminalreporter.section("cases: wanted, not promised")
        for wish in sorted(wishes):
            terminalreporter.line(wish)
