"""A cut-off by distance that gives way (R176, R177)."""

from __future__ import annotations

import pytest

from lilbee_core.search import AdaptiveDistance, ProfileSearcher
from lilbee_core.testing import HashEmbedder, StageContext, a_state
from lilbee_core.types import ChunkId, Query, Ranking, Scored, SearchState
from tests.core.search.fakes import parts_of, store_of


def found(*distances: float, words: int = 0, top_k: int = 3) -> SearchState:
    near = tuple(Scored(ChunkId(f"d{at}"), 1 - distance) for at, distance in enumerate(distances))
    lexical = tuple(Scored(ChunkId(f"w{at}"), 9.0 - at) for at in range(words))
    rankings = (Ranking(name="dense", entries=near), Ranking(name="lexical", entries=lexical, floor=0.0))
    return a_state(rankings=rankings, query=Query(text="q", top_k=top_k))


def cut(state: SearchState, **options: float) -> tuple[int, str]:
    after = AdaptiveDistance(**options).run(state, StageContext())
    return len(after.rankings[0].entries), after.note


@pytest.mark.parametrize(
    ("distances", "kept", "note"),
    [
        ((0.1, 0.2, 0.9, 0.91), 3, "0.9"),
        ((0.1, 0.2, 0.91, 1.5), 3, "1.1 after 1 step"),
        ((0.1, 1.05, 1.25), 3, "1.3 after 2 steps"),
        ((0.1, 1.9), 2, "2 after 6 steps"),
        ((), 0, "2 after 6 steps"),
    ],
)
def test_it_widens_step_by_step_until_there_are_enough(distances, kept, note):
    assert cut(found(*distances)) == (kept, note)


def test_hits_by_words_count():
    assert cut(found(0.1, 1.05, words=2)) == (1, "0.9")


def test_it_widens_at_most_twenty_times():
    assert cut(found(0.1, 1.0), max_distance=0.5, step=0.01) == (1, "0.7 after 20 steps")


def test_one_disables_the_cut():
    assert cut(found(0.1, 1.9, 1.99), max_distance=1.0) == (3, "no cut-off")


def test_what_is_left_out_is_told():
    after = AdaptiveDistance().run(found(0.1, 0.2, 0.3, 1.4), StageContext())

    assert [(drop.chunk_id, drop.reason) for drop in after.dropped] == [("d3", "farther than 0.9")]


def test_a_step_that_goes_nowhere_is_refused():
    with pytest.raises(ValueError, match="step must be positive"):
        AdaptiveDistance(step=0.0)


FILES = {f"{at}.md": text for at, text in enumerate(["bees find home", "honey keeps", "wax smells"])}


@pytest.mark.parametrize("text", ["bees", "vec: bees"])
@pytest.mark.parametrize(("adaptive", "hits"), [(False, 1), (True, 3)])
def test_in_the_whole_search(text, adaptive, hits):
    store, embedder = store_of(FILES), HashEmbedder()
    searcher = ProfileSearcher(parts_of(store, embedder=embedder, options={"adaptive_distance": adaptive}))
    result = searcher.search(Query(text=text))

    assert len(result) == hits
    assert ("distance" in [report.name for report in result.reports]) is adaptive


@pytest.mark.parametrize("distance", [1.0, 2.0])
def test_without_a_cut_off_everything_is_a_candidate(distance):
    searcher = ProfileSearcher(parts_of(store_of(FILES), embedder=HashEmbedder(), options={"max_distance": distance}))

    assert len(searcher.search(Query(text="vec: bees"))) == 3
