"""Texts cut to what a server takes: it refuses a whole request for one text that is too long."""

from __future__ import annotations

from collections.abc import Sequence

from lilbee_core.errors import ProviderUnavailable
from lilbee_core.fleet._probe import Probe
from lilbee_core.protocols import Endpoint
from lilbee_core.text import CHARS_PER_TOKEN

_UNKNOWN_LIMIT = 512
_MOST_CHARS_PER_TOKEN = 64
_SHARE = 0.97
_FRAME_TOKENS = 4
"""What a model may put around and between a query and a text."""
_FEWEST_TOKENS = 16


def limit_of(endpoint: Endpoint) -> int:
    """Return how many tokens a server takes at once."""
    return endpoint.context_tokens or _UNKNOWN_LIMIT


def may_be_too_long(text: str, endpoint: Endpoint) -> bool:
    """Whether a text is long enough to be worth counting before it is sent."""
    return len(text) > CHARS_PER_TOKEN * limit_of(endpoint)


def cut(text: str, endpoint: Endpoint, probe: Probe, *, limit: int | None = None) -> str:
    """Return the beginning of a text that fits.

    Raises:
        ProviderUnavailable: If the server does not count tokens.
    """
    limit = limit_of(endpoint) if limit is None else limit
    if len(text.encode("utf-8", "replace")) < limit - _FRAME_TOKENS:  # a token has a byte at least
        return text
    text = text[: limit * _MOST_CHARS_PER_TOKEN]
    while text and (tokens := _count(text, endpoint, probe)) > limit:
        text = _shorter(text, int(len(text) * limit / tokens * _SHARE))
    return text


def cut_pairs(query: str, texts: Sequence[str], endpoint: Endpoint, probe: Probe) -> tuple[str, tuple[str, ...]]:
    """Return a query and texts each of which fits together with it; the query may take half of the room."""
    limit = limit_of(endpoint) - _FRAME_TOKENS
    query = cut(query, endpoint, probe, limit=max(limit // 2, 1))
    left = max(limit - _count(query, endpoint, probe), _FEWEST_TOKENS)
    return query, tuple(cut(text, endpoint, probe, limit=left) for text in texts)


def _shorter(text: str, chars: int) -> str:
    kept = text[: min(chars, len(text) - 1)]
    # A word is left whole where words are short.
    at = kept.rfind(" ", max(0, len(kept) - 40))
    return kept[:at] if at > 0 else kept


def _count(text: str, endpoint: Endpoint, probe: Probe) -> int:
    try:
        return probe.tokens(endpoint, text)
    except OSError as error:
        raise ProviderUnavailable(
            f"the server of {endpoint.model} does not say how long a text is: {error}",
            hint="Choose a smaller chunk_size, or try again.",
        ) from error
