"""Progress on stderr: a bar on a terminal, a few lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from lilbee_cli.render.text import clean

if TYPE_CHECKING:
    from lilbee_core.events import Event

_STEP = 0.25


class ProgressSink:
    """An event sink that shows how far a sync is. Use it as a context manager."""

    def __init__(self, *, quiet: bool, verbose: int) -> None:
        self._quiet = quiet
        self._verbose = verbose
        self._bar: Any = None
        self._task: Any = None
        self._told = 0.0

    def __enter__(self) -> ProgressSink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, event: Event) -> None:
        if self._quiet:
            return
        fields = event.to_dict()
        if event.name == "SyncPlanned":
            self._planned(fields)
        elif event.name == "Progress" and fields["phase"] == "indexing":
            self._advance(int(str(fields["done"])), fields["total"])
        elif self._verbose and event.name in {"DocumentIndexed", "DocumentSkipped", "DocumentFailed", "DocumentMoved"}:
            detail = fields.get("reason") or (f"{fields['chunks']} chunks" if "chunks" in fields else "")
            click.echo(
                f"{event.name.removeprefix('Document').lower():<8} {clean(str(fields['path']))}  {detail}", err=True
            )

    def _planned(self, fields: dict[str, object]) -> None:
        total = int(str(fields["to_read"]))
        if not total:
            return
        size = int(str(fields["bytes"])) / 1e6
        click.echo(f"reading {total} files ({size:.1f} MB), {fields['unchanged']} unchanged", err=True)
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("indexing", total=total)
            self._bar.start()

    def _advance(self, done: int, total: object) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=done)
        elif isinstance(total, int) and total and done / total >= self._told + _STEP:
            self._told = done / total
            click.echo(f"indexed {done} of {total}", err=True)
