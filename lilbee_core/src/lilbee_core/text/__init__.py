"""Pure functions on text: lines, sentences, token estimates. No files."""

from lilbee_core.text._lines import LineIndex, locate, normalize_newlines
from lilbee_core.text._sentences import sentences
from lilbee_core.text._tokens import CHARS_PER_TOKEN, EstimatedTokens, estimate_tokens, fold_space

__all__ = [
    "CHARS_PER_TOKEN",
    "EstimatedTokens",
    "LineIndex",
    "estimate_tokens",
    "fold_space",
    "locate",
    "normalize_newlines",
    "sentences",
]
