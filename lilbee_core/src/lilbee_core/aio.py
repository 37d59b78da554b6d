"""`AsyncLilbee`: the same library from async code, each verb on a worker thread. No behavior of its own."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from lilbee_core.library import CancelSwitch, Collections, Config, Lilbee
from lilbee_core.types import (
    Answer,
    CollectionInfo,
    Delta,
    Document,
    DocumentRow,
    Filter,
    LibraryStatus,
    Passage,
    PathReport,
    Query,
    Scope,
    SearchResult,
    SyncReport,
)

if TYPE_CHECKING:
    import anyio

    from lilbee_core.doctor import Check
    from lilbee_core.evaluation import EvaluationReport, EvaluationSet
    from lilbee_core.events import Event
    from lilbee_core.jobs import Job, JobRecord, Jobs, JobState
    from lilbee_core.library import Place
    from lilbee_core.plugins.specs import PluginReport
    from lilbee_core.protocols import CancelToken
    from lilbee_core.settings import Settings

T = TypeVar("T")
_END = object()
_SLICE_S = 0.25


class _Threads:
    """Runs calls in worker threads, at most so many at once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._limiter: anyio.CapacityLimiter | None = None

    async def run(self, call: Callable[[], T]) -> T:
        from anyio import CapacityLimiter, to_thread

        if self._limiter is None:
            self._limiter = CapacityLimiter(self._limit)
        return await to_thread.run_sync(call, limiter=self._limiter)

    async def run_cancellable(self, call: Callable[[CancelToken], T], cancel: CancelToken | None) -> T:
        """Run long work; when the task is cancelled, the work ends at its next safe point, then the task."""
        import anyio

        token = _TaskToken(cancel)
        outcome: list[T | Exception] = []
        done = anyio.Event()

        async def work() -> None:
            try:
                outcome.append(await self.run(partial(call, token)))
            except Exception as error:  # noqa: BLE001 - raised below: out of the group it comes as a group of errors
                outcome.append(error)
            finally:
                done.set()

        async with anyio.create_task_group() as group:
            group.start_soon(work)
            try:
                await done.wait()
            except anyio.get_cancelled_exc_class():
                # The thread cannot be abandoned, since it holds the writer lock: the group waits until it has ended.
                token.switch.cancel()
                raise
        (result,) = outcome
        if isinstance(result, Exception):
            raise result
        return result

    async def iterate(self, start: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
        """Turn an iterator into an async one, item by item; leaving early closes it."""
        import anyio

        steps = _Steps(await self.run(start))
        try:
            while (item := await self.run(steps.take)) is not _END:
                yield cast("T", item)
        finally:
            with anyio.CancelScope(shield=True):
                await self.run(steps.close)


class _TaskToken:
    """Cancels when the task does, and when the caller's own token does."""

    def __init__(self, inner: CancelToken | None) -> None:
        self.switch = CancelSwitch()
        self._inner = inner

    def check(self) -> None:
        self.switch.check()
        if self._inner is not None:
            self._inner.check()


class _Steps:
    """An iterator that is advanced and closed from different threads, one after the other."""

    def __init__(self, iterator: Iterator[object]) -> None:
        self._iterator = iterator
        self._lock = threading.Lock()

    def take(self) -> object:
        with self._lock:
            return next(self._iterator, _END)

    def close(self) -> None:
        close = getattr(self._iterator, "close", None)
        if close is not None:
            with self._lock:
                close()


class AsyncCollections:
    """Mirrors `Collections`."""

    def __init__(self, collections: Collections, threads: _Threads) -> None:
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

    async def remove(self, name: str) -> int:
        """See `Collections.remove`."""
        return await self._threads.run(lambda: self._inner.remove(name))

    async def rename(self, old: str, new: str) -> None:
        """See `Collections.rename`."""
        await self._threads.run(lambda: self._inner.rename(old, new))

    async def filter(self, *names: str) -> Filter:
        """See `Collections.filter`."""
        return await self._threads.run(lambda: self._inner.filter(*names))


class AsyncConfig:
    """Mirrors `Config`."""

    def __init__(self, config: Config, threads: _Threads) -> None:
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


class AsyncDoctor:
    """Mirrors `Doctor`."""

    def __init__(self, bee: Lilbee, threads: _Threads) -> None:
        self._bee = bee
        self._threads = threads

    async def run(self) -> tuple[Check, ...]:
        """See `Doctor.run`."""
        return await self._threads.run(self._bee.doctor.run)


class AsyncEvaluation:
    """Mirrors `Evaluation`."""

    def __init__(self, bee: Lilbee, threads: _Threads) -> None:
        self._bee = bee
        self._threads = threads

    async def open(self, folder: str | Path) -> EvaluationSet:
        """See `Evaluation.open`."""
        return await self._threads.run(lambda: self._bee.evaluation.open(folder))

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


class AsyncJob:
    """Mirrors `Job`."""

    def __init__(self, job: Job, threads: _Threads) -> None:
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

    def __init__(self, jobs: Callable[[], Jobs], threads: _Threads) -> None:
        self._inner = jobs
        self._threads = threads

    async def start(self, kind: str, **options: object) -> AsyncJob:
        """See `Jobs.start`."""
        return AsyncJob(await self._threads.run(lambda: self._inner().start(kind, **options)), self._threads)

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


class AsyncLilbee:
    """Mirrors `Lilbee` on both levels: verbs are coroutines, iterators are async, nouns are mirrored too.

    Every call runs in a worker thread under the library's own limiter, so it works in notebooks and
    servers alike. Cancelling a `sync`, `add` or `rebuild` ends it at a batch edge.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        settings: Settings | None = None,
        *,
        threads: int = 8,
        **options: Any,
    ) -> None:
        self._bee = Lilbee(path, settings, **options)
        self._threads = _Threads(threads)

    async def __aenter__(self) -> AsyncLilbee:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def root(self) -> Path | None:
        """See `Lilbee.root`."""
        return self._bee.root

    @property
    def data_dir(self) -> Path:
        """See `Lilbee.data_dir`."""
        return self._bee.data_dir

    @property
    def settings(self) -> Settings:
        """See `Lilbee.settings`."""
        return self._bee.settings

    @property
    def collections(self) -> AsyncCollections:
        """See `Lilbee.collections`."""
        return AsyncCollections(self._bee.collections, self._threads)

    @property
    def config(self) -> AsyncConfig:
        """See `Lilbee.config`."""
        return AsyncConfig(self._bee.config, self._threads)

    @property
    def doctor(self) -> AsyncDoctor:
        """See `Lilbee.doctor`."""
        return AsyncDoctor(self._bee, self._threads)

    @property
    def jobs(self) -> AsyncJobs:
        """See `Lilbee.jobs`."""
        return AsyncJobs(lambda: self._bee.jobs, self._threads)

    @property
    def evaluation(self) -> AsyncEvaluation:
        """See `Lilbee.evaluation`."""
        return AsyncEvaluation(self._bee, self._threads)

    @property
    def plugins(self) -> tuple[PluginReport, ...]:
        """See `Lilbee.plugins`."""
        return self._bee.plugins

    async def close(self) -> None:
        """See `Lilbee.close`."""
        await self._threads.run(self._bee.close)

    async def init(self) -> str:
        """See `Lilbee.init`."""
        return await self._threads.run(self._bee.init)

    async def trust(self) -> str:
        """See `Lilbee.trust`."""
        return await self._threads.run(self._bee.trust)

    async def sync(
        self,
        *,
        prune: bool = False,
        dry_run: bool = False,
        retry: bool = False,
        collections: Sequence[str] = (),
        cancel: CancelToken | None = None,
    ) -> SyncReport:
        """See `Lilbee.sync`."""

        def work(token: CancelToken) -> SyncReport:
            return self._bee.sync(prune=prune, dry_run=dry_run, retry=retry, collections=collections, cancel=token)

        return await self._threads.run_cancellable(work, cancel)

    async def add(self, *paths: str | Path, cancel: CancelToken | None = None) -> SyncReport:
        """See `Lilbee.add`."""
        return await self._threads.run_cancellable(lambda token: self._bee.add(*paths, cancel=token), cancel)

    async def add_documents(self, documents: Iterable[Document], *, cancel: CancelToken | None = None) -> SyncReport:
        """See `Lilbee.add_documents`."""

        def work(token: CancelToken) -> SyncReport:
            return self._bee.add_documents(documents, cancel=token)

        return await self._threads.run_cancellable(work, cancel)

    async def remove(self, *refs: str) -> tuple[str, ...]:
        """See `Lilbee.remove`."""
        return await self._threads.run(lambda: self._bee.remove(*refs))

    async def rebuild(self, *, cancel: CancelToken | None = None) -> SyncReport:
        """See `Lilbee.rebuild`."""
        return await self._threads.run_cancellable(lambda token: self._bee.rebuild(cancel=token), cancel)

    async def optimize(self) -> tuple[str, ...]:
        """See `Lilbee.optimize`."""
        return await self._threads.run(self._bee.optimize)

    async def search(
        self,
        query: str | Query,
        *,
        top_k: int | None = None,
        profile: str | None = None,
        filters: Filter | None = None,
        scope: Scope | str = Scope.RAW,
    ) -> SearchResult:
        """See `Lilbee.search`."""
        return await self._threads.run(
            lambda: self._bee.search(query, top_k=top_k, profile=profile, filters=filters, scope=scope)
        )

    async def ask(
        self,
        question: str,
        *,
        top_k: int | None = None,
        profile: str | None = None,
        filters: Filter | None = None,
        scope: Scope | str = Scope.RAW,
    ) -> Answer:
        """See `Lilbee.ask`."""
        return await self._threads.run(
            lambda: self._bee.ask(question, top_k=top_k, profile=profile, filters=filters, scope=scope)
        )

    def ask_stream(
        self,
        question: str,
        *,
        top_k: int | None = None,
        profile: str | None = None,
        filters: Filter | None = None,
        scope: Scope | str = Scope.RAW,
    ) -> AsyncIterator[Delta]:
        """See `Lilbee.ask_stream`."""
        return self._threads.iterate(
            lambda: self._bee.ask_stream(question, top_k=top_k, profile=profile, filters=filters, scope=scope)
        )

    def documents(self, *, collection: str | None = None, state: str | None = None) -> AsyncIterator[DocumentRow]:
        """See `Lilbee.documents`."""
        return self._threads.iterate(lambda: self._bee.documents(collection=collection, state=state))

    async def get_text(self, ref: str, place: Place = None) -> Passage:
        """See `Lilbee.get_text`."""
        return await self._threads.run(lambda: self._bee.get_text(ref, place))

    async def status(self) -> LibraryStatus:
        """See `Lilbee.status`."""
        return await self._threads.run(self._bee.status)

    async def explain_path(self, path: str | Path) -> PathReport:
        """See `Lilbee.explain_path`."""
        return await self._threads.run(lambda: self._bee.explain_path(path))
