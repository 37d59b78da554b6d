"""What the built-in stages pass to each other beside the parts of the state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.protocols import ANALYZED
from lilbee_core.types import StateKey

if TYPE_CHECKING:
    from lilbee_core.search.stages._probe import Confidence
    from lilbee_core.search.stages._temporal import TimeSense

__all__ = ["ANALYZED", "CONFIDENCE", "FOUND", "LANGUAGE", "TIME"]

LANGUAGE: StateKey[str] = StateKey("lilbee.language")
"""The language of the query (ISO 639-1), where it can be told. Set by `parse`, read by `dense`."""

FOUND: StateKey[bool] = StateKey("lilbee.found")
"""Whether the library answers the query. Set by `judge`; without it, any hit counts as found."""

TIME: StateKey[TimeSense] = StateKey("lilbee.time")
"""What the query says about time. Set by `temporal` where it says anything; read by what retrieves and sorts."""

CONFIDENCE: StateKey[Confidence] = StateKey("lilbee.confidence")
"""How sure the word search is of its first hit. Set by `probe`; what asks a chat model is skipped where it is sure."""
