"""New vectors that are not all there yet: noted in the library's state, so that searches say so and a sync goes on."""

from __future__ import annotations

import logging
from datetime import UTC
from typing import TYPE_CHECKING

from lilbee_core.errors import StoreError

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts

log = logging.getLogger(__name__)

_KIND, _ID = "embedding anew", "now"


def begin(parts: Parts, embedder: str) -> None:
    """Note that every vector is to be made anew with another embedder."""
    now = parts.clock.now().astimezone(UTC).isoformat(timespec="seconds")
    parts.state.save(_KIND, _ID, {"embedder": embedder, "since": now})


def finish(parts: Parts) -> None:
    """Note that no vector is missing any more. A sync does its work without the state, too."""
    try:
        if parts.state.load(_KIND, _ID) is not None:
            parts.state.delete(_KIND, _ID)
    except StoreError as error:
        log.warning("that all vectors are there could not be noted: %s", error.message)


def vectors_warning(parts: Parts) -> str | None:
    """Return what to say of vectors that are being made anew, None where none are."""
    try:
        found = parts.state.load(_KIND, _ID)
    except StoreError as error:
        # Searches go on without the state; whether vectors are missing stands nowhere else.
        return error.message
    if found is None:
        return None
    return (
        f"passages are embedded anew with {found['embedder']}; those that have no vector yet are found by their words "
        "alone; run `lilbee sync` to go on"
    )
