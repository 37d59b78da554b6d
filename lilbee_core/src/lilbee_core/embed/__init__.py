"""Vectors for queries and documents: the embedder, its cache on disk, and the model that is built in."""

from lilbee_core.embed._cache import EmbeddingCache
from lilbee_core.embed._embedder import Embedder
from lilbee_core.embed._families import Family, family_of
from lilbee_core.embed._minilm import MiniLM

__all__ = ["Embedder", "EmbeddingCache", "Family", "MiniLM", "family_of"]
