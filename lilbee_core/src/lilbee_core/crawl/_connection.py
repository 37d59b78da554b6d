"""Connections to addresses that were checked: what is checked is what is connected to, so no name can change between.

Imported only when something is fetched.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import httpcore
import httpx

from lilbee_core.crawl._addresses import Guard
from lilbee_core.errors import CrawlError

SocketOption: TypeAlias = (
    tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
)  # as httpcore has it


class Deadline:
    """The moment at which a request of this thread has to be over, however slowly its bytes drip."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._local = threading.local()
        self._monotonic = monotonic

    @contextmanager
    def of(self, seconds: float) -> Generator[None]:
        """Give what is done inside so many seconds."""
        self._local.at = self._monotonic() + seconds
        try:
            yield
        finally:
            self._local.at = None

    def left(self, timeout: float | None) -> float:
        """Return how long may be waited at most.

        Raises:
            httpcore.ReadTimeout: If nothing is left.
        """
        at: float | None = getattr(self._local, "at", None)
        if at is None:
            return timeout if timeout is not None else 30.0
        left = at - self._monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("the time for this page is over")
        return left if timeout is None else min(timeout, left)


class _Stream(httpcore.NetworkStream):
    """A connection that keeps to the deadline."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._inner = inner
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._deadline.left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        inner = self._inner.start_tls(ssl_context, server_hostname, self._deadline.left(timeout))
        return _Stream(inner, self._deadline)

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)


class GuardedBackend(httpcore.NetworkBackend):
    """Resolves names itself, refuses addresses inside, and connects to the very address that it checked."""

    def __init__(self, guard: Guard, deadline: Deadline, *, inner: httpcore.NetworkBackend | None = None) -> None:
        self._guard = guard
        self._deadline = deadline
        self._inner = inner or httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore.NetworkStream:
        failed: Exception | None = None
        for address in self._guard.addresses(host, port):
            try:
                stream = self._inner.connect_tcp(
                    address, port, self._deadline.left(timeout), local_address, socket_options
                )
            except httpcore.ConnectError as error:
                failed = error
                continue
            return _Stream(stream, self._deadline)
        raise failed or httpcore.ConnectError("no address answers")

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[SocketOption] | None = None
    ) -> httpcore.NetworkStream:
        raise CrawlError("a socket of this machine is not of the web", code="crawl.blocked_address")


class GuardedTransport(httpx.BaseTransport):
    """Sends requests over checked connections. No proxy: one would resolve names where nobody checks them."""

    def __init__(self, guard: Guard, deadline: Deadline, *, backend: httpcore.NetworkBackend | None = None) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl.create_default_context(),
            max_connections=16,
            max_keepalive_connections=8,
            keepalive_expiry=15.0,
            network_backend=GuardedBackend(guard, deadline, inner=backend),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        response = self._pool.handle_request(
            httpcore.Request(method=request.method, url=url, headers=request.headers.raw, extensions=request.extensions)
        )
        assert isinstance(response.stream, Iterable)
        return httpx.Response(
            status_code=response.status, headers=response.headers, stream=_Body(response), extensions={}
        )

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()
