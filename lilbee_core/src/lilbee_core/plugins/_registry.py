"""Registers plugins one by one: what they offer, and what is wrong with them."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, cast

from lilbee_core.plugins import _checks
from lilbee_core.plugins._checks import Problem, Spec, SpecT_co
from lilbee_core.plugins._finding import Candidate, alone, told
from lilbee_core.plugins.specs import Options, PluginFailure, PluginReport, PluginSpec, ProviderSpec

if TYPE_CHECKING:
    from lilbee_core.plugins._hooks import Hooks

log = logging.getLogger("lilbee_core.plugins")

ASK = "Ask its author."


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer(Generic[SpecT_co]):
    """A spec that may be used, with its options and where it comes from.

    `given` says that the caller passed the plugin, which activates its stages. `origin` lets another
    process find the same spec again (`load_entry_points`); it is empty for parts that only this process has.
    """

    spec: SpecT_co
    plugin: str
    options: Options = field(default_factory=dict[str, object])
    builtin: bool = False
    given: bool = False
    origin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    """A plugin that wants to know of events."""

    plugin: str
    tell: Callable[..., object]


@dataclass(slots=True, kw_only=True)
class Record:
    """What becomes a `PluginReport`."""

    name: str
    version: str = ""
    summary: str = ""
    parts: list[str] = field(default_factory=list[str])
    enabled: bool = True
    builtin: bool = False
    failures: list[PluginFailure] = field(default_factory=list[PluginFailure])

    def fail(self, message: str, hint: str, *, part: str = "") -> None:
        """Add a failure; the same one is kept once."""
        failure = PluginFailure(plugin=self.name, part=part, message=message, hint=hint)
        if failure not in self.failures:
            log.warning("plugin %s: %s", self.name, message)
            self.failures.append(failure)

    def report(self) -> PluginReport:
        """Return it as a value."""
        return PluginReport(
            name=self.name,
            version=self.version,
            summary=self.summary,
            parts=tuple(self.parts),
            enabled=self.enabled,
            builtin=self.builtin,
            failures=tuple(self.failures),
        )


class Registry:
    """All that plugins offer. Not thread-safe: the host holds a lock around it."""

    def __init__(
        self,
        *,
        disabled: frozenset[str],
        tables: Mapping[str, Mapping[str, object]],
        timer: Callable[[], float],
        slow_s: float,
    ) -> None:
        self.records: list[Record] = []
        self.offers: list[Offer[Spec]] = []
        self.observers: list[Observer] = []
        self._disabled = disabled
        self._tables = tables
        self._timer = timer
        self._slow_s = slow_s

    def add_builtin(self, record: Record, specs: Iterable[Spec]) -> None:
        """Register parts of lilbee itself.

        Raises:
            ValueError: If a spec is not in order.
        """
        hooks = {kind: hook for hook, kind in _checks.KINDS.items()}
        for spec in specs:
            hook = hooks.get(type(spec))
            if hook is None:
                raise ValueError(f"{record.name} offers {_checks.named(type(spec))}, which is no spec")
            problem = _checks.spec_problem(spec, hook) or self._clash(spec)
            if problem:
                raise ValueError(f"{record.name} offers {spec.name!r}: {problem[0]}")
            options = _checks.options_of(spec.options, self._tables.get(record.name, {}))
            self.offers.append(Offer(spec=spec, plugin=record.name, options=options, builtin=True))
            record.parts.append(spec.name)
        self.records.append(record)

    def add(self, candidate: Candidate) -> None:
        """Register a plugin; whatever is wrong with it ends up in its record."""
        record = Record(name=candidate.title, version=candidate.version)
        self.records.append(record)
        if candidate.title in self._disabled:
            record.enabled = False
        elif candidate.problem:
            record.fail(*candidate.problem)
        else:
            self._time(record, candidate)

    def fail(self, failure: PluginFailure) -> PluginFailure:
        """Add a failure to the record of its plugin, or of the plugin that offers its part; return it with its name."""
        owner = next((one for one in self.records if failure.plugin == one.name), None)
        if owner is None and failure.part:
            owner = next((one for one in self.records if failure.part in one.parts), None)
        if owner is None:
            owner = Record(name=failure.plugin or failure.part)
            self.records.append(owner)
        owner.fail(failure.message, failure.hint, part=failure.part)
        return replace(failure, plugin=owner.name)

    def check_tables(self) -> None:
        """Report options that nobody reads: a misspelled one would otherwise be silent."""
        for name, table in self._tables.items():
            record = next((one for one in self.records if one.name == name), None)
            if record is not None:
                self._check_table(record, table)
                continue
            near = difflib.get_close_matches(name, [one.name for one in self.records if not one.builtin], n=1)
            hint = f"Did you mean [plugins.{near[0]}]?" if near else "Install the plugin, or remove the table."
            self.fail(PluginFailure(plugin=name, message=f"[plugins.{name}] belongs to no plugin", hint=hint))

    def _time(self, record: Record, candidate: Candidate) -> None:
        started = self._timer()
        _, error = alone(lambda: self._read(record, candidate))
        if error is not None:
            record.fail(f"it cannot be read: {told(error)}", ASK)
        seconds = candidate.seconds + self._timer() - started
        if seconds > self._slow_s:
            message = f"it took {seconds:.1f} s to register, and more than {self._slow_s:g} s is slow"
            record.fail(message, "Ask its author to import heavy libraries inside build.")

    def _read(self, record: Record, candidate: Candidate) -> None:
        from lilbee_core.plugins._hooks import read_hooks

        hooks = read_hooks(candidate.plugin, candidate.title)
        identity = self._identity(record, hooks)
        taken = identity is not None and any(one.name == identity.name for one in self.records if one is not record)
        if identity is not None:
            record.name, record.version, record.summary = identity.name, identity.version, identity.summary
        if record.name in self._disabled:
            record.enabled = False
            return
        for problem in hooks.problems:
            record.fail(problem.message, problem.hint, part=problem.hook)
        if taken:
            message = f"there is another plugin called {record.name!r}"
            record.fail(message, "Uninstall one of the two, or add one to plugins_disabled.")
        elif identity is not None:
            self._take(record, candidate, hooks)

    def _identity(self, record: Record, hooks: Hooks) -> PluginSpec | None:
        hook = "lilbee_plugin"
        caller = hooks.callers.get(hook)
        if caller is None:
            if not any(problem.hook == hook for problem in hooks.problems):
                hint = f"Add a function {hook}, marked with @hookimpl, that returns a PluginSpec."
                record.fail(f"it has no hook {hook}", hint, part=hook)
            return None
        answers, error = alone(lambda: cast("list[object]", caller()))
        if error is not None:
            record.fail(f"{hook} raised {told(error)}", ASK, part=hook)
            return None
        identity = answers[0] if answers else None
        problem = _checks.identity_problem(identity)
        if problem:
            record.fail(*problem, part=hook)
            return None
        return cast("PluginSpec", identity)

    def _take(self, record: Record, candidate: Candidate, hooks: Hooks) -> None:
        for hook in _checks.KINDS:
            for spec in self._specs(record, hooks, hook):
                self._offer(record, candidate, spec)
        observer = hooks.callers.get("lilbee_event")
        if observer is not None:
            self.observers.append(Observer(plugin=record.name, tell=observer))

    def _specs(self, record: Record, hooks: Hooks, hook: str) -> Iterator[Spec]:
        from lilbee_core.plugins._hooks import results_of

        caller = hooks.callers.get(hook)
        if caller is None:
            return
        found, error = alone(lambda: results_of(caller))
        if error is not None:
            record.fail(f"{hook} raised {told(error)}", ASK, part=hook)
        for spec in found or ():
            problem = _checks.spec_problem(spec, hook)
            if problem:
                record.fail(*problem, part=str(getattr(spec, "name", hook)))
            else:
                yield cast("Spec", spec)

    def _offer(self, record: Record, candidate: Candidate, spec: Spec) -> None:
        problem = _checks.prefix_problem(spec.name, record.name) or self._clash(spec)
        options, error = alone(lambda: _checks.options_of(spec.options, self._tables.get(record.name, {})))
        if problem is None and error is not None:
            problem = _checks.options_problem(error, record.name, spec.options)
        if problem:
            record.fail(*problem, part=spec.name)
            return
        self.offers.append(
            Offer(
                spec=spec,
                plugin=record.name,
                options=options or {},
                given=candidate.given,
                origin=candidate.origin,
            )
        )
        record.parts.append(spec.name)

    def _clash(self, spec: Spec) -> Problem:
        for other in self.offers:
            if type(other.spec) is not type(spec):
                continue
            if other.spec.name == spec.name:
                return f"{other.plugin} offers {spec.name!r} already", "Take one of the two out."
            if isinstance(spec, ProviderSpec) and cast("ProviderSpec", other.spec).prefix == spec.prefix:
                return f"{other.plugin} serves the prefix {spec.prefix!r} already", "Choose another prefix."
        return None

    def _check_table(self, record: Record, table: Mapping[str, object]) -> None:
        # The options of a plugin that is out, or lacks a part, cannot be judged.
        if not record.enabled or not record.parts or record.failures:
            return
        models = [one.spec.options for one in self.offers if one.plugin == record.name and one.spec.options]
        if any(_checks.takes_any(model) for model in models):
            return
        known = sorted({key for model in models for key in _checks.option_names(model)})
        for key in sorted(set(table) - set(known)):
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Remove it from [plugins.{record.name}]."
            record.fail(f"there is no option {key!r}", hint, part=key)
