"""What a graph of concepts adds (R172, R174, R175)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.search import BoostConcepts, ExpandByGraph, ProfileSearcher
from lilbee_core.testing import HashEmbedder, MemoryGraph, StageContext, a_hit, a_state
from lilbee_core.types import Query, SearchState
from tests.core.search.fakes import parts_of, store_of

CONTEXT = StageContext()
GRAPH = MemoryGraph(
    "honey",
    relations=[("pool", "database", 3.0), ("pool", "cache", 1.0), ("database", "disk", 9.0), ("timeout", "cache", 2.5)],
)


def expanded(text: str, **options: float) -> SearchState:
    return ExpandByGraph(GRAPH, **options).run(a_state(a_hit(), text=text), CONTEXT)


def test_wordings_come_from_one_step_away_and_weigh_together_half():
    state = expanded("connection pool timeout")

    assert [(one.kind, one.text, one.weight) for one in state.variants] == [
        ("original", "connection pool timeout", 1.0),
        ("graph", "connection pool timeout cache", 0.25),  # 1.0 from pool and 2.5 from timeout
        ("graph", "connection pool timeout database", 0.25),
    ]
    assert "disk" not in state.note


def test_only_the_concepts_that_go_most_with_the_query_are_added():
    assert [one.text for one in expanded("pool", most=1).variants[1:]] == ["pool database"]


@pytest.mark.parametrize(("text", "note"), [("honey", "has neighbors"), ("wax", "no concepts in the query")])
def test_without_neighbors_nothing_is_added(text, note):
    state = expanded(text)

    assert len(state.variants) == 1
    assert note in state.note


def boosted(text: str, *texts: str, scores: tuple[float, ...] = (0.5, 0.4)) -> SearchState:
    graph = MemoryGraph("pool", "cache")
    hits = [a_hit(one, score=score, path=one) for one, score in zip(texts, scores, strict=False)]
    graph.update([hit.chunk for hit in hits])
    return BoostConcepts(graph).run(a_state(*hits, text=text), CONTEXT)


def test_a_score_grows_by_the_share_of_the_concepts_that_a_hit_is_about():
    state = boosted("pool and cache", "nothing", "Pool, pool", scores=(0.42, 0.4))

    assert [(hit.path, hit.score) for hit in state.hits] == [
        ("Pool, pool", pytest.approx(0.4 * (1 + 0.5 * 0.3))), ("nothing", 0.42),
    ]  # fmt: skip
    assert dict(state.hits[0].scores) == {"concepts": 0.5}


def test_aliases_count_and_a_query_without_concepts_changes_nothing():
    graph = MemoryGraph("pool")
    graph.merge("pools", "pool")
    hit = a_hit("Some pools.", score=1.0)
    graph.update([hit.chunk])

    assert BoostConcepts(graph).run(a_state(hit, text="which pool"), CONTEXT).hits[0].score == pytest.approx(1.3)
    state = a_state(hit, text="honey")
    assert BoostConcepts(graph).run(state, CONTEXT).hits is state.hits


@given(st.lists(st.tuples(st.sampled_from(["pool", "cache", "pool cache", "wax"]), st.floats(-10, 10)), max_size=8))
def test_no_score_ever_falls(rows):
    graph = MemoryGraph("pool", "cache")
    hits = sorted(
        (a_hit(text, score=score, id=str(at)) for at, (text, score) in enumerate(rows)), key=lambda h: -h.score
    )
    graph.update([hit.chunk for hit in hits])
    before = {hit.chunk.id: hit.score for hit in hits}
    after = BoostConcepts(graph).run(a_state(*hits, text="pool cache"), CONTEXT).hits

    assert all(hit.score >= before[hit.chunk.id] for hit in after)
    assert [hit.score for hit in after] == sorted((hit.score for hit in after), reverse=True)
    assert len(after) == len(hits)


def test_profiles_use_a_graph_only_where_there_is_one():
    store = store_of({"a.md": "The pool of the inn.", "b.md": "A database on the disk.", "c.md": "Wax."})
    graph = MemoryGraph(relations=[("pool", "database", 3.0)])
    graph.update([chunk for row in store.rows() for chunk in store.chunks_of(row.id)])

    def stages(profile: str, *, graph: MemoryGraph | None) -> list[str]:
        searcher = ProfileSearcher(parts_of(store, embedder=HashEmbedder(), graph=graph))
        result = searcher.search(Query(text="pool", profile=profile))
        return [one.name for one in result.reports if one.name in ("expand_by_graph", "boost_concepts")]

    assert stages("full", graph=graph) == ["expand_by_graph", "boost_concepts"]
    assert stages("default", graph=graph) == ["boost_concepts"]
    assert stages("keyword", graph=graph) == []
    assert stages("full", graph=None) == []
    found = ProfileSearcher(parts_of(store, graph=graph)).search(Query(text="pool", profile="full"))
    assert [hit.path for hit in found] == ["a.md", "b.md"], "what goes with the query is found, behind what was asked"
    assert dict(found[0].scores)["concepts"] == 1.0


def test_the_query_itself_stays_what_it_was():
    state = a_state(a_hit(), text="pool")
    after = ExpandByGraph(GRAPH).run(state, CONTEXT)

    assert after.query is state.query
    assert after.variants[0] is state.variants[0]
    assert replace(after, variants=state.variants, note="") == state
