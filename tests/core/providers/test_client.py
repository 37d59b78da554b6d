from __future__ import annotations

import logging
import socket
from datetime import timedelta
from email.utils import format_datetime

import httpx
import pytest

from lilbee_core.errors import InputTooLong, LilbeeError, ModelNotFound, ProviderError, ProviderUnavailable
from lilbee_core.providers import OpenAIClient
from lilbee_core.testing import ManualClock
from tests.support.openai_fake import Answer, FakeOpenAI


def test_a_json_object_goes_out_and_one_comes_back(server: FakeOpenAI, client: OpenAIClient) -> None:
    server.json({"said": "é 🐝"})
    assert client.post("/anything", {"text": "ü"}) == {"said": "é 🐝"}
    (request,) = server.requests
    assert (request.method, request.path, request.body) == ("POST", "/v1/anything", {"text": "ü"})
    assert request.headers["authorization"] == "Bearer secret-key"


def test_nothing_is_opened_before_the_first_request() -> None:
    OpenAIClient("http://nowhere.invalid/v1").close()


def test_a_closed_client_refuses_requests(client: OpenAIClient) -> None:
    client.close()
    client.close()
    with pytest.raises(ProviderError, match="closed"):
        client.get("/models")


def test_models_are_listed_and_described(server: FakeOpenAI, client: OpenAIClient) -> None:
    server.models = ("qwen3:latest", "minilm")
    assert [one["id"] for one in client.models()] == ["qwen3:latest", "minilm"]
    assert client.about("qwen3")["id"] == "qwen3:latest"
    with pytest.raises(ModelNotFound, match="it has minilm, qwen3:latest"):
        client.about("llama")


# --------------------------------------------------------------------------- tries


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again_after_growing_waits(
    server: FakeOpenAI, client: OpenAIClient, clock: ManualClock, status: int
) -> None:
    server.fail(status, "loading", times=2)
    server.json({"ok": True})
    assert client.post("/x", {}) == {"ok": True}
    assert clock.sleeps == [0.5, 1.0]


def test_jitter_spreads_the_waits(server: FakeOpenAI, clock: ManualClock) -> None:
    draws = iter([0.0, 1.0])
    client = OpenAIClient(server.url, clock=clock, jitter=lambda: next(draws))
    server.fail(503, times=3)
    with client, pytest.raises(ProviderUnavailable):
        client.get("/x")
    assert clock.sleeps == [0.25, 1.5]


def test_retry_after_is_honored_as_seconds_and_as_a_date(
    server: FakeOpenAI, client: OpenAIClient, clock: ManualClock
) -> None:
    server.fail(429, "slow down", headers={"Retry-After": "7"})
    server.fail(429, headers={"Retry-After": format_datetime(clock.now() + timedelta(seconds=30), usegmt=True)})
    server.json({})
    client.get("/x")
    assert clock.sleeps[0] == 7
    assert 20 < clock.sleeps[1] <= 30


def test_a_long_retry_after_is_not_waited_for(server: FakeOpenAI, client: OpenAIClient, clock: ManualClock) -> None:
    server.fail(429, "come back tomorrow", headers={"Retry-After": "86400"})
    with pytest.raises(ProviderUnavailable, match="come back tomorrow"):
        client.get("/x")
    assert clock.sleeps == []


def test_a_nonsense_retry_after_is_ignored(server: FakeOpenAI, client: OpenAIClient, clock: ManualClock) -> None:
    server.fail(429, headers={"Retry-After": "soon"})
    server.json({})
    client.get("/x")
    assert clock.sleeps == [0.5]


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_other_failures_are_not_tried_again(
    server: FakeOpenAI, client: OpenAIClient, clock: ManualClock, status: int
) -> None:
    server.fail(status, "no")
    with pytest.raises(ProviderError):
        client.get("/x")
    assert len(server.requests) == 1
    assert clock.sleeps == []


def test_a_refused_connection_is_tried_again_and_then_named(clock: ManualClock) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
    client = OpenAIClient(url, clock=clock, name="Ollama", url_setting="ollama_base_url")
    with client, pytest.raises(ProviderUnavailable) as caught:
        client.get("/models")
    assert len(clock.sleeps) == 2
    assert str(caught.value) == f"Ollama at {url} cannot be reached: nothing listens there"
    assert "ollama_base_url (LILBEE_OLLAMA_BASE_URL)" in caught.value.hint


def test_a_dropped_connection_is_tried_again(clock: ManualClock) -> None:
    calls: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        calls.append(request)
        if len(calls) == 1:
            raise httpx.RemoteProtocolError("Server disconnected without sending a response.")
        return httpx.Response(200, json={"ok": True})

    with OpenAIClient("http://h/v1", transport=httpx.MockTransport(handle), clock=clock) as client:
        assert client.post("/x", {"a": 1}) == {"ok": True}
    assert [one.content for one in calls] == [b'{"a": 1}'] * 2


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx.ReadTimeout("timed out"), "did not answer within 120 s"),
        (httpx.ConnectTimeout("timed out"), "it does not answer"),
        (httpx.ConnectError("[Errno -2] Name or service not known"), "no host of that name"),
        (httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"), "certificate"),
        (httpx.ReadError(""), "closed the connection"),
        (httpx.ProxyError("407"), "the proxy refused"),
        (httpx.UnsupportedProtocol("Request URL is missing"), "does not start with http"),
    ],
)
def test_transport_failures_are_told_in_plain_words(clock: ManualClock, error: Exception, words: str) -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        raise error

    with (
        OpenAIClient("http://h/v1", transport=httpx.MockTransport(handle), clock=clock) as client,
        pytest.raises(ProviderUnavailable) as caught,
    ):
        client.get("/x")
    assert words in str(caught.value)
    assert "httpx" not in f"{caught.value}{caught.value.hint}"
    assert caught.value.hint


@pytest.mark.parametrize("url", ["", "localhost:1234", "ftp://h/v1", "http://", "http://[::1/v1"])
def test_an_address_that_is_none_is_told(url: str, clock: ManualClock) -> None:
    with OpenAIClient(url, clock=clock, retries=0) as client, pytest.raises(LilbeeError) as caught:
        client.get("/models")
    assert "openai_base_url" in caught.value.hint


# --------------------------------------------------------------------------- what failures mean


@pytest.mark.parametrize(
    ("status", "message", "kind", "hint"),
    [
        (404, "model 'x' not found, try pulling it first", ModelNotFound, "another model"),
        (404, "The model `x` does not exist", ModelNotFound, "another model"),
        (400, "Model is not loaded", ModelNotFound, "another model"),
        (404, "404 page not found", ProviderUnavailable, "/v1"),
        (413, "", InputTooLong, "chunk_size"),
        (400, "This model's maximum context length is 8192 tokens", InputTooLong, "chunk_size"),
        (400, "the request exceeds the available context size", InputTooLong, "chunk_size"),
        (500, "input (702 tokens) is too large to process", InputTooLong, "chunk_size"),
        (422, "inputs must have less than 512 tokens: more than the maximum", InputTooLong, "chunk_size"),
        (401, "Incorrect API key", ProviderError, "openai_api_key (LILBEE_OPENAI_API_KEY)"),
        (501, "This server does not support embeddings", ProviderError, "this role"),
        (500, "out of memory", ProviderError, "log"),
        (502, "Bad Gateway", ProviderUnavailable, "Try again"),
    ],
)
def test_failures_have_their_types(
    server: FakeOpenAI, client: OpenAIClient, status: int, message: str, kind: type[ProviderError], hint: str
) -> None:
    server.fail(status, message)
    with pytest.raises(ProviderError) as caught:
        client.post("/x", {}, model="x")
    assert type(caught.value) is kind
    assert hint in caught.value.hint
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": "plain"}', "plain"),
        (b'{"detail": [{"msg": "bad"}]}', "bad"),
        (b'[{"error": {"message": "in a list"}}]', "in a list"),
        (b'{"message": "m"}', "m"),
        (b"<html><head><title>Login\n page</title></head></html>", "a web page titled 'Login page'"),
        (b"not json", "not json"),
        (b"\xff\xfe", "\ufffd"),
        (b"", "no reason"),
    ],
)
def test_what_the_server_says_is_shown(server: FakeOpenAI, client: OpenAIClient, body: bytes, words: str) -> None:
    server.answer(Answer(status=500, body=body))
    with pytest.raises(ProviderError, match="HTTP 500") as caught:
        client.get("/x")
    assert words in str(caught.value)


def test_a_web_page_instead_of_json_is_told(server: FakeOpenAI, client: OpenAIClient) -> None:
    server.answer(Answer(body=b"<!DOCTYPE html><title>Router</title>", content_type="text/html"))
    with pytest.raises(ProviderUnavailable, match="a web page titled 'Router'"):
        client.get("/x")


@pytest.mark.parametrize("body", [b"[1]", b"null", b"{", b""])
def test_an_answer_that_is_no_json_object_is_told(server: FakeOpenAI, client: OpenAIClient, body: bytes) -> None:
    server.answer(Answer(body=body))
    with pytest.raises(ProviderError, match="cannot be read"):
        client.get("/x")


def test_an_answer_that_breaks_off_is_told(server: FakeOpenAI, client: OpenAIClient) -> None:
    server.answer(Answer(body=b'{"a": ', cut=True))
    with pytest.raises(ProviderUnavailable, match="broke off"):
        client.get("/x")


# --------------------------------------------------------------------------- secrets


def test_the_key_is_in_no_message_and_no_log(
    server: FakeOpenAI, client: OpenAIClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.fail(503, "the key secret-key is busy")
    server.fail(401, "Incorrect API key: secret-key")
    with pytest.raises(ProviderError) as caught:
        client.get("/x")
    shown = f"{caught.value} {caught.value.hint} {client!r} {client.server} {caplog.text}"
    assert "secret-key" not in shown
    assert "***" in str(caught.value)


def test_a_password_in_the_address_is_not_shown() -> None:
    client = OpenAIClient("http://user:hunter2@127.0.0.1:9/v1")
    assert client.server.url == "http://127.0.0.1:9/v1"
    assert "hunter2" not in repr(client)


def test_a_web_proxy_is_not_asked_for_this_machine(server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    server.json({"ok": True})
    with OpenAIClient(server.url) as client:
        assert client.get("/x") == {"ok": True}
