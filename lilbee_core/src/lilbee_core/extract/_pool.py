"""Reads files one by one in any order of completion: text here, everything that may hang or crash in workers."""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lilbee_core.errors import Cancelled, LilbeeError, LimitExceeded, UnsupportedFormat
from lilbee_core.extract._context import FileContext
from lilbee_core.extract._folders import WorkFolders
from lilbee_core.extract._jobs import Call, Job, Result
from lilbee_core.extract._lane import Lane
from lilbee_core.extract._media import BINARY, HEAD_BYTES
from lilbee_core.extract._pictures import FOR_READING, Look, Picture
from lilbee_core.extract._reading import no_text, not_readable
from lilbee_core.extract._recipes import Plan, Planner
from lilbee_core.extract._recognize import OnPage, Recognizer, Watch
from lilbee_core.extract._registry import ExtractorRegistry
from lilbee_core.extract._run import crashed, run_extractor, timed_out
from lilbee_core.extract._text import TextExtractor
from lilbee_core.extract._wire import Outcome, Setup
from lilbee_core.plugins.specs import ExtractServices, MemberLimits
from lilbee_core.protocols import AdmissionGate
from lilbee_core.types import Document, Source

log = logging.getLogger(__name__)

_WATCH_S = 0.1
_LOOK_AHEAD = 2


def _never() -> None:
    return None


def _untold(source: Source, done: int, total: int) -> None:
    return None


class _Fixed:
    """Lets the same number of files in, always."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def under_way(self, count: int) -> None:
        return None


class ExtractPool:
    """Turns sources into documents, each at the cost of at most itself.

    Extractors that cannot hang or crash run in the calling thread; the others in worker processes that are started
    with the first file that needs one. A file that takes longer than `timeout_s` or more memory than `memory_mb`
    loses its worker and is reported; a crash costs the one file that caused it. Close the pool, or use it as a
    context manager. Threads may share it; each call of `extract` has its own results.
    """

    def __init__(
        self,
        registry: ExtractorRegistry,
        *,
        workers: int = 0,
        in_flight: int = 0,
        gate: AdmissionGate | None = None,
        timeout_s: float = 60.0,
        memory_mb: int = 1024,
        cache_dir: Path | None = None,
        native_dir: Path | None = None,
        options: Mapping[str, Mapping[str, object]] = {},
        max_chars: int = 400_000_000,
        password: str | None = None,
        languages: Sequence[str] = (),
        recycle_after: int = 200,
        recognizer: Recognizer | None = None,
        limits: MemberLimits | None = None,
        most_pixels: int = 200_000_000,
        max_bytes: int | None = None,
    ) -> None:
        """Take the settings; nothing is started yet.

        With `workers` 0 there is one per core, at most 4. A worker is replaced after `recycle_after` files, since
        libraries keep memory. At most `in_flight` files of one call are on their way, 0 is two per worker; a
        `gate` says anew at each file how many may be.
        Files of more than `max_bytes` are not given to a worker. Pages without text are given to the `recognizer`,
        images of at most `most_pixels`. Libraries unpack programs into `native_dir`, which nobody else may write to;
        one of its own if none is given.
        """
        if min(workers, in_flight) < 0:
            raise ValueError(f"workers and in_flight must not be negative, got {workers} and {in_flight}")
        if timeout_s <= 0:
            raise ValueError(f"timeout_s must be positive, got {timeout_s}")
        self._registry = registry
        self._workers = workers or min(4, os.cpu_count() or 1)
        self._gate: AdmissionGate = gate or _Fixed(in_flight or self._workers * _LOOK_AHEAD)
        self._timeout_s = timeout_s
        self._memory_mb = memory_mb
        self._recycle_after = recycle_after
        self._recognizer = recognizer
        self._folders = WorkFolders(cache_dir, native_dir)
        self._context = FileContext(max_chars=max_chars, password=password or None, languages=tuple(languages))
        self._limits = limits or MemberLimits()
        self._most_pixels = most_pixels
        self._max_bytes = max_bytes
        services = ExtractServices(cache_dir=str(cache_dir) if cache_dir else None, limits=self._limits)
        self._planner = Planner(options, services)
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._lanes: list[Lane] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()

    def __enter__(self) -> ExtractPool:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers; files that are being read are given up."""
        self._closed.set()
        with self._lock:
            lanes, self._lanes = self._lanes, []
        for lane in lanes:
            lane.stop()
        for _ in lanes:
            self._jobs.put(None)
        for lane in lanes:
            lane.join()
        self._folders.remove()

    def worker_pids(self) -> tuple[int, ...]:
        """Return the ids of the worker processes that run now."""
        return tuple(pid for lane in tuple(self._lanes) if (pid := lane.pid) is not None)

    def extract(
        self, sources: Iterable[Source], *, check: Callable[[], None] = _never, on_page: OnPage = _untold
    ) -> Iterator[Result]:
        """Yield each source with its document or its error, as they are done.

        Sources are taken from the iterable only when there is room: at most so many files are on their way. Closing
        the iterator gives up what is being read. `check` is called often and may raise to stop everything; `on_page`
        is told of pages on which text is recognized.
        """
        if self._closed.is_set():
            raise ValueError("the extraction pool is closed")
        call, watch = Call(check), Watch(check=check, on_page=on_page)
        try:
            for source in sources:
                check()
                for begun in self._begin(call, source):
                    yield from self._finished(call, watch, *begun)
                self._gate.under_way(call.pending)
                while call.pending >= self._gate.limit:
                    yield from self._finished(call, watch, *call.wait())
                for delivered in call.ready():
                    yield from self._finished(call, watch, *delivered)
            while call.pending:
                self._gate.under_way(call.pending)
                yield from self._finished(call, watch, *call.wait())
        finally:
            call.abandon()
            self._gate.under_way(0)

    def _begin(self, call: Call, source: Source) -> Iterator[Result]:
        """Read a file here and now, or send it on its way."""
        try:
            source = self._complete(source)
            spec = self._registry.choose(source.path, source.media_type)
            if spec is None:
                raise _unsupported(source)
            plan = self._planner.plan(spec)
            if not plan.here and self._max_bytes is not None and _size(source) > self._max_bytes:
                raise _too_big(source, self._max_bytes)
        except LilbeeError as error:
            yield source, error
            return
        if plan.here:
            yield source, run_extractor(plan.extractor, source, replace(self._context, stop=call.check))
        elif plan.recipe is not None:
            fallback = self._read_as_text if spec.name == "code" else None
            self._submit(call.add(Job(source, call.deliver, recipe=plan.recipe, fallback=fallback)))
        else:
            self._start_thread(call, source, plan)

    def _finished(
        self, call: Call, watch: Watch, source: Source, outcome: Outcome, final: bool = False
    ) -> Iterator[Result]:
        """Yield what came of a file. One with pictures of text comes again, once somebody has recognized that."""
        if isinstance(outcome, Picture):
            raise TypeError("a picture came where a document was asked for")
        if final:
            if isinstance(outcome, Cancelled):
                raise outcome
            yield source, outcome
        elif self._recognizer is None:
            scans_only = isinstance(outcome, Document) and outcome.scans and not outcome.text.strip()
            yield source, no_text(source) if scans_only else outcome
        elif self._recognizer.is_needed(source, outcome):
            self._recognize(call, watch, source, outcome, self._recognizer)
        else:
            yield source, self._completed(call, watch, source, outcome, self._recognizer)

    def _recognize(
        self, call: Call, watch: Watch, source: Source, result: Document | LilbeeError, recognizer: Recognizer
    ) -> None:
        """Have the text of a file's pictures recognized beside everything else."""
        job = call.add(Job(source, call.deliver, final=True))

        def work() -> None:
            try:
                job.finish(self._completed(call, watch, source, result, recognizer))
            except LilbeeError as error:
                job.finish(error)
            except Exception:
                log.exception("text recognition failed on %s", source.path)
                job.finish(crashed(source))

        threading.Thread(target=work, name="lilbee-recognize", daemon=True).start()

    def _completed(
        self, call: Call, watch: Watch, source: Source, result: Document | LilbeeError, recognizer: Recognizer
    ) -> Document | LilbeeError:
        def check() -> None:
            watch.check()
            if call.given_up:
                raise Cancelled("nobody waits for it any more", hint="Sync again.")

        return recognizer.complete(
            source,
            result,
            lambda page, at: self._picture(source, page, at, check),
            Watch(check=check, on_page=watch.on_page),
        )

    def picture(self, source: Source, page: int, look: Look) -> Picture:
        """Return a page of a PDF as it looks, or an image file as it is. A worker draws it.

        Raises:
            LilbeeError: If there is no such page, or it cannot be drawn within the limits.
        """
        if self._closed.is_set():
            raise ValueError("the extraction pool is closed")
        source = self._complete(source)
        if self._max_bytes is not None and _size(source) > self._max_bytes:
            raise _too_big(source, self._max_bytes)
        outcome = self._picture(source, page, (), _never, look)
        if isinstance(outcome, LilbeeError):
            raise outcome
        return outcome

    def _picture(
        self, source: Source, page: int, at: tuple[int, ...], check: Callable[[], None], look: Look = FOR_READING
    ) -> Picture | LilbeeError:
        """Have a page drawn by a worker."""
        call = Call(check)
        try:
            self._submit(call.add(Job(source, call.deliver, page=page, at=at, look=look)))
            _, outcome, _ = call.wait()
        finally:
            call.abandon()
        if isinstance(outcome, Document):
            raise TypeError("a document came where a picture was asked for")
        return outcome

    def _complete(self, source: Source) -> Source:
        """Give the file its full name, since workers live elsewhere, and its media type if it has none."""
        try:
            file = os.path.abspath(source.file) if source.file is not None else None
            if source.media_type:
                return replace(source, file=file)
            head = source.data[:HEAD_BYTES] if source.data is not None else _head(file)
            return replace(source, file=file, media_type=self._registry.media_type(source.path, head))
        except OSError as error:
            raise not_readable(source, error) from error

    def _read_as_text(self, source: Source, error: LilbeeError) -> Document | LilbeeError:
        """Read code as plain text when its parser was lost: it has lines and words all the same."""
        result = run_extractor(TextExtractor(), source, self._context)
        if isinstance(result, LilbeeError):
            return result
        return replace(result, warnings=(*result.warnings, f"read as plain text: {error.message}"))

    def _submit(self, job: Job) -> None:
        with self._lock:
            if self._closed.is_set():
                raise ValueError("the extraction pool is closed")
            waiting = sum(lane.busy for lane in self._lanes) + self._jobs.qsize()
            if waiting >= len(self._lanes) and len(self._lanes) < self._workers:
                self._add_lane()
        self._jobs.put(job)

    def _add_lane(self) -> None:
        if not self._lanes:
            threading.Thread(target=self._watch, name="lilbee-extract-watch", daemon=True).start()
        # Linux limits the address space of the process itself; elsewhere its memory is watched.
        memory_mb = None if sys.platform == "linux" else self._memory_mb
        lane = Lane(
            self._jobs,
            self._setup,
            timeout_s=self._timeout_s,
            memory_mb=memory_mb,
            recycle_after=self._recycle_after,
        )
        self._lanes.append(lane)
        lane.start()

    def _watch(self) -> None:
        while not self._closed.wait(_WATCH_S):
            for lane in tuple(self._lanes):
                lane.watch()

    def _setup(self) -> Setup:
        return Setup(
            parent_pid=os.getpid(),
            memory_mb=self._memory_mb,
            cache_dir=self._folders.cache(),
            native_dir=self._folders.native(),
            max_chars=self._context.max_chars,
            password=self._context.password,
            languages=self._context.languages,
            limits=self._limits,
            most_pixels=self._most_pixels,
        )

    def _start_thread(self, call: Call, source: Source, plan: Plan) -> None:
        """Run an extractor that exists in this process only; a result that comes too late is dropped."""
        deadline = time.monotonic() + self._timeout_s
        expired = timed_out(source, self._timeout_s)

        def stop() -> None:
            if time.monotonic() > deadline:
                raise expired

        context = replace(self._context, stop=stop)
        job = call.add(Job(source, call.deliver, deadline=deadline, expired=expired))
        threading.Thread(
            target=lambda: job.finish(run_extractor(plan.extractor, source, context)),
            name="lilbee-extract-plugin",
            daemon=True,
        ).start()


def _head(file: str | None) -> bytes:
    if file is None:
        raise FileNotFoundError("neither a file nor data")
    if not os.path.isfile(file):
        # Opening a pipe would wait for somebody to write into it.
        raise FileNotFoundError("not a regular file")
    with open(file, "rb") as handle:
        return handle.read(HEAD_BYTES)


def _size(source: Source) -> int:
    if source.size or source.file is None:
        return source.size or len(source.data or b"")
    try:
        return os.path.getsize(source.file)
    except OSError as error:
        raise not_readable(source, error) from error


def _too_big(source: Source, most: int) -> LimitExceeded:
    return LimitExceeded(
        f"{source.path} is {_size(source) / 1e6:,.0f} MB large, more than the limit of {most // 1_000_000} MB",
        hint="Raise max_binary_mb, or ignore the file.",
    )


def _unsupported(source: Source) -> UnsupportedFormat:
    what = "binary data" if source.media_type == BINARY else source.media_type
    return UnsupportedFormat(
        f"{source.path} is {what}, which no extractor reads",
        hint="Install a plugin that reads it, or add it to .lilbeeignore.",
    )
