"""Pure functions on text: lines, sentences, subjects, tokens, checks of quotes, templates and fences. No files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.lazy import lazy_names

if TYPE_CHECKING:
    from lilbee_core.text._citations import QuoteCheck as QuoteCheck
    from lilbee_core.text._citations import check_quote as check_quote
    from lilbee_core.text._citations import find_quote as find_quote
    from lilbee_core.text._citations import place_in as place_in
    from lilbee_core.text._fences import EchoFilter as EchoFilter
    from lilbee_core.text._fences import defuse as defuse
    from lilbee_core.text._fences import fence_for as fence_for
    from lilbee_core.text._fences import fenced as fenced
    from lilbee_core.text._fences import without_echoes as without_echoes
    from lilbee_core.text._lines import LineIndex as LineIndex
    from lilbee_core.text._lines import locate as locate
    from lilbee_core.text._lines import normalize_newlines as normalize_newlines
    from lilbee_core.text._sentences import sentences as sentences
    from lilbee_core.text._sentences import trimmed as trimmed
    from lilbee_core.text._snippets import SNIPPET_CHARS as SNIPPET_CHARS
    from lilbee_core.text._snippets import marked_pieces as marked_pieces
    from lilbee_core.text._snippets import place_name as place_name
    from lilbee_core.text._snippets import snippet_pieces as snippet_pieces
    from lilbee_core.text._subjects import subjects as subjects
    from lilbee_core.text._support import QUOTED as QUOTED
    from lilbee_core.text._support import Evidence as Evidence
    from lilbee_core.text._support import Nearness as Nearness
    from lilbee_core.text._support import Support as Support
    from lilbee_core.text._support import check_citations as check_citations
    from lilbee_core.text._support import figures_stand_in as figures_stand_in
    from lilbee_core.text._support import quotations as quotations
    from lilbee_core.text._support import says_something as says_something
    from lilbee_core.text._support import support as support
    from lilbee_core.text._templates import fill as fill
    from lilbee_core.text._templates import gaps as gaps
    from lilbee_core.text._terminal import OUTPUT_BELOW as OUTPUT_BELOW
    from lilbee_core.text._terminal import visible as visible
    from lilbee_core.text._terminal import visible_line as visible_line
    from lilbee_core.text._terminal import visible_message as visible_message
    from lilbee_core.text._terminal import without_escapes as without_escapes
    from lilbee_core.text._terminal import without_output as without_output
    from lilbee_core.text._titles import titles_in as titles_in
    from lilbee_core.text._titles import without_titles as without_titles
    from lilbee_core.text._tokens import CHARS_PER_TOKEN as CHARS_PER_TOKEN
    from lilbee_core.text._tokens import EstimatedTokens as EstimatedTokens
    from lilbee_core.text._tokens import estimate_tokens as estimate_tokens
    from lilbee_core.text._tokens import fold_space as fold_space
    from lilbee_core.text._tokens import tokens_at_most as tokens_at_most

_HOMES = {
    "_citations": ("QuoteCheck", "check_quote", "find_quote", "place_in"),
    "_fences": ("EchoFilter", "defuse", "fence_for", "fenced", "without_echoes"),
    "_lines": ("LineIndex", "locate", "normalize_newlines"),
    "_sentences": ("sentences", "trimmed"),
    "_snippets": ("SNIPPET_CHARS", "marked_pieces", "place_name", "snippet_pieces"),
    "_subjects": ("subjects",),
    "_support": (
        "QUOTED",
        "Evidence",
        "Nearness",
        "Support",
        "check_citations",
        "figures_stand_in",
        "quotations",
        "says_something",
        "support",
    ),
    "_templates": ("fill", "gaps"),
    "_terminal": ("OUTPUT_BELOW", "visible", "visible_line", "visible_message", "without_escapes", "without_output"),
    "_titles": ("titles_in", "without_titles"),
    "_tokens": ("CHARS_PER_TOKEN", "EstimatedTokens", "estimate_tokens", "fold_space", "tokens_at_most"),
}
__all__ = [
    "CHARS_PER_TOKEN", "OUTPUT_BELOW", "QUOTED", "SNIPPET_CHARS", "EchoFilter", "EstimatedTokens", "Evidence",
    "LineIndex", "Nearness", "QuoteCheck", "Support", "check_citations", "check_quote", "defuse", "estimate_tokens",
    "fence_for", "fenced", "figures_stand_in", "fill", "find_quote", "fold_space", "gaps", "locate", "marked_pieces",
    "normalize_newlines", "place_in", "place_name", "quotations", "says_something", "sentences", "snippet_pieces",
    "subjects", "support", "titles_in", "tokens_at_most", "trimmed", "visible", "visible_line", "visible_message",
    "without_echoes", "without_escapes", "without_output", "without_titles",
]  # fmt: skip

if not TYPE_CHECKING:  # or type checkers would take any name for one of ours
    __getattr__ = lazy_names(__name__, _HOMES)
