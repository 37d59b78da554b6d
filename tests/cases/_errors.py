"""What the kinds of errors in the cases mean in our codes, and what every error message owes its reader."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lilbee_core.errors import LilbeeError

KINDS = {
    "search.empty_query": "empty_query",
    "argument.invalid": "invalid_argument",
    "search.invalid_filter": "invalid_argument",
    "settings.invalid": "invalid_argument",
    "provider.empty_reply": "empty_answer",
    "extract.damaged": "damaged_document",
    "extract.failed": "damaged_document",
    "extract.encrypted": "encrypted_document",
    "extract.unsupported": "unsupported_format",
    "extract.no_text": "no_text",
    "empty": "no_text",
    "extract.not_readable": "not_readable",
    "extract.limit": "limit_exceeded",
    "extract.unsafe": "unsafe_content",
    "source.unavailable": "source_unavailable",
    "store.embedder_mismatch": "model_mismatch",
    "provider.unavailable": "backend_unavailable",
    "provider.failed": "backend_unavailable",
    "store.locked": "busy",
    "crawl.blocked_address": "blocked_address",
}

# Words of engines and of stack traces, which tell a reader nothing.
_LEAKS = re.compile(
    r"Traceback|RuntimeError|Error\(|\blance\b|lancedb|datafusion|arrow|pydantic|onnx|kreuzberg|panicked|\.py\b|\.rs:",
    re.IGNORECASE,
)
_TRAINING = re.compile(r"\btrain(?:ing)?\b|centroid|kmeans|k-means|partition", re.IGNORECASE)


def kind_of(code: str | None) -> str:
    """Return the kind that a code means; an unknown one stands for itself."""
    return KINDS.get(code or "", code or "")


def matches(kind: str, wanted: str | Sequence[str]) -> bool:
    """Say whether a kind is the wanted one, or any of several."""
    return kind in ([wanted] if isinstance(wanted, str) else list(wanted))


def unclean(error: LilbeeError) -> str | None:
    """Return what is wrong with an error as people see it, None if it is one clear sentence with a way on."""
    if not error.message.strip() or "\n" in error.message:
        return f"a message of one line ({error.message!r})"
    leak = _LEAKS.search(error.message) or _TRAINING.search(error.message)
    if leak is not None:
        return f"no word of the engine such as {leak.group()!r} ({error.message!r})"
    return None
