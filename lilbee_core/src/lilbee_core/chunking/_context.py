"""What is embedded beside a chunk's text."""

from __future__ import annotations

from collections.abc import Sequence

from lilbee_core.protocols import TokenCounter
from lilbee_core.types import Chunk

CONTEXT_TOKENS = 48
_JOINT = " > "


def embedding_input(chunk: Chunk, counter: TokenCounter, context_tokens: int = CONTEXT_TOKENS) -> str:
    """Return what an embedder reads for a chunk: its context, a blank line, its text."""
    return with_context(chunk.context, chunk.text, counter, context_tokens)


def with_context(context: Sequence[str], text: str, counter: TokenCounter, context_tokens: int = CONTEXT_TOKENS) -> str:
    """Return `text` under its context, as `embedding_input` does for a chunk."""
    line = context_line(context, counter, context_tokens)
    return f"{line}\n\n{text}" if line else text


def context_line(context: Sequence[str], counter: TokenCounter, context_tokens: int = CONTEXT_TOKENS) -> str:
    """Join title, headings and symbol into one line of at most `context_tokens` tokens.

    Where they do not fit, outer headings go first; the last part and the title stay longest.
    """
    parts = [" ".join(part.split()) for part in context]
    parts = [part for part in parts if part]
    while len(parts) > 1 and not _fits(_JOINT.join(parts), counter, context_tokens):
        del parts[1 if len(parts) > 2 else 0]
    line = _JOINT.join(parts)
    if _fits(line, counter, context_tokens):
        return line
    starts = counter.token_starts(line)
    return line[: starts[context_tokens]].rstrip()


def _fits(line: str, counter: TokenCounter, context_tokens: int) -> bool:
    return len(line) <= context_tokens or counter.count_tokens(line) <= context_tokens
