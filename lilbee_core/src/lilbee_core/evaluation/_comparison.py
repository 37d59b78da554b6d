"""Two profiles over the same queries, query by query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from lilbee_core.display import bundle, joined, table_html, text_html
from lilbee_core.errors import InvalidArgument
from lilbee_core.evaluation._chance import Interval, chance_of, interval_of_mean
from lilbee_core.evaluation._metrics import METRICS
from lilbee_core.evaluation._report import EvaluationReport

_TIE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """How much better one profile is than another on one metric.

    `mean` is the mean difference, `interval` its 95 % interval by paired bootstrap, `p` the chance to see a
    difference this big where there is none (paired randomization). `wins`, `ties` and `losses` count queries.
    """

    metric: str
    mean: float
    interval: Interval
    wins: int
    ties: int
    losses: int
    p: float

    @property
    def is_certain(self) -> bool:
        """Whether the interval leaves out 0: more than the choice of queries explains."""
        return 0.0 not in self.interval

    def to_dict(self) -> dict[str, object]:
        return {
            "difference": self.mean,
            "interval": self.interval.to_list(),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "p": self.p,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two reports over the same queries: what `other` gains over `base`. ``comparison["ndcg@10"]`` is one metric.

    Raises:
        InvalidArgument: If the reports do not hold the same queries.
    """

    base: EvaluationReport
    other: EvaluationReport

    def __post_init__(self) -> None:
        first, second = ({one.id for one in report.per_query} for report in (self.base, self.other))
        if first != second:
            raise InvalidArgument(
                f"the reports of {self.base.profile!r} and {self.other.profile!r} hold different queries",
                hint="Compare runs over the same judged queries.",
            )

    def __getitem__(self, metric: str) -> PairedDifference:
        gains = self.gains(metric)
        values = list(gains.values())
        return PairedDifference(
            metric=metric,
            mean=fmean(values) if values else 0.0,
            interval=interval_of_mean(values),
            wins=sum(one > _TIE for one in values),
            ties=sum(abs(one) <= _TIE for one in values),
            losses=sum(one < -_TIE for one in values),
            p=chance_of([one for one in values if abs(one) > _TIE]),
        )

    @property
    def held_out(self) -> Comparison:
        """The comparison over the held-out half of the queries."""
        return Comparison(base=self.base.held_out, other=self.other.held_out)

    def gains(self, metric: str) -> dict[str, float]:
        """Return what each query gains, by its id, in the order of the base report."""
        before, after = self.base.values(metric), self.other.values(metric)
        return {query_id: after[query_id] - value for query_id, value in before.items()}

    def summary(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield the lines a person wants to see: metric, difference with interval, wins / ties / losses, p."""
        for metric in METRICS:
            one = self[metric]
            spread = f"{one.mean:+.4f} [{one.interval.low:+.4f}, {one.interval.high:+.4f}]"
            yield metric, spread, f"{one.wins} / {one.ties} / {one.losses}", f"{one.p:.4f}"

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        title = f"What {self.other.profile} gains over {self.base.profile}, {self.base.queries} queries"
        head, rows = ("metric", "difference [95 %]", "wins / ties / losses", "p"), tuple(self.summary())
        plain = joined([title, *(f"{a:<12}{b:>28}{c:>24}{d:>9}" for a, b, c, d in (head, *rows))])
        return bundle(table_html(text_html(title), head, ([text_html(cell) for cell in row] for row in rows)), plain)

    def to_dict(self) -> dict[str, object]:
        return {
            "base": self.base.profile,
            "profile": self.other.profile,
            "queries": self.base.queries,
            "metrics": {metric: self[metric].to_dict() for metric in METRICS},
        }
