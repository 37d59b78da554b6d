"""The outcome of a sync: printed, and as an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_cli.codes import FILES_FAILED, OK
from lilbee_cli.render import text
from lilbee_cli.render.json import emit

if TYPE_CHECKING:
    from lilbee_core import SyncReport


def synced(report: SyncReport, *, as_json: bool) -> int:
    """Show a report and return the exit code: 3 when a file that was tried failed."""
    if as_json:
        emit(report.to_dict())
    else:
        text.report(report)
    return FILES_FAILED if report.failed else OK
