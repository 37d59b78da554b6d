"""Notes, facts and skills of a library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.library._parts import Parts

if TYPE_CHECKING:
    from lilbee_core.notes import Kind, Shelf
    from lilbee_core.protocols import StateStore


def notes_of(parts: Parts) -> Shelf:
    """Return the notes."""
    from lilbee_core.notes import NOTE

    return _shelf(parts, NOTE)


def facts_of(parts: Parts) -> Shelf:
    """Return the facts that the chat model is told on every turn."""
    from lilbee_core.notes import FACT

    return _shelf(parts, FACT)


def skills_of(parts: Parts) -> Shelf:
    """Return the skills, of which the chat model is told the names."""
    from lilbee_core.notes import SKILL

    return _shelf(parts, SKILL)


def _shelf(parts: Parts, kind: Kind) -> Shelf:
    from lilbee_core.notes import Shelf

    def state() -> StateStore:
        return parts.state

    return Shelf(kind, state, parts.clock, lambda: parts.analyzer, prepare=parts.home.prepare)
