"""From mentions to a graph: which forms mean the same, how many chunks speak of a concept, and of two together.

All of it is a plain function of the mentions and of what was decided by hand: counting anew and counting after a
change give the same graph, whatever happened in between.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lilbee_core.concepts._decisions import Decisions
from lilbee_core.concepts._normal import singular
from lilbee_core.types import Coded, Concept, GraphTable, Integers, MentionTable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SMALL = 50
"""Chunks up to which a concept that a single one speaks of counts; in a larger library it says nothing."""
LEAST_CHUNKS = 2
_SURE = 0.6
"""Share of its explanations that an abbreviation needs to have one meaning in a library."""
_MOST_ALIASES = 8
_MOST_STEPS = 8


@dataclass(frozen=True, slots=True)
class Counted:
    """A graph without communities, and which chunks (by number) speak of which of its concepts (by position)."""

    graph: GraphTable
    chunks: Integers
    places: Integers


def count(table: MentionTable, decisions: Decisions) -> Counted:
    """Return the graph of these mentions."""
    import numpy as np

    total = len(np.unique(table.chunks.codes))
    canon, keys = _canonical(table, decisions)
    ids = canon[table.concepts.codes]
    kept = ids >= 0
    chunks, ids = table.chunks.codes[kept], ids[kept]
    pairs = np.unique(chunks * len(keys) + ids)
    held = np.bincount(pairs % len(keys), minlength=len(keys)) if len(keys) else np.zeros(0, np.int64)
    least = 1 if total <= SMALL else LEAST_CHUNKS
    order = sorted(np.flatnonzero(held >= least).tolist(), key=lambda at: keys[at])
    place = np.full(max(len(keys), 1), -1, np.int64)
    place[order] = np.arange(len(order))
    told = _Telling(table, canon, keys, kept=(canon >= 0) & (place[canon] >= 0))
    size = max(len(keys), 1)
    chunks, places = pairs // size, place[pairs % size]
    chunks, places = chunks[places >= 0], places[places >= 0]
    sources, targets, counts = _together(chunks, places, len(order))
    graph = GraphTable(
        concepts=tuple(told.concept(at, chunks=int(held[at])) for at in order),
        sources=sources,
        targets=targets,
        counts=counts,
        chunks=total,
    )
    return Counted(graph, chunks, places)


def listed(numbers: Integers) -> list[int]:
    """Return numbers as a list."""
    return cast("list[int]", numbers.tolist())


def weights(graph: GraphTable) -> NDArray[np.float64]:
    """Return the PPMI of every edge: how many bits more often two concepts meet than by chance, 0 where they do not."""
    import numpy as np

    held = np.array([concept.chunks for concept in graph.concepts], dtype=np.float64)
    if not len(graph.counts):
        return np.zeros(0)
    chance = held[graph.sources] * held[graph.targets]
    return np.maximum(0.0, np.log2(graph.counts * float(graph.chunks) / chance))


def strengths(graph: GraphTable, bits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the PPMI less what rare concepts owe to chance: two that met once prove little."""
    import numpy as np

    if not len(bits):
        return bits
    held = np.array([concept.chunks for concept in graph.concepts], dtype=np.float64)
    rarer = np.minimum(held[graph.sources], held[graph.targets])
    return bits * (graph.counts / (graph.counts + 1.0)) * (rarer / (rarer + 1.0))


# ---------------------------------------------------------------------- the same under another form


def _canonical(table: MentionTable, decisions: Decisions) -> tuple[Integers, list[str]]:
    """Return for each form of the table the number of the one that it counts as, -1 for none, and all forms."""
    import numpy as np

    keys = list(table.concepts.values)
    places = {key: at for at, key in enumerate(keys)}
    same = {**_plurals(places), **_long_forms(table), **decisions.merged}
    canon = np.arange(len(keys), dtype=np.int64)
    for key in [key for key in same if key in places]:
        final = _followed(key, same)
        if final not in places:
            places[final] = len(keys)
            keys.append(final)
        canon[places[key]] = places[final]
    gone = [places[key] for key in decisions.forbidden if key in places]
    canon[np.isin(canon, gone)] = -1
    return canon, keys


def _plurals(known: Mapping[str, int]) -> dict[str, str]:
    """Return names that are plurals of another form which is there as well."""
    found = ((key, singular(key)) for key in known if key.endswith("s"))
    return {key: one for key, one in found if one != key and one in known}


def _long_forms(table: MentionTable) -> dict[str, str]:
    """Return abbreviations that stand for one thing in this library, and are not mostly written as a plain word."""
    import numpy as np

    rows = np.flatnonzero(table.stands_for.codes >= 0)
    meant: dict[int, Counter[int]] = defaultdict(Counter)
    for short, long_form in zip(listed(table.concepts.codes[rows]), listed(table.stands_for.codes[rows]), strict=True):
        meant[short][long_form] += 1
    every, as_word = _written(table, sorted(meant))
    found: dict[str, str] = {}
    for short, forms in meant.items():
        best = min(forms, key=lambda one: (-forms[one], table.stands_for.values[one]))
        if forms[best] >= _SURE * forms.total() and as_word[short] <= (1 - _SURE) * every[short] / 2:
            found[table.concepts.values[short]] = table.stands_for.values[best]
    return found


def _written(table: MentionTable, forms: Sequence[int]) -> tuple[Counter[int], Counter[int]]:
    """Return how many chunks have each of these forms, and in how many it has no capital letter but the first."""
    import numpy as np

    rows = np.flatnonzero(np.isin(table.concepts.codes, np.array(forms, dtype=np.int64)))
    every: Counter[int] = Counter()
    as_word: Counter[int] = Counter()
    for form, surface in zip(listed(table.concepts.codes[rows]), listed(table.surfaces.codes[rows]), strict=True):
        every[form] += 1
        as_word[form] += table.surfaces.values[surface][1:].islower()
    return every, as_word


def _followed(key: str, same: Mapping[str, str]) -> str:
    """Return where a chain of forms ends; one that runs in a circle ends where it began."""
    seen = [key]
    while seen[-1] in same and len(seen) <= _MOST_STEPS:
        following = same[seen[-1]]
        if following in seen:
            return min(seen)
        seen.append(following)
    return seen[-1]


# ---------------------------------------------------------------------- together


def _together(chunks: Integers, places: Integers, size: int) -> tuple[Integers, Integers, Integers]:
    """Return the pairs of concepts that share chunks, and how many; the rows are sorted by chunk and concept."""
    import numpy as np

    if not len(chunks):
        none = np.zeros(0, np.int64)
        return none, none, none
    order = np.lexsort((places, chunks))
    chunks, places = chunks[order], places[order]
    starts = np.flatnonzero(np.concatenate(([True], chunks[1:] != chunks[:-1])))
    sizes = np.diff(np.concatenate((starts, [len(chunks)])))
    codes: list[Integers] = []
    for held in np.unique(sizes).tolist():
        first, second = np.triu_indices(held, 1)
        rows = places[starts[sizes == held][:, None] + np.arange(held)]
        codes.append((rows[:, first] * size + rows[:, second]).ravel())
    found, counts = np.unique(np.concatenate(codes), return_counts=True)
    return found // size, found % size, counts.astype(np.int64)


# ---------------------------------------------------------------------- how it is written


class _Telling:
    """How each concept is written, and what kind it is: by most chunks."""

    def __init__(self, table: MentionTable, canon: Integers, keys: Sequence[str], *, kept: NDArray[np.bool_]) -> None:
        """Look at the forms that are `kept`."""
        import numpy as np

        self._keys = keys
        rows = kept[table.concepts.codes] if len(kept) else np.zeros(0, np.bool_)
        forms = table.concepts.codes[rows]
        self._surfaces = _most_frequent(forms, table.surfaces, rows)
        self._kinds = _most_frequent(forms, table.kinds, rows)
        self._forms: dict[int, list[int]] = defaultdict(list)
        for form in listed(np.flatnonzero(kept)):
            self._forms[int(canon[form])].append(form)

    def concept(self, at: int, *, chunks: int) -> Concept:
        """Return the concept of a form. What merely counts as it gives aliases, not the label."""
        forms = self._forms[at]
        if len(forms) == 1 and len(self._surfaces[forms[0]]) == 1:
            label, keys = self._surfaces[forms[0]][0][0], tuple(self._others(at, forms))
            return Concept(id=self._keys[at], label=label, kind=self._kind(forms), chunks=chunks, keys=keys)
        own = [form for form in forms if form == at] or forms
        surfaces = _ranked(own, self._surfaces)
        seen = {surfaces[0].casefold(): surfaces[0]}
        for surface in [*surfaces[1:], *_ranked([form for form in forms if form not in own], self._surfaces)]:
            seen.setdefault(surface.casefold(), surface)
        return Concept(
            id=self._keys[at],
            label=surfaces[0],
            kind=self._kind(own),
            aliases=tuple(seen.values())[1 : _MOST_ALIASES + 1],
            chunks=chunks,
            keys=tuple(self._others(at, forms)),
        )

    def _kind(self, forms: Sequence[int]) -> str:
        return _ranked(forms, self._kinds)[0]

    def _others(self, at: int, forms: Sequence[int]) -> list[str]:
        """Return the forms beside its own that count as a concept."""
        return sorted(self._keys[form] for form in forms if form != at)


def _ranked(forms: Sequence[int], counts: Mapping[int, Sequence[tuple[str, int]]]) -> list[str]:
    """Return the values of these forms, the most frequent first."""
    if len(forms) == 1 and len(counts[forms[0]]) == 1:
        return [counts[forms[0]][0][0]]
    total: dict[str, int] = defaultdict(int)
    for form in forms:
        for value, times in counts[form]:
            total[value] += times
    return sorted(total, key=lambda one: (-total[one], one))


def _most_frequent(forms: Integers, column: Coded, rows: NDArray[np.bool_]) -> dict[int, list[tuple[str, int]]]:
    """Return for each form the values that a column has in these rows, with in how many."""
    import numpy as np

    size = max(len(column.values), 1)
    codes, counts = np.unique(forms * size + column.codes[rows], return_counts=True)
    owners, values = np.divmod(codes, size)
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for owner, value, times in zip(listed(owners), listed(values), listed(counts), strict=True):
        found[owner].append((column.values[value], times))
    return found
