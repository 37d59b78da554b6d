"""Counting, PPMI, communities, names, decisions, exact removal (R210-R212)."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.concepts import ConceptGraph, can_cluster
from lilbee_core.concepts._communities import with_communities
from lilbee_core.concepts._counting import count
from lilbee_core.concepts._decisions import Decisions
from lilbee_core.errors import ExtraMissing, InvalidArgument, NotFound
from lilbee_core.testing.builders import a_chunk
from lilbee_core.types import Chunk, ChunkId, DocumentId, Mention

needs_leiden = pytest.mark.skipif(not can_cluster(), reason="graspologic-native is not installed")


class Given:
    """Finds the words of a text: what a chunk talks about is what it says."""

    fingerprint = "given"

    def extract(self, chunks: Sequence[Chunk]) -> list[tuple[Mention, ...]]:
        return [
            tuple(Mention(concept=word, surface=word) for word in dict.fromkeys(one.text.split())) for one in chunks
        ]


def graph_of(*texts: str) -> ConceptGraph:
    """Return a graph of one document per text, named after its position."""
    graph = ConceptGraph(Given())
    graph.update([chunk(at, text) for at, text in enumerate(texts)])
    return graph


def chunk(at: int, text: str) -> Chunk:
    return a_chunk(text, path=f"{at}.md", id=ChunkId(f"c{at}"), document_id=DocumentId(f"d{at}"))


def said(graph: ConceptGraph) -> tuple[object, ...]:
    table = graph.view.table
    edges = zip(table.sources.tolist(), table.targets.tolist(), table.counts.tolist(), strict=True)
    names = [one.id for one in table.concepts]
    return (
        table.chunks,
        [(one.id, one.chunks) for one in table.concepts],
        [(names[a], names[b], n) for a, b, n in edges],
    )


def test_edges_weigh_what_ppmi_says():
    graph = graph_of("bee hive", "bee hive", "bee wax", "moon", "sun", "sun", "moon", "rain")

    assert said(graph) == (
        8,
        [("bee", 3), ("hive", 2), ("moon", 2), ("rain", 1), ("sun", 2), ("wax", 1)],
        [("bee", "hive", 2), ("bee", "wax", 1)],
    )
    related = {one.target: one for one in graph.related("bee")}
    assert related["hive"].weight == pytest.approx(math.log2((2 / 8) / ((3 / 8) * (2 / 8))))
    assert related["wax"].weight == pytest.approx(math.log2((1 / 8) / ((3 / 8) * (1 / 8))))
    assert [one.target for one in graph.related("bee")] == ["hive", "wax"], "the same weight, but met more often"


def test_what_meets_no_more_often_than_by_chance_is_not_related():
    graph = graph_of("bee hive", "bee hive", "bee", "bee hive")

    assert graph.related("bee") == ()


def test_in_a_larger_library_what_one_chunk_says_is_no_concept():
    graph = graph_of(*(["bee hive"] * 40 + ["bee wax"] * 19 + ["bee moon"]))

    assert [one.id for one in graph.concepts()] == ["bee", "hive", "wax"]
    assert graph.get("moon") is None
    assert graph.neighbors("moon") == ()
    with pytest.raises(NotFound, match="there is no concept 'moon'"):
        graph.related("moon")


NAMES = ["bee", "hive", "wax", "moon", "sun", "rain", "bees"]
WORDS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=8), st.lists(st.tuples(st.integers(0, 9), WORDS), max_size=8))
def test_after_any_changes_the_graph_is_that_of_what_is_left(texts, changes):
    graph = graph_of(*texts)
    now = dict(enumerate(texts))
    for at, text in changes:
        if at in now and len(text) % 2:
            graph.remove([DocumentId(f"d{at}")])
            del now[at]
        else:
            graph.update([chunk(at, text)])
            now[at] = text
        if len(text) % 3 == 0:
            graph.refresh()
    fresh = ConceptGraph(Given())
    fresh.update([chunk(at, text) for at, text in sorted(now.items())])

    assert said(graph) == said(fresh)


def two_cliques() -> ConceptGraph:
    bees = ["bee hive wax", "bee hive honey", "wax honey hive", "bee wax honey"]
    moons = ["moon star sky", "moon star night", "sky night star", "moon sky night"]
    return graph_of(*bees, *moons, "bee moon")


@needs_leiden
def test_two_cliques_are_two_communities():
    graph = two_cliques()
    first, second = graph.communities()

    assert {frozenset(first.concepts), frozenset(second.concepts)} == {
        frozenset({"bee", "hive", "wax", "honey"}), frozenset({"moon", "star", "sky", "night"}),
    }  # fmt: skip
    assert {one.chunks for one in graph.communities()} == {5}
    assert [one.communities() for one in (two_cliques(), two_cliques())] == [graph.communities()] * 2
    assert graph.topics("what the honey is") == tuple(one for one in (first, second) if "honey" in one.concepts)
    assert graph.topics("what the rain is") == ()


@needs_leiden
def test_communities_keep_their_numbers_while_they_grow_and_others_come_and_go():
    graph = two_cliques()
    bees = next(one.id for one in graph.communities() if "bee" in one.concepts)
    graph.update([chunk(20, "bee hive wax honey propolis"), chunk(21, "propolis wax"), chunk(22, "propolis hive")])
    assert next(one for one in graph.communities() if "propolis" in one.concepts).id == bees
    graph.remove([DocumentId(f"d{at}") for at in (4, 5, 6, 7, 8)])
    graph.update(
        [chunk(30 + at, text) for at, text in enumerate(["fox hound hunt", "fox hunt horn", "hound horn hunt"])]
    )
    numbers = {one.id: one.concepts for one in graph.communities()}

    assert "bee" in numbers[bees]
    assert max(numbers) == 2, "the number of the one that is gone is not given again"


@needs_leiden
def test_a_graph_that_is_the_same_keeps_its_communities():
    graph = two_cliques()
    before = graph.view.table
    graph.update([chunk(0, "bee hive wax")])

    assert graph.refresh() is False
    assert graph.view.table is before


def test_without_leiden_the_rest_works(monkeypatch):
    monkeypatch.setattr("lilbee_core.concepts._communities._LEIDEN", "no_such_module")
    graph = two_cliques()

    assert graph.related("bee")
    with pytest.raises(ExtraMissing, match="Leiden") as caught:
        graph.communities()
    assert "pip install 'lilbee-core[graph]'" in (caught.value.hint or "")


def test_abbreviations_and_plurals_of_names_are_one_concept_with_what_they_stand_for():
    graph = ConceptGraph()
    graph.update([
        chunk(0, "The World Health Organization (WHO) met the Beekeepers of Rome."),
        chunk(1, "In Geneva the WHO spoke. The Beekeeper of Rome listened."),
    ])  # fmt: skip
    known = graph.require("WHO")

    assert (known.label, known.aliases, known.chunks) == ("World Health Organization", ("WHO",), 2)
    assert graph.get("world health organization") == graph.get("who") == known
    assert graph.entities("Who leads the WHO in Rome?") == ("world health organization",)


def test_an_abbreviation_with_two_meanings_stays_itself():
    graph = ConceptGraph()
    graph.update([
        chunk(0, "The American Medical Association (AMA) met."),
        chunk(1, "The Advanced Metering Architecture (AMA) failed."),
    ])  # fmt: skip

    assert graph.require("AMA").id == "ama"


def test_decisions_by_hand_hold_for_everything_that_comes_later():
    graph = graph_of("bee hive", "apis hive", "apis wax", "bee moon", "sun")
    graph.merge("apis", "bee")
    assert (graph.require("apis").id, graph.require("bee").chunks) == ("bee", 4)
    graph.update([chunk(9, "apis sun")])
    assert graph.require("bee").chunks == 5
    graph.forbid("moon")
    assert graph.get("moon") is None
    graph.forbid("moon")
    graph.merge("apis", "bee")
    assert graph.decisions() == {"apis": "bee", "moon": None}
    graph.restore("apis")
    graph.restore("moon")
    assert (graph.require("bee").chunks, graph.require("apis").chunks, graph.require("moon").chunks) == (2, 3, 1)
    assert graph.decisions() == {}


def test_decisions_that_make_no_sense_are_refused():
    graph = graph_of("bee hive", "bee wax")

    with pytest.raises(InvalidArgument, match="one concept already"):
        graph.merge("bee", "bee")
    with pytest.raises(NotFound):
        graph.merge("bee", "nothing")
    with pytest.raises(NotFound):
        graph.forbid("nothing")
    with pytest.raises(NotFound, match="nothing was decided"):
        graph.restore("bee")
    with pytest.raises(InvalidArgument, match="needs a name"):
        graph.merge(" ", "bee")


def test_merges_in_a_circle_end_somewhere():
    graph = graph_of("bee hive", "apis wax", "imme moon")
    graph._decide(Decisions({"bee": "apis", "apis": "imme", "imme": "bee"}))

    assert next((one.id, one.chunks) for one in graph.concepts()) == ("apis", 3)


def test_chunks_and_their_concepts():
    graph = graph_of("bee hive", "bee bee", "wax")

    assert set(graph.chunks_of("bee")) == {"c0", "c1"}
    assert {id_: [one.id for one in of] for id_, of in graph.concepts_of([ChunkId("c0"), ChunkId("none")]).items()} == {
        "c0": ["bee", "hive"]
    }
    with pytest.raises(InvalidArgument, match="limit must be at least 1"):
        graph.chunks_of("bee", limit=0)


def test_names_in_a_question_are_found_whole_and_in_any_form():
    graph = ConceptGraph()
    graph.update([
        chunk(0, "The honey bees met Ursula Le Guin near the 蜜蜂, and weigh_hive ran."),
        chunk(1, "A honey bee knows Ursula Le Guin."),
    ])  # fmt: skip

    assert graph.entities("Did URSULA LE GUIN like Honey Bees?") == ("ursula le guin", "honey bee")
    assert graph.entities("关于蜜蜂的研究") == ("蜜蜂",)
    assert graph.entities("") == ()


def test_an_empty_graph_answers():
    graph = ConceptGraph()

    assert graph.concepts() == ()
    assert graph.entities("anything") == ()
    assert graph.concepts_of([ChunkId("x")]) == {}
    assert "nodes" in graph.export("html")


@needs_leiden
@pytest.mark.slow
def test_large_random_graphs_are_counted_as_a_plain_loop_does():
    dice = random.Random(5)
    texts = [" ".join(f"w{int(dice.expovariate(0.02))}" for _ in range(8)) for _ in range(600)]
    graph = graph_of(*texts)
    pairs: dict[tuple[str, str], int] = {}
    held: dict[str, int] = {}
    for text in texts:
        words = sorted(set(text.split()))
        for at, one in enumerate(words):
            held[one] = held.get(one, 0) + 1
            for other in words[at + 1 :]:
                pairs[one, other] = pairs.get((one, other), 0) + 1
    kept = {word for word, times in held.items() if times > 1}
    chunks, concepts, edges = said(graph)

    assert chunks == 600
    assert dict(concepts) == {word: held[word] for word in kept}
    assert {(a, b): n for a, b, n in edges} == {pair: n for pair, n in pairs.items() if kept.issuperset(pair)}
    assert with_communities(count(graph._store.table(), Decisions())).communities == graph.communities()


def test_what_is_forbidden_leaves_no_trace_in_other_concepts():
    graph = graph_of("bee zebra", "bee zebra", "hive zebra")
    graph.forbid("zebra")

    assert [(one.id, one.label, one.aliases, one.keys) for one in graph.concepts()] == [
        ("bee", "bee", (), ()), ("hive", "hive", (), ()),
    ]  # fmt: skip
