"""Where the stages of plugins go in a list of stages: a pure function on names."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lilbee_core.plugins.specs import PluginFailure, StageSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The names of all stages in the order in which they run, those replaced, and what found no place."""

    names: tuple[str, ...]
    replaced: tuple[str, ...] = ()
    failures: tuple[PluginFailure, ...] = ()


def place_stages(stages: Sequence[str], specs: Sequence[StageSpec]) -> Placement:
    """Put the stages of plugins before, after or in place of the named ones.

    The order of `specs` does not matter: stages with the same place go by name, and of several that
    replace the same stage the first by name wins. A stage may name another plugin's stage, and one that
    was replaced still marks its place. What cannot be placed is left out and reported.
    """
    wanted: dict[str, StageSpec] = {}
    failures: list[PluginFailure] = []
    for spec in sorted(specs, key=lambda one: one.name):
        if spec.name in stages or spec.name in wanted:
            failures.append(_failure(spec, "is in the list already", "Name each stage once."))
        else:
            wanted[spec.name] = spec
    substitutes = _substitutes(wanted, failures)
    placed: list[str] = []
    replaced: list[str] = []
    for at, name in enumerate(stages):
        # A stage that runs twice is one place: its neighbors go to the first.
        again = name in stages[:at]
        placed += [_last(name, substitutes)] if again else _around(name, wanted, substitutes, replaced)
    known = [*stages, *wanted]
    settled = {*placed, *replaced, *(one.part for one in failures)}
    failures += [_unplaced(spec, known) for name, spec in wanted.items() if name not in settled]
    by_part = sorted(failures, key=lambda one: one.part)
    return Placement(names=tuple(placed), replaced=tuple(replaced), failures=tuple(by_part))


def _substitutes(wanted: Mapping[str, StageSpec], failures: list[PluginFailure]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for name, spec in wanted.items():
        if spec.place.relation != "replaces":
            continue
        first = chosen.setdefault(spec.place.stage, name)
        if first != name:
            message = f"wants to replace {spec.place.stage!r}, which {first!r} replaces already"
            failures.append(_failure(spec, message, f"Take {name!r} or {first!r} out of search_stages."))
    return chosen


def _around(
    name: str, wanted: Mapping[str, StageSpec], substitutes: Mapping[str, str], replaced: list[str]
) -> Iterator[str]:
    """Yield a stage, or its substitute, with all that belongs around it."""
    for neighbor in _neighbors("before", name, wanted):
        yield from _around(neighbor, wanted, substitutes, replaced)
    if name in substitutes:
        replaced.append(name)
        yield from _around(substitutes[name], wanted, substitutes, replaced)
    else:
        yield name
    for neighbor in _neighbors("after", name, wanted):
        yield from _around(neighbor, wanted, substitutes, replaced)


def _last(name: str, substitutes: Mapping[str, str]) -> str:
    while name in substitutes:
        name = substitutes[name]
    return name


def _neighbors(relation: str, stage: str, wanted: Mapping[str, StageSpec]) -> list[str]:
    return [name for name, spec in wanted.items() if (spec.place.relation, spec.place.stage) == (relation, stage)]


def _unplaced(spec: StageSpec, known: Sequence[str]) -> PluginFailure:
    place = f"{spec.place.relation} {spec.place.stage!r}"
    if spec.place.stage not in known:
        near = difflib.get_close_matches(spec.place.stage, known, n=1)
        hint = f"Did its author mean {near[0]!r}?" if near else f"The stages are: {', '.join(known)}."
        return _failure(spec, f"belongs {place}, and there is no such stage", hint)
    message = f"belongs {place}, which has no place itself"
    return _failure(spec, message, f"Activate {spec.place.stage!r} where it can be placed, or neither of them.")


def _failure(spec: StageSpec, message: str, hint: str) -> PluginFailure:
    # Whose stage it is, the host knows: it fills in the plugin.
    return PluginFailure(plugin="", part=spec.name, message=f"the stage {spec.name!r} {message}", hint=hint)
