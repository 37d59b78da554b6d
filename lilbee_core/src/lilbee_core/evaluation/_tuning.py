"""Looks for settings that find more on judged queries, and keeps only what holds on queries it did not see."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lilbee_core.errors import InvalidArgument
from lilbee_core.evaluation._bench import Values
from lilbee_core.evaluation._comparison import Comparison
from lilbee_core.evaluation._halves import is_held_out
from lilbee_core.evaluation._report import EvaluationReport

SPACE: Mapping[str, tuple[object, ...]] = MappingProxyType(
    {
        "fusion": ("convex", "rrf", "weighted"),
        "fusion_dense_weight": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        "max_distance": (0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
        "mmr_lambda": (0.85, 0.9, 0.95, 1.0),
        "diversity_max_per_source": (1, 2, 3, 5),
    }
)
"""The settings that are tried, in this order, with their values."""

TUNABLE = ("ndcg@10", "recall@10", "mrr@10", "success@5")
"""The metrics that look at no more than the first ten documents."""

TUNED_HITS = 20
"""Hits that each query is asked for while tuning: with several of one document, enough for ten documents mostly."""
FEWEST_QUERIES = 20
_MOST_CHOOSING, _MOST_JUDGING = 200, 500
_FEWEST_EACH = 5
_GAIN = 1e-4
_ROUNDS = 2

Measure = Callable[[Values], EvaluationReport]


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningReport:
    """What tuning found. `values` are the settings that differ from the present ones; none where nothing is better.

    `fitted` compares them with the present settings over the half of the queries they were chosen on, `held_out` over
    the other half, which decides whether they are kept.
    """

    name: str
    metric: str
    values: tuple[tuple[str, object], ...]
    fitted: Comparison
    held_out: Comparison
    trials: int
    saved: bool

    @property
    def is_better(self) -> bool:
        """Whether there are other values, and they are not worse on the queries that they were not chosen on."""
        return bool(self.values) and self.held_out[self.metric].mean >= 0

    @property
    def verdict(self) -> str:
        """What came of it, in one sentence."""
        gain = self.held_out[self.metric]
        spread = f"{gain.mean:+.4f} [{gain.interval.low:+.4f}, {gain.interval.high:+.4f}]"
        if not self.values:
            return f"No other setting finds more: nothing is written ({self.trials} tries)."
        if not self.is_better:
            return f"What helps on one half of the queries does not on the other ({spread}): nothing is written."
        kept = f"Kept as profile {self.name}" if self.saved else "Better, and not written"
        certain = "" if gain.is_certain else "; the interval holds 0, so more queries may say otherwise"
        return f"{kept}: {self.metric} {spread} on queries that it was not chosen on{certain}."

    def summary(self) -> Iterator[tuple[str, str]]:
        """Yield the lines a person wants to see."""
        for name, value in self.values:
            yield name, str(value)
        for title, pair in (("chosen on", self.fitted), ("held out", self.held_out)):
            one = pair[self.metric]
            before, after = pair.base[self.metric], pair.other[self.metric]
            yield title, f"{self.metric} {before:.4f} to {after:.4f} ({one.mean:+.4f}), {pair.base.queries} queries"
        yield "tries", str(self.trials)

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "metric": self.metric,
            "values": dict(self.values),
            "saved": self.saved,
            "verdict": self.verdict,
            "trials": self.trials,
            "fitted": self.fitted.to_dict(),
            "held_out": self.held_out.to_dict(),
        }


def halves(wanted: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the queries that choose, and those that judge what was chosen. A hash of their ids decides.

    Raises:
        InvalidArgument: If there are too few.
    """
    ordered = sorted(wanted, key=lambda one: (hashlib.sha256(one.encode("utf-8", "surrogatepass")).digest(), one))
    choosing = [one for one in ordered if not is_held_out(one)]
    judging = [one for one in ordered if is_held_out(one)]
    if len(wanted) < FEWEST_QUERIES or min(len(choosing), len(judging)) < _FEWEST_EACH:
        raise InvalidArgument(
            f"{len(wanted)} judged queries are too few to tune with: {len(choosing)} choose, {len(judging)} judge",
            hint=f"Judge at least {FEWEST_QUERIES}; `lilbee eval --draft FOLDER` drafts some from your documents.",
        )
    return choosing[:_MOST_CHOOSING], judging[:_MOST_JUDGING]


class Climb:
    """Changes one setting at a time and keeps what gains most, until nothing gains. Deterministic.

    Args:
        present: The values to start from; between equals they stay.
        measure: Reports the queries that may be fitted on, with these values.
        metric: What is to become better.
    """

    def __init__(self, present: Values, measure: Measure, metric: str) -> None:
        self._present = dict(present)
        self._measure = measure
        self._metric = metric
        self._known: dict[tuple[object, ...], EvaluationReport] = {}

    @property
    def trials(self) -> int:
        """How many different lists of values were measured."""
        return len(self._known)

    def report(self, values: Values) -> EvaluationReport:
        """Return the report for these values, measured once."""
        key = tuple(values[name] for name in self._present)
        if key not in self._known:
            self._known[key] = self._measure(_changed(values, self._present))
        return self._known[key]

    def run(self) -> dict[str, object]:
        """Return the values that differ from those it started from."""
        best = dict(self._present)
        for _ in range(_ROUNDS):
            before = dict(best)
            for name in self._present:
                best = self._best_of(name, best)
            if best == before:
                break
        return _changed(best, self._present)

    def _best_of(self, name: str, values: dict[str, object]) -> dict[str, object]:
        if name in _ONLY_CONVEX and values["fusion"] != "convex":
            return values
        best, score = values, self.report(values)[self._metric]
        for value in SPACE[name]:
            tried = {**values, name: value}
            reached = self.report(tried)[self._metric]
            if reached > score + _GAIN:
                best, score = tried, reached
        return best


_ONLY_CONVEX = frozenset({"fusion_dense_weight"})


def _changed(values: Values, present: Values) -> dict[str, object]:
    return {name: value for name, value in values.items() if value != present[name]}
