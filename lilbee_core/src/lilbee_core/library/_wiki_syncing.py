"""What a sync does for the wiki, where it is switched on: a bounded number of calls, and no failure of the sync."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from lilbee_core.errors import LilbeeError
from lilbee_core.types import SyncReport

if TYPE_CHECKING:
    from lilbee_core.events import EventSink
    from lilbee_core.library._parts import Parts
    from lilbee_core.protocols import CancelToken

log = logging.getLogger(__name__)


def refresh_pages(parts: Parts) -> None:
    """Let searches see the pages as they are now, those that people edited too. Never fails."""
    if not parts.home.wiki_dir(parts.settings).is_dir():
        return
    from lilbee_core.library._wiki_index import index_pages

    try:
        index_pages(parts)
    except LilbeeError as error:
        log.warning("searches see the wiki as it was: %s", error.message)


def with_wiki(parts: Parts, report: SyncReport, cancel: CancelToken, events: EventSink | None) -> SyncReport:
    """Bring the pages up to date after a sync, without new names, and say in its report what is still to be done."""
    if not parts.settings.wiki.wiki or report.cancelled:
        return report
    from lilbee_core.library._wiki_asking import BuildRequest
    from lilbee_core.library._wiki_building import run_build

    request = BuildRequest(naming=False, most_calls=parts.settings.wiki.wiki_ingest_update_cap)
    try:
        built = run_build(parts, request, cancel, events, what="sync")
    except LilbeeError as error:
        return replace(report, warnings=(*report.warnings, f"the wiki stays as it was: {error.message}"))
    warnings = [f"the wiki lacks {about}: {why}" for about, why in built.failed]
    waiting = [about for about in built.waiting if about not in dict(built.failed)]
    if waiting:
        warnings.append(f"the wiki waits for {len(waiting)} more document(s): run `lilbee wiki build`")
    return replace(report, warnings=(*report.warnings, *warnings))
