"""Packages that are run only when they are asked for something."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from lilbee_core.store._defer import defer


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = "slow_to_import"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text(
        "from slow_to_import.part import one\ntwo = one + 1\n__all__ = ['two']"
    )
    (tmp_path / name / "part.py").write_text("one = 1")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.delitem(sys.modules, f"{name}.part", raising=False)
    return name


def test_a_part_is_imported_without_the_package(package: str) -> None:
    defer(package)
    assert import_module(f"{package}.part").one == 1
    assert "two" not in vars(sys.modules[package])


def test_the_package_is_there_when_it_is_asked(package: str) -> None:
    defer(package)
    module = import_module(package)
    assert not hasattr(module, "__wrapped__")
    assert "two" not in vars(module)
    assert module.two == 2
    assert not hasattr(module, "three")


def test_all_names_are_there_for_those_who_take_all(package: str) -> None:
    defer(package)
    taken: dict[str, object] = {}
    exec(f"from {package} import *", taken)
    assert taken["two"] == 2


def test_nothing_happens_to_what_is_imported_or_missing(package: str) -> None:
    module = import_module(package)
    defer(package)
    assert sys.modules[package] is module
    defer("no_such_package_at_all")
    assert "no_such_package_at_all" not in sys.modules


@pytest.mark.slow
def test_the_engine_is_imported_without_the_client_of_remote_tables() -> None:
    code = """
import sys
from lilbee_core.store._engine import lance
lance()
assert "lance_namespace_urllib3_client.api" not in sys.modules
from lance_namespace_urllib3_client import ApiClient
import lance_namespace_urllib3_client as client
assert client.NamespaceApi is not None and ApiClient is client.ApiClient
"""
    subprocess.run([sys.executable, "-c", code], check=True)
