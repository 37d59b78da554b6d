"""Progress on stderr: a bar on a terminal, a few lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from lilbee_cli.render.text import counted, line, warn

if TYPE_CHECKING:
    from lilbee_core.events import Event

_STEP = 0.25
_MANY_PAGES = 5
_PAGE_STEP = 10
_PAGES = frozenset({"PageFetched", "PageSkipped", "PageFailed"})


class ProgressSink:
    """An event sink that shows how far a sync or a crawl is. Use it as a context manager."""

    def __init__(self, *, quiet: bool, verbose: int) -> None:
        self._quiet = quiet
        self._verbose = verbose
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}
        self._told = 0.0
        self._pages = 0
        self._warnings: set[str] = set()

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
        elif event.name == "Progress":
            self._progress(str(fields["phase"]), int(str(fields["done"])), fields["total"])
        elif event.name == "Warned":
            self._warned(str(fields["message"]))
        elif event.name in _PAGES:
            self._page(event.name, fields)
        elif self._verbose and event.name in {"DocumentIndexed", "DocumentSkipped", "DocumentFailed", "DocumentMoved"}:
            detail = fields.get("reason") or (
                counted(int(str(fields["chunks"])), "chunk") if "chunks" in fields else ""
            )
            click.echo(
                f"{event.name.removeprefix('Document').lower():<8} {line(str(fields['path']))}  {line(str(detail))}",
                err=True,
            )

    def _progress(self, phase: str, done: int, total: object) -> None:
        whole = total if isinstance(total, int) else 0
        tellers = {
            "indexing": self._advance,
            "crawling": self._crawling,
            "downloading": self._downloading,
            "recognizing": self._recognizing,
            "embedding": self._embedding,
        }
        if phase.startswith("loading"):
            self._loading(phase, done, whole)
        elif (tell := tellers.get(phase)) is not None:
            tell(done, whole)

    def _planned(self, fields: dict[str, object]) -> None:
        total = int(str(fields["to_read"]))
        if not total:
            return
        size = int(str(fields["bytes"])) / 1e6
        click.echo(f"reading {counted(total, 'file')} ({size:.1f} MB), {fields['unchanged']} unchanged", err=True)
        self._told = 0.0
        if sys.stderr.isatty():
            self._show("indexing", 0, total)

    def _warned(self, message: str) -> None:
        """Tell a warning once, above a bar that moves."""
        if message not in self._warnings:
            self._warnings.add(message)
            if self._bar is not None:
                self._bar.stop()
                self._bar, self._tasks = None, {}
            warn(message)

    def _show(self, name: str, done: int, total: int) -> None:
        """Move a bar; the first one makes them appear."""
        if self._bar is None:
            from rich.console import Console
            from rich.progress import Progress

            self._bar = Progress(console=Console(stderr=True), transient=True)
            self._bar.start()
        if name not in self._tasks:
            self._tasks[name] = self._bar.add_task(name, total=total)
        self._bar.update(self._tasks[name], completed=done, total=total)

    def _crawling(self, done: int, total: int) -> None:
        if sys.stderr.isatty():
            self._show("crawling", done, total)
        elif done >= self._pages + _PAGE_STEP:
            self._pages = done
            click.echo(f"fetched {done} of {total} known pages", err=True)

    def _downloading(self, done: int, whole: int) -> None:
        """Tell of a model that is fetched; where its size is not known, of each gigabyte."""
        if sys.stderr.isatty() and whole:
            self._show("fetching", done, whole)
        elif done >= self._told + (whole / 10 if whole else 1e9) or (whole and done >= whole > self._told):
            self._told = float(done)
            click.echo(f"fetched {done / 1e6:.0f} MB" + (f" of {whole / 1e6:.0f}" if whole else ""), err=True)

    def _embedding(self, done: int, total: int) -> None:
        """Tell of passages that get their vectors after their words."""
        if not total:
            return
        if sys.stderr.isatty():
            self._show("embedding passages", done, total)
        elif done / total >= self._told + _STEP:
            self._told = done / total
            click.echo(f"embedded {done} of {total} passages", err=True)

    def _loading(self, name: str, done: int, whole: int) -> None:
        """Tell how much of a model has been read; the bar goes when it is there, since an answer follows."""
        if sys.stderr.isatty() and whole:
            self._show(name, done, whole)
            if done >= whole:
                self._bar.stop()
                self._bar, self._tasks = None, {}
        elif whole and (done >= self._told + whole * _STEP or done >= whole > self._told):
            self._told = float(done) if done < whole else 0.0
            click.echo(f"{name}: {100 * done // whole} %", err=True)

    def _page(self, name: str, fields: dict[str, object]) -> None:
        """Tell of one page: what failed always, the rest to those who want detail."""
        if name == "PageFailed":
            click.echo(f"{'failed':<9} {line(str(fields['url']))}  {line(str(fields['reason']))}", err=True)
        elif self._verbose:
            state = str(fields.get("state", "skipped"))
            detail = fields.get("reason") or fields.get("title") or ""
            click.echo(f"{state:<9} {line(str(fields['url']))}  {line(str(detail))}", err=True)

    def _recognizing(self, done: int, total: int) -> None:
        """Tell of scans, whose pages take seconds each."""
        if sys.stderr.isatty():
            self._show("recognizing pages", done, total)
        elif total >= _MANY_PAGES and (done % _MANY_PAGES == 0 or done == total):
            click.echo(f"recognized {done} of {total} pages", err=True)

    def _advance(self, done: int, total: int) -> None:
        if "indexing" in self._tasks:
            self._bar.update(self._tasks["indexing"], completed=done)
        elif total and done / total >= self._told + _STEP:
            self._told = done / total
            click.echo(f"indexed {done} of {total}", err=True)
