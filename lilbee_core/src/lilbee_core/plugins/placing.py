"""Where the stages of plugins go in a list of stages: a pure function on names."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lilbee_core.plugins.specs import PluginFailure, StageSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The names of all stages in the order in which they run, those replaced, and what found no place."""

    names: tuple[str, ...]
    replaced: tuple[str, ...] = ()
    failures: tuple[PluginFailure, ...] = ()


def place_stages(
    stages: Sequence[str],
    specs: Sequence[StageSpec],
    *,
    inside: Mapping[str, str] | None = None,
    order: Sequence[str] = (),
) -> Placement:
    """Put the stages of plugins before, after or in place of the named ones.

    The order of `specs` does not matter: stages with the same place go by name, and of several that
    replace the same stage the first by name wins. A stage may name another plugin's stage, and one that
    was replaced still marks its place. What cannot be placed is left out and reported.

    Args:
        stages: The list that runs, by name.
        specs: The stages to place.
        inside: For a stage that runs inside another one of the list, that one: its neighbors go around it.
        order: Stages that a list may have, in their order. One that this list lacks is a place all the same.
    """
    wanted: dict[str, StageSpec] = {}
    failures: list[PluginFailure] = []
    for spec in sorted(specs, key=lambda one: one.name):
        if spec.name in stages or spec.name in wanted:
            failures.append(_failure(spec, "is in the list already", "Name each stage once."))
        else:
            wanted[spec.name] = _moved_out(spec, stages, inside or {})
    tree = _Tree(wanted, _substitutes(wanted, failures))
    placed: list[str] = []
    slots = _slots(stages, inside or {}, order)
    for at, name in enumerate(slots):
        # A stage that runs twice is one place: its neighbors go to the first.
        placed += [tree.last(name)] if name in slots[:at] else tree.around(name, is_there=name in stages)
    known: list[str] = [*slots, *(name for name in (inside or {}) if name not in slots), *wanted]
    settled = {*placed, *tree.replaced, *(one.part for one in failures)}
    failures += [_unplaced(spec, known) for name, spec in wanted.items() if name not in settled]
    by_part = sorted(failures, key=lambda one: one.part)
    return Placement(names=tuple(placed), replaced=tuple(tree.replaced), failures=tuple(by_part))


def _moved_out(spec: StageSpec, stages: Sequence[str], inside: Mapping[str, str]) -> StageSpec:
    """Return the spec with the place that the list has for it; nothing is replaced inside another stage."""
    at = spec.place.stage
    if at in stages or at not in inside or spec.place.relation == "replaces":
        return spec
    return replace(spec, place=replace(spec.place, stage=inside[at]))


def _slots(stages: Sequence[str], inside: Mapping[str, str], order: Sequence[str]) -> list[str]:
    """Return the list with a slot for every stage of `order` that it lacks, where that would stand."""
    slots = list(stages)
    present: dict[str, str] = {**dict(zip(stages, stages, strict=True)), **inside}
    for at, name in enumerate(order):
        if name in present:
            continue
        later = (present[one] for one in order[at + 1 :] if one in present)
        following = next(later, None)
        slots.insert(len(slots) if following is None else slots.index(following), name)
    return slots


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


class _Tree:
    """What belongs around each stage, and what takes its place."""

    def __init__(self, wanted: Mapping[str, StageSpec], substitutes: Mapping[str, str]) -> None:
        self._wanted = wanted
        self._substitutes = substitutes
        self.replaced: list[str] = []

    def around(self, name: str, *, is_there: bool = True) -> Iterator[str]:
        """Yield a stage if it is there, or its substitute, with all that belongs around it."""
        for neighbor in self._neighbors("before", name):
            yield from self.around(neighbor)
        if name in self._substitutes:
            self.replaced += [name] if is_there else []
            yield from self.around(self._substitutes[name])
        elif is_there:
            yield name
        for neighbor in self._neighbors("after", name):
            yield from self.around(neighbor)

    def last(self, name: str) -> str:
        """Return what runs in place of a stage: itself, or the last of its substitutes."""
        while name in self._substitutes:
            name = self._substitutes[name]
        return name

    def _neighbors(self, relation: str, stage: str) -> list[str]:
        place = (relation, stage)
        return [name for name, spec in self._wanted.items() if (spec.place.relation, spec.place.stage) == place]


def _unplaced(spec: StageSpec, known: Sequence[str]) -> PluginFailure:
    place = f"{spec.place.relation} {spec.place.stage!r}"
    if spec.place.stage not in known:
        near = difflib.get_close_matches(spec.place.stage, known, n=1)
        hint = f"Did its author mean {near[0]!r}?" if near else f"The stages are: {', '.join(known)}."
        return _failure(spec, f"belongs {place}, and there is no such stage", hint)
    if spec.place.relation == "replaces":
        message = f"wants to replace {spec.place.stage!r}, which stands inside another stage or has no place itself"
        return _failure(spec, message, "Place it before or after that stage.")
    message = f"belongs {place}, which has no place itself"
    return _failure(spec, message, f"Activate {spec.place.stage!r} where it can be placed, or neither of them.")


def _failure(spec: StageSpec, message: str, hint: str) -> PluginFailure:
    # Whose stage it is, the host knows: it fills in the plugin.
    return PluginFailure(plugin="", part=spec.name, message=f"the stage {spec.name!r} {message}", hint=hint)
