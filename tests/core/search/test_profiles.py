"""The named lists of stages, over a store in memory (R162, R163, R165, R166, R184, R190, R312)."""

import pytest

from lilbee_core.errors import EmptyQuery, InvalidArgument, ProviderUnavailable, SearchError
from lilbee_core.search import PROFILES, ProfileSearcher, Searcher, default, full, keyword, memory, semantic
from lilbee_core.testing import HashEmbedder, MemoryStore, ScriptedChat, ScriptedReranker
from lilbee_core.types import Filter, Query, SearchResult
from tests.core.search.fakes import parts_of, store_of

FILES = {
    "bees.md": "Bees find home by the sun.",
    "copy.md": "Bees find home by the sun.",
    "honey.md": "Honey keeps for years.",
    "old/bees.md": "Bees dance in the dark hive.",
}


def search(
    text: str, *, embedder: HashEmbedder | None = None, profile: str = "default", **more: object
) -> SearchResult:
    query = Query(text=text, profile=profile, **more.pop("query", {}))
    return ProfileSearcher(parts_of(store_of(FILES), embedder=embedder, **more)).search(query)


def names(result: SearchResult) -> list[str]:
    return [report.name for report in result.reports]


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result]


def test_the_trace_names_every_stage():
    assert names(search("bees home", embedder=HashEmbedder())) == [
        "parse", "temporal", "lexical", "dense", "newest", "fuse", "fetch", "define", "order", "fold", "mmr", "decay",
        "cap", "recency", "limit", "mark", "judge",
    ]  # fmt: skip
    assert names(search("bees home", profile="keyword")) == [
        "parse", "lexical", "fetch", "define", "fold", "cap", "limit", "mark", "judge",
    ]  # fmt: skip


def test_a_hit_carries_the_scores_of_every_stage():
    hit = search("bees home", embedder=HashEmbedder())[0]

    assert hit.path == "bees.md"
    assert hit.rank == 1
    assert [place.path for place in hit.also_at] == ["copy.md"]
    assert {name for name, _ in hit.scores} == {"dense", "lexical", "fused", "order", "likeness"}
    assert hit.highlights


def test_without_an_embedder_words_are_searched_without_fuss():
    result = search("bees home")

    assert result.warnings == ()
    assert paths(result) == ["bees.md", "old/bees.md"]


def test_while_the_embedder_is_down_words_are_searched_with_a_warning():
    embedder = HashEmbedder()
    embedder.fail(ProviderUnavailable("no answer from 127.0.0.1", hint="Start it."))
    result = search("bees home", embedder=embedder)

    assert paths(result) == ["bees.md", "old/bees.md"]
    assert result.warnings == ("Searched by words alone: no answer from 127.0.0.1. Start it.",)
    assert [report.status for report in result.reports if report.name == "dense"] == ["failed"]


def test_meaning_alone_needs_an_embedder_that_answers():
    with pytest.raises(SearchError, match="needs an embedding model"):
        search("vec: bees")
    embedder = HashEmbedder()
    embedder.fail()
    with pytest.raises(ProviderUnavailable):
        search("vec: bees", embedder=embedder)


@pytest.mark.parametrize(
    ("text", "stages", "profile"),
    [
        ("term: bees", ["lexical"], "keyword"),
        ("vec: bees", ["dense"], "semantic"),
    ],
)
def test_a_prefix_chooses_the_profile(text, stages, profile):
    result = search(text, embedder=HashEmbedder())

    assert [name for name in names(result) if name in ("lexical", "dense")] == stages
    assert result.query.profile == profile
    assert result.query.text == text
    assert result.warnings == ()


def test_an_unknown_profile_is_named_with_the_nearest():
    with pytest.raises(InvalidArgument, match="no search profile 'defualt'") as caught:
        search("bees", profile="defualt")
    assert caught.value.hint == "Did you mean default?"
    with pytest.raises(InvalidArgument) as caught:
        search("bees", profile="zzz")
    assert "keyword" in caught.value.hint


@pytest.mark.parametrize("profile", ["default", "keyword", "semantic", "full", "memory"])
@pytest.mark.parametrize("text", ["", "  ", "\n\t", "term: ", "path:old/"])
def test_an_empty_query_is_refused_everywhere(profile, text):
    with pytest.raises(EmptyQuery):
        search(text, profile=profile, embedder=HashEmbedder())


@pytest.mark.parametrize("profile", ["default", "keyword", "semantic", "full", "memory"])
def test_punctuation_finds_nothing(profile):
    result = search("?!…", profile=profile, embedder=HashEmbedder())

    assert len(result) == 0
    assert not result.found


def test_filters_come_before_ranking():
    assert paths(search("bees path:old/", embedder=HashEmbedder())) == ["old/bees.md"]
    assert paths(search("bees", embedder=HashEmbedder(), query={"filters": Filter(paths=("old/",))})) == ["old/bees.md"]
    assert "no document passes" in search("bees path:none/", embedder=HashEmbedder()).warnings[0]


def test_an_unknown_collection_is_told():
    result = search("bees collection:nots", embedder=HashEmbedder(), collections=lambda: ["notes"])

    assert "did you mean notes" in result.warnings[0]


def test_more_than_there_is_may_be_asked_for():
    result = search("bees", embedder=HashEmbedder(), query={"top_k": 100_000})

    assert paths(result) == ["bees.md", "old/bees.md"]
    assert [hit.rank for hit in result] == [1, 2]


def test_an_empty_library_finds_nothing():
    for profile in PROFILES:
        parts = parts_of(MemoryStore(), embedder=HashEmbedder(), chat=lambda: ScriptedChat("anything at all"))
        result = ProfileSearcher(parts).search(Query(text="anything", profile=profile))
        assert len(result) == 0
        assert not result.found
        assert result.warnings == ()


def test_the_only_text_with_a_rare_word_comes_first():
    files = {
        f"near-{at:02}.md": f"Hint {at}: when the water meter shows a fault, restart the meter." for at in range(25)
    }
    files["exact.md"] = "Meter fault Zorbleat: replace the seal. Nothing else helps."
    searcher = ProfileSearcher(parts_of(store_of(files), embedder=HashEmbedder()))

    for text in ("Zorbleat", "how do I clear meter fault Zorbleat"):
        assert searcher.search(Query(text=text))[0].path == "exact.md"


@pytest.mark.parametrize("embedder", [None, HashEmbedder()], ids=["words", "both"])
def test_words_in_the_order_of_the_query_come_before_the_same_words_shuffled(embedder):
    files = {
        "right.md": "When the pump is dry the amber lamp\nflashes twice and the horn stays silent. Hit the lever.",
        "stuffed.md": "Amber glass. Lamp oil. It flashes. Twice a day. Lamp, amber, twice, flashes again. " * 2,
    }
    result = ProfileSearcher(parts_of(store_of(files), embedder=embedder)).search(
        Query(text="amber lamp flashes twice")
    )

    assert result[0].path == "right.md"
    assert 0 <= result[0].score <= 1


def test_one_document_can_give_several_hits():
    filler = "Plain filler sentence about waves and wind. " * 5
    chunks = [f"Part {at}. {'The grackle was seen.' if at % 7 == 2 else 'Nothing.'} {filler}" for at in range(20)]
    result = ProfileSearcher(parts_of(store_of({"long.md": chunks}))).search(Query(text="term: grackle"))

    assert len({hit.line_start for hit in result}) == 3


def test_a_reranker_takes_part_where_there_is_one_and_is_not_missed_when_it_fails():
    reranker = ScriptedReranker({"Bees dance in the dark hive.": 1.0})
    liked = search("bees home", embedder=HashEmbedder(), reranker=reranker)
    reranker.fail()
    missed = search("bees home", embedder=HashEmbedder(), reranker=reranker)

    assert "rerank" in names(liked)
    assert "rerank_score" in dict(liked[0].scores)
    assert paths(missed)[0] == "bees.md"
    assert missed.warnings[0].startswith("Hits are not reranked")


def test_memory_weighs_70_to_30_and_gives_8():
    store = store_of({f"{at:02}.md": f"bees note {at}" for at in range(20)})
    result = Searcher(memory(parts_of(store, embedder=HashEmbedder()))).search(Query(text="bees note", top_k=20))

    assert len(result) == 8
    scores = dict(result[0].scores)
    best = max(dict(hit.scores)["lexical"] for hit in result)
    assert scores["fused"] == pytest.approx(0.7 * scores["dense"] + 0.3 * scores["lexical"] / best, abs=1e-3)


@pytest.mark.parametrize("fusion", ["convex", "rrf", "weighted"])
def test_every_fusion_can_be_chosen(fusion):
    result = search("bees home", embedder=HashEmbedder(), options={"fusion": fusion})

    assert result[0].path == "bees.md"
    if fusion == "rrf":
        assert result[0].score == pytest.approx(2 / 61)


def test_folding_can_be_switched_off():
    assert paths(search("bees home", options={"fold": False}))[:2] == ["bees.md", "copy.md"]


def test_profiles_are_plain_lists():
    parts = parts_of(store_of(FILES), embedder=HashEmbedder())

    for profile in (default, full, keyword, semantic, memory):
        assert isinstance(profile(parts), list)
    assert Searcher(default(parts)).search(Query(text="bees")).found


def test_a_searcher_is_built_once():
    searcher = ProfileSearcher(parts_of(store_of(FILES)))

    assert searcher.searcher("keyword") is searcher.searcher("keyword")
