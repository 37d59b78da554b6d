"""Documents to chunks: verbatim slices with their places, pure and without a store."""

from lilbee_core.chunking._chunker import TokenChunker
from lilbee_core.chunking._context import context_line, embedding_input, with_context
from lilbee_core.chunking._topics import TopicFinder

__all__ = ["TokenChunker", "TopicFinder", "context_line", "embedding_input", "with_context"]
