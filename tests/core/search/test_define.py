"""A name alone lands on its definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from lilbee_core.search import Define
from lilbee_core.testing import StageContext, a_hit, a_state
from lilbee_core.types import Chunk, ChunkId, Hit, Ranking, Scored, SearchState

CONTEXT = StageContext()


class Shelf:
    """Holds the chunks that were not fetched, and counts how often it is asked."""

    def __init__(self, *hits: Hit) -> None:
        self._chunks = {hit.chunk.id: hit.chunk for hit in hits}
        self.asked = 0

    def get(self, ids: Sequence[ChunkId]) -> tuple[Chunk, ...]:
        self.asked += 1
        return tuple(self._chunks[one] for one in ids if one in self._chunks)


def code(symbol: str | None, text: str = "code", *, score: float = 1.0, **more: Any) -> Hit:
    return a_hit(f"{text} # {symbol} {more.get('ordinal', 0)}", score=score, symbol=symbol, **more)


def defined(query: str, *hits: Hit, further: Sequence[Hit] = ()) -> SearchState:
    state = a_state(*hits, text=query)
    entries = (*state.rankings[0].entries, *(Scored(one.chunk.id, one.score) for one in further))
    reader: Any = Shelf(*further)
    ranked = a_state(*hits, text=query, rankings=(Ranking(name="fused", entries=entries),))
    return Define(reader).run(ranked, CONTEXT)


def symbols(state: SearchState) -> list[str | None]:
    return [hit.symbol for hit in state.hits]


USE = code("main", "store = Store.open()", score=3.0, path="main.py")
OPEN = code("Store.open", "def open(self): ...", score=2.0, path="store.py")


@pytest.mark.parametrize("query", ["open", "Store.open", "Store.open()", "open()", "`open`", '"open"', "Store::open"])
def test_a_definition_goes_before_its_uses(query: str) -> None:
    state = defined(query, USE, OPEN)
    assert symbols(state) == ["Store.open", "main"]
    assert [hit.score for hit in state.hits] == [3.0, 3.0]
    assert dict(state.hits[0].scores)["define"] == 1.0


@pytest.mark.parametrize("query", ["open the store", "op", "12", "close", "Other.open", "how?", "-open", "a.b/c.py"])
def test_other_queries_stay_as_they_are(query: str) -> None:
    assert symbols(defined(query, USE, OPEN)) == ["main", "Store.open"]


def test_a_definition_behind_the_best_candidates_is_fetched() -> None:
    state = defined("open", USE, further=[OPEN, code("other", score=0.5, path="c.py")])
    assert symbols(state) == ["Store.open", "main"]


def test_the_head_of_a_definition_comes_first() -> None:
    pieces = [
        code("Hive", "piece", score=score, ordinal=ordinal, path="hive.py", document_id="d", start=ordinal * 100)
        for ordinal, score in ((4, 3.0), (2, 1.0), (3, 2.0))
    ]
    state = defined("Hive", *pieces)
    assert [hit.chunk.ordinal for hit in state.hits] == [2, 4, 3]


def test_the_exact_case_goes_before_another() -> None:
    small, large = code("hive", score=2.0, path="a.py"), code("Hive", score=1.0, path="b.py")
    assert symbols(defined("Hive", small, large)) == ["Hive", "hive"]
    assert symbols(defined("HIVE", USE, large)) == ["Hive", "main"]


def test_a_small_definition_in_a_chunk_of_others_is_found_by_its_keyword() -> None:
    mixin = code("Mixin", "class Mixin:\n    def convert(self): ...", score=1.0, path="a.py")
    assert symbols(defined("convert", code("Other.use", "x.convert()", score=2.0), mixin)) == ["Mixin", "Other.use"]
    file = a_hit("class Hive:\n    def convert(self): ...", score=1.0, path="b.py", media_type="text/x-python")
    for query in ("convert", "Hive.convert"):
        assert symbols(defined(query, USE, file)) == [None, "main"]
    assert symbols(defined("Comb.convert", USE, file)) == ["main", None]
    # In prose a word before a name says nothing.
    prose = a_hit("Call the function convert when it rains.", score=1.0, path="a.md")
    assert symbols(defined("convert", USE, prose)) == ["main", None]


def test_every_definition_of_a_name_is_lifted_the_best_first() -> None:
    first, second = code("A.run", score=1.0, path="a.py"), code("B.run", score=2.0, path="b.py")
    assert symbols(defined("run", USE, first, second)) == ["B.run", "A.run", "main"]
