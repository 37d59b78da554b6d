"""Vectors of an OpenAI-style server (R077)."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from lilbee_core.errors import InputTooLong, ModelNotFound, ProviderError
from lilbee_core.providers import OpenAIClient, OpenAIEmbedding
from lilbee_core.testing.contracts import EmbeddingProviderContract
from tests.support.openai_fake import FakeOpenAI, word_vector


class TestOpenAIEmbedding(EmbeddingProviderContract):
    @pytest.fixture(autouse=True)
    def _server(self, client: OpenAIClient) -> None:
        self._client = client

    def make(self) -> OpenAIEmbedding:
        return OpenAIEmbedding(self._client, "fake")


@pytest.fixture
def embedding(client: OpenAIClient) -> OpenAIEmbedding:
    return OpenAIEmbedding(client, "fake")


def test_rows_stand_in_the_order_of_the_texts(server: FakeOpenAI, embedding: OpenAIEmbedding) -> None:
    texts = ["one bee", "two bees", "a hive"]
    rows = embedding.embed(texts)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [word_vector(text) for text in texts], rtol=1e-6)
    assert server.requests[0].body == {"model": "fake", "input": texts, "encoding_format": "base64"}


def test_decimal_numbers_are_read_as_well(server: FakeOpenAI, embedding: OpenAIEmbedding) -> None:
    server.json({"data": [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1, 2.5]}]})
    np.testing.assert_array_equal(embedding.embed(["a", "b"]), np.array([[1, 2.5], [3, 4]], np.float32))


def test_a_server_without_base64_is_asked_once(server: FakeOpenAI, embedding: OpenAIEmbedding) -> None:
    server.base64_supported = False
    assert embedding.embed(["a"]).shape == embedding.embed(["b"]).shape == (1, 8)
    assert ["encoding_format" in one.body for one in server.requests] == [True, False, False]


def test_a_llama_server_is_asked_for_raw_vectors_and_others_are_not(server: FakeOpenAI, client: OpenAIClient) -> None:
    OpenAIEmbedding(client, "fake", raw_vectors=True).embed(["a"])
    OpenAIEmbedding(client, "fake").embed(["a"])
    assert server.requests[0].body["embd_normalize"] == -1
    assert "embd_normalize" not in server.requests[1].body


def test_an_empty_text_is_sent_as_a_blank(server: FakeOpenAI, embedding: OpenAIEmbedding) -> None:
    embedding.embed(["", "a"])
    assert server.requests[0].body["input"] == [" ", "a"]


def test_a_batch_that_is_too_large_is_halved(server: FakeOpenAI, embedding: OpenAIEmbedding) -> None:
    server.max_batch = 3
    texts = [f"text {number}" for number in range(10)]
    np.testing.assert_allclose(embedding.embed(texts), [word_vector(text) for text in texts], rtol=1e-6)
    assert [len(one.body["input"]) for one in server.requests] == [10, 5, 2, 3, 5, 2, 3]


def test_a_text_that_is_too_long_is_refused(server: FakeOpenAI, embedding: OpenAIEmbedding) -> None:
    server.max_chars = 100
    with pytest.raises(InputTooLong, match="too large to process"):
        embedding.embed(["x" * 101])


def test_a_missing_model_has_its_own_error(client: OpenAIClient) -> None:
    with pytest.raises(ModelNotFound, match="absent"):
        OpenAIEmbedding(client, "absent").embed(["a"])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"data": [{"index": 0, "embedding": [1.0, None]}]}, "NaN"),
        ({"data": [{"index": 0, "embedding": base64.b64encode(np.array([np.nan], "<f4").tobytes()).decode()}]}, "NaN"),
        ({"data": [{"index": 0, "embedding": "%%%"}]}, "neither numbers nor base64"),
        ({"data": [{"index": 0, "embedding": "AAA="}]}, "neither numbers nor base64"),
        ({"data": [{"index": 0, "embedding": [[1, 2], [3, 4]]}]}, "pooling"),
        ({"data": [{"index": 0, "embedding": []}]}, "shape"),
        ({"data": [{"index": 0}]}, "shape"),
        ({"data": [{"index": 0, "embedding": ["a"]}]}, "neither numbers nor base64"),
        ({"data": []}, "1 texts were sent, 0 vectors came back"),
        ({"data": [{"index": 7, "embedding": [1]}]}, "numbered"),
        ({"data": None}, "no vectors"),
        ({}, "no vectors"),
    ],
)
def test_vectors_that_cannot_be_used_are_told(
    server: FakeOpenAI, embedding: OpenAIEmbedding, answer: object, words: str
) -> None:
    server.json(answer)
    with pytest.raises(ProviderError, match=words) as caught:
        embedding.embed(["a"])
    assert caught.value.hint


def test_an_index_that_comes_twice_is_told(server: FakeOpenAI, embedding: OpenAIEmbedding) -> None:
    server.json({"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [2]}]})
    with pytest.raises(ProviderError, match="numbered"):
        embedding.embed(["a", "b"])


def test_vectors_of_different_lengths_are_told(server: FakeOpenAI, embedding: OpenAIEmbedding) -> None:
    server.json({"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]})
    with pytest.raises(ProviderError, match="different lengths"):
        embedding.embed(["a", "b"])


def test_a_dimension_that_changes_is_told(server: FakeOpenAI, client: OpenAIClient) -> None:
    embedding = OpenAIEmbedding(client, "fake")
    assert embedding.embed(["a"]).shape == (1, 8)
    server.dimension = 4
    with pytest.raises(ProviderError, match="4 numbers instead of 8"):
        embedding.embed(["a"])
    with pytest.raises(ProviderError, match="4 numbers instead of 384"):
        OpenAIEmbedding(client, "fake", dimension=384).embed(["a"])


def test_no_texts_ask_nobody(server: FakeOpenAI, client: OpenAIClient) -> None:
    assert OpenAIEmbedding(client, "fake", dimension=384).embed([]).shape == (0, 384)
    assert server.requests == []
