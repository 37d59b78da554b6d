"""What holds of search whatever is asked, and in whatever order things come."""

from __future__ import annotations

import math
from functools import partial

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lilbee_core.errors import EmptyQuery, SearchError
from lilbee_core.search import (
    ProfileSearcher,
    SearchParts,
    adaptive,
    convex,
    parse_query,
    reciprocal_rank,
    split_mode,
    weighted,
)
from lilbee_core.store._filters import to_sql
from lilbee_core.testing import HashEmbedder
from lilbee_core.types import ChunkId, Query, Ranking, Scored, SearchResult
from tests.core.search.fakes import ANALYZER, store_of

scores = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 6))
rankings = st.builds(
    lambda name, found, weight, floor: Ranking(
        name=name,
        entries=tuple(Scored(ChunkId(key), score) for key, score in sorted(found.items(), key=lambda one: -one[1])),
        weight=weight,
        floor=floor,
    ),
    st.sampled_from(["dense", "lexical", "acme"]),
    st.dictionaries(st.sampled_from("abcdefgh"), scores, max_size=8),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.one_of(st.none(), scores),
)
FUSIONS = [
    adaptive,
    partial(adaptive, usual_cosine=0.6),
    convex,
    partial(convex, weights={"dense": 0.55, "lexical": 0.45}),
    reciprocal_rank,
    weighted,
]


@settings(max_examples=60)
@given(st.lists(rankings, max_size=4), st.randoms(use_true_random=False))
def test_fused_scores_do_not_depend_on_the_order_of_the_rankings(found, random):
    mixed = list(found)
    random.shuffle(mixed)

    for fuse in FUSIONS:
        assert fuse(found) == fuse(mixed)


@settings(max_examples=60)
@given(st.lists(rankings, max_size=4))
def test_fusion_keeps_every_chunk_once_finite_and_descending(found):
    chunks = {entry.chunk_id for ranking in found for entry in ranking.entries}

    for fuse in FUSIONS:
        fused = fuse(found)
        assert {one.chunk_id for one in fused} == chunks
        assert len(fused) == len(chunks)
        assert all(math.isfinite(one.score) for one in fused)
        assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)


@settings(max_examples=60)
@given(st.lists(rankings, max_size=4))
def test_convex_scores_lie_between_0_and_1(found):
    assert all(-1e-9 <= one.score <= 1 + 1e-9 for one in convex(found))


@given(rankings, st.floats(0.1, 10), st.floats(-5, 5))
def test_convex_does_not_depend_on_the_scale_of_a_retriever(ranking, factor, shift):
    old = [one.score for one in ranking.entries]
    assume(not old or max(old) == min(old) or max(old) - min(old) > 1e-3)
    moved = tuple(Scored(one.chunk_id, one.score * factor + shift) for one in ranking.entries)
    second = Ranking(name="b", entries=(Scored(ChunkId("a"), 3.0), Scored(ChunkId("x"), 1.0)))

    before = {one.chunk_id: one.score for one in convex([Ranking(name="a", entries=ranking.entries), second])}
    after = {one.chunk_id: one.score for one in convex([Ranking(name="a", entries=moved), second])}
    assert all(math.isclose(before[key], after[key], abs_tol=1e-4) for key in before)


FILES = {
    "notes/bees.md": ["Bees find home by the sun.", "A bee dances to tell where flowers are.", "Bees."],
    "notes/hive.md": ["The hive is warm in winter: 35 degrees.", "Bees find home by the sun."],
    "log/2026.txt": ["Hive seven swarmed on 3 May. " * 20, "ok"],
    "notes/bienen.md": ["Bienen finden heim, weil sie die Sonne sehen.", "ミツバチは太陽で家に帰る。"],
}
SEARCHER = ProfileSearcher(SearchParts(reader=store_of(FILES), analyzer=ANALYZER, embedder=HashEmbedder()))
KEYS = [
    "path:",
    "type:",
    "lang:",
    "collection:",
    "after:",
    "before:",
    "term:",
    "vec:",
    "hyde:",
    '"',
    "bees ",
    "2024-02-30",
]
queries = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(st.sampled_from(KEYS), st.text(max_size=6)), max_size=8).map("".join),
    st.lists(st.one_of(st.sampled_from(KEYS), st.text(max_size=6)), max_size=8).map(" ".join),
)


@settings(max_examples=100)
@given(queries, st.sampled_from(["default", "keyword", "semantic"]))
def test_any_text_is_a_query(text, profile):
    query = Query(text=text, profile=profile)
    if split_mode(text)[0] == "hyde":
        with pytest.raises(SearchError, match="needs a chat model"):
            SEARCHER.search(query)
        return
    try:
        result = SEARCHER.search(query)
    except EmptyQuery:
        return
    check(result)


def check(result: SearchResult) -> None:
    assert [hit.rank for hit in result] == list(range(1, len(result) + 1))
    assert all(math.isfinite(hit.score) for hit in result)
    assert [hit.score for hit in result] == sorted((hit.score for hit in result), reverse=True)
    assert len({hit.chunk_id for hit in result}) == len(result)
    assert len(result) <= result.query.top_k
    assert result.found <= bool(result.hits)
    for hit in result:
        assert all(0 <= start < end <= len(hit.text) for start, end in hit.highlights)
    for report in result.reports:
        assert report.status in ("ok", "skipped")
        assert report.seconds >= 0
        assert report.count_out >= 0


@given(queries)
def test_typed_filters_are_always_understood_by_the_store(text):
    parsed = parse_query(text)

    assert (to_sql(parsed.filters) is None) == parsed.filters.is_empty


@given(st.text(max_size=80))
def test_words_are_what_is_left(text):
    parsed = parse_query(text)

    if parsed.filters.is_empty and parsed.profile is None:
        assert parsed.words == text.strip()
