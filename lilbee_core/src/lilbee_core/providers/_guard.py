"""Waiting for model servers with a limit, and remembering those that do not answer."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, wait
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from lilbee_core.errors import LilbeeError, ProviderUnavailable
from lilbee_core.types import Delta, closable

if TYPE_CHECKING:
    from lilbee_core.protocols import Clock

T = TypeVar("T")

COOL_DOWN_S = 30.0
"""How long a server that did not answer is left alone."""


class Breaker:
    """Remembers that a server could not be reached, so that nobody waits for it again at once. Threads may share it.

    After `cool_down_s` one call finds out whether the server is back, while the others still go without it.
    """

    def __init__(self, clock: Clock, *, cool_down_s: float = COOL_DOWN_S) -> None:
        self._clock = clock
        self._cool_down_s = cool_down_s
        self._lock = threading.Lock()
        self._failure: ProviderUnavailable | None = None
        self._asked_again = 0.0

    def check(self) -> None:
        """Refuse a call of a server that failed a moment ago.

        Raises:
            ProviderUnavailable: What was wrong with it, and when it is asked again.
        """
        with self._lock:
            if self._failure is None:
                return
            waits = self._asked_again - self._clock.monotonic()
            if waits <= 0:
                self._asked_again += self._cool_down_s - waits
                return
            failure = self._failure
        raise ProviderUnavailable(f"{failure.message} (it is asked again in {waits:.0f} s)", hint=failure.hint)

    def failed(self, failure: ProviderUnavailable) -> None:
        """Leave the server alone for a while."""
        with self._lock:
            self._failure = failure
            self._asked_again = self._clock.monotonic() + self._cool_down_s

    def answered(self) -> None:
        """Ask the server as usual."""
        with self._lock:
            self._failure = None


class Guard:
    """Calls a model server within a time limit. Threads may share it.

    A call that takes longer is given up but goes on behind, within the limits of its own client: a server that was
    loading its model, and answers late, is asked as usual from then on.

    Args:
        server: What the server is called in errors: the model and its address.
        limit_s: Longest wait for an answer, or for the next piece of one.
        setting: The name of the setting that holds the limit.
        breaker: Remembers failures; guards of the same server share it.
        insists: Whether the server is called even if it failed a moment ago.
        prepare: Makes the server ready, before the limit begins to count.
    """

    def __init__(
        self,
        server: str,
        *,
        limit_s: float,
        setting: str,
        breaker: Breaker,
        insists: bool = False,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self._server = server
        self._limit_s = limit_s
        self._setting = setting
        self._breaker = breaker
        self._insists = insists
        self._prepare = prepare

    def call(self, ask: Callable[[], T]) -> T:
        """Return what `ask` returns.

        Raises:
            ProviderUnavailable: If it takes too long, or the server failed a moment ago.
        """
        self._check()
        future: Future[T] = Future()
        _start(lambda: _fulfill(future, ask))
        if not wait((future,), self._limit_s).done:
            future.add_done_callback(self._late)
            raise self._fail(self._too_slow())
        return Watch(self._breaker).call(future.result)

    def stream(self, ask: Callable[[], Iterator[Delta]]) -> Generator[Delta]:
        """Yield the pieces of a reply; closing the iterator ends the request with its next piece.

        Raises:
            ProviderUnavailable: If a piece takes too long, or the server failed a moment ago.
        """
        self._check()
        pump = _Pump(ask, self._breaker)
        _start(pump.run)
        spoke = False
        try:
            while True:
                try:
                    piece = pump.next(self._limit_s)
                except queue.Empty:
                    raise self._too_slow() if spoke else self._fail(self._too_slow()) from None
                except ProviderUnavailable as error:
                    raise error if spoke else self._fail(error) from None
                if piece is None:
                    return
                spoke = True
                self._breaker.answered()
                yield piece
        finally:
            pump.stop()

    def _check(self) -> None:
        if not self._insists:
            self._breaker.check()
        if self._prepare is None:
            return
        try:
            self._prepare()
        except ProviderUnavailable as error:
            raise self._fail(error) from error.__cause__

    def _late(self, future: Future[T]) -> None:
        if future.exception() is None:
            self._breaker.answered()

    def _fail(self, failure: ProviderUnavailable) -> ProviderUnavailable:
        self._breaker.failed(failure)
        return failure

    def _too_slow(self) -> ProviderUnavailable:
        return ProviderUnavailable(
            f"{self._server} did not answer within {self._limit_s:g} s",
            hint=f"Check that it runs and is not stuck, or raise {self._setting} if it needs longer.",
        )


class Watch:
    """Calls a model server without a limit, and tells the guards of the same server how that went."""

    def __init__(self, breaker: Breaker) -> None:
        self._breaker = breaker

    def call(self, ask: Callable[[], T]) -> T:
        """Return what `ask` returns.

        Raises:
            ProviderUnavailable: If the server cannot be reached.
        """
        try:
            found = ask()
        except ProviderUnavailable as error:
            self._breaker.failed(error)
            raise
        except LilbeeError:
            # It said no, so it is there.
            self._breaker.answered()
            raise
        self._breaker.answered()
        return found


class _Pump:
    """Reads a reply on its own thread, so that whoever waits for a piece can give up."""

    def __init__(self, ask: Callable[[], Iterator[Delta]], breaker: Breaker) -> None:
        self._ask = ask
        self._breaker = breaker
        self._pieces: queue.SimpleQueue[Delta | _End] = queue.SimpleQueue()
        self._stopped = threading.Event()

    def run(self) -> None:
        try:
            with closing(closable(self._ask())) as reply:
                for piece in reply:
                    if self._stopped.is_set():
                        self._breaker.answered()
                        return
                    self._pieces.put(piece)
        except BaseException as error:  # noqa: BLE001 - raised again where somebody reads
            self._pieces.put(_End(error))
        else:
            self._pieces.put(_End(None))

    def next(self, limit_s: float) -> Delta | None:
        """Return the next piece, None at the end."""
        piece = self._pieces.get(timeout=limit_s)
        if not isinstance(piece, _End):
            return piece
        if piece.error is not None:
            raise piece.error
        return None

    def stop(self) -> None:
        """Nobody reads any longer."""
        self._stopped.set()


class _End:
    """The end of a reply, with the error that ended it."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def _start(work: Callable[[], None]) -> None:
    # A daemon: a server that never answers must not keep a process alive.
    threading.Thread(target=work, name="lilbee-model-call", daemon=True).start()


def _fulfill(future: Future[T], ask: Callable[[], T]) -> None:
    try:
        future.set_result(ask())
    except BaseException as error:  # noqa: BLE001 - raised again where somebody waits
        future.set_exception(error)
