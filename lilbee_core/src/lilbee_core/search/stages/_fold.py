"""One hit for one text, however many files hold it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from lilbee_core.protocols import SearchContext
from lilbee_core.search._folded import folded
from lilbee_core.types import Chunk, Dropped, Hit, Part, Place, SearchState

_WORD = re.compile(r"\w+")
_NEAR_COSINES = 0.05


@dataclass(frozen=True, slots=True)
class Fold:
    """Fold hits of different documents that hold the same text into the best of them, which lists the other places.

    White space and case do not count. Nearly the same text counts as the same when at least `alike` of its word
    sequences agree and it has the very same numbers: two invoices of one form are not one, a page with another word in
    eighty is. Hits of one document are never folded, since each is a place to read. Behind the first `most` hits only
    the same text is folded, lest the cost grow with the square of the hits.
    """

    alike: float = 0.9
    most: int = 100
    name: str = "fold"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        kept: list[_Kept] = []
        by_text: dict[str, list[_Kept]] = {}
        by_numbers: dict[tuple[str, ...], list[_Kept]] = {}
        dropped: list[Dropped] = []
        for at, hit in enumerate(state.hits):
            one = _Kept(hit)
            twin = _elsewhere(by_text.get(one.folded, ()), hit)
            relation = "the same text as"
            if twin is None and at < self.most:
                twin, relation = self._near(by_numbers.get(one.numbers, ()), one), "nearly the same text as"
            if twin is None:
                kept.append(one)
                by_text.setdefault(one.folded, []).append(one)
                by_numbers.setdefault(one.numbers, []).append(one)
            else:
                twin.places.append(_place(hit.chunk))
                dropped.append(Dropped(chunk_id=hit.chunk.id, reason=f"{relation} {twin.hit.path}", score=hit.score))
        if not dropped:
            return state
        return replace(state, hits=tuple(one.folded_hit() for one in kept), dropped=tuple(dropped))

    def _near(self, kept: Sequence[_Kept], one: _Kept) -> _Kept | None:
        for other in kept:
            if other.could_be_near(one) and other.shares(one) >= self.alike:
                return other
        return None


class _Kept:
    """A hit with what is needed to compare its text, computed once and only when asked for."""

    def __init__(self, hit: Hit) -> None:
        self.hit = hit
        self.folded, self.numbers = folded(hit.chunk.text)
        self.cosine = dict(hit.scores).get("dense")
        self.places: list[Place] = list(hit.also_at)

    @cached_property
    def shingles(self) -> frozenset[str]:
        words = _WORD.findall(self.folded)
        if self.folded.count(" ") * 16 < len(self.folded):  # written without blanks
            return frozenset(self.folded[at : at + 8] for at in range(max(1, len(self.folded) - 7)))
        return frozenset(" ".join(words[at : at + 4]) for at in range(max(1, len(words) - 3)))

    def could_be_near(self, other: _Kept) -> bool:
        """Say cheaply whether it is worth comparing two texts: near duplicates have near lengths and cosines."""
        mine, others = len(self.folded), len(other.folded)
        if not 0.9 * others <= mine <= others / 0.9 or self.hit.document_id == other.hit.document_id:
            return False
        return self.cosine is None or other.cosine is None or abs(self.cosine - other.cosine) <= _NEAR_COSINES

    def shares(self, other: _Kept) -> float:
        """Return how many of both texts' word sequences are in both (Jaccard)."""
        return len(self.shingles & other.shingles) / len(self.shingles | other.shingles)

    def folded_hit(self) -> Hit:
        places = tuple(self.places)
        return self.hit if places == self.hit.also_at else replace(self.hit, also_at=places)


def _elsewhere(twins: Sequence[_Kept], hit: Hit) -> _Kept | None:
    return next((twin for twin in twins if twin.hit.document_id != hit.document_id), None)


def _place(chunk: Chunk) -> Place:
    return Place(
        document_id=chunk.document_id,
        collection=chunk.collection,
        path=chunk.path,
        line_start=chunk.location.line_start,
        page_start=chunk.location.page_start,
    )
