"""Web sites on this machine, scripted answer by answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a site says to one request. A body may be pieces that are sent one by one."""

    body: bytes | str | Callable[[], Iterable[bytes]] = b""
    status: int = 200
    media_type: str | None = HTML
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a site was asked."""

    path: str
    headers: Mapping[str, str]


Said = Answer | str | Sequence["Answer | str"] | Callable[[Request], "Answer | str"]
"""An answer, a page, one after the other (the last one stays), or what a function says."""


class Website:
    """A site on the loopback address. Use it as a context manager; `pages` may change while it runs."""

    def __init__(self, pages: Mapping[str, Said] | None = None, *, host: str = "127.0.0.1") -> None:
        self.pages: dict[str, Said] = dict(pages or {})
        self.requests: list[Request] = []
        self._told: dict[str, int] = {}
        self._host = host
        self._lock = threading.Lock()

    def __enter__(self) -> Website:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site._say(self)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer((self._host, 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def url(self, path: str = "/") -> str:
        return f"http://{self._host}:{self.port}{path}"

    @property
    def asked(self) -> list[str]:
        """The paths that were asked for, in order, without ``robots.txt``."""
        return [one.path for one in self.requests if one.path != "/robots.txt"]

    def _say(self, handler: BaseHTTPRequestHandler) -> None:
        request = Request(path=handler.path, headers={name.lower(): text for name, text in handler.headers.items()})
        with self._lock:
            self.requests.append(request)
            turn = self._told[handler.path] = self._told.get(handler.path, -1) + 1
        said = self.pages.get(handler.path, Answer(status=404))
        if callable(said):
            said = said(request)
        elif not isinstance(said, str | Answer):
            said = said[min(turn, len(said) - 1)]
        answer = Answer(body=said) if isinstance(said, str) else said
        with suppress(OSError):  # the other side went away, as some tests want
            self._send(handler, answer)

    @staticmethod
    def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        handler.send_response(answer.status)
        if answer.media_type is not None:
            handler.send_header("Content-Type", answer.media_type)
        for name, text in answer.headers.items():
            handler.send_header(name, text)
        if callable(answer.body):
            handler.send_header("Connection", "close")
            handler.end_headers()
            for piece in answer.body():
                handler.wfile.write(piece)
            handler.close_connection = True
            return
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        has_body = answer.status not in {204, 304}
        if has_body and "Content-Length" not in answer.headers:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if has_body:
            handler.wfile.write(body)


def redirect(target: str, status: int = 302) -> Answer:
    """Lead elsewhere."""
    return Answer(status=status, media_type=None, headers={"Location": target})


def endless(piece: bytes, *, most: int) -> Callable[[], Iterator[bytes]]:
    """Send a piece again and again, so often at most: a test must end even if what it tests does not."""

    def pieces() -> Iterator[bytes]:
        for _ in range(most):
            yield piece

    return pieces
