"""The contracts of models notice every broken embedder, reranker, chat and vision model."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from lilbee_core.errors import InputTooLong
from lilbee_core.testing import HashEmbedder, HashProvider, ScriptedChat, ScriptedReranker
from lilbee_core.testing.contracts import (
    ChatProviderContract,
    EmbedderContract,
    EmbeddingProviderContract,
    RerankerContract,
    RerankProviderContract,
    VisionProviderContract,
)
from lilbee_core.types import Delta
from tests.core.testing._breaking import checks_of, fails, rows, run

counter = itertools.count()
Change = Callable[[Any], Any]


def constant(vectors: Any) -> Any:
    changed = np.zeros_like(vectors)
    changed[..., 0] = 1
    return changed


def noisy(vectors: Any) -> Any:
    changed = vectors.copy()
    changed[..., next(counter) % 8] += 0.5
    return changed


def mixed(vectors: Any) -> Any:
    """Let each row depend on its neighbors, as a batch with padding does."""
    return vectors + np.roll(vectors, 1, axis=0) if vectors.ndim == 2 and len(vectors) > 1 else vectors


def embedder(change: Change | None = None, *names: str, **attributes: Any) -> Callable[[], HashEmbedder]:
    """Return a maker of embedders whose results are changed, by all methods or the named ones."""

    class Broken(HashEmbedder):
        pass

    for name in names or ("embed", "embed_batch", "embed_query", "embed_query_batch"):
        if change is not None:
            healthy = getattr(HashEmbedder, name)
            setattr(Broken, name, lambda self, given, healthy=healthy: change(healthy(self, given)))
    for name, value in attributes.items():
        setattr(Broken, name, value)

    def make() -> HashEmbedder:
        made = Broken()
        for name, value in attributes.items():
            if not callable(value):
                setattr(made, name, value)
        return made

    return make


def once(self: HashEmbedder) -> None:
    assert not self.closed, "closed already"
    self.closed = True


def prints() -> HashEmbedder:
    return HashEmbedder(model=f"fake/{next(counter)}")


EMBEDDER: dict[str, Any] = {
    "test_it_says_what_it_is": [
        embedder(model=""),
        embedder(fingerprint=None),
        embedder(dimension=0),
        embedder(max_tokens=0),
        embedder(languages=["en"]),
    ],
    "test_equal_embedders_share_a_fingerprint": prints,
    "test_rows_have_unit_length": [
        embedder(lambda vectors: vectors * np.float32(2)),
        embedder(lambda vectors: vectors * np.float32(2), "embed_query_batch"),
        embedder(lambda vectors: vectors.astype(np.float64)),
        embedder(lambda vectors: vectors.tolist()),
        embedder(lambda vectors: vectors[:-1], "embed_batch"),
        embedder(lambda vectors: vectors[:, :3], "embed_batch"),
        embedder(lambda vectors: vectors * np.float32(math.nan)),
    ],
    "test_one_text_gives_one_vector": [
        embedder(lambda vector: vector[None], "embed"),
        embedder(lambda vector: vector.astype(np.float64), "embed_query"),
    ],
    "test_a_batch_is_its_texts": [
        embedder(lambda vectors: vectors[::-1], "embed_batch"),
        embedder(mixed, "embed_batch"),
        embedder(mixed, "embed_query_batch"),
        embedder(constant, "embed"),
    ],
    "test_same_text_same_vector": embedder(noisy, "embed_batch"),
    "test_no_texts_give_no_rows": [
        embedder(lambda vectors: vectors[:, :5], "embed_batch"),
        embedder(lambda vectors: vectors.reshape(-1), "embed_query_batch"),
    ],
    "test_different_texts_differ": embedder(constant),
    "test_tokens_can_be_counted": [
        embedder(count_tokens=lambda self, text: 1),
        embedder(count_tokens=lambda self, text: 0, token_starts=lambda self, text: ()),
        embedder(count_tokens=lambda self, text: 2 * bool(text), token_starts=lambda self, text: (0, 0)[: bool(text)]),
        embedder(count_tokens=lambda self, text: 2 * bool(text), token_starts=lambda self, text: (1, 0)),
        embedder(count_tokens=lambda self, text: 1 * bool(text), token_starts=lambda self, text: (len(text),)),
    ],
    "test_longer_texts_have_more_tokens": embedder(count_tokens=lambda self, text: min(256, len(text.split()))),
    "test_it_closes_twice": embedder(close=once),
}


def provider(change: Change) -> Callable[[], HashProvider]:
    class Broken(HashProvider):
        def embed(self, texts: Sequence[str]) -> Any:
            return change(super().embed(texts))

    return Broken


class Picky(HashProvider):
    """Gives half of a long text's row."""

    def embed(self, texts: Sequence[str]) -> Any:
        if any(len(text) > 50_000 for text in texts):
            return np.zeros((0, 3), np.float32)
        return super().embed(texts)


class Refuses(HashProvider):
    def embed(self, texts: Sequence[str]) -> Any:
        if any(len(text) > 50_000 for text in texts):
            raise InputTooLong("too long", hint="Cut it.")
        return super().embed(texts)


PROVIDER: dict[str, Any] = {
    "test_every_text_has_a_row": [
        provider(lambda vectors: vectors[1:]),
        provider(lambda vectors: vectors.astype(np.float64)),
        provider(lambda vectors: np.full_like(vectors, math.inf)),
    ],
    "test_rows_stand_in_order": provider(mixed),
    "test_same_text_same_row": provider(noisy),
    "test_no_texts_give_no_rows": provider(lambda vectors: vectors if len(vectors) else np.zeros((1, 64))),
    "test_different_texts_differ": provider(constant),
    "test_a_long_text_is_read_or_refused": Picky,
}


def reranker(change: Callable[[tuple[float, ...]], Any], **attributes: Any) -> Callable[[], ScriptedReranker]:
    class Broken(ScriptedReranker):
        def score(self, query: str, texts: Sequence[str]) -> Any:
            return change(super().score(query, texts))

    def make() -> ScriptedReranker:
        made = Broken()
        for name, value in attributes.items():
            setattr(made, name, value)
        return made

    return make


def by_place(scores: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(score + at for at, score in enumerate(scores))


SCORING: dict[str, Any] = {
    "test_every_text_has_a_score": [
        reranker(list),
        reranker(lambda scores: scores[1:]),
        reranker(lambda scores: tuple(math.nan for _ in scores)),
        reranker(lambda scores: tuple(np.float32(score) for score in scores)),
    ],
    "test_scores_stand_in_order": reranker(by_place),
    "test_same_texts_same_scores": reranker(lambda scores: tuple(one + next(counter) for one in scores)),
    "test_no_texts_give_no_scores": reranker(lambda scores: scores or (0.5,)),
    "test_the_better_text_scores_higher": reranker(lambda scores: tuple(1 - one for one in scores)),
}
RERANKER: dict[str, Any] = {
    **SCORING,
    "test_it_says_what_it_is": reranker(lambda scores: scores, model=""),
    "test_scores_lie_between_0_and_1": reranker(lambda scores: tuple(one * 10 for one in scores)),
}


class Chat(ScriptedChat):
    """A chat to break."""


def chat(*deltas: Any) -> Callable[[], ScriptedChat]:
    return lambda: Chat(list(deltas))


class NoOptions(Chat):
    def chat(self, messages: Any, options: Any = None) -> Iterator[Delta]:
        return iter(()) if options is not None else super().chat(messages)


class Unstoppable(Chat):
    def chat(self, messages: Any, options: Any = None) -> Any:
        return [Delta(kind="text", text="a"), Delta(kind="text", text="b")].__iter__()


class Deaf:
    """Goes on after it was closed."""

    def __iter__(self) -> Deaf:
        return self

    def __next__(self) -> Delta:
        return Delta(kind="text", text="on and on")

    def close(self) -> None:
        return


class GoesOn(Chat):
    def chat(self, messages: Any, options: Any = None) -> Any:
        return Deaf()


class OnceOnly(Chat):
    def chat(self, messages: Any, options: Any = None) -> Any:
        return iter(()) if self.requests else super().chat(messages)


CHAT: dict[str, Any] = {
    "test_it_answers_in_pieces": [
        chat(),
        chat("text"),
        chat(Delta(kind="done", text="Bees.")),
        chat(Delta(kind="reasoning", text="Hm.")),
    ],
    "test_options_are_accepted": NoOptions,
    "test_a_reply_can_be_abandoned": [Unstoppable, GoesOn],
    "test_it_answers_again": OnceOnly,
}


@dataclass
class Vision:
    """Reads what the test says."""

    text: Any = "bees"
    prompted: Any = "bees"

    def read(self, image: bytes, *, prompt: str = "") -> Any:
        return self.prompted if prompt else self.text


VISION: dict[str, Any] = {
    "test_it_reads_its_samples": [lambda: Vision(text=None), lambda: Vision(text=" ")],
    "test_a_prompt_is_accepted": lambda: Vision(prompted=""),
}

SUITES: list[tuple[type, dict[str, Any]]] = [
    (EmbedderContract, EMBEDDER),
    (EmbeddingProviderContract, PROVIDER),
    (RerankerContract, RERANKER),
    (RerankProviderContract, SCORING),
    (ChatProviderContract, CHAT),
    (VisionProviderContract, VISION),
]
IMAGES = {"images": lambda: [b"png"]}


@pytest.mark.parametrize(("contract", "cases"), SUITES)
def test_every_check_is_broken_once(contract: type, cases: dict[str, Any]) -> None:
    assert set(cases) == checks_of(contract)


@pytest.mark.parametrize(("contract", "check", "make"), [row for suite in SUITES for row in rows(*suite)])
def test_a_broken_one_fails(contract: type, check: str, make: Callable[[], Any]) -> None:
    fails(contract, check, make, **(IMAGES if contract is VisionProviderContract else {}))


@pytest.mark.parametrize("check", sorted(VISION))
def test_a_good_vision_model_passes(check: str) -> None:
    run(VisionProviderContract, check, Vision, **IMAGES)


def test_a_vision_contract_needs_samples() -> None:
    fails(VisionProviderContract, "test_it_reads_its_samples", Vision, images=list)


def test_a_provider_may_refuse_a_long_text() -> None:
    run(EmbeddingProviderContract, "test_a_long_text_is_read_or_refused", Refuses)
