"""Estimates of token counts, where no tokenizer is at hand."""

from __future__ import annotations

CHARS_PER_TOKEN = 3.5


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a model reads for `text` (3.5 characters each, rounded up)."""
    return -int(-len(text) // CHARS_PER_TOKEN)


def fold_space(text: str) -> str:
    """Return `text` with every run of white space as one blank, and none around it."""
    return " ".join(text.split())
