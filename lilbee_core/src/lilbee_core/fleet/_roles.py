"""The roles of a fleet as the rest of lilbee knows them: an embedder, a reranker, a chat and a vision model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar, cast

from lilbee_core.errors import FleetError, InputTooLong, ProviderError, ProviderUnavailable
from lilbee_core.fleet._argv import CHAT, EMBED, RERANK, VISION
from lilbee_core.fleet._cutting import cut, cut_pairs, may_be_too_long
from lilbee_core.protocols import ChatProvider, EmbeddingProvider, Endpoint, RerankProvider, VisionProvider
from lilbee_core.types import ChatOptions, Delta, Message

if TYPE_CHECKING:
    from lilbee_core.fleet._probe import Probe
    from lilbee_core.fleet._routing import Lease, OnProgress
    from lilbee_core.types import FleetPlan, Vectors

P = TypeVar("P")
R = TypeVar("R")

_TRIES = 2
_SMALLEST_SHARE = 8
"""Texts that one server gets at least: a request costs as much as a short text."""


class Leasing(Protocol):
    """A fleet as its roles use it."""

    @property
    def probe(self) -> Probe: ...

    def lease(
        self, role: str, *, model: str | None = None, avoid: Collection[str] = (), on_progress: OnProgress | None = None
    ) -> AbstractContextManager[Lease]: ...

    def plan(self) -> FleetPlan: ...

    def obituary(self, server: str) -> FleetError | None:
        """Return why a server is gone, if it is."""
        ...


class _Calls(Generic[P]):
    """Sends calls of one role to whichever of its servers is free. Threads may share it.

    `connect` makes what speaks to a server; it is kept as long as the server is the same.
    """

    def __init__(self, fleet: Leasing, role: str, model: str, connect: Callable[[Endpoint], P]) -> None:
        self.fleet = fleet
        self.role = role
        self.model = model
        self._connect = connect
        self._connected: dict[str, tuple[Endpoint, P]] = {}
        self._lock = threading.Lock()

    def run(self, work: Callable[[P, Endpoint], R]) -> R:
        """Do something with a server; if the connection to it breaks, once more with another one.

        Raises:
            ProviderError: If there is no server, or the work fails.
        """
        avoid: list[str] = []
        while True:
            try:
                with self.lease(avoid) as lease:
                    try:
                        return work(self.to(lease), lease.endpoint)
                    except ProviderUnavailable as error:
                        lease.failed()
                        avoid.append(lease.id)
                        failure = error
            except FleetError as error:
                raise unavailable(error) from error
            if len(avoid) >= _TRIES or timed_out(failure):
                raise self.explained(failure, lease.id) from failure

    def lease(self, avoid: Collection[str] = ()) -> AbstractContextManager[Lease]:
        return self.fleet.lease(self.role, model=self.model, avoid=avoid)

    def to(self, lease: Lease) -> P:
        """Return what speaks to the server of a lease."""
        with self._lock:
            known = self._connected.get(lease.id)
            if known is not None and known[0] == lease.endpoint:
                return known[1]
            made = self._connect(lease.endpoint)
            self._connected[lease.id] = (lease.endpoint, made)
        # The server was started anew: the connections to the old one lead nowhere.
        _close(known[1] if known is not None else None)
        return made

    def explained(self, failure: ProviderUnavailable, server: str) -> ProviderUnavailable:
        """Return a failure together with why its server is gone, if it is."""
        why = self.fleet.obituary(server)
        if why is None:
            return failure
        # That its connections broke is no second reason.
        return ProviderUnavailable(why.message, hint=why.hint, code=why.code)

    def close(self) -> None:
        """Close the connections. The servers are the fleet's."""
        with self._lock:
            connected, self._connected = self._connected, {}
        for _, made in connected.values():
            _close(made)


class _Served(Generic[P]):
    """What the roles have in common: a model, and the calls that go to its servers."""

    _role: ClassVar[str]

    def __init__(self, fleet: Leasing, model: str, connect: Callable[[Endpoint], P]) -> None:
        self.model = model
        self._calls = _Calls(fleet, self._role, model, connect)

    def close(self) -> None:
        """Close the connections to the servers."""
        self._calls.close()


class FleetEmbedding(_Served[EmbeddingProvider]):
    """An `EmbeddingProvider` whose servers are the fleet's. Threads may share it.

    A text that is longer than the model reads is cut off: the server would refuse the whole request for it. A batch is
    shared out among the servers of the role.
    """

    _role = EMBED

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row for each text, as the model gives it.

        Raises:
            ProviderError: If there is no server, or it fails.
        """
        shares = self._shares(texts)
        if len(shares) == 1:
            return self._share(texts)
        import numpy as np

        with ThreadPoolExecutor(len(shares), thread_name_prefix="lilbee-fleet-embed") as pool:
            return np.concatenate(list(pool.map(self._share, shares)))

    def _shares(self, texts: Sequence[str]) -> list[Sequence[str]]:
        try:
            servers = len(self._calls.fleet.plan().of_role(EMBED))
        except FleetError as error:
            raise unavailable(error) from error
        size = max(-(-len(texts) // max(servers, 1)), _SMALLEST_SHARE)
        return [texts[start : start + size] for start in range(0, len(texts), size)] or [texts]

    def _share(self, texts: Sequence[str]) -> Vectors:
        return self._calls.run(lambda provider, endpoint: self._embed(provider, endpoint, texts))

    def _embed(self, provider: EmbeddingProvider, endpoint: Endpoint, texts: Sequence[str]) -> Vectors:
        probe = self._calls.fleet.probe
        asked = [cut(text, endpoint, probe) if may_be_too_long(text, endpoint) else text for text in texts]
        try:
            return provider.embed(asked)
        except InputTooLong:
            return provider.embed([cut(text, endpoint, probe) for text in asked])


class FleetRerank(_Served[RerankProvider]):
    """A `RerankProvider` whose servers are the fleet's; scores lie between 0 and 1. Threads may share it."""

    _role = RERANK

    def rank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return how well each text answers the query, in the order of the texts.

        Raises:
            ProviderError: If there is no server, or it fails.
        """
        return self._calls.run(lambda provider, endpoint: self._rank(provider, endpoint, query, texts))

    def _rank(
        self, provider: RerankProvider, endpoint: Endpoint, query: str, texts: Sequence[str]
    ) -> tuple[float, ...]:
        probe = self._calls.fleet.probe
        if any(may_be_too_long(query + text, endpoint) for text in texts):
            query, texts = cut_pairs(query, texts, endpoint, probe)
        try:
            return provider.rank(query, texts)
        except InputTooLong:
            return provider.rank(*cut_pairs(query, texts, endpoint, probe))


class FleetChat(_Served[ChatProvider]):
    """A `ChatProvider` whose server is the fleet's. Threads may share it.

    If the server dies before it has said anything, it is started again and asked once more; in the middle of a reply
    that would tell half an answer twice, so the reply ends with an error.
    """

    _role = CHAT

    def chat(self, messages: Sequence[Message], options: ChatOptions | None = None) -> Generator[Delta]:
        """Yield the reply piece by piece; closing the iterator closes the request.

        Raises:
            ProviderError: If there is no server, or it fails.
        """
        avoid: list[str] = []
        while True:
            spoke = False
            failure: ProviderUnavailable | None = None
            try:
                with self._calls.lease(avoid) as lease:
                    try:
                        stream = self._calls.to(lease).chat(messages, options or ChatOptions())
                        with closing(cast("Generator[Delta]", stream)):
                            for delta in stream:
                                spoke = True
                                yield delta
                        return
                    except ProviderUnavailable as error:
                        lease.failed()
                        avoid.append(lease.id)
                        failure = error
            except FleetError as error:
                raise unavailable(error) from error
            if spoke or len(avoid) >= _TRIES or timed_out(failure):
                raise self._calls.explained(failure, lease.id) from failure

    @property
    def context_tokens(self) -> int | None:
        """How much the model reads, once it is known where it runs; None if it cannot run."""
        try:
            servers = self._calls.fleet.plan().of_role(CHAT)
        except (FleetError, ProviderError):
            return None
        return servers[0].context_tokens if servers else None

    def wait_ready(self, on_progress: OnProgress | None = None) -> None:
        """Wait until the model is loaded, telling how much of it has been read.

        Raises:
            ProviderError: If it cannot be loaded.
        """
        try:
            with self._calls.fleet.lease(CHAT, model=self.model, on_progress=on_progress):
                return
        except FleetError as error:
            raise unavailable(error) from error


class FleetVision(_Served[VisionProvider]):
    """A `VisionProvider` whose servers are the fleet's. Threads may share it."""

    _role = VISION

    def read(self, image: bytes, *, prompt: str = "") -> str:
        """Return the text on a page image (PNG).

        Raises:
            ProviderError: If there is no server, or it fails.
        """
        return self._calls.run(lambda provider, _: provider.read(image, prompt=prompt))


def unavailable(error: FleetError) -> ProviderError:
    """Return a fleet's error as one of a model: whoever asks a model need not know where it runs."""
    return ProviderUnavailable(error.message, hint=error.hint, code=error.code)


def timed_out(error: BaseException) -> bool:
    """Whether a server was too slow: asking again would only make it slower."""
    return "Timeout" in type(error.__cause__).__name__


def _close(part: object) -> None:
    close = getattr(part, "close", None)
    if callable(close):
        close()
