"""One hit for one text, however many files hold it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property

from lilbee_core.protocols import SearchContext
from lilbee_core.text import fold_space
from lilbee_core.types import Chunk, Dropped, Hit, Part, Place, SearchState

_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Fold:
    """Fold hits of different documents that hold the same text into the best of them, which lists the other places.

    Nearly the same text counts as the same when at least `alike` of its word sequences agree and it has the very same
    numbers: two invoices of one form are not one. Hits of one document are never folded, since each is a place to
    read.
    """

    alike: float = 0.9
    name: str = "fold"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        kept: list[_Kept] = []
        by_text: dict[str, list[_Kept]] = {}
        dropped: list[Dropped] = []
        for hit in state.hits:
            one = _Kept(hit)
            twin = _other_document(by_text.get(one.folded, ()), hit)
            relation = "the same text as"
            if twin is None:
                twin, relation = self._near(kept, one), "nearly the same text as"
            if twin is None:
                kept.append(one)
                by_text.setdefault(one.folded, []).append(one)
            else:
                twin.places.append(_place(hit.chunk))
                dropped.append(Dropped(chunk_id=hit.chunk.id, reason=f"{relation} {twin.hit.path}", score=hit.score))
        if not dropped:
            return state
        hits = tuple(one.folded_hit() for one in kept)
        return replace(state, hits=hits, dropped=tuple(dropped))

    def _near(self, kept: list[_Kept], one: _Kept) -> _Kept | None:
        for other in kept:
            if _could_be_near(other, one) and other.shares(one) >= self.alike:
                return other
        return None


class _Kept:
    """A hit with what is needed to compare its text, computed once and only when asked for."""

    def __init__(self, hit: Hit) -> None:
        self.hit = hit
        self.folded = fold_space(hit.chunk.text)
        self.places: list[Place] = list(hit.also_at)

    @cached_property
    def shingles(self) -> frozenset[str]:
        words = _WORD.findall(self.folded)
        if self.folded.count(" ") * 16 < len(self.folded):  # written without blanks
            return frozenset(self.folded[at : at + 8] for at in range(max(1, len(self.folded) - 7)))
        return frozenset(" ".join(words[at : at + 4]) for at in range(max(1, len(words) - 3)))

    @cached_property
    def numbers(self) -> Counter[str]:
        return Counter(_DIGITS.findall(self.folded))

    def shares(self, other: _Kept) -> float:
        """Return how many of both texts' word sequences are in both (Jaccard)."""
        return len(self.shingles & other.shingles) / len(self.shingles | other.shingles)

    def folded_hit(self) -> Hit:
        places = tuple(self.places)
        return self.hit if places == self.hit.also_at else replace(self.hit, also_at=places)


def _could_be_near(first: _Kept, second: _Kept) -> bool:
    """Say cheaply whether it is worth comparing two texts: near duplicates have near scores and lengths."""
    if first.hit.document_id == second.hit.document_id:
        return False
    short, long = sorted((len(first.folded), len(second.folded)))
    if short < 0.9 * long:
        return False
    mine, other = dict(first.hit.scores), dict(second.hit.scores)
    if abs(mine.get("dense", 0.0) - other.get("dense", 0.0)) > 0.05 and "dense" in mine and "dense" in other:
        return False
    return first.numbers == second.numbers


def _other_document(twins: list[_Kept] | tuple[()], hit: Hit) -> _Kept | None:
    return next((twin for twin in twins if twin.hit.document_id != hit.document_id), None)


def _place(chunk: Chunk) -> Place:
    return Place(
        document_id=chunk.document_id,
        collection=chunk.collection,
        path=chunk.path,
        line_start=chunk.location.line_start,
        page_start=chunk.location.page_start,
    )
