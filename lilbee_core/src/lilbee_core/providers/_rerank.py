"""Rerankers of llama-server, vLLM and others that have ``/v1/rerank``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from lilbee_core.providers._client import Json, OpenAIClient
from lilbee_core.providers._failures import unreadable

PATH = "/rerank"


class OpenAIRerank:
    """A reranker behind ``/v1/rerank``; its scores lie between 0 and 1. Threads may share it.

    Some servers give probabilities, llama-server gives raw logits, which a sigmoid turns into the same scale. If
    `logits` is None, the scores tell: one outside of 0 to 1 makes them logits from then on.
    """

    def __init__(
        self, client: OpenAIClient, model: str, *, logits: bool | None = None, owns_client: bool = False
    ) -> None:
        self.model = model
        self._client = client
        self._logits = logits
        self._owns_client = owns_client

    def rank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return how well each text answers the query, in the order of the texts.

        Raises:
            ProviderError: If the server fails or its scores cannot be used.
        """
        if not texts:
            return ()
        payload = {"model": self.model, "query": query, "documents": list(texts), "top_n": len(texts)}
        scores = self._read(self._client.post(PATH, payload, model=self.model), len(texts))
        if self._logits is None and any(not 0 <= score <= 1 for score in scores):
            self._logits = True
        return tuple(map(_sigmoid, scores)) if self._logits else tuple(scores)

    def close(self) -> None:
        """Close the client, if it is this model's own."""
        if self._owns_client:
            self._client.close()

    def _read(self, answer: Json, count: int) -> list[float]:
        results = answer.get("results", answer.get("data"))
        found: dict[int, float] = {}
        for one in cast("list[object]", results) if isinstance(results, list) else []:
            place, score = _placed(one)
            if place is None or score is None or not 0 <= place < count:
                raise unreadable(self._client.server, f"{str(one)[:80]!r} is no score")
            found[place] = score
        if len(found) != count:
            raise unreadable(self._client.server, f"{count} texts were sent, {len(found)} scores came back")
        return [found[place] for place in range(count)]


def _placed(entry: object) -> tuple[int | None, float | None]:
    if not isinstance(entry, dict):
        return None, None
    values = cast("dict[str, Any]", entry)
    place, score = values.get("index"), values.get("relevance_score", values.get("score"))
    usable = isinstance(score, int | float) and math.isfinite(score)
    return (place if isinstance(place, int) else None), (float(score) if usable and score is not None else None)


def _sigmoid(value: float) -> float:
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    shrunk = math.exp(max(value, -700.0))
    return shrunk / (1 + shrunk)
