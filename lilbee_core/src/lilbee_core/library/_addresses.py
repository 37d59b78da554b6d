"""Documents named together with a place in them: ``box.tgz#notes/a.md``, ``report.pdf#page=3``, ``fees.xlsx#Fees``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lilbee_core.library._texts import Place, find, members_of, parse_place, require
from lilbee_core.protocols import StoreLike
from lilbee_core.types import DocumentRow, Location

_SIGNS = "#!/"
"""What may stand between a file and a member of it; lilbee itself writes the first one."""


def addressed(store: StoreLike, ref: str, place: Place = None) -> tuple[DocumentRow, Place]:
    """Return the document that `ref` names, and the place: the given one, in the member that `ref` may name as well.

    Raises:
        NotFound: If there is no such document, or more than one.
    """
    if not find(store, ref):
        for path, rest, sign in _parts(ref):
            rows = find(store, path)
            found = _inside(store, rows[0], rest, place, sign) if len(rows) == 1 else None
            if found is not None:
                return rows[0], found
    return require(store, ref), place


def _parts(ref: str) -> Iterator[tuple[str, str, str]]:
    """Yield the ways to take a name apart, the longest path first."""
    for at in range(len(ref) - 2, 0, -1):
        if ref[at] in _SIGNS:
            yield ref[:at], ref[at + 1 :], ref[at]


def _inside(store: StoreLike, row: DocumentRow, rest: str, place: Place, sign: str) -> Place:
    members = members_of(store, row)
    if rest.casefold() in members:
        return _within(rest, place)
    member, parted, name = rest.rpartition("#")
    if parted and place is None and member.casefold() in members:
        return _within(member, _named(name))
    return _named(rest) if sign == "#" and place is None else None


def _named(name: str) -> Location:
    return parse_place(name) if name.startswith("page") else parse_place(name.replace("=", " "))


def _within(member: str, place: Place) -> Place:
    if place is None or place == "":
        return Location(member=member)
    where = parse_place(place) if isinstance(place, str) else place
    return replace(where, member=member) if isinstance(where, Location) else where
