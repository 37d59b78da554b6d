"""Models of servers as searches use them: none makes a search wait for longer than its guard allows."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from lilbee_core.types import ChatOptions, Delta, Message

if TYPE_CHECKING:
    from lilbee_core.protocols import ChatProvider, EmbedderLike, RerankerLike
    from lilbee_core.providers._guard import Guard, Watch
    from lilbee_core.types import Vector, Vectors


class GuardedEmbedder:
    """An embedder whose server is called within a limit, or watched. It stays its maker's to close."""

    def __init__(self, embedder: EmbedderLike, guard: Guard | Watch) -> None:
        self._embedder = embedder
        self._guard = guard
        self._fingerprint: str | None = None
        self._dimension: int | None = None

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def max_tokens(self) -> int:
        return self._embedder.max_tokens

    @property
    def languages(self) -> tuple[str, ...]:
        return self._embedder.languages

    @property
    def fingerprint(self) -> str:
        """Names the vector space. A server whose dimension is not known is asked for it.

        Raises:
            ProviderUnavailable: If it does not answer in time.
        """
        if self._fingerprint is None:
            self._fingerprint = self._guard.call(lambda: self._embedder.fingerprint)
        return self._fingerprint

    @property
    def dimension(self) -> int:
        """Numbers in a vector.

        Raises:
            ProviderUnavailable: If the server has to be asked, and does not answer in time.
        """
        if self._dimension is None:
            self._dimension = self._guard.call(lambda: self._embedder.dimension)
        return self._dimension

    def embed_query(self, text: str) -> Vector:
        return self._guard.call(lambda: self._embedder.embed_query(text))

    def embed_query_batch(self, texts: Sequence[str]) -> Vectors:
        return self._guard.call(lambda: self._embedder.embed_query_batch(texts))

    def embed(self, text: str) -> Vector:
        return self._guard.call(lambda: self._embedder.embed(text))

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        return self._guard.call(lambda: self._embedder.embed_batch(texts))

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)

    def token_starts(self, text: str) -> Sequence[int]:
        return self._embedder.token_starts(text)

    def close(self) -> None:
        """Close nothing: whoever made the embedder closes it."""


class GuardedChat:
    """A chat model whose server is called within a limit. Threads may share it."""

    def __init__(self, chat: ChatProvider, guard: Guard) -> None:
        self._chat = chat
        self._guard = guard

    def chat(self, messages: Sequence[Message], options: ChatOptions | None = None) -> Generator[Delta]:
        """Yield the reply piece by piece.

        Raises:
            ProviderUnavailable: If a piece takes too long.
            ProviderError: If the server fails.
        """
        yield from self._guard.stream(lambda: self._chat.chat(messages, options or ChatOptions()))


class GuardedReranker:
    """A reranker whose server is called within a limit. Threads may share it."""

    def __init__(self, reranker: RerankerLike, guard: Guard) -> None:
        self._reranker = reranker
        self._guard = guard

    @property
    def model(self) -> str:
        return self._reranker.model

    def score(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        return self._guard.call(lambda: self._reranker.score(query, texts))
