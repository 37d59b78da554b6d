"""Communities: concepts that belong together, found by Leiden, with numbers that stay from one sync to the next."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, cast

from lilbee_core.concepts._counting import Counted, strengths, weights
from lilbee_core.errors import ExtraMissing
from lilbee_core.types import Community, GraphTable, Integers

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LEIDEN = "graspologic_native"
_SEED = 7
_KEPT = 1.2
"""How much more an edge counts whose ends were in one community before, so that a small change moves few concepts. The
library could begin with the old communities instead, but ends the process then for one graph in seven (1.3.1)."""
_LEAST = 3
"""Concepts that make a community."""
_LABEL = 3


class _Leiden(Protocol):
    def leiden_csr(
        self, indptr: object, indices: object, data: object, n_nodes: int, *, seed: int
    ) -> tuple[float, Mapping[int, int]]: ...


def can_cluster() -> bool:
    """Whether the library that finds communities is installed."""
    return find_spec(_LEIDEN) is not None


def require_leiden() -> None:
    """Refuse to go on without the library that finds communities.

    Raises:
        ExtraMissing: If it is not installed.
    """
    if not can_cluster():
        raise ExtraMissing(
            "communities need the Leiden algorithm, which is not installed",
            hint="Run: pip install 'lilbee-core[graph]'",
        )


def with_communities(counted: Counted, previous: GraphTable | None = None) -> GraphTable:
    """Return the graph with its communities. Those of `previous` draw it, and keep their numbers.

    Raises:
        ExtraMissing: If Leiden is not installed.
    """
    graph = counted.graph
    old = {one.id: one.community for one in previous.concepts if one.community is not None} if previous else {}
    first = previous.next_community if previous else 0
    bits = weights(graph)
    strong = strengths(graph, bits)
    groups = _groups(graph, strong, old)
    numbers, following = _numbered(groups, old, first)
    of = {member: numbers[at] for at, members in enumerate(groups) for member in members}
    concepts = tuple(replace(one, community=of.get(one.id)) for one in graph.concepts)
    found = replace(graph, concepts=concepts, next_community=following)
    return replace(found, communities=_described(found, strong, counted))


def _groups(graph: GraphTable, strong: NDArray[np.float64], old: Mapping[str, int]) -> list[list[str]]:
    """Return the members of each community, those of one in the order of the graph."""
    require_leiden()
    import numpy as np

    kept = strong > 0
    if not kept.any():
        return []
    was = np.array([old.get(one.id, -1) for one in graph.concepts], dtype=np.int64)
    sources, targets = graph.sources[kept], graph.targets[kept]
    drawn = strong[kept] * np.where((was[sources] == was[targets]) & (was[sources] >= 0), _KEPT, 1.0)
    # Each edge stands at both of its ends, in the order of these.
    first, second = np.concatenate((sources, targets)), np.concatenate((targets, sources))
    order = np.lexsort((second, first))
    starts = np.searchsorted(first[order], np.arange(len(graph.concepts) + 1)).astype(np.int64)
    _, partition = cast("_Leiden", import_module(_LEIDEN)).leiden_csr(
        starts, second[order].astype(np.int32), np.concatenate((drawn, drawn))[order], len(graph.concepts), seed=_SEED
    )
    members: dict[int, list[str]] = defaultdict(list)
    for at, one in enumerate(graph.concepts):
        if at in partition:
            members[partition[at]].append(one.id)
    return [one for one in members.values() if len(one) >= _LEAST]


def _numbered(groups: Sequence[Sequence[str]], old: Mapping[str, int], first: int) -> tuple[list[int], int]:
    """Give each group the number of the old community that it shares most members with; return the next free one."""
    shared: Counter[tuple[int, int]] = Counter()
    for at, members in enumerate(groups):
        shared.update((at, old[name]) for name in members if name in old)
    given: dict[int, int] = {}
    taken: set[int] = set()
    for (at, number), _ in sorted(shared.items(), key=lambda one: (-one[1], one[0])):
        if at not in given and number not in taken:
            given[at] = number
            taken.add(number)
    following = max([first, *(number + 1 for number in old.values())])
    by_size = sorted((at for at in range(len(groups)) if at not in given), key=lambda at: (-len(groups[at]), at))
    for at in by_size:
        given[at] = following
        following += 1
    return [given[at] for at in range(len(groups))], following


def _described(graph: GraphTable, strong: NDArray[np.float64], counted: Counted) -> tuple[Community, ...]:
    """Return the communities, largest first, each named after its most central concepts."""
    import numpy as np

    of = np.array([-1 if one.community is None else one.community for one in graph.concepts], dtype=np.int64)
    inside = (of[graph.sources] == of[graph.targets]) & (of[graph.sources] >= 0)
    central = np.zeros(len(graph.concepts))
    shared = strong[inside] * graph.counts[inside]
    np.add.at(central, graph.sources[inside], shared)
    np.add.at(central, graph.targets[inside], shared)
    chunks = _chunks_of(counted, of, graph.next_community)
    members: dict[int, list[int]] = defaultdict(list)
    for at in np.flatnonzero(of >= 0).tolist():
        members[int(of[at])].append(at)
    found: list[Community] = []
    for number, places in members.items():
        ranked = sorted(places, key=lambda at: (-float(central[at]), graph.concepts[at].id))
        label = ", ".join(graph.concepts[at].label for at in ranked[:_LABEL])
        ids = tuple(graph.concepts[at].id for at in ranked)
        found.append(Community(id=number, label=label, concepts=ids, chunks=int(chunks[number])))
    return tuple(sorted(found, key=lambda one: (-len(one.concepts), one.id)))


def _chunks_of(counted: Counted, of: Integers, size: int) -> Integers:
    """Return for each community how many chunks speak of any of its concepts."""
    import numpy as np

    numbers = of[counted.places]
    held = numbers >= 0
    pairs = np.unique(counted.chunks[held] * max(size, 1) + numbers[held])
    return np.bincount(pairs % max(size, 1), minlength=size)
