"""Counts of a sync while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from lilbee_core.types import FileProblem, SyncReport


@dataclass(slots=True)
class Tally:
    """What has happened so far. Written by one thread at a time."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    moved: int = 0
    unchanged: int = 0
    chunks: int = 0
    failed: list[FileProblem] = field(default_factory=list[FileProblem])
    skipped: list[FileProblem] = field(default_factory=list[FileProblem])
    unavailable: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])

    def warn(self, message: str) -> None:
        """Keep a warning once."""
        if message not in self.warnings:
            self.warnings.append(message)

    def report(
        self, *, seconds: float, embedded: int = 0, owed: int = 0, dry_run: bool = False, cancelled: bool = False
    ) -> SyncReport:
        """Return the frozen report."""
        return SyncReport(
            added=self.added,
            updated=self.updated,
            removed=self.removed,
            moved=self.moved,
            unchanged=self.unchanged,
            failed=tuple(sorted(self.failed, key=lambda one: (one.collection, one.path))),
            skipped=tuple(sorted(self.skipped, key=lambda one: (one.collection, one.path))),
            unavailable=tuple(self.unavailable),
            chunks=self.chunks,
            embedded=embedded,
            owed=owed,
            seconds=seconds,
            dry_run=dry_run,
            cancelled=cancelled,
            warnings=tuple(self.warnings),
        )
