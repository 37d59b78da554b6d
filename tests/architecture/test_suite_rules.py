"""What tests/conftest.py promises: opt-in markers stay out, and a long test must say so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture._source import ROOT

SUITE = """
import time
import pytest

def test_plain():
    pass

@pytest.mark.slow
def test_slow():
    pass

@pytest.mark.model
def test_model():
    pass

@pytest.mark.bench
@pytest.mark.slow
def test_bench():
    pass
"""
BUSY = """
import time
import pytest

def busy():
    end = time.process_time() + 0.2
    while time.process_time() < end:
        pass

def test_busy():
    busy()

@pytest.mark.slow
def test_busy_and_says_so():
    busy()
"""
SETTINGS = "[pytest]\nmarkers =\n    slow\n    model\n    gpu\n    network\n    bench\n"


def run_suite(folder: Path, tests: str, *options: str) -> str:
    (folder / "pytest.ini").write_text(SETTINGS, "utf-8")
    (folder / "test_it.py").write_text(tests, "utf-8")
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *options]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), {"plain", "slow"}),
        (("-m", "not slow"), {"plain"}),
        (("-m", "model"), {"model"}),
        (("-m", "bench and slow"), {"bench"}),
    ],
)
def test_opt_in_markers_run_only_when_named(tmp_path: Path, options: tuple[str, ...], expected: set[str]) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    said = run_suite(tmp_path, SUITE, *options)
    ran = {line.split("::test_")[1].split()[0] for line in said.splitlines() if "PASSED" in line}
    assert ran == expected


def test_a_test_over_the_budget_fails_unless_marked(tmp_path: Path) -> None:
    conftest = (ROOT / "tests" / "conftest.py").read_text("utf-8")
    (tmp_path / "conftest.py").write_text(conftest.replace("BUDGET_CPU_S = 8.0", "BUDGET_CPU_S = 0.001"), "utf-8")
    said = run_suite(tmp_path, BUSY)
    assert "1 failed, 1 passed" in said
    assert "mark it @pytest.mark.slow" in said
