"""A quick OpenAI-style server whose requests take a fixed time: ``python tests/bench/tools/slow_server.py --ms 50``.

``POST /v1/embeddings`` gives vectors of hashed words, ``POST /v1/chat/completions`` a stream of ten words.
``GET /stats`` tells what was asked since ``POST /reset``: requests, texts, how long at least one request was under way
(`busy_s`), and the time from the first to the end of the last (`span_s`). It does as little as it can, so that a
client's own work shows.

It binds 127.0.0.1 only and prints one line, ``ready http://127.0.0.1:PORT/v1``, once it serves.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import time
from dataclasses import dataclass
from typing import Any

from tests.bench.tools.embed_server import HashedWords

WORDS = [f"word{number} " for number in range(10)]


@dataclass(slots=True)
class Counts:
    """What was asked."""

    requests: int = 0
    texts: int = 0
    busy_s: float = 0.0
    first: float = 0.0
    last: float = 0.0
    active: int = 0
    since: float = 0.0

    def begin(self, now: float) -> None:
        if not self.requests:
            self.first = now
        if not self.active:
            self.since = now
        self.requests += 1
        self.active += 1

    def end(self, now: float) -> None:
        self.active -= 1
        self.last = now
        if not self.active:
            self.busy_s += now - self.since

    def told(self) -> dict[str, float]:
        return {
            "requests": self.requests,
            "texts": self.texts,
            "busy_s": self.busy_s,
            "span_s": self.last - self.first,
        }


class Service:
    """Answers on any number of connections."""

    def __init__(self, delay_s: float) -> None:
        self.counts = Counts()
        self._delay_s = delay_s
        self._embed = HashedWords()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _request(reader)) is not None:
                await self._answer(*request, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()

    async def _answer(self, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if path == "/reset":
            self.counts = Counts()
        if path in {"/reset", "/stats"}:
            await _send(writer, json.dumps(self.counts.told()).encode())
            return
        counts = self.counts
        counts.begin(time.perf_counter())
        asked: dict[str, Any] = json.loads(body)
        if self._delay_s:
            await asyncio.sleep(self._delay_s)
        if path.endswith("/chat/completions"):
            await _stream(writer)
        else:
            counts.texts += len(asked["input"])
            await _send(writer, self._vectors(asked["input"]))
        counts.end(time.perf_counter())

    def _vectors(self, texts: list[str]) -> bytes:
        rows = self._embed(texts)
        data = [
            {"index": at, "embedding": base64.b64encode(row.astype("<f4").tobytes()).decode()}
            for at, row in enumerate(rows)
        ]
        return json.dumps({"object": "list", "data": data}).encode()


async def _request(reader: asyncio.StreamReader) -> tuple[str, bytes] | None:
    head = b""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return first.split()[1], await reader.readexactly(int(fields.get("content-length", 0)))


async def _send(writer: asyncio.StreamWriter, body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await writer.drain()


async def _stream(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for word in WORDS:
        choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
        _chunk(writer, json.dumps({"choices": [choice]}))
        await writer.drain()
    _chunk(writer, json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    _chunk(writer, "[DONE]")
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def _chunk(writer: asyncio.StreamWriter, data: str) -> None:
    event = f"data: {data}\n\n".encode()
    writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")


async def main(delay_s: float) -> None:
    """Serve until ended."""
    server = await asyncio.start_server(Service(delay_s).serve, "127.0.0.1", 0)
    print(f"ready http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ms", type=float, default=0.0, help="how long each request takes")
    asyncio.run(main(parser.parse_args().ms / 1000))
