"""Pure functions on text: lines, sentences, subjects, tokens, checks of quotes, templates and fences. No files."""

from lilbee_core.text._citations import QuoteCheck, check_quote, find_quote, place_in
from lilbee_core.text._fences import EchoFilter, defuse, fence_for, fenced, without_echoes
from lilbee_core.text._lines import LineIndex, locate, normalize_newlines
from lilbee_core.text._sentences import sentences, trimmed
from lilbee_core.text._snippets import SNIPPET_CHARS, marked_pieces, place_name, snippet_pieces
from lilbee_core.text._subjects import subjects
from lilbee_core.text._support import (
    QUOTED,
    Evidence,
    Nearness,
    Support,
    check_citations,
    figures_stand_in,
    quotations,
    says_something,
    support,
)
from lilbee_core.text._templates import fill, gaps
from lilbee_core.text._terminal import (
    OUTPUT_BELOW,
    visible,
    visible_line,
    visible_message,
    without_escapes,
    without_output,
)
from lilbee_core.text._tokens import CHARS_PER_TOKEN, EstimatedTokens, estimate_tokens, fold_space, tokens_at_most

__all__ = [
    "CHARS_PER_TOKEN", "OUTPUT_BELOW", "QUOTED", "SNIPPET_CHARS", "EchoFilter", "EstimatedTokens", "Evidence",
    "LineIndex", "Nearness", "QuoteCheck", "Support", "check_citations", "check_quote", "defuse", "estimate_tokens",
    "fence_for", "fenced", "figures_stand_in", "fill", "find_quote", "fold_space", "gaps", "locate", "marked_pieces",
    "normalize_newlines", "place_in", "place_name", "quotations", "says_something", "sentences", "snippet_pieces",
    "subjects", "support", "tokens_at_most", "trimmed", "visible", "visible_line", "visible_message",
    "without_echoes", "without_escapes", "without_output",
]  # fmt: skip
