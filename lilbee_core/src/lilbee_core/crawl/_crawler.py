"""A crawl: fetches pages in a few threads, keeps them one by one, and can be stopped and taken up anywhere."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC

from lilbee_core.crawl._fetcher import need_extra
from lilbee_core.crawl._keeping import Keeper, Outcome
from lilbee_core.crawl._links import Links, unfollowed_of
from lilbee_core.crawl._manifest import FOLDER, Manifest, Unfollowed, Waiting
from lilbee_core.crawl._plan import CrawlPlan
from lilbee_core.crawl._tally import Tally
from lilbee_core.crawl._urls import page_key, shown, site
from lilbee_core.crawl._visit import Left, Seen, Visitor
from lilbee_core.errors import Cancelled, CrawlError, LilbeeError
from lilbee_core.events import CrawlFinished, CrawlStarted, EventSink, PageFailed, PageFetched, PageSkipped, Progress
from lilbee_core.protocols import CancelToken, Clock
from lilbee_core.types import CrawlReport, PageProblem

_POLL_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlLimits:
    """How a crawl works: pages under way at once, and seconds between two syncs (0 is none in between)."""

    at_once: int = 3
    sync_every_s: float = 30.0


@dataclass(slots=True)
class _Run:
    """Where a crawl stands."""

    plan: CrawlPlan
    waiting: deque[Waiting]
    seen: set[str]
    sites: set[str]
    tally: Tally
    resumed: bool = False
    under_way: int = 0
    fresh: int = 0
    errors: list[LilbeeError] = field(default_factory=list[LilbeeError])

    @property
    def may_start(self) -> bool:
        limit = self.plan.pages
        return bool(self.waiting) and (limit is None or self.tally.pages + self.under_way < limit)


class Crawler:
    """Crawls into one folder. One crawl per object at a time; several objects may share a manifest.

    Args:
        manifest: What is kept where.
        visitor: Fetches and reads one page.
        clock: Time.
        events: Is told of every page.
        limits: How it works.
        sync: Called from time to time, and never at the end, to index what was kept so far.
    """

    def __init__(
        self,
        manifest: Manifest,
        visitor: Visitor,
        *,
        clock: Clock,
        events: EventSink,
        limits: CrawlLimits | None = None,
        sync: Callable[[], object] | None = None,
    ) -> None:
        self._manifest = manifest
        self._visitor = visitor
        self._clock = clock
        self._events = events
        self._limits = limits or CrawlLimits()
        self._sync = sync
        self._keeper = Keeper(manifest, self._now)

    def run(self, plan: CrawlPlan, cancel: CancelToken, *, resume: bool = True) -> CrawlReport:
        """Fetch the pages of a plan; one that was stopped goes on where it was.

        Raises:
            CrawlError: If not one of the first pages can be had.
        """
        from filelock import FileLock, Timeout

        need_extra("lxml", "markdownify", "protego")
        folder = self._manifest.folder / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        lock = folder / f"{plan.name}.lock"
        try:
            with FileLock(lock, timeout=0):
                try:
                    return self._run(plan, cancel, resume=resume)
                finally:
                    with suppress(OSError):
                        lock.unlink(missing_ok=True)
        except Timeout as error:
            raise CrawlError(
                f"this crawl of {shown(plan.urls[0])} runs already",
                hint="Wait for it, or cancel it.",
                code="crawl.running",
            ) from error

    # ------------------------------------------------------------------ from start to end

    def _run(self, plan: CrawlPlan, cancel: CancelToken, *, resume: bool) -> CrawlReport:
        started = self._clock.monotonic()
        run = self._begin(plan, resume=resume)
        self._events(CrawlStarted(urls=plan.urls, resumed=run.resumed))
        workers = _Workers(self._limits.at_once, self._visitor)
        cancelled = False
        try:
            self._work(run, workers, cancel)
        except Cancelled:
            cancelled = True
        finally:
            workers.stop()
        report = run.tally.report(
            seconds=self._clock.monotonic() - started,
            waiting=len(run.waiting) + run.under_way if cancelled else 0,
            resumed=run.resumed,
            cancelled=cancelled,
            links=unfollowed_of(self._manifest, plan, () if cancelled else run.waiting),
        )
        if not cancelled:
            self._manifest.end(plan.name)
        self._events(
            CrawlFinished(
                new=report.new,
                updated=report.updated,
                unchanged=report.unchanged,
                failed=len(report.failed),
                seconds=report.seconds,
                cancelled=cancelled,
            )
        )
        if not cancelled and not report.pages and not report.duplicates and run.errors:
            raise run.errors[0]
        return report

    def _begin(self, plan: CrawlPlan, *, resume: bool) -> _Run:
        start = [Waiting(url, page_key(url), 0) for url in plan.urls]
        known = self._manifest.crawl(plan.name) if resume else None
        if known is None:
            tally = Tally()
            self._manifest.begin(plan.name, tally.to_dict(), start)
        else:
            tally = Tally.from_dict(known)
        sites = {site(one.url) for one in start} | set(tally.sites)
        waiting = deque(self._manifest.waiting(plan.name))
        return _Run(plan, waiting, self._manifest.seen(plan.name), sites, tally, resumed=known is not None)

    def _work(self, run: _Run, workers: _Workers, cancel: CancelToken) -> None:
        synced_at = self._clock.monotonic()
        while True:
            cancel.check()
            while run.under_way < self._limits.at_once and run.may_start:
                workers.give(run.waiting.popleft(), () if run.plan.other_sites else run.sites)
                run.under_way += 1
            if not run.under_way:
                return
            found = workers.take(_POLL_S)
            if found is not None:
                run.under_way -= 1
                self._take(run, *found)
            if run.fresh and self._is_due(synced_at):
                run.fresh = 0
                self._index()
                synced_at = self._clock.monotonic()

    def _is_due(self, synced_at: float) -> bool:
        every = self._limits.sync_every_s
        return every > 0 and self._clock.monotonic() - synced_at >= every

    def _index(self) -> None:
        if self._sync is not None:
            self._sync()

    # ------------------------------------------------------------------ one page

    def _take(self, run: _Run, one: Waiting, seen: Seen | Left | Exception) -> None:
        """Keep what came of a page, and remember where its links lead, in one step."""
        found = Links()
        if isinstance(seen, Seen):
            found = self._keep(run, one, seen)
        elif isinstance(seen, Left):
            self._leave(run, one.url, seen.code, seen.reason)
            found = self._links(run, one, seen.links)
        elif isinstance(seen, Cancelled):
            run.waiting.appendleft(one)
            return
        elif isinstance(seen, LilbeeError):
            self._fail(run, one, seen)
        else:
            raise seen
        run.waiting.extend(found.followed)
        self._manifest.fetched(run.plan.name, one, found.followed, run.tally.to_dict(), found.unfollowed)
        total = run.tally.done + len(run.waiting) + run.under_way
        self._events(Progress(phase="crawling", done=run.tally.done, total=self._at_most(run, total), unit="pages"))

    @staticmethod
    def _at_most(run: _Run, total: int) -> int:
        return total if run.plan.pages is None else min(total, max(run.plan.pages, run.tally.done))

    def _keep(self, run: _Run, one: Waiting, seen: Seen) -> Links:
        key = page_key(seen.answer.url)
        if key != one.key and key in run.seen:
            # A redirect to a page that has its own turn.
            run.tally.count("duplicate")
            return Links()
        run.seen.add(key)
        if one.depth == 0:
            run.sites.add(site(seen.answer.url))
            run.tally.sites = tuple(sorted(run.sites))
        try:
            outcome = self._outcome(seen)
        except CrawlError as error:
            if error.code == "crawl.unsupported" and one.depth:
                self._leave(run, one.url, error.code, error.message)
            else:
                self._fail(run, one, error)
            return Links()
        if key != one.key:
            self._manifest.alias(one.key, outcome.page)
        run.tally.count(outcome.state)
        run.fresh += outcome.state in {"new", "updated"}
        page = outcome.page
        self._events(PageFetched(url=page.url, path=page.path, state=outcome.state, title=page.title))
        self._warn(run, seen)
        return Links() if outcome.state == "duplicate" else self._links(run, one, page.links)

    def _outcome(self, seen: Seen) -> Outcome:
        if seen.kept is not None:
            return self._keeper.still(seen.kept)
        return self._keeper.keep(seen.answer, seen.media_type, seen.page)

    def _warn(self, run: _Run, seen: Seen) -> None:
        if seen.page is not None and seen.page.looks_empty:
            run.tally.warn(f"{shown(seen.answer.url)} shows little without its scripts")

    def _leave(self, run: _Run, url: str, code: str, reason: str) -> None:
        run.tally.skipped.append(PageProblem(url=shown(url), code=code, reason=reason))
        self._events(PageSkipped(url=shown(url), code=code, reason=reason))

    def _fail(self, run: _Run, one: Waiting, error: LilbeeError) -> None:
        run.tally.failed.append(PageProblem(url=shown(one.url), code=error.code, reason=error.message))
        if one.depth == 0:
            run.errors.append(error)
        self._events(PageFailed(url=shown(one.url), code=error.code, reason=error.message))

    def _links(self, run: _Run, one: Waiting, links: Iterable[str]) -> Links:
        """Return the links of a page that are followed, and those that are not."""
        found = Links()
        if run.plan.depth == 0:
            # The page alone was asked for: its links are none that were left out.
            return found
        for link in links:
            key = page_key(link)
            if key in run.seen:
                continue
            why = run.plan.refusal(link, one.depth + 1, run.sites)
            if why is None:
                run.seen.add(key)
                found.followed.append(Waiting(link, key, one.depth + 1))
            else:
                found.unfollowed.append(Unfollowed(link, key, why.code))
        return found

    def _now(self) -> str:
        return self._clock.now().astimezone(UTC).isoformat(timespec="seconds")


class _Workers:
    """A few threads that visit pages. They may be left behind when they hang: the process does not wait for them."""

    def __init__(self, count: int, visitor: Visitor) -> None:
        self._visitor = visitor
        self._tasks: queue.SimpleQueue[tuple[Waiting, frozenset[str]] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Waiting, Seen | Left | Exception]] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._count = count
        self._threads: list[threading.Thread] = []

    def give(self, one: Waiting, sites: Iterable[str]) -> None:
        if len(self._threads) < self._count:
            thread = threading.Thread(target=self._run, name="lilbee-crawl", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._tasks.put((one, frozenset(sites)))

    def take(self, timeout_s: float) -> tuple[Waiting, Seen | Left | Exception] | None:
        try:
            return self._results.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def stop(self) -> None:
        self._stopped.set()
        for _ in self._threads:
            self._tasks.put(None)

    def _check(self) -> None:
        if self._stopped.is_set():
            raise Cancelled("the crawl has ended")

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            one, sites = task
            try:
                self._check()
                result: Seen | Left | Exception = self._visitor.visit(one.url, one.depth, sites, self._check)
            except Exception as error:  # noqa: BLE001 - told to the thread that runs the crawl
                result = error
            self._results.put((one, result))
