"""The chunker, the code reader and the providers fit the protocols. Read by mypy and pyright, never run."""

from __future__ import annotations

from lilbee_core.chunking import TokenChunker
from lilbee_core.extract._code import CodeExtractor
from lilbee_core.protocols import (
    ChatProvider,
    Chunker,
    EmbeddingProvider,
    Extractor,
    ModelRouter,
    RerankProvider,
    TokenCounter,
    VisionProvider,
)
from lilbee_core.providers import OpenAIChat, OpenAIEmbedding, OpenAIRerank, OpenAIVision, Router
from lilbee_core.providers._litellm import LiteLlmChat, LiteLlmEmbedding, LiteLlmRerank, LiteLlmVision
from lilbee_core.text import EstimatedTokens


def conform(
    router: Router,
    chat: OpenAIChat | LiteLlmChat,
    embedding: OpenAIEmbedding | LiteLlmEmbedding,
    rerank: OpenAIRerank | LiteLlmRerank,
    vision: OpenAIVision | LiteLlmVision,
) -> None:
    counter: TokenCounter = EstimatedTokens()
    chunker: Chunker = TokenChunker(counter)
    extractor: Extractor = CodeExtractor()
    finder: ModelRouter = router
    talks: ChatProvider = chat
    embeds: EmbeddingProvider = embedding
    ranks: RerankProvider = rerank
    sees: VisionProvider = vision
    del chunker, extractor, finder, talks, embeds, ranks, sees
