"""Why a document is, or is not, among the hits of a search."""

from __future__ import annotations

import pytest

from lilbee_core.search import PROFILES, trace_document
from lilbee_core.testing import HashEmbedder, MemoryStore, a_row
from lilbee_core.types import DocumentState, DocumentTrace, Filter, Query, Scope, Standing
from tests.core.search.fakes import parts_of, store_of

FILES = {f"{at:02}.md": f"Bees fly home {'by the sun ' * (40 - at)}and rest." for at in range(40)}
FILES |= {"honey.md": "Honey keeps for years.", "copy.md": "Honey keeps for years.", "wax.md": ["Bees make wax."] * 6}


def trace(path: str, text: str, *, profile: str = "keyword", **query: object) -> DocumentTrace:
    store = store_of(FILES)
    stages = PROFILES[profile](parts_of(store, embedder=HashEmbedder() if profile != "keyword" else None))
    row = store.find("notes", path)
    assert row is not None
    return trace_document(stages, Query(text=text, profile=profile, **query), row, store)


def test_a_hit_is_told_with_its_rank():
    found = trace("wax.md", "bees wax")

    assert (found.verdict, found.rank, found.stage) == ("found", 1, None)
    assert found.reason.startswith("it is hit 1, score ")
    assert found.standings[0].rank == 1


def test_a_copy_is_told_with_the_hit_that_lists_it():
    found = trace("copy.md", "honey")

    assert (found.verdict, found.stage) == ("folded", "fold")
    assert found.reason == "it says what hit 1 says, honey.md, which lists it"


def test_the_stage_that_cut_it_is_named_with_what_was_needed():
    late = trace("00.md", "home")
    fetched = trace("20.md", "home")

    assert (late.verdict, late.stage) == ("dropped", "fetch")
    assert "beyond the best 30 candidates" in late.reason
    assert late.needed is not None
    assert late.standings[0].score < late.needed
    assert (fetched.verdict, fetched.stage) == ("dropped", "limit")
    assert "beyond the first 10" in fetched.reason
    assert "--top" in fetched.hint


def test_filters_are_named():
    found = trace("00.md", "home path:wax.md type:pdf lang:en", filters=Filter(after="2030-01-01"))

    assert found.verdict == "filtered"
    assert "path:wax.md and type:pdf and after:2030-01-01" in found.reason
    assert "lang" not in found.reason
    assert found.standings == ()


def test_a_search_that_is_limited_to_other_documents_is_told():
    found = trace("00.md", "home", filters=Filter(document_ids=("0000000000000000",)))

    assert found.verdict == "filtered"
    assert "document_ids:0000000000000000" in found.reason


def test_the_scope_is_told():
    found = trace("00.md", "home", scope=Scope.WIKI)

    assert (found.verdict, found.hint) == ("out_of_scope", "Search in scope raw.")


def test_words_that_it_lacks_are_told():
    found = trace("honey.md", "bees home")

    assert found.verdict == "not_ranked"
    assert "none of the words bees, home" in found.reason
    last = found.standings[0].last
    assert found.standings == (Standing(ranking="lexical", rank=None, score=None, taken=46, last=last),)


def test_what_others_beat_is_told_with_its_rank_far_behind():
    store = store_of({f"{at:03}.md": "home " * (200 - at) for at in range(160)})
    row = store.find("notes", "150.md")
    found = trace_document(PROFILES["keyword"](parts_of(store)), Query(text="home", profile="keyword"), row, store)
    (words,) = found.standings

    assert (found.verdict, words.taken, words.rank) == ("not_ranked", 100, 151)
    assert words.score < words.last
    assert "rank 151, score" in found.explain()
    assert "the 100 that were taken end at" in found.explain()


def test_both_rankings_and_their_sum_are_told():
    found = trace("honey.md", "honey years", profile="default")

    assert [one.ranking for one in found.standings] == ["lexical", "dense", "fused"]
    assert all(one.rank == 1 for one in found.standings)
    assert "by words: rank 1, score" in found.explain()


@pytest.mark.parametrize("state", [DocumentState.SKIPPED, DocumentState.FAILED, DocumentState.EXCLUDED])
def test_what_is_not_indexed_is_told_with_its_reason(state):
    row = a_row("odd.bin", state=state, reason="no text in it")
    found = trace_document(PROFILES["keyword"](parts_of(MemoryStore())), Query(text="home"), row, MemoryStore())

    assert found.verdict == "not_indexed"
    assert f"{state}, no text in it" in found.reason
    assert "lilbee explain odd.bin" in found.hint


def test_a_document_without_text_is_told():
    row = a_row("empty.md", chunks=0)
    found = trace_document(PROFILES["keyword"](parts_of(MemoryStore())), Query(text="home"), row, MemoryStore())

    assert (found.verdict, found.rank) == ("not_indexed", None)
    assert "no text" in found.reason


def test_the_form_of_a_trace():
    found = trace("00.md", "home")
    value = found.to_dict()

    assert set(value) == {
        "path", "collection", "document_id", "query", "profile", "verdict", "reason", "hint", "rank", "stage", "needed",
        "standings", "warnings",
    }  # fmt: skip
    assert set(value["standings"][0]) == {"ranking", "rank", "score", "taken", "last", "chunk_id"}
