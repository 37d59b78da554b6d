"""What a crawl counts. It is kept with the crawl, so that one that was stopped goes on counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from lilbee_core.types import CrawlReport, PageProblem

_MOST_PROBLEMS = 200
_MOST_WARNINGS = 5


@dataclass(slots=True)
class Tally:
    """Counts of pages, and what went wrong."""

    counts: dict[str, int] = field(default_factory=dict[str, int])
    failed: list[PageProblem] = field(default_factory=list[PageProblem])
    skipped: list[PageProblem] = field(default_factory=list[PageProblem])
    warnings: list[str] = field(default_factory=list[str])
    sites: tuple[str, ...] = ()

    def count(self, state: str) -> None:
        """Count a page."""
        self.counts[state] = self.counts.get(state, 0) + 1

    def warn(self, message: str) -> None:
        """Add a warning, a few at most."""
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(message)

    @property
    def pages(self) -> int:
        """How many pages are kept."""
        return sum(self.counts.get(state, 0) for state in ("new", "updated", "unchanged"))

    @property
    def done(self) -> int:
        """How many addresses are done with."""
        return sum(self.counts.values()) + len(self.failed) + len(self.skipped)

    def report(
        self,
        *,
        seconds: float,
        waiting: int,
        resumed: bool,
        cancelled: bool,
        links: Iterable[tuple[int, Sequence[PageProblem]]] = (),
    ) -> CrawlReport:
        """Return what was counted; `links` are those that were not followed, by reason: their number and some names."""
        counts = Counter(one.code for one in self.skipped)
        skipped = list(self.skipped)
        for count, named in links:
            if count and named:
                counts[named[0].code] += count
                skipped += named
        return CrawlReport(
            new=self.counts.get("new", 0),
            updated=self.counts.get("updated", 0),
            unchanged=self.counts.get("unchanged", 0),
            duplicates=self.counts.get("duplicate", 0),
            failed=tuple(self.failed),
            skipped=tuple(skipped),
            skipped_counts=tuple(counts.most_common()),
            waiting=waiting,
            seconds=seconds,
            resumed=resumed,
            cancelled=cancelled,
            warnings=tuple(self.warnings),
        )

    def to_dict(self) -> dict[str, object]:
        """Return what is kept of it; of very many problems the last ones."""
        return {
            "counts": dict(self.counts),
            "failed": [one.to_dict() for one in self.failed[-_MOST_PROBLEMS:]],
            "skipped": [one.to_dict() for one in self.skipped[-_MOST_PROBLEMS:]],
            "warnings": list(self.warnings),
            "sites": list(self.sites),
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, object]) -> Tally:
        """Return what was kept."""
        counts = cast("Mapping[str, int]", told.get("counts", {}))
        return cls(
            counts={name: int(count) for name, count in counts.items()},
            failed=_problems(told.get("failed")),
            skipped=_problems(told.get("skipped")),
            warnings=[str(one) for one in cast("Iterable[object]", told.get("warnings") or ())],
            sites=tuple(str(one) for one in cast("Iterable[object]", told.get("sites") or ())),
        )


def _problems(told: object) -> list[PageProblem]:
    rows = cast("Iterable[Mapping[str, object]]", told or ())
    return [
        PageProblem(url=str(row.get("url")), code=str(row.get("code")), reason=str(row.get("reason"))) for row in rows
    ]
