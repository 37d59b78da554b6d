"""The example plugin, installed as its users install it and found through its entry point (R003, R005, R015)."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "plugin_acme"
BUILD = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"


def run(*command: str, folder: Path, path: Path | None = None) -> str:
    """Run a program in a folder, with a home of its own and perhaps more to import from."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LILBEE_", "PYTHONPATH"))}
    more = {"PYTHONPATH": str(path)} if path else {}
    result = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**kept, **more, "HOME": str(folder), "LILBEE_CONFIG_DIR": str(folder), "LILBEE_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the example is installed into, from a copy, so that no build leaves anything behind."""
    source = tmp_path_factory.mktemp("source") / "plugin_acme"
    target = tmp_path_factory.mktemp("installed")
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("__pycache__"))
    if importlib.util.find_spec("pip"):
        options = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet")
        run("-m", "pip", "install", *options, "--target", str(target), str(source), folder=source.parent)
    else:  # environments made by uv have no pip; a wheel is a zip file
        run("-c", BUILD, str(source.parent), folder=source)
        (wheel,) = source.parent.glob("*.whl")
        zipfile.ZipFile(wheel).extractall(target)
    return target


def answer(code: str, installed: Path, folder: Path) -> Any:
    """Run code beside the installed plugin and return what it prints as JSON."""
    return json.loads(run("-c", code, folder=folder, path=installed).splitlines()[-1])


def test_it_is_found_through_its_entry_point(installed: Path, tmp_path: Path) -> None:
    code = """
import json
from lilbee_core.plugins import PluginHost, load_entry_points
report = next(one for one in PluginHost().reports if one.name == "acme")
again = [[offer.spec.name, offer.origin] for offer in load_entry_points(["acme"])]
print(json.dumps([report.to_dict(), again]))
"""
    report, again = answer(code, installed, tmp_path)
    assert report["version"] == "1.0.0"
    assert sorted(report["parts"]) == ["acme-calendar", "acme-captions", "acme-freshness"]
    assert report["failures"] == []
    assert again == [["acme-calendar", "acme"]]


def test_its_own_tests_pass(installed: Path, tmp_path: Path) -> None:
    tests = tmp_path / "tests"
    shutil.copytree(EXAMPLE / "tests", tests, ignore=shutil.ignore_patterns("__pycache__"))
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-W", "error", "--rootdir", str(tests))
    output = run("-m", "pytest", *options, str(tests), folder=tmp_path, path=installed)
    assert " passed" in output
    assert "skipped" not in output


LIBRARY = """
import json, sys
from pathlib import Path
from lilbee_core.settings import Settings
from lilbee_core.testing import open_test_library

files = {"club.ics": Path(sys.argv[1]).read_text(), "notes.md": "# Bees\\n\\nThey find home by the sun.\\n"}
settings = Settings().changed(json.loads(sys.argv[2]))
with open_test_library(files=files, settings=settings) as bee:
    result = bee.search("when is the spring meeting")
    hit = result[0]
    row = next(row for row in bee.documents() if row.path == "club.ics")
    print(json.dumps({
        "hit": [hit.path, hit.line_start, hit.heading, dict(hit.scores)],
        "extractor": row.extractor,
        "date": row.date,
        "stages": [report.name for report in result.reports],
        "failures": [one.to_dict() for report in bee.plugins for one in report.failures],
    }))
"""


def library(installed: Path, folder: Path, settings: dict[str, object]) -> Any:
    calendar = str(EXAMPLE / "tests" / "club.ics")
    output = run("-c", LIBRARY, calendar, json.dumps(settings), folder=folder, path=installed)
    return json.loads(output.splitlines()[-1])


def test_installed_means_offered(installed: Path, tmp_path: Path) -> None:
    """The extractor reads at once; the stage waits until it is named."""
    found = library(installed, tmp_path, {})
    path, line, heading, _ = found["hit"]
    assert (path, heading) == ("club.ics", "Spring meeting")
    assert 7 <= line <= 9
    assert found["extractor"] == "acme-calendar/1"
    assert found["date"] == "2026-12-24"
    assert "acme-freshness" not in found["stages"]
    assert found["failures"] == []


def test_listed_means_active(installed: Path, tmp_path: Path) -> None:
    found = library(installed, tmp_path, {"search_stages": ["acme-freshness"]})
    stages = found["stages"]
    assert stages.index("acme-freshness") == stages.index("limit") - 1
    assert "acme-freshness" in found["hit"][3]
    assert found["failures"] == []


def test_disabled_means_gone(installed: Path, tmp_path: Path) -> None:
    found = library(installed, tmp_path, {"plugins_disabled": ["acme"]})
    assert found["extractor"] != "acme-calendar/1"
    assert found["failures"] == []
