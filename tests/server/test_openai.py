"""OpenAI's own client against the server, on loopback, with a scripted chat model (R159, R258-R260)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import openai
import pytest
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.errors import InputTooLong, LilbeeError, ProviderError, ProviderUnavailable
from lilbee_core.plugins import PluginSpec, ProviderSpec, hookimpl
from lilbee_core.protocols import ChatProvider
from lilbee_core.testing import HashEmbedder, ScriptedChat, ScriptedReranker
from lilbee_core.types import ChatOptions, Delta, Message, ToolCall, Usage
from lilbee_server.app import create_app
from tests.server.conftest import TOKEN, serving

Connect = Callable[..., openai.OpenAI]
CITED = "The queen lays eggs in spring [1]."
TOOL: Any = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}},
}


class Judge:
    """Offers a reranker."""

    @hookimpl
    def lilbee_plugin(self) -> PluginSpec:
        return PluginSpec(name="judge", version="1")

    @hookimpl
    def lilbee_providers(self) -> list[ProviderSpec]:
        return [
            ProviderSpec(
                name="judge-words", prefix="judge", roles=frozenset({"rerank"}), build=lambda *_: ScriptedReranker()
            )
        ]


class EndlessChat:
    """A chat model that goes on until somebody ends it."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    def chat(self, messages: Sequence[Message], options: ChatOptions = ChatOptions()) -> Iterator[Delta]:
        try:
            while True:
                yield Delta(kind="text", text="on ")
                threading.Event().wait(0.01)
        finally:
            self.ended.set()


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Connect]:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    with ExitStack() as stack:

        def connected(chat: ChatProvider | None = None, *, key: str = TOKEN, wait_s: float = 5.0) -> openai.OpenAI:
            overrides: dict[str, object] = {"reranker_model": "judge/words", "chat_rewrite": "rules"}
            bee = stack.enter_context(
                Lilbee(root, embedder=HashEmbedder(), chat=chat, plugins=[Judge()], overrides=overrides)
            )
            bee.sync()
            address = stack.enter_context(serving(create_app(bee, token=TOKEN, wait_s=wait_s)))
            return stack.enter_context(openai.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0))

        yield connected


def says(text: str) -> Any:
    return [{"role": "user", "content": text}]


def shows(url: str) -> Any:
    return [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]


def test_models_are_listed_and_shown(connect: Connect) -> None:
    client = connect(ScriptedChat("Hello"))
    ids = [one.id for one in client.models.list()]
    assert ids == ["lilbee", "given", HashEmbedder().model, "judge/words"]
    assert client.models.retrieve("judge/words").owned_by == "lilbee"
    with pytest.raises(openai.NotFoundError) as missing:
        client.models.retrieve("gpt-9")
    assert missing.value.code == "model_not_found"


def test_the_chat_model_answers_as_it_is(connect: Connect) -> None:
    chat = ScriptedChat(
        [Delta(kind="text", text="Good day"), Delta(kind="usage", usage=Usage(prompt_tokens=5, completion_tokens=2))]
    )
    reply = connect(chat).chat.completions.create(
        model="given",
        messages=[{"role": "system", "content": "Be brief."}, *says("Hello")],
        temperature=0.3,
        max_completion_tokens=50,
        stop=["END"],
    )
    assert reply.choices[0].message.content == "Good day"
    assert reply.choices[0].finish_reason == "stop"
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.total_tokens) == (5, 2, 7)
    (request,) = chat.requests
    assert request.messages == (Message(role="system", content="Be brief."), Message(role="user", content="Hello"))
    assert (request.options.temperature, request.options.max_tokens, request.options.stop) == (0.3, 50, ("END",))


def test_a_stream_carries_every_word_and_the_tokens(connect: Connect) -> None:
    client = connect(ScriptedChat("One two three"))
    chunks = list(
        client.chat.completions.create(
            model="given", messages=says("Count"), stream=True, stream_options={"include_usage": True}
        )
    )
    words = [choice.delta.content or "" for chunk in chunks for choice in chunk.choices]
    assert "".join(words) == "One two three"
    assert sum(1 for word in words if word) == 3
    assert [choice.finish_reason for chunk in chunks for choice in chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.completion_tokens > 0
    assert len({chunk.id for chunk in chunks}) == 1


@pytest.mark.parametrize("streams", [False, True])
def test_tools_are_passed_to_the_chat_model_and_its_calls_back(connect: Connect, streams: bool) -> None:
    chat = ScriptedChat(
        [Delta(kind="tool_call", tool_call=ToolCall(id="c1", name="weather", arguments='{"place": "Rome"}'))]
    )
    client = connect(chat)
    request: Any = {"model": "given", "messages": says("Weather in Rome?"), "tools": [TOOL]}
    if streams:
        with client.chat.completions.stream(**request) as events:
            choice: Any = events.get_final_completion().choices[0]
    else:
        choice = client.chat.completions.create(**request).choices[0]
    assert choice.finish_reason == "tool_calls"
    (call,) = choice.message.tool_calls
    assert (call.id, call.function.name, json.loads(call.function.arguments)) == ("c1", "weather", {"place": "Rome"})
    (tool,) = chat.requests[0].options.tools
    assert json.loads(tool.schema)["properties"] == {"place": {"type": "string"}}


def test_results_of_tools_reach_the_chat_model(connect: Connect) -> None:
    chat = ScriptedChat("Sunny")
    messages: Any = [
        *says("Weather?"),
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "24 degrees"},
    ]
    connect(chat).chat.completions.create(model="given", messages=messages, tools=[TOOL], tool_choice="none")
    (request,) = chat.requests
    assert request.messages[1].tool_calls == (ToolCall(id="c1", name="weather", arguments="{}"),)
    assert (request.messages[2].role, request.messages[2].tool_call_id) == ("tool", "c1")
    assert request.options.tools == ()


def test_lilbee_answers_from_the_documents(connect: Connect) -> None:
    chat = ScriptedChat(CITED)
    reply: Any = connect(chat).chat.completions.create(model="lilbee", messages=says("When does the queen lay eggs?"))
    assert reply.choices[0].message.content == CITED
    assert [one["path"] for one in reply.lilbee["citations"]] == ["bees.md"]
    assert reply.lilbee["found"] is True
    assert "The queen lays eggs in spring." in chat.requests[-1].messages[-1].content


def test_lilbee_streams_and_cites_at_the_end(connect: Connect) -> None:
    client = connect(ScriptedChat(CITED))
    chunks: list[Any] = list(
        client.chat.completions.create(model="lilbee", messages=says("When does the queen lay eggs?"), stream=True)
    )
    assert "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices) == CITED
    assert chunks[-1].lilbee["citations"][0]["quote"]


class BreaksOff(ScriptedChat):
    """Says some words and fails."""

    def _stream(self, deltas: Sequence[Delta]) -> Iterator[Delta]:
        yield from deltas
        raise ProviderUnavailable("the connection was closed", hint="Try again.")


def test_a_reply_that_is_broken_off_is_not_whole(connect: Connect) -> None:
    question = says("When does the queen lay eggs?")
    reply: Any = connect(BreaksOff(CITED)).chat.completions.create(model="lilbee", messages=question)
    assert (reply.choices[0].message.content, reply.choices[0].finish_reason) == (CITED, "length")
    assert reply.lilbee["broken_off"] == "The answer is not whole: the connection was closed. Try again."


def test_lilbee_answers_without_a_chat_model(connect: Connect) -> None:
    reply = connect(None).chat.completions.create(model="lilbee", messages=says("When does the queen lay eggs?"))
    assert "eggs in spring" in (reply.choices[0].message.content or "")


def test_vectors_are_those_of_the_library(connect: Connect) -> None:
    client = connect()
    texts = ["The queen", "The ferry"]
    got = client.embeddings.create(model=HashEmbedder().model, input=texts)
    assert np.allclose([one.embedding for one in got.data], HashEmbedder().embed_batch(texts))
    plain = client.embeddings.create(model=HashEmbedder().model, input="The queen", encoding_format="float")
    assert np.allclose(plain.data[0].embedding, HashEmbedder().embed("The queen"))
    assert plain.usage.prompt_tokens == HashEmbedder().count_tokens("The queen")


def test_texts_are_put_in_the_order_of_their_relevance(connect: Connect) -> None:
    body = {"query": "queen eggs", "documents": ["boats", "queen lays eggs", {"text": "a queen"}], "top_n": 2}
    got: Any = connect().post("/rerank", body={**body, "return_documents": True}, cast_to=object)
    assert [one["index"] for one in got["results"]] == [1, 2]
    assert got["results"][0]["relevance_score"] > got["results"][1]["relevance_score"]
    assert got["results"][1]["document"] == {"text": "a queen"}


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    ("failing", "status", "code"),
    [
        (ProviderError("no room", code="provider.context_overflow"), 400, "context_length_exceeded"),
        (InputTooLong("too long"), 400, "context_length_exceeded"),
        (ProviderError("the model 'x' does not support tools"), 400, "model_does_not_support_tools"),
        (ProviderUnavailable("it is down"), 503, "internal_error"),
    ],
)
def test_what_fails_before_the_first_word_has_its_code(
    connect: Connect, failing: LilbeeError, status: int, code: str, streams: bool
) -> None:
    client = connect(ScriptedChat(failing))
    with pytest.raises(openai.APIStatusError) as failed:
        client.chat.completions.create(model="given", messages=says("Hello"), stream=streams)
    assert (failed.value.status_code, failed.value.code) == (status, code)
    assert failed.value.type


def test_a_request_that_cannot_fit_is_a_bad_request(connect: Connect) -> None:
    with pytest.raises(openai.BadRequestError) as failed:
        connect(ScriptedChat("x")).chat.completions.create(model="given", messages=says("word " * 40_000))
    assert failed.value.code == "context_length_exceeded"


def test_a_wrong_key_is_told(connect: Connect) -> None:
    with pytest.raises(openai.AuthenticationError) as failed:
        connect(key="wrong").models.list()
    assert failed.value.code == "invalid_api_key"


def test_a_model_that_is_not_there(connect: Connect) -> None:
    client = connect(ScriptedChat("x"))
    for ask in (
        lambda: client.chat.completions.create(model="gpt-9", messages=says("Hello")),
        lambda: client.embeddings.create(model="gpt-9", input="Hello"),
    ):
        with pytest.raises(openai.NotFoundError) as failed:
            ask()
        assert failed.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="lilbee:secrets", messages=says("Hello"))


def test_lilbee_calls_no_tools_of_others(connect: Connect) -> None:
    with pytest.raises(openai.BadRequestError) as failed:
        connect(ScriptedChat("x")).chat.completions.create(model="lilbee", messages=says("Hi"), tools=[TOOL])
    assert failed.value.code == "model_does_not_support_tools"


@pytest.mark.parametrize(
    "body",
    [
        {"messages": []},
        {"messages": says("x"), "n": 2},
        {"messages": says("x"), "max_tokens": -1},
        {"messages": [{"role": "king", "content": "x"}]},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://10.0.0.1/x"}}]}]},
        {
            "messages": [
                {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,%"}}]}
            ]
        },
        {"messages": [{"role": "user", "content": [{"type": "video"}]}]},
        {"messages": "hello"},
        {"messages": says("x"), "response_format": {"type": "poem"}},
        {"messages": says("x"), "tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "other"}}},
        {"messages": says("x"), "tools": [TOOL], "tool_choice": {"type": "function", "function": "weather"}},
        {"messages": says("x"), "response_format": {"type": "json_schema", "json_schema": "poem"}},
        {},
    ],
)
def test_what_makes_no_sense_is_a_bad_request(connect: Connect, body: dict[str, Any]) -> None:
    with pytest.raises(openai.BadRequestError) as failed:
        connect(ScriptedChat("x")).post("/chat/completions", body={"model": "given", **body}, cast_to=object)
    assert failed.value.code == "invalid_request"
    assert "Traceback" not in failed.value.message


def test_a_body_that_nests_too_deeply_is_a_bad_request(connect: Connect) -> None:
    client = connect(ScriptedChat("x"))
    with pytest.raises(openai.BadRequestError) as failed:
        client.post("/chat/completions", content=b"[" * 100_000, cast_to=object)
    assert failed.value.code == "invalid_request"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/embeddings", {"input": []}),
        ("/embeddings", {"input": [1, 2, 3]}),
        ("/embeddings", {"input": "x", "dimensions": 7}),
        ("/rerank", {"query": " ", "documents": ["x"]}),
        ("/rerank", {"query": "x", "documents": []}),
        ("/rerank", {"query": "x", "documents": [{"title": "x"}]}),
    ],
)
def test_vectors_and_order_need_texts(connect: Connect, path: str, body: dict[str, Any]) -> None:
    with pytest.raises(openai.BadRequestError) as failed:
        connect().post(path, body=body, cast_to=object)
    assert failed.value.code == "invalid_request"


def test_who_waits_too_long_is_told_to_come_back(connect: Connect) -> None:
    client = connect(EndlessChat(), wait_s=0.05)
    with client.chat.completions.create(model="given", messages=says("Talk"), stream=True) as talking:
        next(iter(talking))
        with pytest.raises(openai.RateLimitError) as failed:
            client.chat.completions.create(model="given", messages=says("Hello"))
    assert failed.value.code == "rate_limit_exceeded"
    assert failed.value.response.headers["retry-after"] == "1"


def test_who_leaves_a_stream_ends_it(connect: Connect) -> None:
    chat = EndlessChat()
    client = connect(chat)
    with client.chat.completions.create(model="given", messages=says("Talk"), stream=True) as talking:
        next(iter(talking))
    assert chat.ended.wait(10)


def test_a_bug_is_told_without_its_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Lilbee) -> None:
        raise TypeError("the bee is upside down")

    (tmp_path / "notes").mkdir()
    monkeypatch.setattr(Lilbee, "inference", property(broken))
    with Lilbee(tmp_path / "notes", embedder=HashEmbedder()) as bee:
        app = create_app(bee, token=None, hosts=("testserver.local",))
        with TestClient(app, base_url="http://testserver.local", raise_server_exceptions=False) as client:
            answer = client.get("/v1/models")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert "upside down" not in answer.text
