"""Providers and what is made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from lilbee_core.protocols._reading import TokenCounter
from lilbee_core.types import (
    ChatOptions,
    Delta,
    Message,
    ModelDescription,
    ModelRef,
    Vector,
    Vectors,
)

if TYPE_CHECKING:
    pass


class EmbeddingProvider(Protocol):
    """Turns texts into vectors, as the model gives them (need not be normalized)."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return ``[len(texts), dimension]`` float32.

        Raises:
            ProviderError: If the model or its server fails.
        """
        ...


class RerankProvider(Protocol):
    """Scores texts against a query; higher is better, any scale."""

    def rank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]: ...


class ChatProvider(Protocol):
    """Answers a conversation, piece by piece."""

    def chat(self, messages: Sequence[Message], options: ChatOptions = ...) -> Iterator[Delta]:
        """Yield ``text`` and ``reasoning`` deltas; closing the iterator closes the request."""
        ...


class VisionProvider(Protocol):
    """Reads a page image (PNG bytes) as markdown."""

    def read(self, image: bytes, *, prompt: str = "") -> str: ...


class EmbedderLike(TokenCounter, Protocol):
    """Vectors for queries and texts, normalized, with the model's prefixes and a cache."""

    @property
    def model(self) -> str:
        """The model reference, such as ``builtin/all-MiniLM-L6-v2``."""
        ...

    @property
    def fingerprint(self) -> str:
        """Names the vector space: two embedders with the same fingerprint may share an index."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Tokens that are read of one text; the rest is cut off."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that the model reads (ISO 639-1); empty means all."""
        ...

    def embed_query(self, text: str) -> Vector: ...

    def embed_query_batch(self, texts: Sequence[str]) -> Vectors: ...

    def embed(self, text: str) -> Vector: ...

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Return ``[len(texts), dimension]`` float32 unit rows, in order."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that can also give a vector per token (late interaction)."""

    def token_vectors(self, text: str) -> Vectors:
        """Return ``[tokens, dimension]`` float32."""
        ...


class RerankerLike(Protocol):
    """Calibrated relevance of texts to a query, 0 to 1."""

    @property
    def model(self) -> str: ...

    def score(self, query: str, texts: Sequence[str]) -> tuple[float, ...]: ...


class ModelRouter(Protocol):
    """Finds the provider of a role at call time; None when the role is switched off."""

    def embedding(self) -> EmbedderLike | None: ...

    def chat(self) -> ChatProvider | None: ...

    def reranker(self) -> RerankerLike | None: ...

    def vision(self) -> VisionProvider | None: ...

    def describe(self, ref: ModelRef) -> ModelDescription: ...
