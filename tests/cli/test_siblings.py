"""`serve`, `open` and `mcp` come with other distributions: they run where these are, and say so where not (R239)."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from importlib.metadata import EntryPoints
from typing import Any

import click
import pytest

from tests.cli.conftest import Run

SIBLINGS = {"serve": "lilbee-server", "open": "lilbee-server", "mcp": "lilbee-mcp"}


def without_siblings(real: Callable[..., EntryPoints]) -> Callable[..., EntryPoints]:
    """What Python finds where only the command line is installed."""

    def entry_points(**chosen: Any) -> EntryPoints:
        found = real(**chosen)
        return EntryPoints(one for one in found if one.name not in SIBLINGS)

    return entry_points


@pytest.mark.parametrize("name", SIBLINGS)
def test_a_sibling_that_is_installed_answers(lilbee: Run, name: str) -> None:
    shown = lilbee(name, "--help")
    assert shown.code == 0
    assert f"Usage: lilbee {name}" in shown.out
    assert "--library" in shown.out


@pytest.mark.parametrize("name", SIBLINGS)
@pytest.mark.parametrize("arguments", [(), ("--port", "0"), ("--help",)])
def test_a_sibling_that_is_not_there_says_how_to_get_it(
    lilbee: Run, monkeypatch: pytest.MonkeyPatch, name: str, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", without_siblings(importlib.metadata.entry_points))
    told = lilbee(name, *arguments)
    assert told.code == 1
    assert f"pip install {SIBLINGS[name]}" in told.err
    assert "Traceback" not in told.err
    assert told.out == ""
    as_json = lilbee(name, *arguments, "--json")
    assert f"pip install {SIBLINGS[name]}" in as_json.json()["error"]["message"]
    assert f"\n  {name} " in lilbee("--help").out, "help hides what can be had"


def test_a_sibling_that_is_broken_costs_only_itself(lilbee: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = importlib.metadata.EntryPoint("broken", "nothing.of_the_kind:command", "lilbee_cli.commands")
    fine = importlib.metadata.EntryPoint("hello", "tests.cli.test_siblings:hello", "lilbee_cli.commands")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: EntryPoints([broken, fine]))
    told = lilbee("broken")
    assert told.code == 1
    assert "'broken' cannot be loaded" in told.err
    assert lilbee("hello").out == "hello\n"
    assert lilbee("version").code == 0


@click.command()
def hello() -> None:
    click.echo("hello")
