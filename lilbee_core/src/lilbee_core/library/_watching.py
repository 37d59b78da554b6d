"""Watching the folders of a library, as a job."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.errors import NotFound
from lilbee_core.events import EventSink, SafeSink
from lilbee_core.ingest import Root, Watcher, WatchOptions, WatchReport
from lilbee_core.library._parts import Parts
from lilbee_core.library._syncing import SyncRequest, run_sync
from lilbee_core.protocols import CancelToken
from lilbee_core.settings import user_config_dir
from lilbee_core.types import SyncReport

if TYPE_CHECKING:
    from lilbee_core.jobs import Job, Jobs

WATCH = "watch"


def start_watch(jobs: Jobs, parts: Parts, collections: Sequence[str]) -> Job:
    """Start to watch, or return the job that does so already in this process.

    Raises:
        NotFound: If there is no such collection.
    """
    known = {root.collection for root in parts.roots()}
    for name in collections:
        if name not in known:
            raise NotFound(f"there is no collection {name!r}", hint="Run `lilbee collection list`.")
    wanted = sorted(set(collections))
    for job in jobs.running(WATCH):
        if job.record.options.get("collections") == wanted:
            return job
    return jobs.start(WATCH, collections=wanted)


def run_watch(
    parts: Parts, collections: Sequence[str], cancel: CancelToken, events: EventSink | None = None
) -> WatchReport:
    """Sync the collections, all if none are named, and whatever changes in them until `cancel` says to end."""
    settings_files = _SettingsFiles(parts)
    data = parts.home.data_dir
    known = data.is_dir()

    def check() -> None:
        # On a disk that was taken out, say: a new index must not be begun where the old one is not.
        if known and not data.is_dir():
            raise NotFound(f"the index is not there any more: {data}", hint="Bring it back.", code="library.gone")

    def roots() -> list[Root]:
        check()
        settings_files.read_if_changed()
        return [root for root in parts.roots() if not collections or root.collection in collections]

    def sync(due: tuple[str, ...]) -> SyncReport:
        nonlocal known
        check()
        report = run_sync(parts, SyncRequest(collections=due), cancel, events)
        known = True
        return report

    watcher = Watcher(
        roots,
        lambda: parts.walk_options,
        sync,
        options=lambda: _options(parts),
        events=SafeSink(parts.events, events),
        clock=parts.clock,
    )
    return watcher.run(cancel)


def _options(parts: Parts) -> WatchOptions:
    options = parts.settings.watch
    return WatchOptions(debounce_s=options.watch_debounce_s, polling=options.watch_polling, poll_s=options.watch_poll_s)


class _SettingsFiles:
    """The files of settings, which another process may write: a collection that it adds is watched as well."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._files = (parts.home.config_file, user_config_dir() / "config.toml")
        self._seen = self._stamps()

    def read_if_changed(self) -> None:
        """Use what the files say now.

        Raises:
            SettingsError: If that is not allowed; what they said before holds.
        """
        stamps = self._stamps()
        if stamps != self._seen:
            self._parts.reconfigure()
            self._seen = stamps

    def _stamps(self) -> list[tuple[int, int] | None]:
        return [_stamp(file) for file in self._files]


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        info = os.stat(file)
    except OSError:
        return None
    return info.st_mtime_ns, info.st_size
