"""What an evaluation found, as values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from lilbee_core.display import bundle, joined, table_html, text_html
from lilbee_core.evaluation._chance import Interval, interval_of_mean
from lilbee_core.evaluation._halves import is_held_out
from lilbee_core.evaluation._metrics import METRICS, percentile

_ESCAPES = str.maketrans({"%": "%25", "\t": "%09", "\n": "%0A", "\r": "%0D"})


@dataclass(frozen=True, slots=True)
class RankedDocument:
    """A document that a search found, by the name that the judgments use, with the score of its best chunk."""

    name: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuery:
    """One query: what was found, best first, and its figures by name of metric."""

    id: str
    text: str
    ranking: tuple[RankedDocument, ...]
    scores: tuple[tuple[str, float], ...]
    seconds: float = 0.0

    def to_dict(self) -> dict[str, object]:
        found = [{"id": one.name, "score": one.score} for one in self.ranking]
        return {"id": self.id, "text": self.text, **dict(self.scores), "ms": self.seconds * 1000, "documents": found}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationReport:
    """Means over all judged queries; one without any answer counts 0. `documents` and `chunks` are the library's.

    ``report["ndcg@10"]`` is one figure, `METRICS` names them all; `interval` says how far the choice of queries
    may move it. Latencies are those of the searches alone, with everything loaded.
    """

    per_query: tuple[JudgedQuery, ...]
    documents: int
    chunks: int
    profile: str
    embedder: str | None = None

    def __getitem__(self, metric: str) -> float:
        values = self.values(metric).values()
        return fmean(values) if values else 0.0

    def values(self, metric: str) -> dict[str, float]:
        """Return one figure of every query, by its id.

        Raises:
            KeyError: If there is no such metric.
        """
        if metric not in METRICS:
            raise KeyError(f"there is no metric {metric!r}; choose one of {', '.join(METRICS)}")
        return {one.id: dict(one.scores)[metric] for one in self.per_query}

    def interval(self, metric: str) -> Interval:
        """Return the 95 % interval of a figure, by bootstrap over the queries; the same every time."""
        return interval_of_mean(list(self.values(metric).values()))

    @property
    def held_out(self) -> EvaluationReport:
        """The same over the half of the queries that nothing is fitted on (`is_held_out`)."""
        return replace(self, per_query=tuple(one for one in self.per_query if is_held_out(one.id)))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the figures."""
        return METRICS

    @property
    def queries(self) -> int:
        """How many queries were judged."""
        return len(self.per_query)

    @property
    def answered(self) -> int:
        """How many of them found anything."""
        return sum(bool(one.ranking) for one in self.per_query)

    @property
    def latency_p50_ms(self) -> float:
        """Half of the searches took no longer."""
        return percentile([one.seconds for one in self.per_query], 0.5) * 1000

    @property
    def latency_p95_ms(self) -> float:
        """95 % of the searches took no longer."""
        return percentile([one.seconds for one in self.per_query], 0.95) * 1000

    def summary(self) -> Iterator[tuple[str, str]]:
        """Yield the lines a person wants to see."""
        yield "profile", self.profile
        for metric in METRICS:
            yield metric, f"{self[metric]:.4f}"
            interval = self.interval(metric)
            yield "  95 %", f"{interval.low:.3f} to {interval.high:.3f}"
        yield "latency p50", f"{self.latency_p50_ms:.1f} ms"
        yield "latency p95", f"{self.latency_p95_ms:.1f} ms"
        yield "documents", str(self.documents)
        yield "chunks", str(self.chunks)
        yield "queries", str(self.queries)

    def to_dict(self, *, per_query: bool = False) -> dict[str, object]:
        figures: dict[str, object] = {
            **{metric: self[metric] for metric in METRICS},
            "latency_ms": {"p50": self.latency_p50_ms, "p95": self.latency_p95_ms},
            "documents": self.documents,
            "chunks": self.chunks,
            "queries": self.queries,
            "answered": self.answered,
            "profile": self.profile,
            "embedder": self.embedder,
            "intervals": {metric: self.interval(metric).to_list() for metric in METRICS},
        }
        if per_query:
            figures["per_query"] = [one.to_dict() for one in self.per_query]
        return figures

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        lines = tuple(self.summary())
        rows = ((text_html(name), text_html(value)) for name, value in lines)
        html = table_html(f"What search finds with {text_html(self.profile)}", (), rows)
        return bundle(html, joined(f"{name:<16}{value:>18}" for name, value in lines))

    def write_run(self, path: str | Path) -> None:
        """Write ``query<TAB>document<TAB>score`` lines, as the usual scoring tools read them.

        Tabs and line ends inside a name are percent-escaped.
        """
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as run:
            for query in self.per_query:
                run.writelines(
                    f"{_field(query.id)}\t{_field(one.name)}\t{float(one.score)!r}\n" for one in query.ranking
                )


def _field(name: str) -> str:
    return name.translate(_ESCAPES) if any(sign in name for sign in "\t\n\r") else name
