"""The embedder and the built-in model fit the protocols. Read by mypy and pyright, never run."""

from __future__ import annotations

from lilbee_core.embed import Embedder, MiniLM
from lilbee_core.protocols import EmbedderLike, EmbeddingProvider, TokenCounter, TokenEmbedder


def conforms(embedder: Embedder, model: MiniLM) -> None:
    like: EmbedderLike = embedder
    with_tokens: TokenEmbedder = embedder
    provider: EmbeddingProvider = model
    counter: TokenCounter = model
    tokens: TokenEmbedder = model
    del like, with_tokens, provider, counter, tokens
