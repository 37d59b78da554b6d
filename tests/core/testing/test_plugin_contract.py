"""The contract of plugins notices every broken plugin."""

from __future__ import annotations

import importlib
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lilbee_core.plugins import ExtractorSpec, PluginSpec, StageSpec, hookimpl
from lilbee_core.testing.contracts import PluginContract
from tests.core.plugins._samples import Named, Pass, Whole, extractor, refuse, stage
from tests.core.testing._breaking import checks_of, fails, run

counter = itertools.count()

GOOD = """
from lilbee_core.plugins import PluginSpec, StageSpec, before, hookimpl

class Stage:
    name = "acme-stage"
    reads = writes = frozenset()

    def run(self, state, context):
        return state

def build(options, services):
    return Stage()

@hookimpl
def lilbee_plugin():
    return PluginSpec(name="acme", version="1")

@hookimpl
def lilbee_search_stages():
    return [StageSpec(name="acme-stage", place=before("limit"), build=build)]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Write a plugin module to a folder on the path, and import it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    names: list[str] = []

    def write(source: str) -> ModuleType:
        name = f"contract_plugin_{next(counter)}"
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        names.append(name)
        return importlib.import_module(name)

    yield write
    for name in names:
        sys.modules.pop(name, None)


CHECKS = [
    pytest.param(check, marks=[pytest.mark.slow] if "importing" in check else [])
    for check in sorted(checks_of(PluginContract))
]


@pytest.mark.parametrize("check", CHECKS)
def test_a_good_plugin_passes(check: str, module: Callable[[str], ModuleType]) -> None:
    plugin = module(GOOD)
    run(PluginContract, check, lambda: plugin)


class Complaints(Named):
    @hookimpl
    def lilbee_extractors(self) -> list[object]:
        return [extractor("ics")]


class Versionless(Named):
    @hookimpl
    def lilbee_plugin(self) -> PluginSpec:
        return PluginSpec(name="acme", version="")


class Watching(Named):
    @hookimpl
    def lilbee_event(self, event: object) -> None:
        return


class Changing(Named):
    @hookimpl
    def lilbee_extractors(self) -> list[ExtractorSpec]:
        return [extractor(f"acme-{next(counter)}")]


def loud(act: Callable[[], object]) -> type[Named]:
    class Loud(Named):
        @hookimpl
        def lilbee_extractors(self) -> list[ExtractorSpec]:
            act()
            return [extractor()]

    return Loud


def building(build: Callable[..., object], **more: object) -> type[Named]:
    class Building(Named):
        @hookimpl
        def lilbee_search_stages(self) -> list[StageSpec]:
            return [stage(build=build, **more)]

    return Building


def open_socket() -> None:
    import socket

    socket.socket().close()


def start_thread() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    ("check", "make"),
    [
        ("test_it_is_taken_without_complaint", Complaints),
        ("test_it_is_taken_without_complaint", ModuleType("empty").__class__),
        ("test_it_says_what_it_is", Versionless),
        ("test_it_says_what_it_is", Named),
        ("test_registering_it_touches_nothing", loud(open_socket)),
        ("test_registering_it_touches_nothing", loud(lambda: open(os.devnull, "a").close())),
        ("test_registering_it_touches_nothing", loud(start_thread)),
        ("test_registering_it_twice_gives_the_same", Changing),
        ("test_its_parts_can_be_built", building(refuse)),
        ("test_its_parts_can_be_built", building(lambda options, services: object())),
        ("test_its_parts_can_be_built", building(lambda options, services: Pass(name="other"))),
    ],
)  # fmt: skip
def test_a_broken_plugin_fails(check: str, make: Callable[[], Any]) -> None:
    if make is ModuleType:
        make = lambda: ModuleType("empty")  # noqa: E731
    fails(PluginContract, check, make)


def test_an_unbuildable_chunker_fails() -> None:
    """The whole sample offers an extractor and a chunker that refuse to be built."""
    fails(PluginContract, "test_its_parts_can_be_built", Whole)


def test_unprefixed_names_fail() -> None:
    class Report:
        name, version, parts, failures = "acme", "1", ("ics",), ()

    class Host:
        reports = (Report(),)

    fails(PluginContract, "test_names_start_with_that_of_the_plugin", Named, _host=Host)


def test_options_are_tried(module: Callable[[str], ModuleType]) -> None:
    plugin = module(GOOD)
    fails(PluginContract, "test_it_is_taken_without_complaint", lambda: plugin, options=lambda: {"colour": "red"})


def test_an_observer_need_not_offer_parts() -> None:
    run(PluginContract, "test_it_says_what_it_is", Watching)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "source"),
    [
        ("test_importing_it_is_cheap", "import time\nwhile time.process_time() < 1.5: pass\n"),
        ("test_importing_it_touches_nothing", "open(__file__ + '.txt', 'w').close()\n"),
        ("test_importing_it_touches_nothing", "import socket\nsocket.socket().close()\n"),
        ("test_importing_it_touches_nothing", "import threading\nthreading.Thread(target=int).start()\n"),
        ("test_importing_it_touches_nothing", "import subprocess, sys\nsubprocess.run([sys.executable, '-c', ''])\n"),
        ("test_importing_it_touches_nothing", "import os\nos.mkdir(__file__ + '.folder')\n"),
    ],
)  # fmt: skip
def test_a_module_that_does_more_fails(
    check: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module is imported by the check alone, in a process of its own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "loud_plugin.py").write_text(GOOD + source, encoding="utf-8")
    fails(PluginContract, check, Named, module="loud_plugin")
    assert "loud_plugin" not in sys.modules


def test_a_module_that_cannot_be_found_fails() -> None:
    fails(PluginContract, "test_importing_it_is_cheap", Named, module="no_such_module_anywhere")
