"""What is where: installed packages, versions, licenses, sizes of modules and functions (R007-R009, R011, R303)."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import tomllib
from pathlib import Path
from typing import Any

import pytest

import lilbee_core
from tests.architecture._source import DISTRIBUTIONS, ROOT, all_source_files, package_root, place

TOP_LEVEL_FOLDERS = {*DISTRIBUTIONS, "examples", "tests", "docs"}
TOP_LEVEL_FILES = {"pyproject.toml", "noxfile.py", "README.md", "LICENSE", "uv.lock"}
MAX_MODULE_LINES = 500
MAX_FUNCTION_LINES = 50


def project(distribution: str) -> dict[str, Any]:
    declared: dict[str, Any] = tomllib.loads((ROOT / distribution / "pyproject.toml").read_text("utf-8"))["project"]
    return declared


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_packages_are_installed_and_not_the_folders_of_the_checkout(distribution: str) -> None:
    module = importlib.import_module(distribution)
    assert module.__file__ is not None, "an empty namespace package: install the distributions first"
    assert (Path(module.__file__).parent / "py.typed").is_file()


def test_versions_agree_and_siblings_are_pinned() -> None:
    versions = {name: project(name)["version"] for name in DISTRIBUTIONS}
    assert len(set(versions.values())) == 1, versions
    assert lilbee_core.__version__ == versions["lilbee_core"]
    pin = f"lilbee-core=={versions['lilbee_core']}"
    for name in DISTRIBUTIONS[1:]:
        ours = [entry for entry in project(name)["dependencies"] if entry.startswith("lilbee")]
        assert ours == [pin], f"{name} depends on {ours}"


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_installed_version_is_the_declared_one(distribution: str) -> None:
    declared = project(distribution)
    assert importlib.metadata.version(declared["name"]) == declared["version"], "install the distributions again"


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_every_entry_point_loads(distribution: str) -> None:
    entry_points = importlib.metadata.distribution(project(distribution)["name"]).entry_points
    for entry_point in entry_points:
        assert entry_point.load() is not None, entry_point


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_every_distribution_carries_the_license_and_a_readme(distribution: str) -> None:
    assert (ROOT / distribution / "LICENSE").read_text("utf-8") == (ROOT / "LICENSE").read_text("utf-8")
    assert "one" in (ROOT / distribution / "README.md").read_text("utf-8")


def test_top_level_holds_what_it_should() -> None:
    visible = [path for path in ROOT.iterdir() if not path.name.startswith((".", "__"))]
    folders = {path.name for path in visible if path.is_dir()} - {"dist", "build", "htmlcov"}
    files = {path.name for path in visible if path.is_file()}
    assert folders == TOP_LEVEL_FOLDERS
    assert files <= TOP_LEVEL_FILES, files - TOP_LEVEL_FILES


def test_modules_are_short() -> None:
    lengths = {place(path, 1): len(path.read_text("utf-8").splitlines()) for path in all_source_files()}
    assert lengths
    assert {at: lines for at, lines in lengths.items() if lines > MAX_MODULE_LINES} == {}


def test_functions_are_short() -> None:
    too_long = {}
    for path in all_source_files():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = _lines_without_docstring(node)
                if lines > MAX_FUNCTION_LINES:
                    too_long[f"{place(path, node.lineno)} {node.name}"] = lines
    assert too_long == {}


def _lines_without_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node) is None:
        return lines
    docstring = node.body[0]
    return lines - ((docstring.end_lineno or docstring.lineno) - docstring.lineno + 1)


def test_modules_of_a_feature_are_private() -> None:
    """Beside `__init__`, a feature package holds private modules, so that its public names have one address."""
    core = package_root("lilbee_core")
    public_trees = {"plugins", "testing"}
    offenders = [
        place(path, 1)
        for package in sorted(core.iterdir())
        if package.is_dir() and package.name not in public_trees
        for path in sorted(package.glob("*.py"))
        if not path.name.startswith("_")
    ]
    assert offenders == []
