"""The embedder around a provider: prefixes, calls, caches, checks (R074, R078)."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.embed import Embedder, EmbeddingCache, MiniLM
from lilbee_core.embed._batches import batches, halves, unit_rows
from lilbee_core.errors import InputTooLong, ProviderError, ProviderUnavailable
from lilbee_core.protocols import TokenEmbedder
from lilbee_core.text import EstimatedTokens


class Server:
    """A provider somewhere else: vectors by content, not normalized, with a record of every call."""

    def __init__(self, dimension: int = 8, max_chars: int | None = None) -> None:
        self.dimension_of_server = dimension
        self.max_chars = max_chars
        self.calls: list[list[str]] = []
        self.closed = 0
        self.reply: Any = None
        self.lock = threading.Lock()

    @property
    def texts(self) -> list[str]:
        return [text for call in self.calls for text in call]

    def embed(self, texts: Sequence[str]) -> Any:
        with self.lock:
            self.calls.append(list(texts))
        if self.reply is not None:
            return self.reply
        if self.max_chars is not None and any(len(text) > self.max_chars for text in texts):
            raise InputTooLong(f"one of {len(texts)} inputs is too long")
        return np.stack([self.vector(text) for text in texts])

    def vector(self, text: str) -> Any:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
        return np.random.default_rng(seed).normal(size=self.dimension_of_server).astype(np.float32) * 7

    def close(self) -> None:
        self.closed += 1


def embedder(server: Server, model: str = "openai/bge-m3", **options: Any) -> Embedder:
    return Embedder(server, model=model, **{"dimension": server.dimension_of_server, **options})


def unit(vector: Any) -> Any:
    return vector / np.linalg.norm(vector)


# The four calls


def test_the_four_calls_and_their_prefixes() -> None:
    server = Server()
    subject = embedder(server, "openai/e5-small")
    assert np.allclose(subject.embed_query("bee"), unit(server.vector("query: bee")), atol=1e-6)
    assert np.allclose(subject.embed("bee"), unit(server.vector("passage: bee")), atol=1e-6)
    assert subject.embed_query_batch(["a", "b", "c"]).shape == (3, 8)
    assert subject.embed_batch(["a", "b"]).shape == (2, 8)
    assert server.calls == [
        ["query: bee"],
        ["passage: bee"],
        ["query: a", "query: b", "query: c"],
        ["passage: a", "passage: b"],
    ]


def test_instructions_go_before_queries_only() -> None:
    server = Server()
    subject = embedder(server, "ollama/qwen3-embedding:0.6b")
    subject.embed_query("bee")
    subject.embed("hive")
    assert server.texts[0].startswith("Instruct: ")
    assert server.texts[0].endswith("\nQuery: bee")
    assert server.texts[1] == "hive"


def test_rows_are_of_unit_length_in_the_order_of_the_texts() -> None:
    server = Server()
    subject = embedder(server, batch_size=3)
    texts = [f"text {number % 7}" for number in range(20)]
    vectors = subject.embed_batch(texts)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(vector, unit(server.vector(text)), atol=1e-6)


def test_nothing_in_nothing_out() -> None:
    server = Server()
    subject = embedder(server)
    assert subject.embed_batch([]).shape == subject.embed_query_batch([]).shape == (0, 8)
    assert server.calls == []


# Calls that are not made


def test_equal_texts_of_a_batch_go_out_once() -> None:
    server = Server()
    embedder(server).embed_batch(["a", "b", "a", "a"])
    assert server.calls == [["a", "b"]]


def test_the_latest_queries_are_remembered() -> None:
    server = Server()
    subject = embedder(server, remembered_queries=2)
    first = subject.embed_query("a")
    subject.embed_query_batch(["a", "b"])
    assert server.calls == [["a"], ["b"]]
    subject.embed_query_batch(["a", "c"])  # pushes b out
    assert (subject.embed_query("a") == first).all()
    assert server.calls == [["a"], ["b"], ["c"]]
    subject.embed_query("b")
    assert server.calls[3:] == [["b"]]


def test_what_a_caller_does_to_a_vector_stays_with_the_caller(tmp_path: Path) -> None:
    with embedder(Server(), cache=EmbeddingCache(tmp_path / "cache.sqlite")) as subject:
        for call in (subject.embed_query, subject.embed):
            before = call("bee").copy()
            call("bee")[:] = 0
            assert (call("bee") == before).all()


def test_documents_are_cached_across_restarts_and_queries_are_not(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(30)]
    first = Server()
    with embedder(first, cache=EmbeddingCache(tmp_path / "cache.sqlite")) as subject:
        before = subject.embed_batch(texts)
        subject.embed_query("query")
    second = Server()
    with embedder(second, cache=EmbeddingCache(tmp_path / "cache.sqlite")) as subject:
        assert (subject.embed_batch(texts) == before).all()
        assert second.calls == []
        assert (subject.embed_batch([*texts, "new"])[:-1] == before).all()
        subject.embed_query("query")
    assert second.calls == [["new"], ["query"]]


def test_another_model_dimension_or_family_is_another_entry(tmp_path: Path) -> None:
    for model, dimension in (("openai/bge-m3", 8), ("openai/nomic", 8), ("openai/bge-m3", 6), ("openai/e5-base", 8)):
        server = Server(dimension)
        with embedder(server, model, cache=EmbeddingCache(tmp_path / "cache.sqlite")) as subject:
            subject.embed("bee")
            subject.embed("bee")
        assert len(server.calls) == 1


def test_a_cache_that_cannot_be_used_costs_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    server = Server()
    with (
        caplog.at_level(logging.WARNING),
        embedder(server, cache=EmbeddingCache(tmp_path / "file" / "cache.sqlite")) as subject,
    ):
        assert subject.embed("bee").shape == (8,)
        assert subject.embed("bee").shape == (8,)
    assert len(server.calls) == 2
    assert len(caplog.records) == 1


# Requests


def test_requests_are_cut_by_count_and_characters() -> None:
    server = Server()
    embedder(server, batch_size=4, batch_chars=100).embed_batch(
        ["x" * 30 + str(n) for n in range(7)] + ["y" * 500, "z"]
    )
    assert [len(call) for call in server.calls] == [3, 3, 1, 1, 1]


@given(lengths=st.lists(st.integers(0, 50), max_size=40), count=st.integers(1, 10), chars=st.integers(1, 120))
def test_batches_hold_their_limits_and_lose_nothing(lengths: list[int], count: int, chars: int) -> None:
    texts = ["x" * length for length in lengths]
    runs = list(batches(texts, max_texts=count, max_chars=chars))
    assert [index for run in runs for index in run] == list(range(len(texts)))
    for run in runs:
        assert 1 <= len(run) <= count
        assert len(run) == 1 or sum(lengths[index] for index in run) <= chars


def test_requests_may_run_side_by_side() -> None:
    together = threading.Barrier(3, timeout=30)

    class Waiting(Server):
        def embed(self, texts: Sequence[str]) -> Any:
            together.wait()
            return super().embed(texts)

    server = Waiting()
    texts = [f"text {number}" for number in range(6)]
    vectors = embedder(server, batch_size=2, concurrency=3).embed_batch(texts)
    assert len(server.calls) == 3
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(vector, unit(server.vector(text)), atol=1e-6)


def test_a_failing_request_is_raised_as_it_is() -> None:
    class Down(Server):
        def embed(self, texts: Sequence[str]) -> Any:
            raise ProviderUnavailable("nobody listens at 127.0.0.1:1", hint="Start the server")

    with pytest.raises(ProviderUnavailable, match="nobody listens"):
        embedder(Down(), batch_size=1, concurrency=2).embed_batch(["a", "b", "c"])


@pytest.mark.parametrize("option", ["batch_size", "batch_chars", "concurrency"])
def test_sizes_must_be_positive(option: str) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        embedder(Server(), **{option: 0})


# Too long


def test_a_text_that_is_refused_as_too_long_is_split_and_its_neighbors_are_not() -> None:
    server = Server(max_chars=120)
    long = "one two three four five six seven eight nine ten " * 4
    texts = ["a", "b", long, "c"]
    vectors = embedder(server).embed_batch(texts)
    for text, vector in zip(texts, vectors, strict=True):
        if text != long:
            assert np.allclose(vector, unit(server.vector(text)), atol=1e-6)
    left, right = halves(long)
    expected = unit(server.vector(left)) * len(left) + unit(server.vector(right)) * len(right)
    assert np.allclose(vectors[2], unit(expected), atol=1e-5)


def test_each_part_carries_the_prefix() -> None:
    server = Server(max_chars=100)
    embedder(server, "openai/e5-base").embed("bee " * 40)
    assert all(text.startswith("passage: ") for text in server.texts)


def test_a_short_text_that_is_still_too_long_is_an_error() -> None:
    with pytest.raises(InputTooLong):
        embedder(Server(max_chars=3)).embed("short text")


@given(text=st.text(min_size=64))
def test_halves_are_a_cut_at_white_space_or_in_the_middle(text: str) -> None:
    left, right = halves(text)
    assert left
    assert right
    assert len(text) - len(left) - len(right) in (0, 1)
    assert text.startswith(left)
    assert text.endswith(right)


# What comes back


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (np.array([[1.0, np.nan, 0, 0, 0, 0, 0, 0]] * 2), "not finite for text 1 of 2"),
        (np.array([[1.0] * 8, [np.inf] * 8]), "not finite for text 2 of 2"),
        (np.array([[1.0] * 8, [0.0] * 8]), "zero for text 2 of 2"),
        (np.ones((3, 8)), r"shape \(3, 8\) for 2 texts"),
        (np.ones(8), r"shape \(8,\) for 2 texts"),
        (np.ones((2, 5)), "vectors of 5 numbers instead of 8"),
        (np.ones((2, 0)), "vectors of 0 numbers instead of 8"),
        ([[1.0, 2.0], [1.0]], "something else than vectors"),
        ("nonsense", "something else than vectors"),
    ],
)
def test_vectors_that_cannot_be_right_are_refused(reply: Any, message: str, tmp_path: Path) -> None:
    server = Server()
    server.reply = reply
    with embedder(server, cache=EmbeddingCache(tmp_path / "cache.sqlite")) as subject:
        with pytest.raises(ProviderError, match=message) as caught:
            subject.embed_batch(["a", "b"])
        assert "openai/bge-m3" in caught.value.message
        assert caught.value.hint
        server.reply = None
        assert subject.embed_batch(["a", "b"]).shape == (2, 8)  # nothing wrong was kept


@pytest.mark.parametrize("size", [1e-30, 1e-38, 1e30, 3e38])
def test_tiny_and_huge_vectors_keep_their_direction(size: float) -> None:
    rows = unit_rows(np.array([[3 * size, 4 * size]]) / 4, count=1, dimension=2, model="m")
    assert np.allclose(rows, [[0.6, 0.8]])


def test_lists_will_do() -> None:
    server = Server(2)
    server.reply = [[3, 4]]
    assert np.allclose(embedder(server).embed("a"), [0.6, 0.8])


# What it says about itself


def test_an_unknown_dimension_is_asked_for_once() -> None:
    server = Server(12)
    subject = Embedder(server, model="openai/bge-m3")
    assert server.calls == []
    assert subject.dimension == subject.dimension == 12
    assert len(server.calls) == 1


def test_the_first_vectors_tell_the_dimension_too() -> None:
    server = Server(12)
    subject = Embedder(server, model="openai/bge-m3")
    subject.embed("bee")
    assert subject.dimension == 12
    assert server.calls == [["bee"]]
    server.dimension_of_server = 5
    with pytest.raises(ProviderError, match="5 numbers instead of 12"):
        subject.embed("hive")


def test_fingerprints_of_remote_embedders() -> None:
    server = Server()
    assert embedder(server, "ollama/bge-m3").fingerprint == "ollama/bge-m3/8/plain"
    assert embedder(server, "openai/e5-base").fingerprint == "openai/e5-base/8/e5"
    assert (
        embedder(server, "org/repo/Qwen3-Embedding-Q8.gguf").fingerprint
        == "org/repo/Qwen3-Embedding-Q8.gguf/8/instruct"
    )
    # The same file is the same model wherever it lies.
    assert embedder(server, "/home/bee/bge.gguf").fingerprint == "gguf/bge.gguf/8/plain"
    assert embedder(server, "C:\\models\\bge.gguf").fingerprint == "gguf/bge.gguf/8/plain"


def test_a_remote_embedder_estimates_tokens() -> None:
    subject = embedder(Server())
    text = "How do bees find their way home? " * 20
    assert subject.count_tokens(text) == EstimatedTokens().count_tokens(text) == -int(-len(text) // 3.5)
    assert list(subject.token_starts(text)) == list(EstimatedTokens().token_starts(text))
    assert (subject.max_tokens, subject.languages, subject.kind) == (512, (), "estimated")
    told = embedder(Server(), max_tokens=8192, languages=("de",))
    assert (told.max_tokens, told.languages) == (8192, ("de",))
    assert not isinstance(subject, TokenEmbedder)


def test_closing_closes_provider_and_cache(tmp_path: Path) -> None:
    server, cache = Server(), EmbeddingCache(tmp_path / "cache.sqlite")
    with embedder(server, cache=cache) as subject:
        subject.embed("bee")
    assert server.closed == 1
    with pytest.raises(ValueError, match="closed"):
        cache.get([b"key"])


# Around the built-in model


def test_the_built_in_model_speaks_for_itself(minilm: MiniLM) -> None:
    subject = Embedder(minilm, model="builtin/all-MiniLM-L6-v2", batch_size=1)
    assert subject.fingerprint == minilm.fingerprint
    assert (subject.dimension, subject.max_tokens, subject.languages) == (384, 256, ("en",))
    text = "Unbelievable waggle dances"
    assert subject.count_tokens(text) == minilm.count_tokens(text)
    assert list(subject.token_starts(text)) == list(minilm.token_starts(text))
    assert isinstance(subject, TokenEmbedder)
    assert (subject.token_vectors(text) == minilm.token_vectors(text)).all()


def test_the_built_in_models_vectors_do_not_depend_on_neighbors(minilm: MiniLM) -> None:
    subject = Embedder(minilm, model="builtin/all-MiniLM-L6-v2")
    texts = ["bee", "", "The hive is quiet at night.", "Pollen is protein. " * 60]
    together = subject.embed_batch(texts)
    assert np.allclose(together, minilm.embed(texts), atol=1e-6)
    for text, vector in zip(texts, together, strict=True):
        assert (subject.embed(text) == vector).all()
        assert (subject.embed_query(text) == vector).all()
