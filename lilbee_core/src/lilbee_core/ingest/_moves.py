"""Which documents only changed their place, and which of the others are new, changed or gone. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lilbee_core.ingest._plan import pair_moves
from lilbee_core.ingest._walk import Found
from lilbee_core.types import DocumentRow


@dataclass(frozen=True, slots=True)
class Hashed:
    """A file with its content's name. `row` is the document that is indexed at its place, if one is.

    `again` says to read the file though it is the same: more of it can be read now.
    """

    collection: str
    found: Found
    sha256: str
    row: DocumentRow | None
    read_at: str
    again: bool = False


@dataclass(slots=True, kw_only=True)
class Places:
    """Where documents are now."""

    moved: list[tuple[DocumentRow, Hashed]] = field(default_factory=list[tuple[DocumentRow, Hashed]])
    changed: list[Hashed] = field(default_factory=list[Hashed])
    new: list[Hashed] = field(default_factory=list[Hashed])
    gone: list[DocumentRow] = field(default_factory=list[DocumentRow])


def settle_places(fresh: Sequence[Hashed], changed: Sequence[Hashed], gone: Sequence[DocumentRow]) -> Places:
    """Find the moves.

    Documents whose files changed places with each other come first (a swap, logs that were renamed in turn), then
    those whose file is gone, or whose place another one took, are looked for among the new files.
    """
    there = [one.row for one in changed if one.row is not None]
    swapped, _, others = pair_moves(there, changed, place=place_of)
    moved_ids = {row.id for row, _ in swapped}
    taken = {id(one) for _, one in swapped}
    vacated = [one for one in others if one.row is not None and one.row.id in moved_ids]
    displaced = [one.row for one in changed if id(one) in taken and one.row is not None and one.row.id not in moved_ids]
    found, left, new = pair_moves([*gone, *displaced], [*fresh, *vacated], place=place_of)
    return Places(
        moved=[*swapped, *found],
        changed=[one for one in others if one.row is None or one.row.id not in moved_ids],
        new=new,
        gone=left,
    )


def place_of(one: Hashed) -> tuple[str, str]:
    """Return the path and the content's name."""
    return one.found.path, one.sha256
