"""A small OpenAI-style server on the loopback interface, whose answers tests script.

::

    with FakeOpenAI() as server:
        server.reply("Bees ", "make honey.")            # the next chat reply, piece by piece
        server.fail(503, "loading", times=2)            # the next two requests fail
        client = OpenAIClient(server.url)
        ...
    assert server.requests[0].path == "/v1/chat/completions"

Without a script, embeddings are a hash of the words, a chat echoes, and a reranker counts common words.
"""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSION = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request that the server got."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A scripted answer. With `cut` the connection is closed before the body is whole."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False


def word_vector(text: str, dimension: int = DIMENSION) -> list[float]:
    """Return numbers that depend on the words of a text alone."""
    vector = [0.0] * dimension
    for word in text.lower().split() or [""]:
        digest = hashlib.sha256(word.encode("utf-8", "replace")).digest()
        for place in range(dimension):
            vector[place] += digest[place] / 127.5 - 1.0
    return vector


class FakeOpenAI:
    """Serves ``/v1/models``, ``/v1/embeddings``, ``/v1/chat/completions`` and ``/v1/rerank`` on a free port."""

    def __init__(self, *, models: Iterable[str] = ("fake",), dimension: int = DIMENSION) -> None:
        self.models = tuple(models)
        self.dimension = dimension
        self.requests: list[Request] = []
        self.closed_by_client = threading.Event()
        self.max_batch: int | None = None
        self.max_chars: int | None = None
        self.base64_supported = True
        self._script: deque[Answer | Callable[[Request], Answer]] = deque()
        self._replies: deque[list[dict[str, Any]]] = deque()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL, ending in ``/v1``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> FakeOpenAI:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # ------------------------------------------------------------------ scripting

    def answer(self, *answers: Answer | Callable[[Request], Answer]) -> None:
        """Give these answers to the next requests, whatever they ask for."""
        self._script.extend(answers)

    def fail(self, status: int, message: str = "", *, times: int = 1, headers: Mapping[str, str] | None = None) -> None:
        """Let the next requests fail as such servers do."""
        body = json.dumps({"error": {"message": message, "type": "test"}}).encode()
        self.answer(*[Answer(status=status, body=body, headers=headers or {})] * times)

    def json(self, body: object) -> None:
        """Answer the next request with this JSON."""
        self.answer(Answer(body=json.dumps(body).encode()))

    def reply(self, *pieces: str | dict[str, Any]) -> None:
        """Give these pieces as the next chat reply; a dict is a whole delta, such as ``{"reasoning_content": …}``."""
        self._replies.append([{"content": piece} if isinstance(piece, str) else piece for piece in pieces])

    def events(self, *data: str, done: bool = True, cut: bool = False) -> None:
        """Answer the next request with these events, as they are."""
        lines = [*data, "[DONE]"] if done else list(data)
        body = "".join(f"data: {line}\n\n" for line in lines).encode()
        self.answer(Answer(body=body, content_type="text/event-stream", cut=cut))

    # ------------------------------------------------------------------ answering

    def respond(self, request: Request) -> Answer | list[dict[str, Any]]:
        """Return the answer to a request; a list is a chat reply to stream."""
        if self._script:
            scripted = self._script.popleft()
            return scripted(request) if callable(scripted) else scripted
        name = request.path.removeprefix("/v1")
        if name == "/models":
            return _json({"object": "list", "data": [{"id": one, "object": "model"} for one in self.models]})
        known = {"/embeddings": self._embed, "/rerank": self._rerank, "/chat/completions": self._chat}.get(name)
        if known is None:
            return _error(404, f"no such path: {request.path}")
        if request.body.get("model") not in self.models:
            return _error(404, f"The model `{request.body.get('model')}` does not exist", code="model_not_found")
        return known(request.body)

    def _embed(self, body: dict[str, Any]) -> Answer:
        texts: list[str] = body["input"]
        if self.max_batch is not None and len(texts) > self.max_batch:
            return _error(413, f"batch size {len(texts)} > maximum allowed batch size {self.max_batch}")
        longest = max(map(len, texts))
        if self.max_chars is not None and longest > self.max_chars:
            return _error(500, f"input ({longest} tokens) is too large to process. increase the physical batch size")
        if "encoding_format" in body and not self.base64_supported:
            return _error(400, "unknown field encoding_format")
        rows = [word_vector(text, self.dimension) for text in texts]
        packed = body.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": number, "embedding": _packed(row) if packed else row}
            for number, row in enumerate(rows)
        ]
        return _json({"object": "list", "data": data[::-1], "model": body["model"]})

    def _rerank(self, body: dict[str, Any]) -> Answer:
        query = set(body["query"].lower().split())
        scores = [len(query & set(text.lower().split())) - 2.5 for text in body["documents"]]
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        return _json({"results": [{"index": place, "relevance_score": scores[place]} for place in order]})

    def _chat(self, body: dict[str, Any]) -> Answer | list[dict[str, Any]]:
        echo = [{"content": f"You said: {body['messages'][-1]['content']}"}]
        pieces = self._replies.popleft() if self._replies else echo
        if body.get("stream"):
            return pieces
        message = {"role": "assistant"}
        for piece in pieces:
            for key, value in piece.items():
                message[key] = message.get(key, "") + value
        return _json({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


def _json(body: object) -> Answer:
    return Answer(body=json.dumps(body).encode())


def _error(status: int, message: str, *, code: str | None = None) -> Answer:
    return Answer(status=status, body=json.dumps({"error": {"message": message, "code": code}}).encode())


def _packed(row: list[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode("ascii")


def _handler_of(fake: FakeOpenAI) -> type[BaseHTTPRequestHandler]:
    return type("Handler", (_Handler,), {"fake": fake})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 65_536
    fake: FakeOpenAI

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        self._serve(json.loads(self.rfile.read(length) or b"{}"))

    def _serve(self, body: dict[str, Any]) -> None:
        headers = {key.lower(): value for key, value in self.headers.items()}
        request = Request(method=self.command, path=self.path, headers=headers, body=body)
        self.fake.requests.append(request)
        answer = self.fake.respond(request)
        try:
            if isinstance(answer, Answer):
                self._send(answer)
            else:
                self._stream(answer)
        except (BrokenPipeError, ConnectionResetError):
            self.fake.closed_by_client.set()
            self.close_connection = True

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        for key, value in answer.headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(answer.body) + (100 if answer.cut else 0)))
        self.end_headers()
        self.wfile.write(answer.body)
        self.wfile.flush()
        if answer.cut:
            self.close_connection = True

    def _stream(self, pieces: list[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for piece in pieces:
            self._event({"choices": [{"index": 0, "delta": piece, "finish_reason": None}]})
        self._event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.wfile.write(b"data: [DONE]\n\n")
        self.wfile.flush()

    def _event(self, event: object) -> None:
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def log_message(self, *args: object) -> None:
        """Write nothing: what is expected to fail would clutter the output."""
