"""The built-in embedder in all but its vectors of documents, which are hashed words."""

from __future__ import annotations

from collections.abc import Sequence

from lilbee_core.embed import Embedder, MiniLM
from lilbee_core.types import Vectors
from tests.bench.tools.embed_server import HashedWords

BUILT_IN = "builtin/all-MiniLM-L6-v2"


class StandIn(Embedder):
    """Names itself as the built-in embedder does, counts tokens as it does and embeds queries as it does."""

    def __init__(self) -> None:
        super().__init__(MiniLM.load(), model=BUILT_IN)
        self._words = HashedWords()

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of documents at no cost."""
        return self._words(texts)
