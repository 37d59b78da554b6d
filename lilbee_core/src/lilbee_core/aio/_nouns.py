"""The nouns of `AsyncLilbee`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.aio._threads import Threads
from lilbee_core.library import Collections, Config, Lilbee, Web
from lilbee_core.types import CollectionInfo, CrawlReport, Filter, WebPage

if TYPE_CHECKING:
    from lilbee_core.doctor import Check
    from lilbee_core.evaluation import Comparison, DraftedQueries, EvaluationReport, EvaluationSet, TuningReport
    from lilbee_core.events import Event
    from lilbee_core.jobs import Job, JobRecord, Jobs, JobState
    from lilbee_core.protocols import CancelToken

_SLICE_S = 0.25


class AsyncCollections:
    """Mirrors `Collections`."""

    def __init__(self, collections: Collections, threads: Threads) -> None:
        self._inner = collections
        self._threads = threads

    async def list(self) -> tuple[CollectionInfo, ...]:
        """See `Collections.list`."""
        return await self._threads.run(self._inner.list)

    async def get(self, name: str) -> CollectionInfo | None:
        """See `Collections.get`."""
        return await self._threads.run(lambda: self._inner.get(name))

    async def add(
        self, path: str | Path, *, name: str | None = None, include: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> CollectionInfo:
        """See `Collections.add`."""
        return await self._threads.run(lambda: self._inner.add(path, name=name, include=include, exclude=exclude))

    async def upload(self, file: str | Path, name: str) -> str:
        """See `Collections.upload`."""
        return await self._threads.run(lambda: self._inner.upload(file, name))

    async def remove_upload(self, name: str) -> str:
        """See `Collections.remove_upload`."""
        return await self._threads.run(lambda: self._inner.remove_upload(name))

    async def remove(self, name: str) -> int:
        """See `Collections.remove`."""
        return await self._threads.run(lambda: self._inner.remove(name))

    async def rename(self, old: str, new: str) -> None:
        """See `Collections.rename`."""
        await self._threads.run(lambda: self._inner.rename(old, new))

    async def filter(self, *names: str) -> Filter:
        """See `Collections.filter`."""
        return await self._threads.run(lambda: self._inner.filter(*names))


class AsyncWeb:
    """Mirrors `Web`."""

    def __init__(self, web: Web, threads: Threads) -> None:
        self._inner = web
        self._threads = threads

    async def crawl(
        self,
        *urls: str,
        depth: int | None = None,
        pages: int | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        other_sites: bool = False,
        render: str | None = None,
        resume: bool = True,
        cancel: CancelToken | None = None,
    ) -> CrawlReport:
        """See `Web.crawl`."""

        def work(token: CancelToken) -> CrawlReport:
            return self._inner.crawl(
                *urls,
                depth=depth,
                pages=pages,
                include=include,
                exclude=exclude,
                other_sites=other_sites,
                render=render,
                resume=resume,
                cancel=token,
            )

        return await self._threads.run_cancellable(work, cancel)

    def pages(self) -> AsyncIterator[WebPage]:
        """See `Web.pages`."""
        return self._threads.iterate(self._inner.pages)

    async def get(self, url: str) -> WebPage | None:
        """See `Web.get`."""
        return await self._threads.run(lambda: self._inner.get(url))

    async def forget(self, *urls: str) -> tuple[str, ...]:
        """See `Web.forget`."""
        return await self._threads.run(lambda: self._inner.forget(*urls))


class AsyncConfig:
    """Mirrors `Config`."""

    def __init__(self, config: Config, threads: Threads) -> None:
        self._inner = config
        self._threads = threads

    @property
    def file(self) -> Path:
        """See `Config.file`."""
        return self._inner.file

    def items(self) -> AsyncIterator[tuple[str, object, str]]:
        """See `Config.items`."""
        return self._threads.iterate(self._inner.items)

    async def get(self, name: str) -> object:
        """See `Config.get`."""
        return await self._threads.run(lambda: self._inner.get(name))

    async def set(self, name: str, value: object) -> None:
        """See `Config.set`."""
        await self._threads.run(lambda: self._inner.set(name, value))

    async def unset(self, name: str) -> None:
        """See `Config.unset`."""
        await self._threads.run(lambda: self._inner.unset(name))

    @property
    def profiles(self) -> Mapping[str, Mapping[str, object]]:
        """See `Config.profiles`."""
        return self._inner.profiles

    async def set_profile(self, name: str, values: Mapping[str, object]) -> None:
        """See `Config.set_profile`."""
        await self._threads.run(lambda: self._inner.set_profile(name, values))

    async def unset_profile(self, name: str) -> None:
        """See `Config.unset_profile`."""
        await self._threads.run(lambda: self._inner.unset_profile(name))


class AsyncDoctor:
    """Mirrors `Doctor`."""

    def __init__(self, bee: Lilbee, threads: Threads) -> None:
        self._bee = bee
        self._threads = threads

    async def run(self) -> tuple[Check, ...]:
        """See `Doctor.run`."""
        return await self._threads.run(self._bee.doctor.run)


class AsyncEvaluation:
    """Mirrors `Evaluation`."""

    def __init__(self, bee: Lilbee, threads: Threads) -> None:
        self._bee = bee
        self._threads = threads

    async def open(self, folder: str | Path) -> EvaluationSet:
        """See `Evaluation.open`."""
        return await self._threads.run(lambda: self._bee.evaluation.open(folder))

    async def draft_queries(self, limit: int = 100) -> DraftedQueries:
        """See `Evaluation.draft_queries`."""
        return await self._threads.run(lambda: self._bee.evaluation.draft_queries(limit))

    async def run(
        self,
        queries: Mapping[str, str],
        qrels: Mapping[str, Mapping[str, int]],
        *,
        profile: str | None = None,
        limit: int | None = None,
        depth: int = 100,
        cancel: CancelToken | None = None,
    ) -> EvaluationReport:
        """See `Evaluation.run`."""

        def work(token: CancelToken) -> EvaluationReport:
            return self._bee.evaluation.run(queries, qrels, profile=profile, limit=limit, depth=depth, cancel=token)

        return await self._threads.run_cancellable(work, cancel)

    async def compare(
        self,
        queries: Mapping[str, str],
        qrels: Mapping[str, Mapping[str, int]],
        profiles: Sequence[str],
        *,
        limit: int | None = None,
        depth: int = 100,
        cancel: CancelToken | None = None,
    ) -> tuple[Comparison, ...]:
        """See `Evaluation.compare`."""

        def work(token: CancelToken) -> tuple[Comparison, ...]:
            return self._bee.evaluation.compare(queries, qrels, profiles, limit=limit, depth=depth, cancel=token)

        return await self._threads.run_cancellable(work, cancel)

    async def tune(
        self,
        queries: Mapping[str, str],
        qrels: Mapping[str, Mapping[str, int]],
        *,
        name: str = "tuned",
        metric: str = "ndcg@10",
        save: bool = True,
        cancel: CancelToken | None = None,
    ) -> TuningReport:
        """See `Evaluation.tune`."""

        def work(token: CancelToken) -> TuningReport:
            return self._bee.evaluation.tune(queries, qrels, name=name, metric=metric, save=save, cancel=token)

        return await self._threads.run_cancellable(work, cancel)


class AsyncJob:
    """Mirrors `Job`."""

    def __init__(self, job: Job, threads: Threads) -> None:
        self._inner = job
        self._threads = threads

    def __repr__(self) -> str:
        return repr(self._inner)

    @property
    def id(self) -> str:
        """See `Job.id`."""
        return self._inner.id

    @property
    def kind(self) -> str:
        """See `Job.kind`."""
        return self._inner.kind

    @property
    def record(self) -> JobRecord:
        """See `Job.record`."""
        return self._inner.record

    @property
    def state(self) -> JobState:
        """See `Job.state`."""
        return self._inner.state

    def to_dict(self) -> dict[str, object]:
        """See `Job.to_dict`."""
        return self._inner.to_dict()

    def cancel(self) -> None:
        """See `Job.cancel`."""
        self._inner.cancel()

    async def wait(self, timeout_s: float | None = None) -> JobRecord:
        """See `Job.wait`."""
        from anyio import move_on_after

        with move_on_after(timeout_s):
            # In slices, so that a task that is cancelled does not wait for the job.
            while not (record := await self._threads.run(partial(self._inner.wait, _SLICE_S))).state.is_over:
                continue
            return record
        return self._inner.record

    async def follow(self) -> AsyncIterator[Event]:
        """See `Job.follow`."""
        seen, over = 0, False
        while not over:
            events, seen, over = await self.since(seen, timeout_s=_SLICE_S)
            for event in events:
                yield event

    async def since(self, seen: int, *, timeout_s: float | None = None) -> tuple[tuple[Event, ...], int, bool]:
        """See `Job.since`."""
        return await self._threads.run(lambda: self._inner.since(seen, timeout_s=timeout_s))


class AsyncJobs:
    """Mirrors `Jobs`."""

    def __init__(self, jobs: Callable[[], Jobs], threads: Threads) -> None:
        self._inner = jobs
        self._threads = threads

    async def start(self, kind: str, **options: object) -> AsyncJob:
        """See `Jobs.start`."""
        return AsyncJob(await self._threads.run(lambda: self._inner().start(kind, **options)), self._threads)

    async def running(self, kind: str) -> tuple[AsyncJob, ...]:
        """See `Jobs.running`."""
        found = await self._threads.run(lambda: self._inner().running(kind))
        return tuple(AsyncJob(job, self._threads) for job in found)

    async def list(self) -> tuple[JobRecord, ...]:
        """See `Jobs.list`."""
        return await self._threads.run(lambda: self._inner().list())

    async def get(self, id: str) -> AsyncJob | None:  # noqa: A002 - as `Jobs.get`
        """See `Jobs.get`."""
        job = await self._threads.run(lambda: self._inner().get(id))
        return None if job is None else AsyncJob(job, self._threads)

    async def require(self, id: str) -> AsyncJob:  # noqa: A002 - as `Jobs.require`
        """See `Jobs.require`."""
        return AsyncJob(await self._threads.run(lambda: self._inner().require(id)), self._threads)
