"""What was decided by hand about concepts. It outlives every rebuild, and applies whenever the graph is counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

KIND = "concepts"
_FORBID, _INTO = "forbidden", "into"


class DecisionStore(Protocol):
    """Keeps decisions by kind and key, as the state of a library does."""

    def save(self, kind: str, key: str, value: Mapping[str, object]) -> None: ...

    def delete(self, kind: str, key: str) -> bool: ...

    def items(self, kind: str) -> Iterator[tuple[str, Mapping[str, object]]]: ...


@dataclass(frozen=True, slots=True)
class Decisions:
    """Normalized forms that count as another one, and those that count as none."""

    merged: Mapping[str, str] = field(default_factory=dict[str, str])
    forbidden: frozenset[str] = frozenset()

    def merge(self, key: str, into: str) -> Decisions:
        """Let `key` count as `into`. Neither is forbidden any more; a decision the other way round is taken back."""
        kept = {one: other for one, other in self.merged.items() if (one, other) != (into, key)}
        return Decisions({**kept, key: into}, self.forbidden - {key, into})

    def forbid(self, key: str) -> Decisions:
        """Let `key` count as nothing."""
        return Decisions({one: other for one, other in self.merged.items() if one != key}, self.forbidden | {key})

    def restore(self, key: str) -> Decisions:
        """Take back what was decided about `key`."""
        kept = {one: other for one, other in self.merged.items() if one != key}
        return replace(self, merged=kept, forbidden=self.forbidden - {key})


def load(state: DecisionStore) -> Decisions:
    """Return what was decided in a library."""
    merged: dict[str, str] = {}
    forbidden: set[str] = set()
    for key, value in state.items(KIND):
        if value.get(_FORBID):
            forbidden.add(key)
        elif value.get(_INTO):
            merged[key] = str(value[_INTO])
    return Decisions(merged, frozenset(forbidden))


def save(state: DecisionStore, old: Decisions, new: Decisions) -> None:
    """Write what changed; everything else stays as it is."""
    for key in {*old.merged, *old.forbidden} - {*new.merged, *new.forbidden}:
        state.delete(KIND, key)
    for key in new.forbidden - old.forbidden:
        state.save(KIND, key, {_FORBID: True})
    for key, into in new.merged.items():
        if old.merged.get(key) != into:
            state.save(KIND, key, {_INTO: into})
