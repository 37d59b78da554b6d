"""What charts of a library and of its search say, as values. `plots` draws them in a terminal, `svg` in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from lilbee_cli.render.text import line

if TYPE_CHECKING:
    from lilbee_core.evaluation import Comparison, EvaluationReport
    from lilbee_core.types import DocumentRow, LibraryStatus

MOST_ROWS = 12
_BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRow:
    """One row: a value and how it is told. With an interval it is a point amid its whiskers, without one a bar."""

    label: str
    value: float
    told: str
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Rows on one scale from `low` to `high`. The description says in words what the picture shows."""

    title: str
    description: str
    rows: tuple[ChartRow, ...]
    low: float = 0.0
    high: float = 1.0

    def share(self, value: float) -> float:
        """Return where a value stands on the scale, from 0 to 1."""
        span = self.high - self.low
        return min(1.0, max(0.0, (value - self.low) / span)) if span > 0 else 0.0


def of_status(status: LibraryStatus, documents: Iterable[DocumentRow]) -> tuple[Chart, ...]:
    """Return the charts of a library: files by state and by ending, and chunks per collection."""
    endings: Counter[str] = Counter()
    chunks: Counter[str] = Counter()
    for one in documents:
        if one.chunks:
            endings[PurePosixPath(one.path).suffix.lower() or "no ending"] += 1
            chunks[one.collection] += one.chunks
    states = [(name, count) for name, count in status.states if count]
    charts = (
        _counts("Files by state", "files", states),
        _counts("Indexed files by type", "files", _largest(endings)),
        _counts("Chunks per collection", "chunks", _largest(chunks)),
    )
    return tuple(one for one in charts if one.rows)


def of_evaluation(reports: Sequence[EvaluationReport], pairs: Sequence[Comparison]) -> tuple[Chart, ...]:
    """Return the charts of evaluations: the figures with their intervals, gains, and how long searches took."""
    return (_figures(reports), *(_gains(pair) for pair in pairs), *(_latencies(report) for report in reports))


def _largest(counts: Counter[str]) -> list[tuple[str, int]]:
    """Return the largest counts, largest first, and what the others have together."""
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    if len(ordered) <= MOST_ROWS:
        return ordered
    kept, rest = ordered[: MOST_ROWS - 1], ordered[MOST_ROWS - 1 :]
    return [*kept, (f"{len(rest)} others", sum(count for _, count in rest))]


def _counts(title: str, unit: str, counts: Sequence[tuple[str, int]]) -> Chart:
    rows = tuple(ChartRow(label=line(name), value=count, told=f"{count:,}") for name, count in counts)
    total = sum(count for _, count in counts)
    told = ", ".join(f"{row.label} {row.told}" for row in rows)
    high = max((row.value for row in rows), default=1)
    return Chart(title=title, description=f"{total:,} {unit}: {told}.", rows=rows, high=high)


def _figures(reports: Sequence[EvaluationReport]) -> Chart:
    rows: list[ChartRow] = []
    for metric in reports[0].metrics:
        for report in reports:
            name = metric if len(reports) == 1 else f"{metric} {line(report.profile)}"
            span = report.interval(metric)
            told = f"{report[metric]:.3f}  ({span.low:.3f} to {span.high:.3f})"
            rows.append(ChartRow(label=name, value=report[metric], told=told, interval=(span.low, span.high)))
    profiles = ", ".join(line(report.profile) for report in reports)
    title = f"What search finds, {profiles}"
    return Chart(title=title, description=f"Means of {reports[0].queries} queries with 95 % intervals: {_told(rows)}.",
                 rows=tuple(rows))  # fmt: skip


def _gains(pair: Comparison) -> Chart:
    rows: list[ChartRow] = []
    for metric in pair.base.metrics:
        one = pair[metric]
        told = f"{one.mean:+.3f}  ({one.interval.low:+.3f} to {one.interval.high:+.3f})"
        rows.append(ChartRow(label=metric, value=one.mean, told=told, interval=(one.interval.low, one.interval.high)))
    far = max(0.01, *(abs(end) for row in rows for end in row.interval or ()))
    title = f"What {line(pair.other.profile)} gains over {line(pair.base.profile)}"
    described = f"Mean differences of {pair.base.queries} queries with 95 % intervals, 0 in the middle: {_told(rows)}."
    return Chart(title=title, description=described, rows=tuple(rows), low=-far, high=far)


def _told(rows: Iterable[ChartRow]) -> str:
    return ", ".join(f"{row.label} {' '.join(row.told.split())}" for row in rows)


def _latencies(report: EvaluationReport) -> Chart:
    """Return how many searches took how long; the last row holds the slowest twentieth, however far it reaches."""
    times = sorted(one.seconds * 1000 for one in report.per_query)
    rows: list[ChartRow] = []
    if times:
        low, high = floor(times[0]), max(floor(times[0]) + 1, ceil(report.latency_p95_ms))
        width = max(1, ceil((high - low) / _BINS))
        for start in range(low, high, width):
            count = sum(start <= one < start + width for one in times)
            rows.append(ChartRow(label=f"{start} to {start + width} ms", value=count, told=f"{count:,}"))
        slow = sum(one >= low + width * len(rows) for one in times)
        if slow:
            rows.append(ChartRow(label="longer", value=slow, told=f"{slow:,}"))
    told = f"Half of {report.queries} searches took {report.latency_p50_ms:.1f} ms or less, 95 % of them "
    return Chart(
        title=f"How long searches took, {line(report.profile)}",
        description=told + f"{report.latency_p95_ms:.1f} ms or less.",
        rows=tuple(rows), high=max((row.value for row in rows), default=1),
    )  # fmt: skip
