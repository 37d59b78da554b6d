"""Keeps watching folders: when files change and it is quiet again, the collections that they are in are synced."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lilbee_core.errors import Cancelled, LilbeeError, SourceUnavailable
from lilbee_core.events import ChangesSeen, EventSink, Progress, Warned, WatchFailed, WatchStarted
from lilbee_core.ingest._concerned import Concerned
from lilbee_core.ingest._ignore import Globs
from lilbee_core.ingest._listening import ChangeSource, Listen, Poll, SystemChanges, is_remote
from lilbee_core.ingest._walk import Root, WalkOptions, is_below
from lilbee_core.protocols import CancelToken, Clock
from lilbee_core.types import SyncReport

log = logging.getLogger(__name__)

_TICK_S = 0.25
_LOOK_S = 1.0
_MOST_WAIT_S = 30.0
_RECHECK_S = 900.0
_RETRY_S = 2.0
_MOST_RETRY_S = 300.0
_LONG_AGO = float("-inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """How a watch behaves. `debounce_s` is how long it must be quiet, `poll_s` how often one looks where one must."""

    debounce_s: float = 1.0
    polling: Literal["auto", "always", "never"] = "auto"
    poll_s: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchReport:
    """How often a watch synced until it was ended, and how often that failed."""

    syncs: int
    failures: int

    def to_dict(self) -> dict[str, object]:
        return {"syncs": self.syncs, "failures": self.failures, "cancelled": True}


@dataclass(frozen=True, slots=True)
class _Ground:
    """A collection as it is watched: which folder that was, and in which of its folders anything can be wanted."""

    root: Root
    identity: tuple[int, int] | None
    deep: tuple[Path, ...]

    @classmethod
    def of(cls, root: Root) -> _Ground:
        try:
            info = os.stat(root.folder)
        except OSError:
            return cls(root, None, ())
        entries = Globs(root.include, root.exclude).entries
        inside = (root.folder / name for name in sorted(entries or ()))
        deep = (root.folder,) if entries is None else tuple(one for one in inside if one.is_dir())
        return cls(root, (info.st_dev, info.st_ino), deep)


class Watcher:
    """Syncs what changes until it is cancelled. Use it once, from one thread.

    A sync looks at whole collections, so what the system failed to tell is found with what it told; and every quarter
    of an hour everything is looked at. A folder that goes away keeps its documents, and is watched again when it comes
    back; a collection that is added is watched from then on. Errors are told as events, and tried again.

    Args:
        roots: The collections as they are now; may raise what is told then.
        walk: What is left out everywhere, as it is now.
        sync: Makes the index equal to these collections.
        options: How to watch, as it is now.
        listen: What tells of changes, for tests.
    """

    def __init__(
        self,
        roots: Callable[[], Sequence[Root]],
        walk: Callable[[], WalkOptions],
        sync: Callable[[tuple[str, ...]], SyncReport],
        *,
        options: Callable[[], WatchOptions],
        events: EventSink,
        clock: Clock,
        listen: Listen = SystemChanges,
        remote: Callable[[Path], bool] = is_remote,
    ) -> None:
        self._roots = roots
        self._walk = walk
        self._sync = sync
        self._options = options
        self._events = events
        self._clock = clock
        self._listen = listen
        self._remote = remote
        self._grounds: dict[str, _Ground] = {}
        self._sources: list[tuple[ChangeSource, tuple[Path, ...]]] = []
        self._open = ExitStack()
        self._polls: dict[str, Poll] = {}
        self._deaf: set[Path] = set()
        self._fell: dict[tuple[Path, ...], float] = {}
        self._told: WatchStarted | None = None
        self._due: set[str] = set()
        self._first = self._last = self._looked = _LONG_AGO
        self._checked = clock.monotonic()
        self._owed: set[str] = set()
        self._again_at, self._retry_s = _LONG_AGO, _RETRY_S
        self._refused = ""
        self._warnings: tuple[str, ...] = ()
        self._syncs = self._failures = 0

    def run(self, cancel: CancelToken) -> WatchReport:
        """Sync everything, then whatever changes, until `cancel` says to end; a sync ends at a batch edge."""
        try:
            while True:
                cancel.check()
                self._look()
                self._hear()
                self._poll(cancel)
                self._remember()
                if self._is_quiet():
                    self._catch_up()
        except Cancelled:
            return WatchReport(syncs=self._syncs, failures=self._failures)
        finally:
            self._open.close()

    # ------------------------------------------------------------------ what is watched

    def _look(self) -> None:
        """See which folders there are, once a second: they come and go, and so do collections."""
        now = self._clock.monotonic()
        if now - self._looked < _LOOK_S:
            return
        self._looked = now
        if now - self._checked >= _RECHECK_S:
            self._checked = now
            if self._deaf:
                self._deaf.clear()
                self._listen_anew()
            self._mark(self._grounds, at_once=True)
        try:
            roots = self._roots()
        except LilbeeError as error:
            self._refuse(error)
            return
        self._refused = ""
        grounds = {root.collection: _Ground.of(root) for root in roots}
        changed = [name for name, ground in grounds.items() if self._grounds.get(name) != ground]
        if not changed and len(grounds) == len(self._grounds):
            return
        self._grounds = grounds
        self._due &= grounds.keys()
        self._listen_anew()
        self._mark(grounds, at_once=True)  # what changed between listening and listening anew was told to nobody

    def _refuse(self, error: LilbeeError) -> None:
        """Say once why the settings cannot be read; those of before hold."""
        if self._refused != error.message:
            self._refused = error.message
            self._events(WatchFailed(code=error.code, reason=error.message, hint=error.hint, retry_s=_LOOK_S))

    def _listen_anew(self) -> None:
        self._open.close()
        self._sources.clear()
        options = self._options()
        there = [ground for ground in self._grounds.values() if ground.identity is not None]
        polled = {one.root.collection for one in there if self._is_polled(one, options)}
        told = [ground for ground in there if ground.root.collection not in polled]
        deep = _outermost(folder for ground in told for folder in ground.deep)
        flat = [ground.root.folder for ground in told if ground.root.folder not in ground.deep]
        self._listen_to(deep, recursive=True)
        self._listen_to([one for one in dict.fromkeys(flat) if not _is_in(one, deep)], recursive=False)
        if options.polling != "never":
            polled |= {one.root.collection for one in told if self._is_deaf(one)}
        self._polls = {
            ground.root.collection: self._polls.get(ground.root.collection)
            or Poll(ground.root, self._walk(), every_s=options.poll_s, clock=self._clock)
            for ground in there
            if ground.root.collection in polled
        }
        started = WatchStarted(collections=tuple(sorted(self._grounds)), polled=tuple(sorted(self._polls)))
        if started != self._told:
            self._told = started
            self._events(started)

    def _is_polled(self, ground: _Ground, options: WatchOptions) -> bool:
        if options.polling == "auto":
            return self._is_deaf(ground) or self._remote(ground.root.folder)
        return options.polling == "always"

    def _is_deaf(self, ground: _Ground) -> bool:
        return any(_is_in(folder, self._deaf) for folder in (ground.root.folder, *ground.deep))

    def _listen_to(self, folders: Sequence[Path], *, recursive: bool) -> None:
        """Listen to the folders together, or, where that fails, to each that can be listened to."""
        if not folders:
            return
        try:
            source = self._listen(folders, recursive=recursive)
        except OSError as error:
            if len(folders) > 1:
                for folder in folders:
                    self._listen_to([folder], recursive=recursive)
            elif folders[0].is_dir():
                self._lose(folders, error)
            return
        self._open.callback(source.close)
        self._sources.append((source, tuple(folders)))

    def _fell_silent(self, folders: tuple[Path, ...], error: OSError) -> None:
        """Listen anew after an error (a name that is no text, say), unless there was one not long ago."""
        now = self._clock.monotonic()
        before, self._fell[folders] = self._fell.get(folders, _LONG_AGO), now
        if now - before < _RECHECK_S:
            self._lose(folders, error)

    def _lose(self, folders: Iterable[Path], error: OSError) -> None:
        self._deaf.update(folders)
        told = f"the system does not tell of changes in {', '.join(str(one) for one in folders)}: {error}"
        log.warning("%s", told)
        hint = "lilbee looks for changes now and then; on Linux, raise fs.inotify.max_user_watches."
        self._events(WatchFailed(code="watch.deaf", reason=told, hint=hint, retry_s=_RECHECK_S))

    # ------------------------------------------------------------------ what changes

    def _hear(self) -> None:
        """Wait a moment for changes."""
        if not self._sources:
            self._clock.sleep(_TICK_S)
            return
        paths: set[str] = set()
        for source, folders in list(self._sources):
            try:
                paths.update(source.wait(_TICK_S / len(self._sources)))
            except OSError as error:
                self._fell_silent(folders, error)
                self._listen_anew()
                self._mark(self._grounds)
                return
        if paths:
            grounds = [ground.root for ground in self._grounds.values()]
            self._mark(Concerned(grounds, self._walk()).collections(paths))

    def _poll(self, cancel: CancelToken) -> None:
        self._mark([name for name, poll in self._polls.items() if poll.changed(cancel)])

    def _mark(self, collections: Iterable[str], *, at_once: bool = False) -> None:
        """Have collections synced when it is quiet."""
        names = set(collections)
        if not names:
            return
        now = self._clock.monotonic()
        self._first = self._first if self._due else now
        self._last = _LONG_AGO if at_once and not self._due else now
        self._due |= names

    def _remember(self) -> None:
        """Have what failed tried again when it is time to."""
        if self._owed and self._clock.monotonic() >= self._again_at:
            self._mark(self._owed & self._grounds.keys(), at_once=True)
            self._owed.clear()

    def _is_quiet(self) -> bool:
        now = self._clock.monotonic()
        return bool(self._due) and (now - self._last >= self._options().debounce_s or now - self._first >= _MOST_WAIT_S)

    # ------------------------------------------------------------------ syncing

    def _catch_up(self) -> None:
        due = tuple(sorted(self._due))
        self._due.clear()
        self._events(ChangesSeen(collections=due))
        try:
            report = self._sync(due)
        except Cancelled:
            raise
        except SourceUnavailable as error:
            self._failures += 1
            self._events(WatchFailed(code=error.code, reason=error.message, hint=error.hint))
        except LilbeeError as error:
            self._again(due, error)
        except Exception as error:
            log.exception("a sync failed")
            self._again(due, LilbeeError(f"{type(error).__name__}: {error}", hint="See the log.", code="internal"))
        else:
            self._synced(due, report)

    def _synced(self, due: tuple[str, ...], report: SyncReport) -> None:
        self._syncs += 1
        for warning in report.warnings:
            if warning not in self._warnings:
                self._events(Warned(message=warning))
        self._warnings = report.warnings
        self._events(Progress(phase="watching", done=self._syncs, unit="syncs"))
        if report.owed and not report.cancelled:
            self._wait_for(due)  # the embedder could not be reached: it is asked again
        else:
            self._retry_s = _RETRY_S

    def _again(self, due: tuple[str, ...], error: LilbeeError) -> None:
        self._failures += 1
        self._events(WatchFailed(code=error.code, reason=error.message, hint=error.hint, retry_s=self._retry_s))
        self._wait_for(due)

    def _wait_for(self, due: tuple[str, ...]) -> None:
        self._again_at = self._clock.monotonic() + self._retry_s
        self._retry_s = min(self._retry_s * 2, _MOST_RETRY_S)
        self._owed.update(due)


def _outermost(folders: Iterable[Path]) -> list[Path]:
    """Return the folders without those that lie in another one."""
    found: list[Path] = []
    for folder in sorted(set(folders), key=lambda one: (len(one.parts), one)):
        if not _is_in(folder, found):
            found.append(folder)
    return found


def _is_in(folder: Path, others: Iterable[Path]) -> bool:
    return any(is_below(str(folder), str(other)) for other in others)
