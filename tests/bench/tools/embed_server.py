"""A small OpenAI-style embedding server for benchmarks: ``python tests/bench/tools/embed_server.py --port 0 --fake``.

==========================  =======================================================================================
``GET /v1/models``          one model, its id is ``--name``
``POST /v1/embeddings``     ``{"input": str | [str] | [int] | [[int]], "encoding_format": "float" | "base64"}``
``POST /v1/chat/...``       a canned answer, with ``--chat``: some clients insist on a chat model before they start
``GET /stats``              requests, texts, chars, busy_s and max_batch since the start or the last ``POST /reset``
==========================  =======================================================================================

With ``--fake`` vectors are hashed words: the same text gives the same vector, texts with common words similar ones, in
well under 0.1 ms a text. That leaves a client's own work to be measured. Without it the built-in model answers.

It binds 127.0.0.1 only and prints one line, ``ready http://127.0.0.1:PORT/v1 ...``, once it serves.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
import threading
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
Json = dict[str, Any]

DIMENSION = 384
_BUCKETS = 8192
_READ_BYTES = 4000
_WORD = re.compile(rb"[A-Za-z0-9_]+")
_ANSWER = "This is a canned answer [1]."


class HashedWords:
    """Vectors of hashed words, at no cost worth mentioning. Threads may share it."""

    def __init__(self, dimension: int = DIMENSION, *, delay_ms: float = 0.0) -> None:
        self.dimension = dimension
        self._delay_s = delay_ms / 1000
        random = np.random.default_rng(7)
        self._table = random.standard_normal((_BUCKETS, dimension)).astype(np.float32)
        self._bias = random.standard_normal(dimension).astype(np.float32)

    def __call__(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            words = _WORD.findall(text.encode("utf-8", "replace")[:_READ_BYTES].lower())
            vector = self._table[[zlib.crc32(word) % _BUCKETS for word in words]].sum(axis=0) + self._bias
            vectors[row] = vector / np.linalg.norm(vector)
        if self._delay_s:
            time.sleep(self._delay_s * len(texts))
        return vectors


def built_in() -> Embed:
    """Return the built-in model."""
    from lilbee_core.embed import MiniLM

    return MiniLM.load().embed


@dataclass(slots=True)
class Counts:
    """What was asked of the server."""

    requests: int = 0
    texts: int = 0
    chars: int = 0
    busy_s: float = 0.0
    max_batch: int = 0

    def add(self, texts: Sequence[str], seconds: float) -> None:
        self.requests += 1
        self.texts += len(texts)
        self.chars += sum(map(len, texts))
        self.busy_s += seconds
        self.max_batch = max(self.max_batch, len(texts))


@dataclass(slots=True)
class Service:
    """What the handlers of all requests share."""

    embed: Embed
    name: str
    chat: bool = False
    counts: Counts = field(default_factory=Counts)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def embeddings(self, asked: Json) -> Json:
        texts = texts_of(asked.get("input"))
        started = time.perf_counter()
        vectors = self.embed(texts)
        if asked.get("encoding_format") == "base64":
            rows: Sequence[object] = [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]
        else:
            rows = cast("list[object]", np.round(vectors.astype(np.float64), 6).tolist())
        with self.lock:
            self.counts.add(texts, time.perf_counter() - started)
        tokens = sum(map(len, texts)) // 4
        return {
            "object": "list",
            "model": asked.get("model") or self.name,
            "data": [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }

    def answer(self, asked: Json) -> Json:
        message = {"role": "assistant", "content": _ANSWER}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return {
            "id": "canned",
            "object": "chat.completion",
            "created": 0,
            "model": asked.get("model") or self.name,
            "choices": [choice],
            "usage": {"prompt_tokens": 1, "completion_tokens": 6, "total_tokens": 7},
        }

    def models(self) -> Json:
        return {
            "object": "list",
            "data": [{"id": self.name, "object": "model", "created": 0, "owned_by": "local"}],
        }

    def reset(self) -> Json:
        with self.lock:
            self.counts = Counts()
        return {}

    def stats(self) -> Json:
        with self.lock:
            return asdict(self.counts)


def texts_of(given: object) -> list[str]:
    """Return the texts of an ``input``; tokens count as words."""
    if isinstance(given, str):
        return [given]
    listed = cast("list[Any]", given) if isinstance(given, list) else []
    if listed and all(isinstance(one, str) for one in listed):
        return listed
    if listed and all(isinstance(one, int) for one in listed):
        return [" ".join(map(str, listed))]
    if listed and all(isinstance(one, list) for one in listed):
        return [" ".join(map(str, one)) for one in listed]
    raise ValueError("input must be a string or a list that is not empty")


class Handler(BaseHTTPRequestHandler):
    """Answers requests for the service of its server."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args: object) -> None:
        """Say nothing."""

    @property
    def _service(self) -> Service:
        return cast("Server", self.server).service

    def do_GET(self) -> None:
        routes = {"/models": self._service.models, "/stats": self._service.stats, "/health": dict}
        route = routes.get(self._route())
        self._send(200, route()) if route else self._fail(404, f"no route {self.path}")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        service, route = self._service, self._route()
        try:
            asked = cast("Json", json.loads(body or b"{}"))
            if route == "/embeddings":
                self._send(200, service.embeddings(asked))
            elif route == "/reset":
                self._send(200, service.reset())
            elif route == "/chat/completions" and service.chat:
                self._send(200, service.answer(asked))
            else:
                self._fail(404, f"no route {self.path}")
        except ValueError as error:
            self._fail(400, str(error))

    def _route(self) -> str:
        return self.path.partition("?")[0].rstrip("/").removeprefix("/v1")

    def _fail(self, code: int, message: str) -> None:
        self._send(code, {"error": {"message": message, "type": "invalid_request_error", "code": None}})

    def _send(self, code: int, value: object) -> None:
        body = json.dumps(value, separators=(",", ":")).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    """The server on the loopback interface."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, service: Service) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.service = service

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that are gone: some benchmarks kill them."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8091, help="0 is any free port")
    parser.add_argument("--name", default="all-minilm-l6-v2", help="the model's id")
    parser.add_argument("--fake", action="store_true", help="hashed words instead of the built-in model")
    parser.add_argument("--fake-delay-ms", type=float, default=0.0, help="time per text, as a slow model would take")
    parser.add_argument("--dim", type=int, default=DIMENSION, help="numbers in a fake vector")
    parser.add_argument("--chat", action="store_true", help="also answer chats, always the same")
    told = parser.parse_args(arguments)
    embed = HashedWords(told.dim, delay_ms=told.fake_delay_ms) if told.fake else built_in()
    embed(["warm up"])
    server = Server(told.port, Service(embed, told.name, chat=told.chat))
    print(f"ready http://127.0.0.1:{server.server_address[1]}/v1 {'fake' if told.fake else 'built-in'}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
