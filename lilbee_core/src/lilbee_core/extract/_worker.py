"""The process that reads files which might hang, crash or fill the memory. Started by the pool only."""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
from typing import IO, cast

from lilbee_core.errors import LilbeeError, PluginError
from lilbee_core.extract._context import FileContext
from lilbee_core.extract._members import find_member
from lilbee_core.extract._pictures import take_picture
from lilbee_core.extract._registry import build_extractor
from lilbee_core.extract._run import out_of_memory, run_extractor
from lilbee_core.extract._wire import Outcome, Recipe, Reply, Setup, Task, receive, send
from lilbee_core.plugins.specs import ExtractorSpec, ExtractServices
from lilbee_core.protocols import Extractor
from lilbee_core.types import Source

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve tasks until the pool goes away."""
    tasks, replies = _take_over_the_pipes()
    if hasattr(signal, "SIGINT"):
        # Ctrl-C is for the user's process; it ends this one through the pipe.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    setup = cast("Setup", receive(tasks))
    _die_with(setup.parent_pid)
    _limit_memory(setup.memory_mb)
    # kreuzberg writes there what it keeps between files; the default is a folder in the user's home.
    for name in ("KREUZBERG_CACHE_DIR", "XDG_CACHE_HOME"):
        os.environ[name] = setup.cache_dir  # noqa: TID251 - set for a library that is imported here
    # kreuzberg unpacks a native library below the temporary folder, under a name that anybody can foresee, and runs it.
    for name in ("TMPDIR", "TEMP", "TMP"):
        os.environ[name] = setup.native_dir  # noqa: TID251 - set for a library that is imported here
    inbox = _Inbox(tasks)
    worker = _Worker(setup)
    send(replies, Reply())
    while (task := inbox.next()) is not None:
        _answer(replies, worker, task)


def _answer(replies: IO[bytes], worker: _Worker, task: Task) -> None:
    result = worker.read(task)
    try:
        send(replies, Reply(result=result))
    except MemoryError:
        send(replies, Reply(result=out_of_memory(task.source, worker.memory_mb)))
    except (pickle.PicklingError, TypeError, AttributeError):
        name = task.recipe.name if task.recipe is not None else "picture"
        error = PluginError(f"the extractor {name!r} returned something that cannot leave its process")
        send(replies, Reply(result=error))


class _Worker:
    """Builds extractors as tasks ask for them and keeps them."""

    def __init__(self, setup: Setup) -> None:
        self._services = ExtractServices(cache_dir=setup.cache_dir, limits=setup.limits)
        self.memory_mb = setup.memory_mb
        self._context = FileContext(
            max_chars=setup.max_chars,
            password=setup.password,
            languages=setup.languages,
            memory_mb=setup.memory_mb,
        )
        self._most_pixels = setup.most_pixels
        self._built: dict[str, Extractor] = {}
        # The pages of a member are asked for one after the other.
        self._last_member: tuple[Source, tuple[int, ...], Source] | None = None

    def read(self, task: Task) -> Outcome:
        if task.recipe is None:
            source = self._member(task.source, task.at) if task.at else task.source
            if isinstance(source, LilbeeError):
                return source
            return take_picture(source, task.page or 1, self._context.password, self._most_pixels, task.look)
        try:
            extractor = self._extractor(task.recipe)
        except LilbeeError as error:
            return error
        return run_extractor(extractor, task.source, self._context)

    def _member(self, source: Source, at: tuple[int, ...]) -> Source | LilbeeError:
        last = self._last_member
        if last is None or last[:2] != (source, at):
            found = find_member(source, at, self._context, self._services.limits)
            if isinstance(found, LilbeeError):
                return found
            last = self._last_member = (source, at, found)
        return last[2]

    def _extractor(self, recipe: Recipe) -> Extractor:
        if recipe.name not in self._built:
            self._built[recipe.name] = build_extractor(_spec_of(recipe), recipe.options, self._services)
        return self._built[recipe.name]


def _spec_of(recipe: Recipe) -> ExtractorSpec:
    try:
        return ExtractorSpec(name=recipe.name, media_types=(), build=pickle.loads(recipe.builder))
    except Exception as error:
        raise PluginError(
            f"the extractor {recipe.name!r} cannot be imported in its process: {type(error).__name__}: {error}",
            hint="Define it in a module that Python can import, not in a script.",
        ) from error


class _Inbox:
    """Reads tasks on a thread of its own, so that the end of the pool is seen while a file is being read."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._idle = threading.Event()
        threading.Thread(target=self._run, name="lilbee-extract-inbox", daemon=True).start()

    def next(self) -> Task | None:
        """Wait for the next task; None when the pool is gone."""
        self._idle.set()
        task = self._tasks.get()
        self._idle.clear()
        return task

    def _run(self) -> None:
        while True:
            try:
                message = receive(self._stream)
            except (EOFError, OSError):
                if not self._idle.is_set():
                    # Whatever is being read is of no use to anybody.
                    os._exit(0)
                self._tasks.put(None)
                return
            self._idle.clear()
            self._tasks.put(cast("Task", message))


def _take_over_the_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Keep the pipes for ourselves; what libraries print goes to the error stream, which the pool collects."""
    tasks, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    return tasks, replies


def _die_with(parent_pid: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:
        os._exit(0)


def _limit_memory(megabytes: int) -> None:
    """Bound the address space on Linux, where that works; elsewhere the pool watches the process."""
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        size = megabytes * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
