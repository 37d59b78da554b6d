"""What an answer is made from: all that was asked, or the order of a reranker (R184, R189)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lilbee_core.search import ANALYZED, ProfileSearcher, SearchParts
from lilbee_core.search._select import select_for_answer
from lilbee_core.testing import HashEmbedder, MemoryStore, ScriptedReranker
from lilbee_core.types import Query, SearchResult
from tests.core.search.fakes import ANALYZER, parts_of, store_of

FILES = {f"bees-{at}.md": f"Bees bees build with wax. Note {at} about bees." for at in range(8)}
FILES["wasps.md"] = "The nest of paper was built by wasps, as most of their nests are in summer and in autumn."


def search(files: dict[str, str | Sequence[str]], text: str, **more: object) -> tuple[SearchParts, SearchResult]:
    parts = parts_of(store_of(files), options={"fold": False}, **more)
    return parts, ProfileSearcher(parts).search(Query(text=text))


def selected(parts: SearchParts, result: SearchResult, most: int = 5) -> SearchResult:
    return select_for_answer(result, reader=parts.reader, analyzer=parts.analyzer, most=most)


def test_a_comparison_is_answered_from_both():
    parts, result = search(FILES, "bees and wasps")
    chosen = selected(parts, result)

    assert len(chosen) == 5
    assert "wasps.md" in {hit.path for hit in chosen}
    assert result[0] in chosen.hits
    assert [hit.rank for hit in chosen] == sorted(hit.rank for hit in chosen)
    assert [one.name for one in chosen.reports[len(result.reports) :]] == ["cover", "limit", "neighbors"]
    assert chosen.reports[: len(result.reports)] == result.reports


def test_what_the_search_shows_stays_as_it_is():
    parts, result = search(FILES, "bees and wasps")
    hits = result.hits
    selected(parts, result)

    assert result.hits is hits
    assert len(hits) == 9


def test_the_query_is_analyzed_once():
    asked: list[str] = []

    class Counting:
        def query(self, text, **more):
            asked.append(text)
            return ANALYZER.query(text, **more)

        def spans(self, *given, **more):
            return ANALYZER.spans(*given, **more)

    parts, result = search(FILES, "bees and wasps")
    most = 3
    carried = select_for_answer(result, reader=parts.reader, analyzer=Counting(), most=most)

    assert "bees and wasps" not in asked
    assert carried.get(ANALYZED) is result.get(ANALYZED)
    assert "private" not in result.to_dict(trace=True)
    bare = replace(result, private=())
    assert bare == result
    assert select_for_answer(bare, reader=parts.reader, analyzer=Counting(), most=most).hits == carried.hits
    assert "bees and wasps" in asked


def test_the_order_of_a_reranker_fills_the_places():
    reranker = ScriptedReranker({str(text): 1.0 for text in FILES.values()} | {str(FILES["wasps.md"]): 0.0})
    parts, result = search(FILES, "bees and wasps", reranker=reranker)
    chosen = selected(parts, result, 3)

    assert chosen.hits == result.hits[:3]
    assert next(one for one in chosen.reports if one.name == "cover").status == "skipped"


def test_a_reranker_that_failed_has_no_order():
    reranker = ScriptedReranker({})
    reranker.fail()
    parts, result = search(FILES, "bees and wasps", reranker=reranker)

    assert "wasps.md" in {hit.path for hit in selected(parts, result, 2)}


def test_neighbors_are_joined_to_read():
    parts, result = search({"a.md": ["Bees swarm in May.", "Bees rest in June."]}, "bees")
    (hit,) = selected(parts, result)

    assert hit.text == "Bees swarm in May.\nBees rest in June."
    assert [hit.text[start:end] for start, end in hit.highlights] == ["Bees", "Bees"]
    assert len(hit.parts) == 2


def test_filters_in_the_text_are_no_words_to_cover():
    parts, result = search(FILES, "bees path:*.md")

    assert next(one for one in selected(parts, result).reports if one.name == "cover").note == "1 of 1 words by 1 hits"


def test_what_was_not_found_stays_as_it_is():
    parts = parts_of(MemoryStore(), embedder=HashEmbedder())
    result = ProfileSearcher(parts).search(Query(text="bees"))

    assert select_for_answer(result, reader=parts.reader, analyzer=ANALYZER) is result
