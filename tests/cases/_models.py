"""Models that stand in for real ones."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lilbee_core.testing import HashEmbedder
from lilbee_core.testing.fakes import words_of
from lilbee_core.types import Vector, Vectors

_NUMBERS = re.compile(r"(\d+) numbers")


class StandIn(HashEmbedder):
    """Turns words into numbers by a hash of the word and of its own name, so that no two of them agree."""

    @classmethod
    def described(cls, text: str) -> StandIn:
        """Return the embedder that a case describes (``stand-in B, 16 numbers``)."""
        numbers = _NUMBERS.search(text)
        return cls(int(numbers[1]) if numbers else 64, model=f"stand-in/{text.partition(',')[0].strip()}")

    def embed(self, text: str) -> Vector:
        return super().embed(self._salted(text))

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        return super().embed_batch([self._salted(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        return super().embed_query(self._salted(text))

    def _salted(self, text: str) -> str:
        salt = re.sub(r"\W", "", self.model)
        return " ".join(salt + word for word in words_of(text))
