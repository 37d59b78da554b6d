import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.errors import ProviderError
from lilbee_core.rerank import Reranker
from lilbee_core.testing.contracts import RerankerContract


class Provider:
    """Scores what the test says, and remembers what it was asked."""

    def __init__(self, *scores: float) -> None:
        self.scores = scores
        self.batches: list[list[str]] = []

    def rank(self, query: str, texts: list[str]) -> tuple[float, ...]:
        start = sum(map(len, self.batches))
        self.batches.append(list(texts))
        return self.scores[start : start + len(texts)]


class Words:
    """Scores by shared words, as logits."""

    def rank(self, query: str, texts: list[str]) -> tuple[float, ...]:
        return tuple(float(len(set(query.lower().split()) & set(text.lower().split()))) - 1 for text in texts)


class TestReranker(RerankerContract):
    def make(self) -> Reranker:
        return Reranker(Words(), model="fake/words", batch_size=2)


def test_logits_become_shares_of_one_in_order():
    scores = Reranker(Provider(0.0, 2.0, -800.0, 800.0), model="m").score("q", ["a", "b", "c", "d"])

    assert scores == (0.5, pytest.approx(1 / (1 + math.exp(-2))), pytest.approx(0), pytest.approx(1))


def test_scores_from_0_to_1_are_kept_and_clipped():
    assert Reranker(Provider(0.25, 1.5, -1.0), model="m", scale="unit").score("q", "abc") == (0.25, 1.0, 0.0)


def test_texts_go_in_batches():
    provider = Provider(*map(float, range(5)))
    scores = Reranker(provider, model="m", batch_size=2).score("q", list("abcde"))

    assert provider.batches == [["a", "b"], ["c", "d"], ["e"]]
    assert list(scores) == sorted(scores)


def test_nothing_to_score_asks_nobody():
    provider = Provider()

    assert Reranker(provider, model="m").score("q", []) == ()
    assert provider.batches == []


def test_long_texts_are_cut_between_words():
    provider = Provider(0.0, 0.0)
    Reranker(provider, model="m", max_chars=12).score("q", ["one two three four", "x" * 50])

    assert provider.batches == [["one two", "x" * 12]]


@pytest.mark.parametrize(("scores", "said"), [((1.0,), "1 scores for 2 texts"), ((float("nan"), 1.0), "score nan")])
def test_scores_that_cannot_be_used_are_the_providers_fault(scores, said):
    with pytest.raises(ProviderError, match=said) as caught:
        Reranker(Provider(*scores), model="fake/m").score("q", ["a", "b"])
    assert caught.value.hint


@pytest.mark.parametrize("wrong", [{"batch_size": 0}, {"max_chars": 0}])
def test_sizes_are_positive(wrong):
    with pytest.raises(ValueError, match="must be positive, got 0"):
        Reranker(Provider(), model="m", **wrong)


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_calibration_keeps_the_order(one, other):
    first, second = Reranker(Provider(one, other), model="m").score("q", ["a", "b"])

    assert 0 <= first <= 1
    assert (one <= other) <= (first <= second)
