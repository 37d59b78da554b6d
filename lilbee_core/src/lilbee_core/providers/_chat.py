"""Chat models of OpenAI-style servers."""

from __future__ import annotations

import base64
import json
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from lilbee_core.errors import EmptyReply, InputTooLong, ProviderError
from lilbee_core.providers._client import Json, OpenAIClient
from lilbee_core.providers._events import event_data
from lilbee_core.providers._failures import broke_off, failure, is_html, unreadable, web_page
from lilbee_core.providers._thinking import ThinkSplitter
from lilbee_core.types import ChatOptions, Delta, Message, ToolCall, Usage

if TYPE_CHECKING:
    import httpx

PATH = "/chat/completions"
_DONE = "[DONE]"
_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")


class OpenAIChat:
    """A chat model behind ``/v1/chat/completions``. Threads may share it.

    What a model thinks comes as ``reasoning`` deltas, whether the server gives it apart or between think tags.
    Options that a server refuses (`temperature`, ``max_tokens``, streaming) are left out from then on.
    """

    def __init__(self, client: OpenAIClient, model: str, *, owns_client: bool = False) -> None:
        self.model = model
        self._client = client
        self._owns_client = owns_client
        self._refused: frozenset[str] = frozenset()

    def chat(self, messages: Sequence[Message], options: ChatOptions | None = None) -> Generator[Delta]:
        """Yield the reply piece by piece; closing the iterator closes the request.

        Calls of tools come whole, behind the text; the count of tokens comes last, if the server gives one.

        Raises:
            EmptyReply: If the model says nothing, and calls nothing.
            InputTooLong: If the conversation does not fit the model.
            ProviderError: If the server fails, before or in the middle of the reply.
        """
        payload = _payload(self.model, messages, options or ChatOptions())
        spoke = False
        end = _End()
        for delta in self._deltas(payload, end):
            spoke = spoke or (delta.kind == "text" and bool(delta.text.strip()))
            yield delta
        for call in end.tool_calls():
            spoke = True
            yield Delta(kind="tool_call", tool_call=call)
        if not spoke:
            raise self._empty(end.reasons)
        if end.usage is not None:
            yield Delta(kind="usage", usage=end.usage)

    def ask(self, payload: Json) -> str:
        """Send a ready request and return the text of its reply, without what the model thought."""
        return "".join(delta.text for delta in self._deltas(payload, _End()) if delta.kind == "text").strip()

    def about(self) -> Json:
        """Return what the server says of the model.

        Raises:
            ModelNotFound: If it does not have it.
            ProviderError: If it cannot be asked.
        """
        return self._client.about(self.model)

    def close(self) -> None:
        """Close the client, if it is this model's own."""
        if self._owns_client:
            self._client.close()

    def _deltas(self, payload: Json, end: _End) -> Generator[Delta]:
        splitter = ThinkSplitter()
        for kind, text in self._pieces(payload, end):
            if kind == "reasoning":
                yield Delta(kind="reasoning", text=text)
            else:
                yield from (Delta(kind=one, text=piece) for one, piece in splitter.feed(text))
        yield from (Delta(kind=one, text=piece) for one, piece in splitter.end())

    def _pieces(self, payload: Json, end: _End) -> Generator[tuple[str, str]]:
        """Yield the pieces of the reply, leaving out options one by one as the server refuses them."""
        while True:
            asked = _without(payload, self._refused)
            try:
                with self._client.stream(PATH, asked, model=self.model) as response:
                    yield from self._read(response, end)
                return
            except ProviderError as error:
                refused = _refused_option(error, asked)
                if refused is None:
                    raise
                self._refused |= {refused}

    def _read(self, response: httpx.Response, end: _End) -> Generator[tuple[str, str]]:
        kind = response.headers.get("content-type", "")
        if "text/event-stream" in kind:
            yield from self._read_events(self._bytes(response), end)
            return
        body = self._client.read(response)
        if is_html(body):
            raise web_page(self._client.server, self._client.said(body))
        if body.lstrip().startswith(b"data:"):
            yield from self._read_events([body], end)
            return
        try:
            answer: object = json.loads(body)
        except ValueError as error:
            raise unreadable(self._client.server, self._client.said(body) or "nothing came") from error
        yield from self._parts(answer, "message", end)

    def _read_events(self, pieces: Iterable[bytes], end: _End) -> Generator[tuple[str, str]]:
        whole = False
        for data in event_data(pieces):
            if data.strip() == _DONE:
                return
            try:
                event: object = json.loads(data)
            except ValueError as error:
                raise broke_off(self._client.server, f"an event cannot be read: {data[:80]!r}") from error
            yield from self._parts(event, "delta", end)
            whole = whole or bool(end.reasons)
        if not whole:
            raise broke_off(self._client.server)

    def _bytes(self, response: httpx.Response) -> Iterator[bytes]:
        import httpx

        try:
            yield from response.iter_bytes()
        except httpx.TimeoutException as error:
            raise broke_off(self._client.server, "it fell silent") from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise broke_off(self._client.server) from error

    def _parts(self, event: object, key: str, end: _End) -> Iterator[tuple[str, str]]:
        """Yield reasoning and text of one event, or of a whole reply."""
        if not isinstance(event, dict):
            raise unreadable(self._client.server, f"{str(event)[:80]!r} is no reply")
        answer = cast("dict[str, Any]", event)
        if answer.get("error"):
            body = json.dumps(answer).encode()
            raise failure(
                _status(answer["error"]), self._client.said(body), server=self._client.server, model=self.model
            )
        end.count(answer.get("usage"))
        for choice in _dicts(answer.get("choices")):
            spoken: object = choice.get(key) or choice.get("message") or choice.get("delta")
            if isinstance(spoken, dict):
                yield from _spoken(cast("dict[str, Any]", spoken))
                end.call(_dicts(cast("dict[str, Any]", spoken).get("tool_calls")))
            if choice.get("finish_reason"):
                end.reasons.append(str(choice["finish_reason"]))

    def _empty(self, finish: Sequence[str]) -> EmptyReply:
        if "length" in finish:
            return EmptyReply(
                f"The model {self.model!r} used up its tokens before it answered",
                hint="Raise answer_max_tokens, or choose a model that thinks less.",
            )
        return EmptyReply(
            f"The model {self.model!r} of {self._client.server.inside} answered nothing",
            hint="Ask again, or choose another chat model.",
        )


@dataclass(slots=True)
class _End:
    """What is known of a reply once it is over: why it ended, what it calls, what it took."""

    reasons: list[str] = field(default_factory=list[str])
    usage: Usage | None = None
    _calls: dict[int, dict[str, str]] = field(default_factory=dict[int, dict[str, str]])

    def count(self, usage: object) -> None:
        """Take what the server counted."""
        if not isinstance(usage, dict):
            return
        counted = cast("dict[str, Any]", usage)
        prompt, completion = counted.get("prompt_tokens"), counted.get("completion_tokens")
        if isinstance(prompt, int) and isinstance(completion, int):
            self.usage = Usage(prompt_tokens=prompt, completion_tokens=completion)

    def call(self, pieces: Sequence[Mapping[str, Any]]) -> None:
        """Take pieces of calls: the first one names the tool, the arguments come bit by bit."""
        for piece in pieces:
            index = piece.get("index")
            known = self._calls.setdefault(index if isinstance(index, int) else len(self._calls), {})
            function = piece.get("function")
            told = cast("dict[str, Any]", function) if isinstance(function, dict) else {}
            arguments = told.get("arguments")
            if isinstance(arguments, dict):
                arguments = json.dumps(arguments)
            for key, value in (("id", piece.get("id")), ("name", told.get("name")), ("arguments", arguments)):
                if isinstance(value, str):
                    known[key] = known.get(key, "") + value if key == "arguments" else value or known.get(key, "")

    def tool_calls(self) -> Iterator[ToolCall]:
        """Yield the calls in order; one without a name is none."""
        for at, (_, call) in enumerate(sorted(self._calls.items())):
            if call.get("name"):
                yield ToolCall(
                    id=call.get("id") or f"call_{at}", name=call["name"], arguments=call.get("arguments") or "{}"
                )


def _payload(model: str, messages: Sequence[Message], options: ChatOptions) -> dict[str, Any]:
    payload: dict[str, Any] = {"model": model, "messages": [_message(one) for one in messages], "stream": True}
    if options.temperature is not None:
        payload["temperature"] = options.temperature
    if options.max_tokens is not None:
        payload["max_tokens"] = options.max_tokens
    if options.stop:
        payload["stop"] = list(options.stop)
    if options.json_schema is not None:
        schema = {"name": "reply", "strict": True, "schema": json.loads(options.json_schema)}
        payload["response_format"] = {"type": "json_schema", "json_schema": schema}
    if options.tools:
        payload["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": one.name, "description": one.description, "parameters": json.loads(one.schema)
                },
            }
            for one in options.tools
        ]  # fmt: skip
    if options.usage:
        payload["stream_options"] = {"include_usage": True}
    return payload


def _message(message: Message) -> dict[str, object]:
    sent: dict[str, object] = {"role": message.role, "content": message.content}
    if message.images:
        sent["content"] = [{"type": "text", "text": message.content}, *map(_image, message.images)]
    if message.tool_call_id is not None:
        sent["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        sent["tool_calls"] = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
            for one in message.tool_calls
        ]
    return sent


def _image(content: bytes) -> dict[str, object]:
    kind = "jpeg" if content.startswith(b"\xff\xd8") else "png"
    return {
        "type": "image_url",
        "image_url": {"url": f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"},
    }


_OPTIONS = ("temperature", "max_tokens", "stream_options", "stream", "stop", "response_format", "tools")


def _refused_option(error: ProviderError, asked: Json) -> str | None:
    """Return the option that a server does not take, if its complaint names one."""
    if type(error) is not ProviderError and not isinstance(error, InputTooLong):
        return None
    text = error.message.lower()
    if not any(word in text for word in ("support", "unknown", "unrecognized", "not allowed", "extra", "invalid")):
        return None
    return next((one for one in _OPTIONS if one in asked and one in text and asked[one] is not False), None)


def _without(payload: Json, refused: frozenset[str]) -> dict[str, Any]:
    sent = {key: value for key, value in payload.items() if key not in refused}
    if "max_tokens" in refused and "max_tokens" in payload:
        sent["max_completion_tokens"] = payload["max_tokens"]
    if "stream" in refused:
        sent["stream"] = False
        sent.pop("stream_options", None)
    return sent


def _spoken(message: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in _REASONING_KEYS:
        if isinstance(message.get(key), str) and message[key]:
            yield "reasoning", message[key]
            break
    content = message.get("content")
    if isinstance(content, str) and content:
        yield "text", content
    for part in _dicts(content):
        if isinstance(part.get("text"), str) and part["text"]:
            yield "text", part["text"]


def _dicts(value: object) -> list[dict[str, Any]]:
    entries = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", one) for one in entries if isinstance(one, dict)]


def _status(error: object) -> int:
    code = cast("dict[str, Any]", error).get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code < 600 else 500
