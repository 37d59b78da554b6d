"""What every plugin keeps to: cheap, quiet registration, prefixed names, parts that can be built."""

from __future__ import annotations

import json
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from lilbee_core.plugins.specs import ExtractServices, PluginSpec
from lilbee_core.testing._watching import watched
from lilbee_core.testing.contracts.samples import sample_services

if TYPE_CHECKING:
    from lilbee_core.plugins.host import PluginHost
    from lilbee_core.protocols import Extractor, SearchStage

IMPORT_LIMIT_S = 0.2
# Runs in an interpreter of its own, with what lilbee itself needs loaded before the clock starts.
_IMPORT = """
import importlib, json, sys, time
name, paths = json.loads(sys.argv[1])
sys.path[:] = paths
import pydantic, lilbee_core.plugins.hookspecs, lilbee_core.plugins.host
from lilbee_core.testing._watching import watched
# The first model of a program makes pydantic look for its own plugins.
pydantic.create_model("First", x=(int, 0))
found = []
started = time.process_time()
with watched(found):
    importlib.import_module(name)
print(json.dumps([time.process_time() - started, found]))
"""


class PluginContract(ABC):
    """Checks for a plugin: give the module or object in `make`. Its parts have contracts of their own."""

    @abstractmethod
    def make(self) -> object:
        """Return the plugin, as it would be passed to `Lilbee` or named by its entry point."""

    @property
    def module(self) -> str:
        """The module that is imported when the plugin is loaded."""
        plugin = self.make()
        return str(getattr(plugin, "__name__", type(plugin).__module__))

    def options(self) -> Mapping[str, object]:
        """Return settings of the plugin to try, beside none at all."""
        return {}

    # ------------------------------------------------------------------ the checks

    def test_it_is_taken_without_complaint(self) -> None:
        for options in (None, self.options()):
            host = self._host(options)
            assert not host.failures, "; ".join(f"{one.part}: {one.message}" for one in host.failures)

    def test_it_says_what_it_is(self) -> None:
        (report,) = self._host().reports
        assert report.version, "it has no version"
        assert report.parts or self._observes(), "it offers nothing"

    def test_names_start_with_that_of_the_plugin(self) -> None:
        host = self._host()
        (report,) = host.reports
        wrong = [name for name in report.parts if not name.startswith(f"{report.name}-")]
        assert not wrong, f"{', '.join(wrong)} do not start with {report.name}-"

    def test_importing_it_is_cheap(self) -> None:
        seconds = [self._import()[0]]
        while min(seconds) > IMPORT_LIMIT_S and len(seconds) < 3:
            seconds.append(self._import()[0])
        assert min(seconds) <= IMPORT_LIMIT_S, (
            f"importing {self.module} takes {min(seconds):.2f} s of CPU: import heavy libraries inside build"
        )

    def test_importing_it_touches_nothing(self) -> None:
        _, found = self._import()
        assert not found, f"importing {self.module} does more than import: {_first(found)}"

    def test_registering_it_touches_nothing(self) -> None:
        self._host()
        found: list[str] = []
        with watched(found):
            self._host()
        assert not found, f"its hooks do more than return specs: {_first(found)}"

    def test_registering_it_twice_gives_the_same(self) -> None:
        first, second = (self._host().reports for _ in range(2))
        assert first == second, "its hooks return other specs the second time"

    def test_its_parts_can_be_built(self) -> None:
        host = self._host(self.options())
        services, reading = sample_services(), ExtractServices()
        for extractor in host.extractors():
            build = partial(extractor.spec.build, extractor.options, reading)
            self._named(extractor.spec.name, host.attempt(extractor, build), host)
        for stage in host.stages():
            self._named(stage.spec.name, host.attempt(stage, partial(stage.spec.build, stage.options, services)), host)
        for chunker in host.chunkers():
            made = host.attempt(chunker, partial(chunker.spec.build, chunker.options))
            assert made is not None, host.failures[-1].message

    # ------------------------------------------------------------------ inside

    def _host(self, options: Mapping[str, object] | None = None) -> PluginHost:
        from lilbee_core.plugins.host import PluginHost

        plugin = self.make()
        tables = {self._name(plugin): options} if options else None
        host = PluginHost([plugin], options=tables, entry_points=list, slow_s=60.0)
        host.load()
        return host

    def _name(self, plugin: object) -> str:
        hook = getattr(plugin, "lilbee_plugin", None)
        identity = hook() if callable(hook) else None
        return identity.name if isinstance(identity, PluginSpec) else ""

    def _observes(self) -> bool:
        return callable(getattr(self.make(), "lilbee_event", None))

    def _named(self, name: str, made: Extractor | SearchStage | None, host: PluginHost) -> None:
        assert made is not None, host.failures[-1].message
        assert made.name == name, f"{name} builds a part that calls itself {made.name}"

    def _import(self) -> tuple[float, list[str]]:
        request = json.dumps([self.module, sys.path])
        result = subprocess.run(
            [sys.executable, "-c", _IMPORT, request], capture_output=True, text=True, check=False, timeout=60
        )
        assert result.returncode == 0, (
            f"{self.module} cannot be imported on its own (set `module` if it has another name): {result.stderr[-500:]}"
        )
        seconds, found = json.loads(result.stdout.splitlines()[-1])
        return float(seconds), [str(one) for one in found]


def _first(found: list[str], shown: int = 5) -> str:
    more = f"; and {len(found) - shown} more" if len(found) > shown else ""
    return "; ".join(found[:shown]) + more
