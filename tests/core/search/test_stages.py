"""The stages of a search, one by one (R078)."""

import numpy as np
import pytest

from lilbee_core.errors import EmptyQuery, ProviderError
from lilbee_core.search import (
    ANALYZED,
    FOUND,
    LANGUAGE,
    Dense,
    Fetch,
    Fuse,
    Judge,
    Lexical,
    Limit,
    Mark,
    Order,
    Parse,
    convex,
)
from lilbee_core.search.stages._judge import share_of_words
from lilbee_core.testing import HashEmbedder, StageContext, a_hit, a_state
from lilbee_core.types import ChunkId, Filter, Hit, Query, Ranking, Scored, SearchState, Variant
from tests.core.search.fakes import ANALYZER, store_of

CONTEXT = StageContext()
FILES = {"bees.md": "Bees find home by the sun.", "honey.md": "Honey keeps for years.", "old/bees.md": "Bees dance."}


def asked(text: str, **query: object) -> SearchState:
    return SearchState(query=Query(text=text, **query), variants=(Variant(text=text),))


def parse(text: str, *, detect=lambda text: None, **more: object) -> SearchState:
    return Parse(ANALYZER, store_of(FILES), detect).run(SearchState(query=Query(text=text, **more)), CONTEXT)


def paths_of(store, ranking: Ranking) -> list[str]:
    return [chunk.path for chunk in store.get([one.chunk_id for one in ranking.entries])]


def paths(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.path for hit in hits]


# ------------------------------------------------------------------ parse


def test_parse_takes_the_filters_out_and_reads_the_words():
    state = parse("bees path:old/", detect=lambda text: "en")

    assert state.query.text == "bees"
    assert state.query.filters == Filter(paths=("old/",))
    assert state.variants[0].text == "bees"
    assert state.get(ANALYZED).highlights == ("bees",)
    assert state.get(LANGUAGE) == "en"
    assert "filters" in state.note


def test_given_filters_count_more_than_typed_ones():
    state = parse("bees path:old/", filters=Filter(paths=("new/",)))

    assert state.query.filters.paths == ("new/",)
    assert "does not count" in state.warnings[0]
    assert parse("bees path:old/", filters=Filter(languages=("en",))).warnings == ()


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u3000", "path:notes/"])
def test_a_query_without_words_is_refused(text):
    with pytest.raises(EmptyQuery) as caught:
        parse(text)
    assert caught.value.code == "search.empty_query"
    assert caught.value.hint


def test_quotes_are_for_words_not_for_meaning():
    state = parse('who said "to be or not"')

    assert state.variants[0].text == "who said to be or not"
    assert state.get(ANALYZED).phrases


def test_words_are_stemmed_for_the_languages_of_the_library():
    store = store_of({"a.md": "Bäume", "b.md": "Bäume"}, language="de")
    state = Parse(ANALYZER, store, lambda text: None).run(SearchState(query=Query(text="Baum")), CONTEXT)

    assert state.get(ANALYZED).languages == ("de",)


# ------------------------------------------------------------------ retrieval


def test_lexical_ranks_by_words_and_knows_whether_it_saw_all():
    store = store_of(FILES)
    whole = Lexical(store, ANALYZER).run(asked("bees"), CONTEXT).rankings[0]
    cut = Lexical(store, ANALYZER, candidates=1).run(asked("bees", top_k=1), CONTEXT).rankings[0]

    assert len(whole.entries) == 2
    assert whole.floor == 0.0
    assert len(cut.entries) == 1
    assert cut.floor is None


def test_lexical_looks_for_as_many_as_asked():
    store = store_of({f"{at}.md": "bees" for at in range(30)})

    assert len(Lexical(store, ANALYZER, candidates=5).run(asked("bees", top_k=20), CONTEXT).rankings[0].entries) == 20


def test_lexical_searches_every_wording_with_its_weight():
    state = asked("bees")
    more = Variant(text="honey", kind="expansion", weight=0.5)
    rankings = (
        Lexical(store_of(FILES), ANALYZER)
        .run(SearchState(query=state.query, variants=(*state.variants, more)), CONTEXT)
        .rankings
    )

    assert [(one.variant, one.weight) for one in rankings] == [("original", 1.0), ("expansion", 0.5)]


PHRASES = {"right.md": "The amber lamp flashes twice.", "loose.md": "Twice the lamp flashes: amber, amber, lamp, lamp."}


def test_a_phrase_must_stand_there_or_counts_twice():
    store = store_of(PHRASES)
    query = asked('"amber lamp flashes"')
    strict = Lexical(store, ANALYZER).run(query, CONTEXT).rankings[0]
    kind = Lexical(store, ANALYZER, phrases="prefer").run(query, CONTEXT).rankings[0]

    assert paths_of(store, strict) == ["right.md"]
    assert paths_of(store, kind) == ["right.md", "loose.md"]


@pytest.mark.parametrize("phrases", ["must", "prefer"])
def test_a_phrase_that_nobody_holds_is_told(phrases):
    store = store_of(PHRASES)
    state = Lexical(store, ANALYZER, phrases=phrases).run(asked('"flashes lamp amber"'), CONTEXT)

    assert "no passage holds the words in quotes" in state.warnings[0]
    assert bool(state.rankings[0].entries) == (phrases == "prefer")


def test_punctuation_finds_nothing_and_is_no_error():
    store = store_of(FILES)

    assert Lexical(store, ANALYZER).run(asked("?!…"), CONTEXT).rankings[0].entries == ()
    assert Dense(store, HashEmbedder()).run(asked("?!…"), CONTEXT).rankings == ()


def test_dense_embeds_once_and_keeps_the_vector():
    embedder = HashEmbedder()
    state = Dense(store_of(FILES), embedder, max_distance=2.0).run(asked("Bees dance."), CONTEXT)
    again = Dense(store_of(FILES), embedder).run(state, CONTEXT)

    assert state.rankings[0].entries[0].score == pytest.approx(1.0)
    assert state.variants[0].vector is not None
    assert len(again.rankings) == 2
    assert embedder.calls == 1


def test_dense_leaves_out_what_is_too_far():
    store = store_of(FILES)
    near = Dense(store, HashEmbedder(), max_distance=0.2).run(asked("Bees dance."), CONTEXT).rankings[0]
    everything = Dense(store, HashEmbedder(), max_distance=1.0).run(asked("Bees dance."), CONTEXT).rankings[0]

    assert len(near.entries) == 1
    assert len(everything.entries) == 3


@pytest.mark.parametrize(
    ("language", "reads", "weight", "count"),
    [
        ("th", ("en",), 0.0, 0),
        ("en", ("en",), 0.0, 1),
        (None, ("en",), 0.0, 1),
        ("th", (), 0.0, 1),
        ("th", ("en",), 0.3, 1),
    ],
)
def test_an_embedder_has_no_say_in_languages_it_does_not_read(language, reads, weight, count):
    state = asked("bees").put(LANGUAGE, language) if language else asked("bees")
    embedder = HashEmbedder(languages=reads)
    after = Dense(store_of(FILES), embedder, foreign_weight=weight).run(state, CONTEXT)

    assert len(after.rankings) == count
    assert embedder.calls == count
    assert ("does not read" in after.note) == (language == "th" and bool(reads))
    assert all(one.weight == (weight or 1.0) for one in after.rankings)


@pytest.mark.parametrize(
    ("vector", "said"),
    [(np.zeros(3, np.float32), "shape"), (np.full(64, np.nan, np.float32), "no numbers")],
    ids=["size", "nan"],
)
def test_a_vector_that_cannot_be_used_is_the_embedders_fault(vector, said):
    embedder = HashEmbedder(64)
    embedder.embed_query = lambda text: vector

    with pytest.raises(ProviderError, match=said):
        Dense(store_of(FILES), embedder).run(asked("bees"), CONTEXT)


# ------------------------------------------------------------------ fusion and reading


def test_fuse_adds_one_ranking_and_ignores_what_is_no_number():
    rankings = (
        Ranking(name="lexical", entries=(Scored(ChunkId("a"), 2.0), Scored(ChunkId("b"), 1.0))),
        Ranking(name="acme", entries=(Scored(ChunkId("b"), float("nan")),)),
    )
    state = Fuse(convex).run(SearchState(query=Query(text="q"), rankings=rankings), CONTEXT)

    assert state.rankings[:2] == rankings
    assert state.rankings[2].name == "fused"
    assert [one.chunk_id for one in state.rankings[2].entries] == ["a", "b"]


def ranked(store, *names: str) -> SearchState:
    ids = [chunk.id for row in store.rows() for chunk in store.chunks_of(row.id)]
    entries = tuple(Scored(key, 9.0 - at) for at, key in enumerate(ids))
    return SearchState(query=Query(text="q", top_k=1), rankings=tuple(Ranking(name=n, entries=entries) for n in names))


def test_fetch_reads_the_best_of_the_last_ranking_with_all_scores():
    store = store_of(FILES)
    state = Fetch(store, multiplier=2).run(ranked(store, "lexical", "fused"), CONTEXT)

    assert len(state.hits) == 2
    assert dict(state.hits[0].scores) == {"lexical": 9.0, "fused": 9.0}
    assert [(one.reason, one.score) for one in state.dropped] == [("beyond the best 2 candidates", 7.0)]


def test_fetch_says_which_chunks_are_gone():
    gone = Ranking(name="lexical", entries=(Scored(ChunkId("gone"), 1.0),))
    state = Fetch(store_of(FILES)).run(SearchState(query=Query(text="q"), rankings=(gone,)), CONTEXT)

    assert state.hits == ()
    assert state.dropped[0].reason == "no longer in the index"


def test_filters_that_let_nothing_through_are_told():
    store = store_of(FILES)
    query = Query(text="q", filters=Filter(paths=("nowhere/",)))

    assert "no document passes" in Fetch(store).run(SearchState(query=query), CONTEXT).warnings[0]
    assert Fetch(store).run(SearchState(query=Query(text="q")), CONTEXT).warnings == ()


def ordered(text: str, *hits: Hit) -> SearchState:
    state = SearchState(query=Query(text=text), hits=hits).put(ANALYZED, ANALYZER.query(text))
    return Order(bonus=1.0).run(state, CONTEXT)


def test_order_adds_by_the_square_of_the_pairs_that_stand_together():
    whole = a_hit("The Amber\nlamp flashes.", score=0.2, path="whole.md")
    half = a_hit("The amber lamp never flashes.", score=0.4, path="half.md")
    none = a_hit("Flashes, lamp, amber.", score=0.5, path="none.md")
    state = ordered("amber lamp flashes", none, half, whole)

    assert {hit.path: hit.score for hit in state.hits} == {
        "whole.md": pytest.approx((0.2 + 1) / 2), "half.md": pytest.approx((0.4 + 0.25) / 2), "none.md": 0.25,
    }  # fmt: skip
    assert dict(state.hits[0].scores)["order"] == 1.0


@pytest.mark.parametrize("text", ["lamp", "水泵灌溉", "?!"])
def test_without_telling_neighbors_order_changes_nothing(text):
    hit = a_hit("The amber lamp of the hive.", score=0.5)

    assert ordered(text, hit).hits == (hit,)


# ------------------------------------------------------------------ the end


def test_limit_keeps_the_first_and_tells_the_rest():
    hits = [a_hit(score=3.0 - at, path=f"{at}.md") for at in range(3)]
    state = Limit().run(SearchState(query=Query(text="q", top_k=2), hits=tuple(hits)), CONTEXT)
    fewer = Limit(most=1).run(SearchState(query=Query(text="q", top_k=2), hits=tuple(hits)), CONTEXT)

    assert paths(state.hits) == ["0.md", "1.md"]
    assert state.dropped[0].reason == "beyond the first 2"
    assert len(fewer.hits) == 1


def test_mark_shows_words_and_changed_files():
    state = a_state(a_hit("The bee found home.", language="en"), text="bees").put(ANALYZED, ANALYZER.query("bees"))
    marked = Mark(ANALYZER, lambda chunks: [chunk.document_id for chunk in chunks]).run(state, CONTEXT).hits[0]

    assert [marked.text[start:end] for start, end in marked.highlights] == ["bee"]
    assert marked.stale


def judged(text: str, *hits: Hit, floor: float | None = None, cosines: tuple[float, ...] = ()) -> SearchState:
    entries = tuple(Scored(ChunkId(f"c{at}"), score) for at, score in enumerate(cosines))
    state = SearchState(query=Query(text=text), hits=hits, rankings=(Ranking(name="dense", entries=entries),))
    state = Mark(ANALYZER).run(state.put(ANALYZED, ANALYZER.query(text)), CONTEXT)
    return Judge(floor).run(state, CONTEXT)


@pytest.mark.parametrize(
    ("query", "found"),
    [("chess final on Mars", False), ("bees", True), ("find home", True), ("bees play chess on Mars", False)],
)
def test_without_cosines_words_decide(query, found):
    state = judged(query, a_hit("Bees find home by the sun."))

    assert state.get(FOUND) is found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("金閣寺の入場料はいくらですか", True),
        ("京都まで何分かかりますか", True),
        ("寺はどこですか", True),
        ("東京の天気はどうですか", False),
        ("猫はいくつですか", False),
    ],
)
def test_what_only_asks_counts_for_nothing_in_japanese(query, found):
    state = judged(query, a_hit("京都の金閣寺は入場料が五百円です。"))

    assert state.get(FOUND) is found


@pytest.mark.parametrize(("cosine", "found"), [(0.3, False), (0.6, False), (0.75, True)])
def test_measured_cosines_decide_with_the_words(cosine, found):
    hit = a_hit("Bees find home by the sun.", scores=(("dense", cosine),))

    assert judged("insect navigation", hit, floor=0.74).get(FOUND) is found


def test_other_cosines_count_when_they_lead_by_far():
    hit = a_hit("Bees find home by the sun.", scores=(("dense", 0.9),))

    assert judged("insect navigation", hit, cosines=(0.9, *[0.3] * 40)).get(FOUND)
    assert not judged("insect navigation", hit, cosines=(0.9, *[0.8] * 40)).get(FOUND)
    assert not judged("insect navigation", hit, cosines=(0.9, 0.3)).get(FOUND)


def test_a_hit_by_words_alone_is_no_nearer_than_the_last_that_meaning_listed():
    hit = a_hit("Bees find home by the sun.")

    assert not judged("bees on the moon", hit, floor=0.63, cosines=(0.3, 0.2)).get(FOUND)
    assert judged("bees on the moon", hit, floor=0.63, cosines=(0.6, 0.5)).get(FOUND)


@pytest.mark.parametrize(
    ("query", "text", "share"),
    [
        ("complexity of cell classes", "Complexes of a complex cell, cells and cellular things.", 2 / 3),
        ("queen leaves", "The queen left.", 1 / 2),
        ("café prices", "A cafe has a price.", 1.0),
        ("bees on Mars", "One bee, two bees.", 1 / 2),
    ],
)
def test_forms_of_one_word_count_once(query, text, share):
    state = judged(query, a_hit(text, language="en"))

    assert share_of_words(state.hits[0], state) == pytest.approx(share)


BEES = "Bees gather pollen and honey for the winter in the hive."
WASPS = "Wasps hunt caterpillars, and young queens survive."


@pytest.mark.parametrize(
    ("query", "texts", "found"),
    [
        ("compare bees and wasps", (BEES, WASPS), True),
        ("What is the difference between honey bees and wasps?", (BEES, WASPS), True),
        ("how do bees differ from wasps", (BEES, WASPS), True),
        ("compare bees and wasps", (BEES,), False),
        ("compare bees and wasps", (WASPS,), False),
        ("compare carpenter bees and potter wasps", (BEES, WASPS), False),
        ("bees sail wasps", (BEES, WASPS), False),
    ],
)
def test_of_a_question_about_several_things_each_may_be_in_another_hit(query, texts, found):
    hits = [a_hit(text) for text in texts]

    assert judged(query, *hits).get(FOUND) is found


def test_where_cosines_are_known_they_decide_about_several_things_too():
    hits = [a_hit(text, scores=(("dense", 0.2),)) for text in (BEES, WASPS)]

    assert not judged("compare bees and wasps", *hits, floor=0.63, cosines=(0.2, 0.2)).get(FOUND)


def test_nothing_is_not_found():
    state = judged("bees")

    assert state.get(FOUND) is False
    assert state.note == "no hits"


@pytest.mark.parametrize(("query", "share"), [("花园灌溉", 2 / 3), ("水泵", 1.0), ("图书馆", 0.0)])
def test_scripts_without_blanks_are_judged_by_pairs(query, share):
    state = judged(query, a_hit("花园的水泵和灌溉"))

    assert share_of_words(state.hits[0], state) == pytest.approx(share)
