"""What every embedder, reranker, chat model and vision model keeps to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from lilbee_core.errors import LilbeeError
from lilbee_core.testing.contracts._tools import UNICODE, check_close, check_name, check_number, check_vectors
from lilbee_core.types import ChatOptions, Delta, Message

if TYPE_CHECKING:
    from lilbee_core.protocols import (
        ChatProvider,
        EmbedderLike,
        EmbeddingProvider,
        RerankerLike,
        RerankProvider,
        VisionProvider,
    )

TEXTS = ("Bees find home by the sun.", "Honey keeps for years.", "a", *UNICODE, "word " * 2000)
_QUERY = "how do bees find home?"


class EmbedderContract(ABC):
    """Checks for an `EmbedderLike`: unit rows in order, each text on its own, tokens that can be counted."""

    @abstractmethod
    def make(self) -> EmbedderLike:
        """Return a new embedder."""

    def texts(self) -> Sequence[str]:
        """Return the texts that it is tried on."""
        return TEXTS

    # ------------------------------------------------------------------ the checks

    def test_it_says_what_it_is(self) -> None:
        embedder = self.make()
        check_name(embedder.model, "the model")
        check_name(embedder.fingerprint, "the fingerprint")
        assert embedder.dimension > 0, f"the dimension is {embedder.dimension}"
        assert embedder.max_tokens > 0, f"it reads {embedder.max_tokens} tokens"
        assert isinstance(embedder.languages, tuple), "languages is not a tuple"

    def test_equal_embedders_share_a_fingerprint(self) -> None:
        assert self.make().fingerprint == self.make().fingerprint, "two equal embedders have two fingerprints"

    def test_rows_have_unit_length(self) -> None:
        import numpy as np

        embedder = self.make()
        for vectors in (embedder.embed_batch(self.texts()), embedder.embed_query_batch(self.texts())):
            check_vectors(vectors, len(self.texts()), embedder.dimension, "the embedder")
            lengths = np.linalg.norm(vectors, axis=1)
            assert np.abs(lengths - 1).max() < 1e-3, f"rows have the lengths {lengths.tolist()}"

    def test_one_text_gives_one_vector(self) -> None:
        embedder = self.make()
        for vector in (embedder.embed(_QUERY), embedder.embed_query(_QUERY)):
            check_vectors(vector[None], 1, embedder.dimension, "the embedder")

    def test_a_batch_is_its_texts(self) -> None:
        import numpy as np

        embedder, texts = self.make(), self.texts()
        alone = np.stack([embedder.embed(text) for text in texts])
        check_close(embedder.embed_batch(texts), alone, "texts alone and in a batch", tolerance=1e-3)
        check_close(embedder.embed_batch(texts[::-1])[::-1], alone, "a batch in another order", tolerance=1e-3)
        queries = np.stack([embedder.embed_query(text) for text in texts])
        check_close(embedder.embed_query_batch(texts), queries, "queries alone and in a batch", tolerance=1e-3)

    def test_same_text_same_vector(self) -> None:
        check_close(self.make().embed_batch(self.texts()), self.make().embed_batch(self.texts()), "the same texts")

    def test_no_texts_give_no_rows(self) -> None:
        embedder = self.make()
        check_vectors(embedder.embed_batch([]), 0, embedder.dimension, "an empty batch")
        check_vectors(embedder.embed_query_batch([]), 0, embedder.dimension, "an empty batch of queries")

    def test_different_texts_differ(self) -> None:
        first, second = self.make().embed_batch(self.texts()[:2])
        assert float(first @ second) < 0.999, "two texts have the same vector"

    def test_tokens_can_be_counted(self) -> None:
        embedder = self.make()
        assert embedder.count_tokens("") == 0, f"no text has {embedder.count_tokens('')} tokens"
        for text in self.texts():
            starts = list(embedder.token_starts(text))
            count = embedder.count_tokens(text)
            assert len(starts) == count, f"{text[:30]!r} has {count} tokens and {len(starts)} starts"
            assert count > 0, f"{text[:30]!r} has no tokens"
            assert all(a <= b for a, b in pairwise(starts)), f"the starts of {text[:30]!r} go back"
            assert 0 <= starts[0] <= starts[-1] < len(text), f"a token starts outside {text[:30]!r}"

    def test_longer_texts_have_more_tokens(self) -> None:
        embedder = self.make()
        counts = [embedder.count_tokens("bees find home " * times) for times in (1, 10, 1000, 2000)]
        assert counts == sorted(set(counts)), f"texts of growing length have {counts} tokens: is one cut off?"

    def test_it_closes_twice(self) -> None:
        embedder = self.make()
        embedder.close()
        embedder.close()


class EmbeddingProviderContract(ABC):
    """Checks for an `EmbeddingProvider`: a row for every text, in order. Rows need not have unit length."""

    @abstractmethod
    def make(self) -> EmbeddingProvider:
        """Return a new provider."""

    def texts(self) -> Sequence[str]:
        """Return the texts that it is tried on."""
        return TEXTS[:-1]

    # ------------------------------------------------------------------ the checks

    def test_every_text_has_a_row(self) -> None:
        check_vectors(self.make().embed(self.texts()), len(self.texts()), None, "the provider")

    def test_rows_stand_in_order(self) -> None:
        there, back = self.make().embed(self.texts()), self.make().embed(self.texts()[::-1])
        check_close(there, back[::-1], "a batch in another order", tolerance=1e-2)

    def test_same_text_same_row(self) -> None:
        check_close(self.make().embed(self.texts()), self.make().embed(self.texts()), "the same texts")

    def test_no_texts_give_no_rows(self) -> None:
        vectors = self.make().embed([])
        assert len(vectors) == 0, f"no texts gave {len(vectors)} rows"

    def test_different_texts_differ(self) -> None:
        first, second = self.make().embed(self.texts()[:2])
        assert (first != second).any(), "two texts have the same vector"

    def test_a_long_text_is_read_or_refused(self) -> None:
        try:
            vectors = self.make().embed(["word " * 20_000])
        except LilbeeError:
            return
        check_vectors(vectors, 1, None, "a long text")


class _ScoringContract(ABC):
    """What rerankers and their providers have in common."""

    texts = ("Bees find home by the sun.", "Honey keeps for years.", "How do bees find home? By the sun.", *UNICODE)

    @abstractmethod
    def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the scores of the texts."""

    # ------------------------------------------------------------------ the checks

    def test_every_text_has_a_score(self) -> None:
        scores: object = self.scores(_QUERY, self.texts)
        assert isinstance(scores, tuple), f"it gave {type(scores).__name__}, not a tuple"
        found = self.scores(_QUERY, self.texts)
        assert len(found) == len(self.texts), f"{len(self.texts)} texts have {len(found)} scores"
        for score in found:
            check_number(score, "the reranker")

    def test_scores_stand_in_order(self) -> None:
        there, back = self.scores(_QUERY, self.texts), self.scores(_QUERY, self.texts[::-1])
        assert all(abs(a - b) < 1e-2 for a, b in zip(there, back[::-1], strict=True)), (
            "the order of the texts changed scores"
        )

    def test_same_texts_same_scores(self) -> None:
        first, second = self.scores(_QUERY, self.texts), self.scores(_QUERY, self.texts)
        assert all(abs(a - b) < 1e-4 for a, b in zip(first, second, strict=True)), "the same texts got other scores"

    def test_no_texts_give_no_scores(self) -> None:
        assert self.scores(_QUERY, ()) == (), "no texts got scores"

    def test_the_better_text_scores_higher(self) -> None:
        scores = self.scores(_QUERY, self.texts)
        assert scores[2] > scores[1], f"the text that answers got {scores[2]}, the other one {scores[1]}"


class RerankProviderContract(_ScoringContract):
    """Checks for a `RerankProvider`: any scale, higher is better."""

    @abstractmethod
    def make(self) -> RerankProvider:
        """Return a new provider."""

    def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return self.make().rank(query, texts)


class RerankerContract(_ScoringContract):
    """Checks for a `RerankerLike`: scores from 0 to 1."""

    @abstractmethod
    def make(self) -> RerankerLike:
        """Return a new reranker."""

    def scores(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return self.make().score(query, texts)

    def test_it_says_what_it_is(self) -> None:
        check_name(self.make().model, "the model")

    def test_scores_lie_between_0_and_1(self) -> None:
        scores = self.scores(_QUERY, self.texts)
        assert all(0 <= score <= 1 for score in scores), f"the scores are {scores}"


class ChatProviderContract(ABC):
    """Checks for a `ChatProvider`: pieces of text that make an answer, and an end whenever the caller wants."""

    messages = (
        Message(role="system", content="Answer in one word."),
        Message(role="user", content="Which animal makes honey?"),
    )

    @abstractmethod
    def make(self) -> ChatProvider:
        """Return a new provider that answers something to `messages`."""

    # ------------------------------------------------------------------ the checks

    def test_it_answers_in_pieces(self) -> None:
        deltas = list(self.make().chat(self.messages))
        assert deltas, "it answered nothing"
        for delta in deltas:
            assert isinstance(delta, Delta), f"it gave {type(delta).__name__}, not a Delta"
            assert delta.kind in {"text", "reasoning", "usage"}, f"a provider has no business with {delta.kind!r}"
        assert "".join(delta.text for delta in deltas if delta.kind == "text").strip(), "the answer has no text"

    def test_options_are_accepted(self) -> None:
        options = ChatOptions(temperature=0.5, max_tokens=50, stop=("###",))
        assert list(self.make().chat(self.messages, options)), "it answered nothing"

    def test_a_reply_can_be_abandoned(self) -> None:
        provider = self.make()
        reply = provider.chat(self.messages)
        list(islice(reply, 1))
        close = getattr(reply, "close", None)
        assert callable(close), "the reply cannot be closed: give a generator"
        close()
        assert next(reply, None) is None, "it went on after the caller had closed it"

    def test_it_answers_again(self) -> None:
        provider = self.make()
        longer = (*self.messages, Message(role="assistant", content="Bees."), Message(role="user", content="Sure?"))
        assert list(provider.chat(self.messages)), "it answered nothing"
        assert list(provider.chat(longer)), "it answered nothing the second time"


class VisionProviderContract(ABC):
    """Checks for a `VisionProvider`: give the provider in `make`, and page images (PNG) in `images`."""

    @abstractmethod
    def make(self) -> VisionProvider:
        """Return a new provider."""

    @abstractmethod
    def images(self) -> Sequence[bytes]:
        """Return at least one page image with text on it."""

    # ------------------------------------------------------------------ the checks

    def test_it_reads_its_samples(self) -> None:
        assert self.images(), "give at least one image"
        for image in self.images():
            text: object = self.make().read(image)
            assert isinstance(text, str), f"read returned {type(text).__name__}, not text"
            assert text.strip(), "it read nothing"

    def test_a_prompt_is_accepted(self) -> None:
        assert self.make().read(self.images()[0], prompt="Copy the text.").strip(), "it read nothing"
