"""Three versions of a text made into one: what a build wrote, what a person made of it, what the build writes now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff


@dataclass(frozen=True, slots=True)
class Merged:
    """A text with the changes of both sides; those that touch the same lines are `conflicts`, ours is kept there."""

    text: str
    conflicts: int


def merge(base: str, ours: str, theirs: str) -> Merged:
    """Bring the changes from `base` to `theirs` into `ours`, line by line.

    Changes of the same lines are a conflict unless both sides say the same; what one side only adds before or behind
    lines that the other one changes is no conflict.
    """
    if ours == theirs or theirs == base:
        return Merged(ours, 0)
    if ours == base:
        return Merged(theirs, 0)
    lines, mine, other = base.splitlines(), ours.splitlines(), theirs.splitlines()
    kept: list[str] = []
    conflicts = at = at_mine = at_other = 0
    for start, start_mine, start_other, length in _common(lines, mine, other):
        one, two, old = mine[at_mine:start_mine], other[at_other:start_other], lines[at:start]
        joined = _joined(old, one, two)
        kept += one if joined is None else joined
        conflicts += joined is None
        kept += lines[start : start + length]
        at, at_mine, at_other = start + length, start_mine + length, start_other + length
    return Merged("\n".join(kept), conflicts)


def _joined(old: list[str], ours: list[str], theirs: list[str]) -> list[str] | None:
    """Return what stands in the place of some lines that both sides may have changed; None for a conflict."""
    if ours in (old, theirs):
        return theirs
    if theirs == old:
        return ours
    count = len(old)
    for changed, added in ((theirs, ours), (ours, theirs)):
        if added[:count] == old:
            return [*changed, *added[count:]]
        if added[len(added) - count :] == old:
            return [*added[: len(added) - count], *changed]
    return None


def difference(before: str, after: str, *, old: str, new: str) -> str:
    """Return a unified diff of two texts."""
    lines = unified_diff(before.splitlines(), after.splitlines(), fromfile=old, tofile=new, lineterm="")
    return "\n".join(lines)


def _common(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int, int, int]]:
    """Return the runs of lines that all three have, as places in each and a length; the last one is the empty end."""
    mine, other = _matched(base, ours), _matched(base, theirs)
    runs: list[tuple[int, int, int, int]] = []
    for at in sorted(mine.keys() & other.keys()):
        one, two = mine[at], other[at]
        if runs:
            start, start_mine, start_other, length = runs[-1]
            if (start + length, start_mine + length, start_other + length) == (at, one, two):
                runs[-1] = (start, start_mine, start_other, length + 1)
                continue
        runs.append((at, one, two, 1))
    return [*runs, (len(base), len(ours), len(theirs), 0)]


def _matched(base: Sequence[str], other: Sequence[str]) -> dict[int, int]:
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {one.a + step: one.b + step for one in blocks for step in range(one.size)}
