"""Vectors for queries and documents: the embedder, and the model that is built in."""

from lilbee_core.embed._minilm import MiniLM

__all__ = ["MiniLM"]
