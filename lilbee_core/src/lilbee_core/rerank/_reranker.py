"""Scores between 0 and 1 from a provider that scores on any scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from lilbee_core.errors import ProviderError
from lilbee_core.protocols import RerankProvider

Scale = Literal["logit", "unit"]
"""What a provider's scores are: any number, to be put through a sigmoid, or relevance from 0 to 1 already."""


class Reranker:
    """Scores texts against a query in batches, each text cut to what the model reads. Threads may share it.

    Args:
        provider: Who scores.
        model: The model reference.
        batch_size: Texts in one request.
        max_chars: Longest text that is sent; the rest is cut off at a word.
        scale: What the provider's scores are.
    """

    def __init__(
        self,
        provider: RerankProvider,
        *,
        model: str,
        batch_size: int = 32,
        max_chars: int = 2000,
        scale: Scale = "logit",
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size must be positive, got {batch_size}")
        if max_chars < 1:
            raise ValueError(f"max_chars must be positive, got {max_chars}")
        self.model = model
        self._provider = provider
        self._batch_size = batch_size
        self._max_chars = max_chars
        self._scale = scale

    def score(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the relevance of each text, from 0 to 1, in the order of `texts`.

        Raises:
            ProviderError: If the provider fails, or its scores cannot be used.
        """
        scores: list[float] = []
        for start in range(0, len(texts), self._batch_size):
            cut = [_cut(text, self._max_chars) for text in texts[start : start + self._batch_size]]
            scores += self._checked(self._provider.rank(query, cut), len(cut))
        return tuple(self._calibrated(score) for score in scores)

    def close(self) -> None:
        """Close the provider, if it can be closed."""
        close = getattr(self._provider, "close", None)
        if callable(close):
            close()

    def _checked(self, scores: Sequence[float], expected: int) -> Sequence[float]:
        if len(scores) != expected:
            raise ProviderError(
                f"{self.model} gave {len(scores)} scores for {expected} texts",
                hint="Check that the model's server serves a reranker.",
            )
        wrong = next((score for score in scores if not math.isfinite(score)), None)
        if wrong is not None:
            raise ProviderError(
                f"{self.model} gave the score {wrong}", hint="Restart the model's server, or choose another reranker."
            )
        return scores

    def _calibrated(self, score: float) -> float:
        if self._scale == "unit":
            return min(1.0, max(0.0, score))
        return _sigmoid(score)


def _sigmoid(value: float) -> float:
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    grown = math.exp(value)
    return grown / (1 + grown)


def _cut(text: str, max_chars: int) -> str:
    """Return the beginning of a text, cut between words where there is a blank to cut at."""
    if len(text) <= max_chars:
        return text
    cut = text[: max_chars + 1]
    blank = max(cut.rfind(" "), cut.rfind("\n"))
    return cut[:blank] if blank > max_chars // 2 else cut[:max_chars]
