"""Connections: answers that leave at once, and an end for those on which the head of a request does not arrive."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from typing import Any, cast

from uvicorn.protocols.http.auto import AutoHTTPProtocol


def protocol_with_patience(patience_s: float) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol, which closes a connection whose next head is not complete after so many seconds.

    Between two requests nothing is begun, and uvicorn's own limit for idle connections holds.
    """
    return cast("type[asyncio.Protocol]", partial(_Patient, patience_s))


class _Patient(asyncio.Protocol):
    def __init__(self, patience_s: float, **given: Any) -> None:
        self._inner: Any = AutoHTTPProtocol(**given)
        self._patience_s = patience_s
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # asyncio does so by itself only for sockets that name their protocol, which those of `create_server` do not:
        # without it the second half of each answer waits 40 ms for the client to confirm the first.
        link = transport.get_extra_info("socket")
        if link is not None and link.family in (socket.AF_INET, socket.AF_INET6):
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._inner.connection_made(transport)
        self._wait(transport)

    def data_received(self, data: bytes) -> None:
        before = self._inner.cycle
        self._inner.data_received(data)
        if self._inner.cycle is not before:
            self._stop()  # a request has begun: its body is the application's to wait for
        elif before is None or before.response_complete:
            self._wait(self._inner.transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._inner.connection_lost(exc)

    def eof_received(self) -> None:
        self._inner.eof_received()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def _wait(self, transport: asyncio.BaseTransport) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._patience_s, transport.close)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
