"""Pure functions on text: lines, sentences, token estimates, checks of quotes. No files."""

from lilbee_core.text._citations import QuoteCheck, check_quote, find_quote, place_in
from lilbee_core.text._lines import LineIndex, locate, normalize_newlines
from lilbee_core.text._sentences import sentences
from lilbee_core.text._terminal import without_escapes
from lilbee_core.text._tokens import CHARS_PER_TOKEN, EstimatedTokens, estimate_tokens, fold_space

__all__ = [
    "CHARS_PER_TOKEN", "EstimatedTokens", "LineIndex", "QuoteCheck", "check_quote", "estimate_tokens", "find_quote",
    "fold_space", "locate", "normalize_newlines", "place_in", "sentences", "without_escapes",
]  # fmt: skip
