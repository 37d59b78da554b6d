"""Cutting where the topic changes: between sentences whose neighborhoods are least alike. Asks the embedder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lilbee_core.chunking._ruler import TokenRuler
from lilbee_core.chunking._units import Unit, tiny_tokens
from lilbee_core.errors import InvalidArgument
from lilbee_core.text import sentences

if TYPE_CHECKING:
    from lilbee_core.types import Vectors

VERSION = 1
_WINDOW = 3
"""Sentences before and behind a place that are held against each other."""
_BLOCK = 512
"""Sentences whose likeness is judged together, and embedded in one go."""
_LEAST_PLACES = 8
"""With fewer places between sentences, none of them stands out."""
_MOST_CHARS = 2_000
"""What is embedded of a sentence at the most: lists and tables may have none that end."""
Embed = Callable[[Sequence[str]], "Vectors"]


@dataclass(frozen=True, slots=True)
class _Read:
    """A stretch of a unit with its sentences; none where it is not looked into."""

    unit: Unit
    start: int
    end: int
    sentences: tuple[tuple[int, int], ...] = ()


class TopicFinder:
    """Parts sections that are longer than half a chunk where the cosine between neighboring sentences drops.

    The cosine is that of the mean of three sentences before a place and of three behind it. A place counts if it is
    among the least alike of about 512 that follow each other (`percentile` 90: the lowest tenth) and less alike than
    the places next to it. Threads may share it if they may share the embedder.
    """

    def __init__(self, embed: Embed, *, model: str, percentile: int = 90) -> None:
        """Take the embedder; `model` names it, since another one finds other topics."""
        if not 50 <= percentile <= 99:
            raise InvalidArgument(
                f"the percentile of topics must lie between 50 and 99, got {percentile}",
                hint="Set chunk_topic_percentile to 90, or higher for fewer topics.",
            )
        self._embed = embed
        self._percentile = percentile
        self.fingerprint = f"topics-v{VERSION}:percentile={percentile}:model={model}"

    def parts(self, text: str, units: Iterable[Unit], ruler: TokenRuler, size: int) -> Iterator[tuple[Unit, int, int]]:
        """Yield the stretches of each unit; together they hold all of it."""
        block: list[_Read] = []
        count = 0
        for unit in units:
            for read in self._read(text, unit, ruler, size):
                block.append(read)
                count += len(read.sentences)
                if count >= _BLOCK:
                    yield from self._cut(text, block, ruler, size)
                    block, count = [], 0
        yield from self._cut(text, block, ruler, size)

    def _read(self, text: str, unit: Unit, ruler: TokenRuler, size: int) -> Iterator[_Read]:
        """Yield a unit with its sentences, in several stretches if there are very many."""
        if ruler.advance(unit.start, size // 2) >= unit.end:
            yield _Read(unit, unit.start, unit.end)
            return
        found = [(unit.start + one.start, unit.start + one.end) for one in sentences(text[unit.start : unit.end])]
        starts = [unit.start, *(found[at][0] for at in range(_BLOCK, len(found), _BLOCK))]
        for number, (start, end) in enumerate(pairwise([*starts, unit.end])):
            yield _Read(unit, start, end, tuple(found[number * _BLOCK : (number + 1) * _BLOCK]))

    def _cut(self, text: str, block: Sequence[_Read], ruler: TokenRuler, size: int) -> Iterator[tuple[Unit, int, int]]:
        places = self._places(text, [one.sentences for one in block])
        for one, cuts in zip(block, places, strict=True):
            start = one.start
            for cut in _apart(cuts, one, ruler, max(tiny_tokens(size), size // 6)):
                yield one.unit, start, cut
                start = cut
            yield one.unit, start, one.end

    def _places(self, text: str, read: Sequence[Sequence[tuple[int, int]]]) -> list[list[int]]:
        """Return where topics change in each unit."""
        texts = [text[start : min(end, start + _MOST_CHARS)] for unit in read for start, end in unit]
        if sum(max(0, len(unit) - 1) for unit in read) < _LEAST_PLACES:
            return [[] for _ in read]
        import numpy as np

        vectors = self._embed(texts)
        drops: list[Any] = []
        at = 0
        for unit in read:
            weights = np.array([min(end - start, _MOST_CHARS) for start, end in unit], dtype=np.float32)
            drops.append(_drops(vectors[at : at + len(unit)], weights))
            at += len(unit)
        least = float(np.percentile(np.concatenate(drops), self._percentile))
        return [[unit[place + 1][0] for place in _peaks(one, least)] for unit, one in zip(read, drops, strict=True)]


def _drops(vectors: Vectors, weights: Any) -> Any:
    """Return how unlike the sentences before and behind each place are: one less the cosine."""
    import numpy as np

    count = len(vectors)
    if count < 2:
        return np.zeros(0, dtype=np.float32)
    sums = np.vstack([np.zeros((1, vectors.shape[1])), np.cumsum(vectors * weights[:, None], axis=0, dtype=np.float64)])
    places = np.arange(1, count)
    before = sums[places] - sums[np.maximum(places - _WINDOW, 0)]
    behind = sums[np.minimum(places + _WINDOW, count)] - sums[places]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(behind, axis=1)
    return 1.0 - np.einsum("ij,ij->i", before, behind) / np.maximum(lengths, 1e-12)


def _peaks(drops: Any, least: float) -> Iterator[int]:
    """Yield the places at which a drop is deep enough, and deeper than beside it."""
    for place, drop in enumerate(drops):
        beside = drops[max(0, place - 1) : place + 2]
        if drop >= least and drop > 0 and drop == beside.max():
            yield place


def _apart(cuts: Sequence[int], read: _Read, ruler: TokenRuler, least: int) -> Iterator[int]:
    """Yield the cuts that leave no piece of fewer than so many tokens."""
    start = read.start
    for cut in cuts:
        if ruler.count(start, cut, least) >= least and ruler.count(cut, read.end, least) >= least:
            yield cut
            start = cut
