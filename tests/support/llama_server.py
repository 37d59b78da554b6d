"""A stand-in for llama-server: a real process with its flags, its paths and its failures, but no model.

::

    engine = write_engine(tmp_path)                         # a program that find_engine takes for llama-server
    model = write_model(tmp_path / "a.gguf", load_s=0.2)    # what it does is written in its model file
    with Fleet(FixedPlanner(placed("embed", model)), ...) as fleet: ...

Run as a program it needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import stat
import struct
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

VERSION = "version: 9.9.9-fake (build 1, commit 0000000)"
HELP = """usage: llama-server [options]

----- common params -----
-h,    --help, --usage                  print usage and exit
--version                               show version and build info
-m,    --model FNAME                    model path to load
-c,    --ctx-size N                     size of the prompt context
-b,    --batch-size N                   logical maximum batch size
-ub,   --ubatch-size N                  physical maximum batch size
-np,   --parallel N                     number of server slots
-ngl,  --gpu-layers, --n-gpu-layers N   max. number of layers to store in VRAM
-t,    --threads N                      number of CPU threads
-fa,   --flash-attn [on|off|auto]       set Flash Attention use
-ctk,  --cache-type-k TYPE              KV cache data type for K
-ctv,  --cache-type-v TYPE              KV cache data type for V
-sm,   --split-mode {none,layer,row}    how to split the model
-ts,   --tensor-split N0,N1,N2,...      fraction of the model for each card
-dev,  --device <dev1,dev2,..>          devices to use
-lm,   --load-mode MODE                 model loading mode
-cram, --cache-ram N                    set the maximum cache size in MiB
-a,    --alias STRING                   set model name aliases
-mm,   --mmproj FILE                    path to a multimodal projector file
-fit,  --fit [on|off]                   adjust unset arguments
--draft, --draft-n N                    the argument has been removed
--list-devices                          print list of available devices and exit
--host HOST                             ip address to listen
--port PORT                             port to listen
--api-key-file FNAME                    path to file containing API keys
--ui,  --webui, --no-ui, --no-webui     whether to enable the Web UI
--offline                               Offline mode
--embedding, --embeddings               restrict to only support embedding use case
--rerank, --reranking                   enable reranking endpoint
--pooling {none,mean,cls,last,rank}     pooling type for embeddings
--jinja                                 use jinja templates
--sleep-idle-seconds SECONDS            seconds of idleness
"""
_SWITCHES = {"--no-ui", "--offline", "--embedding", "--embeddings", "--rerank", "--reranking", "--jinja"}
DIMENSION = 8


def write_engine(folder: Path, name: str = "llama-server") -> Path:
    """Write a program that runs this module, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{Path(__file__).resolve()}" "$@"\n', "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def write_model(path: Path, **behavior: object) -> Path:
    """Write a model file that tells the stand-in what to do.

    `load_s` waits, `die` exits with these last words (`code`), `hang` never gets ready, `slow_s` waits before each
    answer, `crash_on` ends at once when a text holds this word, `cut_on` breaks the connection instead,
    `deaf` answers no health question once it is ready.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(behavior), "utf-8")
    return path


def vector_of(text: str) -> list[float]:
    """Return the vector that the stand-in gives, which is not of unit length."""
    digest = sha256(text.encode("utf-8", "replace")).digest()
    return [byte / 25.5 for byte in digest[:DIMENSION]]


class _Stand:
    """The state of one stand-in."""

    def __init__(self, options: Mapping[str, str], behavior: Mapping[str, Any]) -> None:
        self.options = options
        self.behavior = behavior
        self.ready = False
        self.asked = 0
        with open(options["--api-key-file"], encoding="ascii") as file:
            self.key = file.read().strip()

    @property
    def limit(self) -> int:
        return int(self.options.get("--ubatch-size", "512"))


def _answer(stand: _Stand, path: str, body: dict[str, Any]) -> tuple[int, object]:
    if path == "/props":
        return 200, {"model_alias": stand.options.get("--alias", ""), "total_slots": int(stand.options["--parallel"])}
    if path == "/asked":
        return 200, {"asked": stand.asked, "environment": dict(os.environ), "argv": sys.argv[1:]}
    if path == "/tokenize":
        return 200, {"tokens": [101, *range(len(str(body["content"]).split())), 102]}
    if path == "/v1/embeddings":
        return _embed(stand, body)
    if path == "/v1/rerank":
        return _rank(stand, body)
    return 404, {"error": {"message": f"no such path: {path}"}}


def _embed(stand: _Stand, body: dict[str, Any]) -> tuple[int, object]:
    if "--embedding" not in stand.options:
        return 501, {"error": {"message": "This server does not support embeddings", "type": "not_supported_error"}}
    for text in body["input"]:
        if len(text.split()) + 2 > stand.limit:
            message = (
                f"input ({len(text.split()) + 2} tokens) is too large to process. increase the physical batch size"
            )
            return 500, {"error": {"message": message, "type": "server_error"}}
    rows = [vector_of(text) for text in body["input"]]
    if body.get("embd_normalize") != -1:
        rows = [[number / sum(one * one for one in row) ** 0.5 for number in row] for row in rows]
    packed = body.get("encoding_format") == "base64"
    data = [
        {"index": at, "embedding": b64encode(struct.pack(f"<{len(row)}f", *row)).decode() if packed else row}
        for at, row in enumerate(rows)
    ]
    return 200, {"object": "list", "data": data}


def _rank(stand: _Stand, body: dict[str, Any]) -> tuple[int, object]:
    if "--reranking" not in stand.options and "--rerank" not in stand.options:
        return 501, {"error": {"message": "This server does not support reranking", "type": "not_supported_error"}}
    asked = set(str(body["query"]).split())
    for text in body["documents"]:
        tokens = len(asked) + len(text.split()) + 3
        if tokens > stand.limit:
            return 500, {"error": {"message": f"input ({tokens} tokens) is too large to process"}}
    scores = [float(len(asked & set(text.split()))) - 1.0 for text in body["documents"]]
    results = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
    return 200, {"results": sorted(results, key=lambda one: -one["relevance_score"])}


_LOADING = (503, {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}})


class _Listener(ThreadingHTTPServer):
    request_queue_size = 128


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stand: ClassVar[_Stand]

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))) or b"{}"))

    def _serve(self, body: dict[str, Any]) -> None:
        if self.path == "/health":
            if self.stand.ready and self.stand.behavior.get("deaf"):
                time.sleep(60)
            return self._send(*((200, {"status": "ok"}) if self.stand.ready else _LOADING))
        if self.headers.get("Authorization") != f"Bearer {self.stand.key}":
            return self._send(401, {"error": {"message": "Invalid API Key", "code": 401}})
        if not self.stand.ready:
            return self._send(*_LOADING)
        if self.path == "/v1/chat/completions":
            return self._chat(body)
        self.stand.asked += self.path.startswith("/v1/")
        self._misbehave(json.dumps(body))
        return self._send(*_answer(self.stand, self.path, body))

    def _misbehave(self, text: str) -> None:
        if self.stand.behavior.get("crash_on", "\0") in text:
            sys.stderr.write("GGML_ASSERT(false) failed\n")
            sys.stderr.flush()
            os._exit(134)
        if self.path.startswith("/v1/"):
            time.sleep(float(self.stand.behavior.get("slow_s", 0)))

    def _chat(self, body: dict[str, Any]) -> None:
        self.stand.asked += 1
        said = str(body["messages"][-1]["content"])
        if self.stand.behavior.get("crash_on", "\0") in said:
            self._misbehave(said)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for piece in ["You said:", *(f" {word}" for word in said.split())]:
            if self.stand.behavior.get("die_on", "\0") in piece:
                os._exit(9)
            self._event({"choices": [{"delta": {"content": piece}}]})
            time.sleep(float(self.stand.behavior.get("slow_s", 0)))
        self._event({"choices": [{"delta": {}, "finish_reason": "stop"}]})
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _event(self, event: object) -> None:
        self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.flush()

    def _send(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base class calls it
        """Say nothing."""


def _options(arguments: list[str]) -> dict[str, str] | None:
    words = iter(arguments)
    found: dict[str, str] = {}
    for word in words:
        if word not in HELP:
            sys.stderr.write(f"error: invalid argument: {word}\n")
            return None
        found[word] = "" if word in _SWITCHES else next(words)
    return found


def main(arguments: list[str]) -> int:
    """Do as llama-server does."""
    for flag, text in (("--version", VERSION), ("--help", HELP), ("--list-devices", "Available devices:\n  (none)")):
        if flag in arguments:
            sys.stdout.write(text + "\n")
            return 0
    options = _options(arguments)
    if options is None:
        return 1
    try:
        with open(options["--model"], encoding="utf-8") as file:
            behavior = json.load(file)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"E gguf_init_from_reader: invalid magic characters: {error}\n")
        return 1
    sys.stderr.write(f"0.00.001.000 I srv load_model: loading model '{options['--model']}'\n")
    stand = _Stand(options, behavior)
    _Handler.stand = stand
    server = _Listener((options["--host"], int(options["--port"])), _Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    if not behavior.get("late_port"):
        sys.stderr.write(f"main: server is listening on http://127.0.0.1:{server.server_address[1]}\n")
        sys.stderr.flush()
    time.sleep(float(behavior.get("load_s", 0)))
    if "die" in behavior:
        sys.stderr.write(f"{behavior['die']}\n")
        sys.stderr.flush()
        os._exit(int(behavior.get("code", 1)))
    if not behavior.get("hang"):
        stand.ready = True
    if behavior.get("late_port"):
        sys.stderr.write(f"main: server is listening on http://127.0.0.1:{server.server_address[1]}\n")
        sys.stderr.flush()
    threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
