"""How much may be asked, and how slowly: too many requests, slow bodies, slow heads, huge ones."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder, ManualClock
from lilbee_server.app import create_app
from lilbee_server.limits import Limit
from tests.server.conftest import TOKEN, serving

LIMIT = 20


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    overrides: dict[str, object] = {"requests_per_minute": LIMIT, "arrival_timeout_s": 0.3}
    with ExitStack() as stack:
        bee = stack.enter_context(Lilbee(root, embedder=HashEmbedder(), overrides=overrides))
        bee.sync()
        yield stack.enter_context(serving(create_app(bee, token=TOKEN)))


def ask(address: str, token: str, path: str = "/api/collections") -> httpx.Response:
    return httpx.get(f"{address}{path}", headers={"Authorization": f"Bearer {token}"})


def test_so_many_requests_and_no_more(address: str) -> None:
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        refused = until_refused(client)
        assert refused.json()["error"]["code"] == "server.too_many_requests"
        assert 1 <= int(refused.headers["retry-after"]) <= 3
        assert refused.headers["x-content-type-options"] == "nosniff"
        told = until_refused(client, "/v1/models", at_least=0)
        assert told.json()["error"]["code"] == "rate_limit_exceeded"
        # Somebody without a token is somebody else, and is told after a while to stop guessing.
        client.headers["Authorization"] = "Bearer guess"
        assert client.get("/api/collections").status_code == 401
        until_refused(client, at_least=LIMIT - 1)


def until_refused(client: httpx.Client, path: str = "/api/collections", *, at_least: int = LIMIT) -> httpx.Response:
    """Ask until it is too much; what goes by meanwhile lets a few more in."""
    for at in range(3 * LIMIT):
        answer = client.get(path)
        if answer.status_code == 429:
            assert at >= at_least
            return answer
    pytest.fail("it was never too much")


def test_a_share_of_a_minute_lets_one_more_in() -> None:
    clock = ManualClock()
    limit = Limit(60, now=clock.monotonic)
    assert [limit.wait_s("a") for _ in range(61)] == [0] * 60 + [1]
    assert limit.wait_s("b") == 0
    clock.advance(1.0)
    assert [limit.wait_s("a"), limit.wait_s("a")] == [0, 1]
    clock.advance(3600)
    assert [limit.wait_s("a") for _ in range(61)] == [0] * 60 + [1]
    assert {Limit(0).wait_s("a") for _ in range(1000)} == {0}


@given(per_minute=st.integers(1, 500), steps=st.lists(st.floats(0, 5), max_size=80))
def test_never_more_than_a_minute_and_what_went_by_allow(per_minute: int, steps: list[float]) -> None:
    clock = ManualClock()
    limit, let_in = Limit(per_minute, now=clock.monotonic), 0
    for step in steps:
        clock.advance(step)
        let_in += limit.wait_s("x") == 0
    assert let_in <= per_minute + sum(steps) * per_minute / 60 + 1e-6


def raw(address: str, *parts: bytes) -> tuple[int, dict[str, Any]]:
    """Send the parts of a request, and return the status and the body of the answer."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as link:
        for part in parts:
            link.sendall(part)
        received = b""
        while b"\r\n\r\n" not in received or not received.endswith(b"}"):
            piece = link.recv(65536)
            if not piece:
                break
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]) if head else 0, json.loads(body) if body else {}


def head(method: str, path: str, *more: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {TOKEN}", *more]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def test_a_body_that_does_not_arrive_is_given_up(address: str) -> None:
    before = time.monotonic()
    status, told = raw(address, head("POST", "/api/ask", "Content-Length: 1000"), b'{"question": ')
    assert (status, told["error"]["code"]) == (408, "server.too_slow")
    assert time.monotonic() - before < 10


def test_a_body_that_is_cut_off_harms_nobody(address: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    for _ in range(5):
        with socket.create_connection((host, int(port)), timeout=20) as link:
            link.sendall(head("POST", "/api/ask", "Content-Length: 1000") + b"{")
    assert ask(address, TOKEN).status_code == 200
