"""The stages of every profile, by name and in order, with everything that can take part (R161, R172, R179, R314)."""

from __future__ import annotations

import pytest

from lilbee_core.library._plugin_stages import STAGES
from lilbee_core.search import PROFILES, ProfileSearcher, SearchParts, select_for_answer
from lilbee_core.testing import HashEmbedder, MemoryGraph, ScriptedChat, ScriptedReranker
from lilbee_core.types import Query, SearchResult
from tests.core.search.fakes import ANALYZER, parts_of, store_of

FILES = {"bees.md": ["Bees find home by the sun.", "Bees dance."], "honey.md": "Honey keeps for years."}
GRAPH = MemoryGraph(relations=[("bees", "honey", 2.0)])
WORDINGS = "how do workers return\nwhat leads a swarm back\nway back to the hive"

FOUND = ["lexical", "dense"]
SHAPED = ["fetch", "define", "order", "boost_concepts", "fold", "mmr", "rerank", "decay", "neighbors", "cap", "recency"]
SHOWN = ["limit", "mark", "judge"]
GOLDEN = {
    "default": ["parse", "temporal", *FOUND, "newest", "distance", "fuse", *SHAPED, *SHOWN],
    "full": [
        "parse", "temporal", "lexical", "probe", "expand", "hyde", "expand_by_graph", "embed", "guard", *FOUND,
        "newest", "distance", "fuse", *SHAPED, *SHOWN,
    ],
    "hyde": ["parse", "temporal", "hyde", *FOUND, "newest", "distance", "fuse", *SHAPED, *SHOWN],
    "keyword": ["parse", "lexical", "fetch", "define", "fold", "neighbors", "cap", *SHOWN],
    "semantic": ["parse", "dense", "distance", "fetch", "fold", "mmr", "neighbors", "cap", *SHOWN],
    "memory": [
        "parse", *FOUND, "distance", "fuse", "fetch", "boost_concepts", "fold", "rerank", "decay", "mmr", "neighbors",
        *SHOWN,
    ],
}  # fmt: skip


def everything() -> SearchParts:
    return parts_of(
        store_of(FILES),
        embedder=HashEmbedder(),
        reranker=ScriptedReranker({}),
        graph=GRAPH,
        chat=lambda: ScriptedChat(WORDINGS, WORDINGS, WORDINGS),
        options={"hyde": True, "adaptive_distance": True, "join_neighbors": True, "guardrails": True},
    )


def run(profile: str) -> SearchResult:
    return ProfileSearcher(everything()).search(Query(text="how do bees find home", profile=profile))


def test_every_profile_has_its_list():
    assert GOLDEN.keys() == PROFILES.keys()


@pytest.mark.parametrize("profile", GOLDEN)
def test_the_stages_of_a_profile(profile):
    assert [report.name for report in run(profile).reports] == GOLDEN[profile]


@pytest.mark.parametrize("profile", sorted(GOLDEN.keys() - {"memory"}))
def test_plugins_find_the_same_places_in_every_profile(profile):
    names = [name for name in GOLDEN[profile] if name not in ("lexical", "dense")]  # full searches words twice

    assert names == [name for name in STAGES if name in names]


def test_what_an_answer_is_made_from_comes_last():
    parts = everything()
    result = run("full")
    chosen = select_for_answer(result, reader=parts.reader, analyzer=ANALYZER)

    assert [one.name for one in chosen.reports][len(GOLDEN["full"]) :] == ["cover", "limit", "neighbors"]


def test_wordings_from_the_graph_pass_the_guard():
    parts = parts_of(store_of(FILES), embedder=HashEmbedder(), graph=GRAPH, chat=lambda: ScriptedChat(WORDINGS))
    result = ProfileSearcher(parts).search(Query(text="bees", profile="full"))
    reports = {report.name: report for report in result.reports}

    assert reports["expand_by_graph"].note == "honey"
    assert "graph" not in reports["guard"].note
    assert any(name.endswith(":graph") for hit in result for name, _ in hit.scores), "they are searched"
    assert not any(name.endswith(":expansion") for hit in result for name, _ in hit.scores), "the others drifted"


def test_three_candidates_for_each_hit_reach_mmr():
    store = store_of({f"{at:02}.md": f"Bees find home {'and rest ' * at}." for at in range(40)})
    result = ProfileSearcher(parts_of(store, embedder=HashEmbedder(), options={"fold": False})).search(
        Query(text="bees home", top_k=7)
    )

    assert next(report for report in result.reports if report.name == "mmr").count_in == 21
