"""Candidates of a chunk: collected with how often and where, then the most telling are kept."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from lilbee_core.types import Mention

MOST = 10
"""Concepts of one chunk (R209)."""
HEADING = 1.5
"""How much more a concept counts that the title or the heading names."""


@dataclass(slots=True)
class _Candidate:
    surface: str
    kind: str
    weight: float
    count: int = 0
    stands_for: str | None = None


@dataclass(slots=True)
class Candidates:
    """What may be a concept of one chunk."""

    _found: dict[str, _Candidate] = field(default_factory=dict[str, _Candidate])

    def add(self, key: str, surface: str, kind: str, weight: float) -> None:
        """Count one more occurrence; the surface that was seen first stays, the most telling kind and weight win."""
        known = self._found.get(key)
        if known is None:
            known = self._found[key] = _Candidate(surface, kind, weight)
        elif weight > known.weight:
            known.kind, known.weight = kind, weight
        known.count += 1

    def explain(self, key: str, surface: str, long_form: str) -> None:
        """Note that an abbreviation stands for a long form."""
        if key not in self._found:
            self.add(key, surface, "entity", 2.5)
        self._found[key].stands_for = long_form

    def is_no_name(self, key: str) -> None:
        """Note that a word is also written without a capital letter: it only began a sentence or a title."""
        known = self._found.get(key)
        if known is not None and known.kind == "entity" and known.surface.istitle():
            known.kind, known.weight, known.surface = "phrase", 1.0, known.surface.lower()

    def raise_weight(self, key: str, factor: float) -> None:
        """Let a candidate count more."""
        if key in self._found:
            self._found[key].weight *= factor

    def best(self, *, most: int = MOST) -> tuple[Mention, ...]:
        """Return the most telling ones; of equals, the one that came first."""
        ranked = sorted(self._found.items(), key=lambda one: -_score(one[1]))[:most]
        return tuple(
            Mention(concept=key, surface=one.surface, kind=one.kind, count=one.count, stands_for=one.stands_for)
            for key, one in ranked
        )


def _score(one: _Candidate) -> float:
    return one.weight * (1.0 + math.log2(one.count))
