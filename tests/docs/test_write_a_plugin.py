"""The guide for plugin authors is true: its code is written to files, run and tested."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lilbee_core.plugins import hookspecs
from lilbee_core.testing import contracts

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how_to" / "write_a_plugin.md").read_text("utf-8")
BLOCK = re.compile(r"^```(?:python|toml)\n# (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILES = dict(BLOCK.findall(PAGE))
PLUGINS = sorted(name.removesuffix(".py") for name, text in FILES.items() if "def lilbee_plugin" in text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = tmp_path_factory.mktemp("plugin")
    for name, text in FILES.items():
        (written / name).write_text(text, encoding="utf-8")
    return written


def run(*command: str, folder: Path) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LILBEE_", "PYTHONPATH"))}
    environment = {**kept, "PYTHONPATH": str(folder), "HOME": str(folder)}
    result = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout


def test_every_block_of_code_is_run() -> None:
    assert PAGE.count("```python") + PAGE.count("```toml") == len(FILES)
    assert len(PLUGINS) == 5


@pytest.mark.slow
def test_its_tests_pass(folder: Path) -> None:
    output = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", str(folder), folder=folder)
    assert re.search(r"\d\d passed", output)


@pytest.mark.slow
def test_the_plugin_can_be_tried(folder: Path) -> None:
    output = run("try_it.py", folder=folder)
    assert output.startswith("['bees.md']")
    assert "acme-drop-short" in output
    assert "shorter than 20" in output


@pytest.mark.slow
def test_every_plugin_is_taken_without_complaint(folder: Path) -> None:
    code = (
        "import sys, importlib\n"
        "from lilbee_core.plugins import PluginHost\n"
        "for name in sys.argv[1:]:\n"
        "    host = PluginHost([importlib.import_module(name)], entry_points=list, strict=True)\n"
        "    print(name, [one.parts for one in host.reports])\n"
    )
    assert len(run("-c", code, *PLUGINS, folder=folder).splitlines()) == len(PLUGINS)


@pytest.mark.slow
def test_the_settings_are_settings(folder: Path) -> None:
    from lilbee_core.settings import load_settings

    settings = load_settings(folder / "config.toml", env={"LILBEE_CONFIG_DIR": str(folder / "none")})
    assert settings.plugins.search_stages == ("acme-drop-short",)


def test_the_project_names_the_plugin() -> None:
    project = tomllib.loads(FILES["pyproject.toml"])["project"]
    assert project["entry-points"][hookspecs.GROUP] == {"acme": "acme_short"}


def test_every_contract_that_authors_need_is_named() -> None:
    needed = {name for name in contracts.__all__ if name.endswith(("ProviderContract", "PluginContract"))}
    assert all(f"`{name}`" in PAGE for name in needed | {"StageContract", "ExtractorContract", "ChunkerContract"})


def test_every_hook_is_in_the_reference() -> None:
    reference = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "hooks.md").read_text("utf-8")
    hooks = [name for name in vars(hookspecs) if name.startswith("lilbee_")]
    assert len(hooks) == 8
    assert all(name in reference for name in hooks)
