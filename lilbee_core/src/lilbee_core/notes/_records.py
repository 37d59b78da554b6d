"""Notes as JSON for the state, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from lilbee_core.types import Author, Note


def to_state(revisions: Sequence[Note]) -> dict[str, object]:
    """Return what is kept of a note: all its revisions."""
    return {"revisions": [one.to_dict() for one in revisions]}


def from_state(value: Mapping[str, object]) -> tuple[Note, ...]:
    """Return the revisions that `to_state` made `value` of, oldest first.

    Raises:
        ValueError, TypeError, KeyError: If it did not.
    """
    kept = cast("Mapping[str, Any]", value)["revisions"]
    revisions = tuple(_revision(one) for one in kept)
    if not revisions:
        raise ValueError("there is no revision")
    return revisions


def _revision(value: Mapping[str, Any]) -> Note:
    author = value["author"]
    texts = {name: value[name] for name in ("id", "kind", "text", "name", "description", "created_at", "updated_at")}
    if not all(isinstance(one, str) for one in texts.values()):
        raise TypeError("a text of the note is none")
    return Note(
        **texts,
        revision=int(value["revision"]),
        author=Author(model=author.get("model"), conversation=author.get("conversation")),
    )
