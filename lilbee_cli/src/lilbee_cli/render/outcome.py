"""The outcome of a sync or a crawl: printed, and as an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_cli.codes import FAILED, FILES_FAILED, OK
from lilbee_cli.render import text
from lilbee_cli.render.json import emit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lilbee_core import SyncReport
    from lilbee_core.types import CrawlReport, EmbedderChange, WebPage


def synced(report: SyncReport, *, as_json: bool) -> int:
    """Show a report and return the exit code: 3 when a file that was tried failed."""
    if as_json:
        emit(report.to_dict())
    else:
        text.report(report)
    return FILES_FAILED if report.failed else OK


def embedder_changed(change: EmbedderChange, *, as_json: bool) -> int:
    """Show which model makes the vectors and return the exit code: 1 when some are still missing."""
    if as_json:
        emit(change.to_dict())
    else:
        text.embedder_change(change)
    return FAILED if change.report is not None and change.report.owed else OK


def crawled(report: CrawlReport, *, as_json: bool, verbose: bool = False) -> int:
    """Show what a crawl did, and if `verbose` what it left out.

    Returns the exit code: 3 when a page or a file that was tried failed.
    """
    if as_json:
        emit(report.to_dict())
    else:
        text.crawl(report, verbose=verbose)
    return FILES_FAILED if report.failed or (report.sync is not None and report.sync.failed) else OK


def kept(pages: Sequence[WebPage], *, as_json: bool) -> int:
    """Show the pages that are kept."""
    if as_json:
        emit({"pages": [page.to_dict() for page in pages]})
    else:
        text.pages(pages)
    return OK
