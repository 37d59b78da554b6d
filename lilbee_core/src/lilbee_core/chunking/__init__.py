"""Documents to chunks: verbatim slices with their places, pure and without a store."""

from lilbee_core.chunking._chunker import TokenChunker
from lilbee_core.chunking._context import context_line, embedding_input, with_context

__all__ = ["TokenChunker", "context_line", "embedding_input", "with_context"]
