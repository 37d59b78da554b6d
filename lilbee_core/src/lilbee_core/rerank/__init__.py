"""Reranking: relevance of texts to a query, from any provider, on one scale."""

from lilbee_core.rerank._reranker import Reranker

__all__ = ["Reranker"]
