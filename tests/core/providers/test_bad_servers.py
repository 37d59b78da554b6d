"""Servers that are not what they should be: each a typed error that says what failed and what to do, for every role."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from lilbee_core.errors import ProviderError, ProviderUnavailable
from lilbee_core.providers import OpenAIChat, OpenAIClient, OpenAIEmbedding, OpenAIRerank, OpenAIVision
from lilbee_core.testing import ManualClock
from lilbee_core.types import Message
from tests.support.openai_fake import Answer, FakeOpenAI

KEY = "sk-very-secret"
HTML = b"<!doctype html><html><head><title>Sign in</title></head></html>"
EVENT = (
    "data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": "piece "}, "finish_reason": None}]}) + "\n\n"
)

ROLES: dict[str, Callable[[OpenAIClient], object]] = {
    "embed": lambda client: OpenAIEmbedding(client, "fake", dimension=8).embed(["a", "b"]),
    "rerank": lambda client: OpenAIRerank(client, "fake").rank("q", ["a", "b"]),
    "chat": lambda client: list(OpenAIChat(client, "fake").chat([Message(role="user", content="hello")])),
    "vision": lambda client: OpenAIVision(client, "fake").read(b"\x89PNG"),
}


def client_of(url: str, **more: float) -> OpenAIClient:
    return OpenAIClient(url, api_key=KEY, name="The server", clock=ManualClock(), retries=1, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("answer", "kind", "said", "hint"),
    [
        (Answer(body=HTML, content_type="text/html"), ProviderUnavailable, "Sign in", "usually ends in /v1"),
        (Answer(body=b'{"data": [{"ind', cut=True), ProviderUnavailable, "broke off", "Try again"),
        (Answer(status=401, body=b'{"error": {"message": "the key has expired"}}'), ProviderError, "has expired",
         "LILBEE_OPENAI_API_KEY"),
        (Answer(status=302, body=b""), ProviderUnavailable, "HTTP 302", "usually ends in /v1"),
        (Answer(body=b"[]"), ProviderError, "", "."),
    ],
    ids=["a web page", "closes in the middle", "expired key", "a redirect", "another protocol"],
)  # fmt: skip
def test_a_bad_answer_is_told_with_the_next_step(
    role: str, answer: Answer, kind: type[ProviderError], said: str, hint: str
) -> None:
    with FakeOpenAI() as server, client_of(server.url) as client:
        server.answer(answer)
        with pytest.raises(kind) as caught:
            ROLES[role](client)
    assert said in caught.value.message
    assert hint in caught.value.hint
    assert KEY not in f"{caught.value.message} {caught.value.hint} {caught.value.to_dict()}"


def test_vectors_of_another_size_are_told() -> None:
    with (
        FakeOpenAI(dimension=12) as server,
        client_of(server.url) as client,
        pytest.raises(ProviderError, match="12 numbers instead of 8") as caught,
    ):
        ROLES["embed"](client)
    assert "which model the server has loaded" in caught.value.hint


@contextmanager
def talking(*pieces: bytes) -> Iterator[tuple[str, threading.Event]]:
    """Give a server that takes a request, sends these bytes and then says nothing until the event is set."""
    go_on = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65_536)
                for piece in pieces:
                    connection.sendall(piece)
                go_on.wait(20)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", go_on
        finally:
            go_on.set()
            listener.close()
            thread.join(5)


@pytest.mark.parametrize("role", ROLES)
def test_a_server_that_hangs_is_given_up(role: str) -> None:
    with (
        talking() as (url, _),
        client_of(url, request_timeout_s=0.2) as client,
        pytest.raises(ProviderUnavailable, match=r"did not answer within 0\.2 s") as caught,
    ):
        ROLES[role](client)
    assert "request_timeout_s" in caught.value.hint


def test_a_server_that_falls_silent_in_its_reply_is_given_up_after_what_it_said() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    with talking(head, EVENT.encode()) as (url, _), client_of(url, request_timeout_s=0.2) as client:
        reply = OpenAIChat(client, "fake").chat([Message(role="user", content="hello")])
        assert next(reply).text == "piece "
        with pytest.raises(ProviderUnavailable, match="it fell silent"):
            next(reply)


def test_a_proxy_that_buffers_gives_the_whole_reply_late_but_right() -> None:
    """It holds all events back and sends them as one body of a known length."""
    body = (EVENT * 3 + "data: [DONE]\n\n").encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with talking(head + body) as (url, go_on), client_of(url) as client:
        go_on.set()
        deltas = list(OpenAIChat(client, "fake").chat([Message(role="user", content="hello")]))
    assert "".join(one.text for one in deltas) == "piece piece piece "
