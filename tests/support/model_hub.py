"""A hub of models on the loopback interface, with the protocol of Hugging Face, whose faults tests script.

::

    with FakeHub(repositories={"org/tiny": {"tiny-Q4_K_M.gguf": b"GGUF…"}}) as hub:
        hub.faults.append(Fault(cut_after=1000))      # the next download breaks off after 1000 bytes
        ...
    assert hub.requests[0].path == "/api/models/org/tiny"

A download is answered by a redirect to another path, as the real one does.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What goes wrong with a request. `only` limits it to paths that contain a text."""

    status: int = 0
    cut_after: int | None = None
    page: bool = False
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    only: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that the hub got."""

    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]


class FakeHub:
    """Serves repositories. What is in `facts` of one is merged into what the hub says of it."""

    def __init__(
        self,
        repositories: Mapping[str, Mapping[str, bytes]],
        *,
        facts: Mapping[str, Mapping[str, Any]] | None = None,
        token: str = "",
    ) -> None:
        self.repositories = {repo: dict(files) for repo, files in repositories.items()}
        self.facts = dict(facts or {})
        self.token = token
        self.bytes_from = ""
        self.ranges = True
        self.weak_tags = False
        self.lie_about: dict[str, bytes] = {}
        self.on_piece: Callable[[int], None] | None = None
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> FakeHub:
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                hub.answer(self)

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def downloads(self) -> list[Request]:
        """Return the requests for bytes of files."""
        return [one for one in self.requests if one.path.startswith("/bytes/")]

    # ------------------------------------------------------------------ answering

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        path = unquote(parts.path)
        self.requests.append(Request(path, parse_qs(parts.query), dict(handler.headers.items())))
        fault = self._fault(path)
        if fault.status or fault.page:
            kind = "text/html" if fault.page else "application/json"
            _send(handler, fault.status or 200, b"<html>Sign in</html>", kind, fault.headers)
        elif path == "/api/models":
            _send_json(handler, self._found(parse_qs(parts.query)))
        elif path.startswith("/api/models/"):
            self._repository(handler, path.removeprefix("/api/models/"))
        elif "/resolve/" in path:
            repo, _, rest = path.strip("/").partition("/resolve/")
            target = f"{self.bytes_from}/bytes/{repo}/{rest.partition('/')[2]}"
            _send(handler, 302, b"", "text/plain", {"Location": target})
        else:
            self._bytes(handler, path.removeprefix("/bytes/"), fault)

    def _fault(self, path: str) -> Fault:
        for at, fault in enumerate(self.faults):
            if fault.only in path and (fault.cut_after is None or path.startswith("/bytes/")):
                return self.faults.pop(at)
        return Fault()

    def _found(self, query: Mapping[str, list[str]]) -> list[dict[str, Any]]:
        words = " ".join(query.get("search", [""])).lower().split()
        limit = int(query["limit"][0])
        names = [repo for repo in self.repositories if all(word in repo.lower() for word in words)]
        return [self.about(repo, sizes=False) for repo in names][:limit]

    def about(self, repo: str, *, sizes: bool = True) -> dict[str, Any]:
        """Return what the hub says of a repository."""
        siblings: list[dict[str, Any]] = []
        for name, content in self.repositories[repo].items():
            file: dict[str, Any] = {"rfilename": name}
            if sizes:
                told = self.lie_about.get(name, content)
                file |= {
                    "size": len(content),
                    "lfs": {"sha256": hashlib.sha256(told).hexdigest(), "size": len(content)},
                }
            siblings.append(file)
        return {
            "id": repo,
            "sha": "5eed",
            "tags": ["gguf", "license:apache-2.0"],
            "pipeline_tag": "text-generation",
            "downloads": 1000,
            "gated": False,
            "siblings": siblings,
            **self.facts.get(repo, {}),
        }

    def _repository(self, handler: BaseHTTPRequestHandler, name: str) -> None:
        repo = name.partition("/revision/")[0]
        gated = self.facts.get(repo, {}).get("gated") and handler.headers.get("Authorization") != f"Bearer {self.token}"
        if repo not in self.repositories:
            _send_json(handler, {"error": "Repository not found"}, 404)
        elif gated:
            _send_json(handler, {"error": "Access is restricted"}, 403)
        else:
            _send_json(handler, self.about(repo))

    def _bytes(self, handler: BaseHTTPRequestHandler, name: str, fault: Fault) -> None:
        owner, repo, file = name.split("/", 2)
        content = self.repositories[f"{owner}/{repo}"][file]
        etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        start = self._start(handler, etag, len(content))
        if start is None:
            _send(handler, 416, b"", "text/plain", {"Content-Range": f"bytes */{len(content)}"})
            return
        body = content[start:]
        handler.send_response(206 if start else 200)
        handler.send_header("Content-Type", "application/octet-stream")
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("ETag", f"W/{etag}" if self.weak_tags else etag)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        handler.end_headers()
        end = len(body) if fault.cut_after is None else min(fault.cut_after, len(body))
        for at in range(0, end, 65_536):
            if self.on_piece is not None:
                self.on_piece(start + at)
            handler.wfile.write(body[at : min(at + 65_536, end)])
            handler.wfile.flush()
        if end < len(body):
            handler.close_connection = True

    def _start(self, handler: BaseHTTPRequestHandler, etag: str, size: int) -> int | None:
        """Return where to begin, or None where that cannot be."""
        asked = handler.headers.get("Range", "")
        if not asked or not self.ranges or handler.headers.get("If-Range", etag) != etag:
            return 0
        start = int(asked.removeprefix("bytes=").rstrip("-"))
        return start if start < size else None


def _send_json(handler: BaseHTTPRequestHandler, value: object, status: int = 200) -> None:
    _send(handler, status, json.dumps(value).encode(), "application/json", {})


def _send(handler: BaseHTTPRequestHandler, status: int, body: bytes, kind: str, headers: Mapping[str, str]) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)
