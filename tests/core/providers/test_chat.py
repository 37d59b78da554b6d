"""Replies of an OpenAI-style server, piece by piece (R090)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.errors import EmptyReply, InputTooLong, ModelNotFound, ProviderError, ProviderUnavailable
from lilbee_core.providers import OpenAIChat, OpenAIClient
from lilbee_core.providers._events import event_data
from lilbee_core.providers._thinking import ThinkSplitter
from lilbee_core.testing.contracts import ChatProviderContract
from lilbee_core.types import ChatOptions, Delta, Message, Tool, ToolCall, Usage
from tests.support.openai_fake import Answer, FakeOpenAI

ASK = (Message(role="system", content="Be brief."), Message(role="user", content="Who makes honey?"))


def said(deltas: Sequence[Delta] | Iterator[Delta], kind: str = "text") -> str:
    return "".join(one.text for one in deltas if one.kind == kind)


class TestOpenAIChat(ChatProviderContract):
    @pytest.fixture(autouse=True)
    def _server(self, client: OpenAIClient) -> None:
        self._client = client

    def make(self) -> OpenAIChat:
        return OpenAIChat(self._client, "fake")


@pytest.fixture
def chat(client: OpenAIClient) -> OpenAIChat:
    return OpenAIChat(client, "fake")


def test_the_reply_comes_piece_by_piece(server: FakeOpenAI, chat: OpenAIChat) -> None:
    server.reply("Bees ", "make ", "honey.")
    assert list(chat.chat(ASK)) == [Delta(kind="text", text=one) for one in ("Bees ", "make ", "honey.")]
    assert server.requests[0].body == {
        "model": "fake",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who makes honey?"}],
        "stream": True,
        "temperature": 0.0,
    }


def test_options_are_sent(server: FakeOpenAI, chat: OpenAIChat) -> None:
    schema = {"type": "object"}
    list(chat.chat(ASK, ChatOptions(temperature=None, max_tokens=9, stop=("a", "b"), json_schema=json.dumps(schema))))
    body = server.requests[0].body
    assert "temperature" not in body
    assert (body["max_tokens"], body["stop"]) == (9, ["a", "b"])
    assert body["response_format"]["json_schema"]["schema"] == schema


def test_what_the_model_thought_is_not_sent_again(server: FakeOpenAI, chat: OpenAIChat) -> None:
    list(chat.chat((Message(role="assistant", content="Bees.", reasoning="Hm."), ASK[1])))
    assert server.requests[0].body["messages"][0] == {"role": "assistant", "content": "Bees."}


def test_closing_the_reply_closes_the_request() -> None:
    closed: list[bool] = []

    class Endless(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                yield b'data: {"choices": [{"delta": {"content": "on "}}]}\n\n'

        def close(self) -> None:
            closed.append(True)

    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Endless())

    with OpenAIClient("http://h/v1", transport=httpx.MockTransport(handle)) as client:
        reply = OpenAIChat(client, "fake").chat(ASK)
        assert [next(reply).text, next(reply).text] == ["on ", "on "]
        assert closed == []
        reply.close()
        assert closed == [True]


def test_the_server_notices_that_nobody_listens(server: FakeOpenAI, chat: OpenAIChat) -> None:
    server.reply(*["word " * 1000] * 5000)
    reply = chat.chat(ASK)
    next(reply)
    reply.close()
    assert server.closed_by_client.wait(10)


# --------------------------------------------------------------------------- thinking


def test_reasoning_that_comes_apart_is_reasoning(server: FakeOpenAI, chat: OpenAIChat) -> None:
    server.reply({"reasoning_content": "Let me "}, {"reasoning": "think."}, "Bees.")
    deltas = list(chat.chat(ASK))
    assert said(deltas, "reasoning") == "Let me think."
    assert said(deltas) == "Bees."


def test_think_tags_that_are_cut_in_the_middle_are_taken_out(server: FakeOpenAI, chat: OpenAIChat) -> None:
    server.reply("<th", "ink>Is it", " 5 < 6?</", "thi", "nk>\n\nBe", "es < wasps.")
    deltas = list(chat.chat(ASK))
    assert said(deltas, "reasoning") == "Is it 5 < 6?"
    assert said(deltas) == "Bees < wasps."


def split(pieces: Sequence[str]) -> list[tuple[str, str]]:
    splitter = ThinkSplitter()
    found = [pair for piece in pieces for pair in splitter.feed(piece)]
    return [*found, *splitter.end()]


@given(
    text=st.lists(
        st.sampled_from(
            ["a", "<", "b < c", "<think>", "</think>", "<THINKING>", "</thinking>", "\n", " ", "</thin", "é"]
        ),
        max_size=12,
    ).map("".join),
    data=st.data(),
)
def test_the_way_a_reply_is_cut_changes_nothing(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    edges = [0, *cuts, len(text)]
    pieces = [text[a:b] for a, b in pairwise(edges)]
    for kind in ("text", "reasoning"):
        whole = "".join(piece for one, piece in split([text]) if one == kind)
        assert "".join(piece for one, piece in split(pieces) if one == kind) == whole
        assert "think>" not in whole.lower()


def test_an_angle_bracket_is_not_held_back_for_ever() -> None:
    splitter = ThinkSplitter()
    assert list(splitter.feed("a <")) == [("text", "a ")]
    assert list(splitter.feed("b")) == [("text", "<b")]


# --------------------------------------------------------------------------- other servers' ways


def test_a_server_that_does_not_stream_is_understood(server: FakeOpenAI, chat: OpenAIChat) -> None:
    message = {"role": "assistant", "content": "<think>Hm.</think>Bees."}
    server.json({"choices": [{"message": message, "finish_reason": "stop"}]})
    deltas = list(chat.chat(ASK))
    assert (said(deltas), said(deltas, "reasoning")) == ("Bees.", "Hm.")


def test_a_server_that_refuses_to_stream_is_asked_without(server: FakeOpenAI, chat: OpenAIChat) -> None:
    server.fail(400, "stream is not supported")
    server.reply("Bees.")
    assert said(chat.chat(ASK)) == "Bees."
    assert [one.body["stream"] for one in server.requests] == [True, False]


def test_options_that_are_refused_are_left_out_from_then_on(server: FakeOpenAI, chat: OpenAIChat) -> None:
    server.fail(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    server.fail(400, "Unsupported value: 'temperature' does not support 0.0 with this model.")
    options = ChatOptions(max_tokens=7)
    list(chat.chat(ASK, options))
    list(chat.chat(ASK, options))
    for request in server.requests[2:]:
        assert request.body["max_completion_tokens"] == 7
        assert not {"max_tokens", "temperature"} & set(request.body)
    assert len(server.requests) == 4


def test_content_in_parts_is_read(server: FakeOpenAI, chat: OpenAIChat) -> None:
    parts = [{"type": "text", "text": "Be"}, {"type": "text", "text": "es."}, {"type": "image"}]
    server.json({"choices": [{"message": {"content": parts}}]})
    assert said(chat.chat(ASK)) == "Bees."


def test_events_with_the_wrong_content_type_are_read(server: FakeOpenAI, chat: OpenAIChat) -> None:
    body = b'data: {"choices": [{"delta": {"content": "Bees."}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    server.answer(Answer(body=body, content_type="text/plain"))
    assert said(chat.chat(ASK)) == "Bees."


def test_events_without_choices_and_a_missing_end_mark_are_fine(server: FakeOpenAI, chat: OpenAIChat) -> None:
    server.events(
        '{"choices": [], "usage": null}',
        '{"choices": [{"delta": {"role": "assistant", "content": null}}]}',
        '{"choices": [{"delta": {"content": "Bees."}}]}',
        '{"choices": [{"delta": {}, "finish_reason": "stop"}]}',
        '{"choices": [], "usage": {"total_tokens": 3}}',
        done=False,
    )
    assert said(chat.chat(ASK)) == "Bees."


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data:a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b": ping\n\nevent: x\nid: 1\ndata: a\n\n", ["a"]),
        (b"data: one\ndata: two\n\n", ["one\ntwo"]),
        (b'data: {"a": 1}\ndata: {"b": 2}\ndata: [DONE]\n', ['{"a": 1}', '{"b": 2}', "[DONE]"]),
        ("data: a\u2028b\x85c\n\n".encode(), ["a\u2028b\x85c"]),
        (b"data: a", ["a"]),
        (b"", []),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_events_are_read_however_they_arrive(body: bytes, data: list[str], size: int) -> None:
    assert list(event_data(body[at : at + size] for at in range(0, len(body), size))) == data


# --------------------------------------------------------------------------- failures


@pytest.mark.parametrize(
    "pieces", [[], [""], ["  \n"], ["<think>Only thinking</think>"], [{"reasoning_content": "Hm."}]]
)
def test_an_empty_reply_is_an_error(server: FakeOpenAI, chat: OpenAIChat, pieces: list[str]) -> None:
    server.reply(*pieces)
    with pytest.raises(EmptyReply, match="answered nothing"):
        list(chat.chat(ASK))


def test_a_reply_that_was_all_thinking_says_what_to_raise(server: FakeOpenAI, chat: OpenAIChat) -> None:
    server.events('{"choices": [{"delta": {"reasoning_content": "Hm"}, "finish_reason": "length"}]}')
    with pytest.raises(EmptyReply) as caught:
        list(chat.chat(ASK))
    assert "answer_max_tokens" in caught.value.hint


@pytest.mark.parametrize("cut", [True, False])
def test_a_reply_that_stops_in_the_middle_is_an_error(server: FakeOpenAI, chat: OpenAIChat, cut: bool) -> None:
    server.events('{"choices": [{"delta": {"content": "Bees ma"}}]}', done=False, cut=cut)
    reply = chat.chat(ASK)
    assert next(reply).text == "Bees ma"
    with pytest.raises(ProviderUnavailable, match="broke off"):
        list(reply)


def test_an_error_in_the_middle_is_told(server: FakeOpenAI, chat: OpenAIChat) -> None:
    server.events('{"choices": [{"delta": {"content": "Bees "}}]}', '{"error": {"message": "slot lost", "code": 500}}')
    reply = chat.chat(ASK)
    assert next(reply).text == "Bees "
    with pytest.raises(ProviderError, match="slot lost"):
        list(reply)


@pytest.mark.parametrize("event", ["{", "5", '"x"'])
def test_an_event_that_makes_no_sense_is_an_error(server: FakeOpenAI, chat: OpenAIChat, event: str) -> None:
    server.events(event)
    with pytest.raises(ProviderError):
        list(chat.chat(ASK))


@pytest.mark.parametrize("content_type", ["text/html", "application/json"])
def test_a_web_page_is_told(server: FakeOpenAI, chat: OpenAIChat, content_type: str) -> None:
    server.answer(Answer(body=b"<html><title>Sign in</title></html>", content_type=content_type))
    with pytest.raises(ProviderUnavailable, match="a web page titled 'Sign in'"):
        list(chat.chat(ASK))


def test_too_long_a_conversation_has_its_own_error(server: FakeOpenAI, chat: OpenAIChat) -> None:
    server.fail(400, "the request exceeds the available context size", times=1)
    with pytest.raises(InputTooLong):
        list(chat.chat(ASK))


def test_a_missing_model_has_its_own_error(server: FakeOpenAI, client: OpenAIClient) -> None:
    with pytest.raises(ModelNotFound, match="'absent'"):
        list(OpenAIChat(client, "absent").chat(ASK))


def test_a_model_closes_only_a_client_of_its_own(client: OpenAIClient) -> None:
    OpenAIChat(client, "fake").close()
    assert client.models()
    OpenAIChat(client, "fake", owns_client=True).close()
    with pytest.raises(ProviderError, match="closed"):
        client.models()


def test_tokens_are_counted_where_that_is_asked_for(server: FakeOpenAI, chat: OpenAIChat) -> None:
    said = '{"choices": [{"delta": {"content": "Bees."}, "finish_reason": "stop"}]}'
    server.events(said, '{"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 3}}')
    *_, last = chat.chat(ASK, ChatOptions(usage=True))
    assert last == Delta(kind="usage", usage=Usage(prompt_tokens=12, completion_tokens=3))
    assert server.requests[0].body["stream_options"] == {"include_usage": True}


def test_a_server_that_does_not_count_is_not_asked_again(server: FakeOpenAI, chat: OpenAIChat) -> None:
    server.fail(400, "stream_options is not supported")
    server.reply("Bees.")
    server.reply("Bees.")
    for _ in range(2):
        assert [one.text for one in chat.chat(ASK, ChatOptions(usage=True))] == ["Bees."]
    assert ["stream_options" in one.body for one in server.requests] == [True, False, False]


def test_tools_are_offered_and_calls_come_whole(server: FakeOpenAI, chat: OpenAIChat) -> None:
    """A call arrives in pieces: its name first, its arguments bit by bit (R355)."""
    pieces = [
        {"content": "Let me look."},
        {"tool_calls": [{"index": 0, "id": "a1", "function": {"name": "search", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"query": '}}]},
        {"tool_calls": [{"index": 1, "id": "a2", "function": {"name": "read", "arguments": "{}"}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '"bees"}'}}]},
    ]
    server.reply(*pieces)
    tool = Tool(name="search", description="Search.", schema='{"type": "object"}')
    deltas = list(chat.chat(ASK, ChatOptions(tools=(tool,))))
    assert [one.tool_call for one in deltas if one.tool_call] == [
        ToolCall(id="a1", name="search", arguments='{"query": "bees"}'), ToolCall(id="a2", name="read"),
    ]  # fmt: skip
    assert server.requests[0].body["tools"] == [
        {"type": "function", "function": {"name": "search", "description": "Search.", "parameters": {"type": "object"}}}
    ]


def test_a_reply_that_only_calls_is_not_empty(server: FakeOpenAI, chat: OpenAIChat) -> None:
    server.reply({"tool_calls": [{"index": 0, "id": "a1", "function": {"name": "search", "arguments": "{}"}}]})
    assert [one.kind for one in chat.chat(ASK)] == ["tool_call"]


def test_calls_results_and_images_are_sent(server: FakeOpenAI, chat: OpenAIChat) -> None:
    call = ToolCall(id="a1", name="search", arguments='{"query": "bees"}')
    list(
        chat.chat(
            (
                Message(role="user", content="Look.", images=(b"\x89PNG...", b"\xff\xd8...")),
                Message(role="assistant", content="", tool_calls=(call,)),
                Message(role="tool", content="Bees make honey.", tool_call_id="a1"),
            )
        )
    )
    seen, asked, told = server.requests[0].body["messages"]
    kinds = [part["image_url"]["url"].partition(";")[0] for part in seen["content"][1:]]
    assert kinds == ["data:image/png", "data:image/jpeg"]
    assert asked["tool_calls"] == [
        {"id": "a1", "type": "function", "function": {"name": "search", "arguments": '{"query": "bees"}'}}
    ]
    assert told == {"role": "tool", "content": "Bees make honey.", "tool_call_id": "a1"}


def test_a_server_is_named_within_a_sentence(server: FakeOpenAI) -> None:
    server.reply("")
    with OpenAIClient(server.url, name="The OpenAI-style server") as client:
        with pytest.raises(EmptyReply, match=r"^The model 'fake' of the OpenAI-style server at http://127"):
            list(OpenAIChat(client, "fake").chat([Message(role="user", content="Hi")]))
        server.fail(500, "out of memory")
        with pytest.raises(ProviderError, match=r"^the model 'fake' of the OpenAI-style server at http://127"):
            list(OpenAIChat(client, "fake").chat([Message(role="user", content="Hi")]))
