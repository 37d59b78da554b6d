"""A counted graph to look things up in: by name, by neighbor, by community. Plain look-ups, no model."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from lilbee_core.analysis import MARKS, fold, function_words
from lilbee_core.concepts import _unspaced
from lilbee_core.concepts._counting import strengths, weights
from lilbee_core.concepts._normal import Normalizer
from lilbee_core.types import Community, Concept, GraphTable, Integers, Relation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(rf"(?:\w|[{MARKS}])+(?:[-'’&.](?:\w|[{MARKS}])+)*")
_LONGEST = 7
_SHARED = 0.5
"""What a neighbor of something named says about a topic, beside what the thing itself says."""


class GraphView:
    """Reads a graph. Threads may share it."""

    def __init__(self, table: GraphTable, *, languages: Sequence[str] = ()) -> None:
        self.table = table
        self._languages = tuple(languages)
        self._normal = Normalizer()

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The PPMI of every edge."""
        return weights(self.table)

    @cached_property
    def strengths(self) -> NDArray[np.float64]:
        """By how much each edge is believed: PPMI less what rare concepts owe to chance."""
        return strengths(self.table, self.weights)

    @cached_property
    def _names(self) -> dict[str, int]:
        found: dict[str, int] = {}
        concepts = self.table.concepts
        for at, one in enumerate(concepts):
            found[one.id] = at
        for at, one in enumerate(concepts):
            for name in (*one.keys, fold(one.label), *map(fold, one.aliases)):
                found.setdefault(name, at)
        return found

    @cached_property
    def _ends(self) -> tuple[Integers, Integers, Integers]:
        """Both ends of every edge, sorted by the first: where each concept begins, the other ends, the edges."""
        import numpy as np

        edges = np.arange(len(self.table.counts))
        first = np.concatenate((self.table.sources, self.table.targets))
        second = np.concatenate((self.table.targets, self.table.sources))
        order = np.argsort(first, kind="stable")
        starts = np.searchsorted(first[order], np.arange(len(self.table.concepts) + 1))
        return starts, second[order], np.concatenate((edges, edges))[order]

    # ------------------------------------------------------------------ names

    def place(self, name: str) -> int | None:
        """Return the position of the concept that is called so, by id, label, alias, or as a text would write it."""
        direct = self._names.get(name)
        if direct is None:
            direct = self._names.get(fold(name.strip()))
        if direct is None and (words := name.split()):
            direct = self._first_known(words)
        return direct

    def get(self, name: str) -> Concept | None:
        """Return the concept that is called so."""
        at = self.place(name)
        return None if at is None else self.table.concepts[at]

    def forms(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the normalized forms that a name may have."""
        return self._normal.variants(words, self._languages)

    def named_in(self, text: str) -> tuple[int, ...]:
        """Return the positions of the concepts that a text names, the longest names first where two overlap."""
        words = _WORD.findall(text)
        found: dict[int, None] = {}
        at = 0
        while at < len(words):
            for end in range(min(len(words), at + _LONGEST), at, -1):
                place = self._known(words[at:end])
                if place is not None:
                    found[place] = None
                    at = end - 1
                    break
            at += 1
        if not text.isascii():
            found.update(dict.fromkeys(self._in_runs(text)))
        return tuple(found)

    def _known(self, words: Sequence[str]) -> int | None:
        if len(words) == 1 and fold(words[0]) in _common_words() and not words[0].isupper():
            return None
        return self._first_known(words)

    def _first_known(self, words: Sequence[str]) -> int | None:
        for form in self._normal.variants(words, self._languages):
            if form in self._names:
                return self._names[form]
        return None

    def _in_runs(self, text: str) -> Iterator[int]:
        for run in _unspaced.runs(text):
            at = 0
            while at < len(run):
                for end in range(min(len(run), at + 10), at + 1, -1):
                    place = self._names.get(fold(run[at:end]))
                    if place is not None:
                        yield place
                        at = end - 1
                        break
                at += 1

    # ------------------------------------------------------------------ edges

    def neighbors(self, at: int, *, limit: int) -> tuple[Relation, ...]:
        """Return what goes most with a concept, the most certain first; what meets it by chance is left out."""
        import numpy as np

        starts, others, edges = self._ends
        here = slice(int(starts[at]), int(starts[at + 1]))
        strong = self.strengths[edges[here]]
        order = np.lexsort((others[here], -strong))[:limit]
        concepts = self.table.concepts
        return tuple(
            Relation(
                source=concepts[at].id,
                target=concepts[int(others[here][one])].id,
                weight=float(self.weights[edges[here][one]]),
                count=int(self.table.counts[edges[here][one]]),
            )
            for one in order.tolist()
            if strong[one] > 0
        )

    # ------------------------------------------------------------------ topics

    def topics(self, named: Iterable[int], seen: Iterable[int], *, limit: int) -> tuple[Community, ...]:
        """Return the communities that concepts belong to: those named, what goes with them, and those seen in hits."""
        score: dict[int, float] = defaultdict(float)
        for at in named:
            self._vote(score, at, 1.0)
            for relation in self.neighbors(at, limit=_LONGEST):
                self._vote(score, self._names[relation.target], _SHARED / _LONGEST)
        for at in seen:
            self._vote(score, at, _SHARED / _LONGEST)
        by_id = {one.id: one for one in self.table.communities}
        ranked = sorted((id_ for id_ in score if id_ in by_id), key=lambda id_: (-score[id_], id_))
        return tuple(by_id[id_] for id_ in islice(ranked, limit))

    def _vote(self, score: dict[int, float], at: int, weight: float) -> None:
        community = self.table.concepts[at].community
        if community is not None:
            score[community] += weight


def _common_words() -> frozenset[str]:
    return function_words().get("en", frozenset())
