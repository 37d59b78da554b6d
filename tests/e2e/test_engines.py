"""What the models say through each engine: the same as the models themselves (R077, R094, R126-R129, R142)."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from lilbee_core.errors import InputTooLong, LilbeeError, ProviderError
from lilbee_core.fleet import Engine, Fleet
from lilbee_core.library._fleet import fleet_model
from lilbee_core.settings import Settings
from lilbee_core.types import ChatOptions, Message, ModelRef
from tests.e2e.conftest import Models, Servers, chat_server, embed_server, rank_server, vision_server
from tests.tools._minilm import NumpyMiniLM, rank_vector

pytestmark = pytest.mark.model
SETTINGS = Settings().changed({"request_timeout_s": 60.0})
TEXTS = (
    "The queen leaves with the swarm in May.",
    "Grüße aus München: 15 kg Honig für den Winter.",
    "def weigh(hive):\n    return hive.scale.read()",
    "a",
)


@pytest.fixture
def model(servers: Servers) -> Iterator[Callable[..., Any]]:
    """Make the model of a role over a fleet."""

    def make(fleet: Fleet, role: str) -> Any:
        name = fleet.plan().of_role(role)[0].model
        made: Any = fleet_model(lambda: fleet, role, ModelRef("gguf", name), SETTINGS)
        servers.stack.callback(made.close)
        return made

    return make  # type: ignore[return-value]


def user(text: str) -> list[Message]:
    return [Message(role="user", content=text)]


def or_skip(call: Callable[[], Any], engine: Callable[[], Engine]) -> Any:
    """Return what a call gives; an engine that was built for other processors is left out, with that reason."""
    try:
        return call()
    except LilbeeError as error:
        if error.code == "fleet.wrong_processor":
            pytest.skip(error.message.partition(". Its last")[0])
        raise


def alone(engine: Callable[[], Engine]) -> Callable[[], Engine]:
    """Keep a fleet from changing to another engine."""
    found = engine()
    return lambda: found


class TestEmbedding:
    def test_vectors_are_the_models_own(
        self, each_engine: Callable[[], Engine], servers: Servers, models: Models, yardstick: NumpyMiniLM, model: Any
    ) -> None:
        embedding = model(servers.fleet(alone(each_engine), embed_server(models)), "embed")
        rows = or_skip(lambda: embedding.embed(TEXTS), each_engine)
        lengths = np.linalg.norm(rows, axis=1)
        assert not np.allclose(lengths, 1, atol=1e-3)  # raw: to make them of unit length is ours
        for text, row, length in zip(TEXTS, rows, lengths, strict=True):
            assert row @ yardstick.embed(text) / length >= 0.999, text

    def test_a_text_of_any_length_is_embedded_by_its_beginning(
        self, engine: Callable[[], Engine], servers: Servers, models: Models, yardstick: NumpyMiniLM, model: Any
    ) -> None:
        embedding = model(servers.fleet(engine, embed_server(models)), "embed")
        words = "honey swarm queen winter hive " * 400
        dense = "x1 y2 z3 " * 220  # short in characters, long in tokens
        rows = embedding.embed(["short", words, dense])
        for text, row in zip(("short", words, dense), rows, strict=True):
            ids = yardstick.ids(text)
            kept = [*ids[:-1][:500], ids[-1]]
            own = yardstick.tokens(kept).mean(axis=0)
            assert row @ own / np.linalg.norm(row) / np.linalg.norm(own) >= 0.98


class TestReranking:
    def test_scores_are_the_heads_own(
        self, each_engine: Callable[[], Engine], servers: Servers, models: Models, yardstick: NumpyMiniLM, model: Any
    ) -> None:
        reranker = model(servers.fleet(alone(each_engine), rank_server(models)), "rerank")
        query, texts = "Where do the swarms go?", [*TEXTS, "Bananas are rich in potassium."]
        scores = or_skip(lambda: reranker.rank(query, texts), each_engine)
        head = rank_vector()
        # llama.cpp puts the query before the text, with a mark between them and none behind.
        asked = yardstick.ids(query)
        read = [yardstick.tokens([*asked, *yardstick.ids(text)[1:-1]])[0] for text in texts]
        own = [1 / (1 + np.exp(-float(one @ head))) for one in read]
        assert np.allclose(scores, own, atol=1e-3)
        assert np.argsort(scores).tolist() == np.argsort(own).tolist()

    def test_a_long_text_is_cut_so_that_it_fits_with_the_query(
        self, engine: Callable[[], Engine], servers: Servers, models: Models, model: Any
    ) -> None:
        reranker = model(servers.fleet(engine, rank_server(models)), "rerank")
        scores = reranker.rank("swarm " * 400, ["queen " * 900, "x1 y2 z3 " * 300, "short"])
        assert all(0 < score < 1 for score in scores)


class TestChat:
    def test_a_reply_streams_and_the_server_is_free_again_when_nobody_listens(
        self, each_engine: Callable[[], Engine], servers: Servers, models: Models, model: Any
    ) -> None:
        fleet = servers.fleet(alone(each_engine), chat_server(models))
        chat = model(fleet, "chat")
        options = ChatOptions(temperature=0.0, max_tokens=24)
        pieces = or_skip(lambda: list(chat.chat(user("Say hello."), options)), each_engine)
        assert len(pieces) > 3
        assert "".join(piece.text for piece in pieces).strip()
        with closing(chat.chat(user("Count from one to one thousand."), ChatOptions(max_tokens=1500))) as reply:
            next(reply)
            assert fleet.status()[0].in_flight == 1
        assert fleet.status()[0].in_flight == 0
        assert list(chat.chat(user("Say hello."), options))  # the abandoned one does not hold its only slot

    def test_a_schema_binds_the_reply(
        self, engine: Callable[[], Engine], servers: Servers, models: Models, model: Any
    ) -> None:
        chat = model(servers.fleet(engine, chat_server(models)), "chat")
        schema = {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 20}, "hives": {"type": "integer", "maximum": 99}},
            "required": ["name", "hives"],
            "additionalProperties": False,
        }
        options = ChatOptions(temperature=0.0, max_tokens=80, json_schema=json.dumps(schema))
        said = "".join(piece.text for piece in chat.chat(user("Tom has seven hives. Answer in JSON."), options))
        found = json.loads(said)
        assert set(found) == {"name", "hives"}
        assert isinstance(found["hives"], int)

    def test_a_prompt_longer_than_the_context_is_too_long(
        self, engine: Callable[[], Engine], servers: Servers, models: Models, model: Any
    ) -> None:
        chat = model(servers.fleet(engine, chat_server(models, context_tokens=512)), "chat")
        with pytest.raises(InputTooLong) as caught:
            list(chat.chat(user("honey " * 3000)))
        assert caught.value.code == "provider.too_long"
        assert caught.value.hint


class TestVision:
    def test_a_page_goes_through_the_eyes(
        self, each_engine: Callable[[], Engine], servers: Servers, models: Models, model: Any
    ) -> None:
        # It says nothing of sense and would not stop by itself: the context ends it.
        fleet = servers.fleet(alone(each_engine), vision_server(models, context_tokens=256))
        vision = model(fleet, "vision")
        said = or_skip(lambda: vision.read(png(), prompt="Describe the image in three words."), each_engine)
        assert isinstance(said, str)
        with fleet.lease("vision") as lease:
            told = fleet.probe.properties(lease.endpoint)
        assert told["modalities"]["vision"] is True


def png(size: int = 64) -> bytes:
    """Return a picture: a diagonal."""

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(
        b"\0" + b"".join(b"\xff\xff\xff" if x == y else b"\x20\x40\x80" for x in range(size)) for y in range(size)
    )
    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


@pytest.mark.parametrize(
    ("role", "asks"),
    [("embed", lambda model: list(model.chat(user("hi")))), ("chat", lambda model: model.embed(["hi"]))],
)
def test_the_wrong_role_is_an_error_that_says_so(
    role: str, asks: Callable[[Any], object], engine: Callable[[], Engine], servers: Servers, models: Models
) -> None:
    """A model that is asked for what it was not made for: a server of another role at the same address."""
    from lilbee_core.providers import OpenAIChat, OpenAIClient, OpenAIEmbedding

    server = embed_server(models) if role == "embed" else chat_server(models)
    endpoint = servers.fleet(engine, server).endpoint(role)
    with OpenAIClient(endpoint.base_url, api_key=endpoint.api_key or "", retries=0) as client:
        wrong: Any = OpenAIChat(client, "x") if role == "embed" else OpenAIEmbedding(client, "x")
        with pytest.raises(ProviderError) as caught:
            asks(wrong)
    assert caught.value.hint
