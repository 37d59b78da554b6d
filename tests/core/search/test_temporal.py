"""Dates in queries, from the words to the documents that are searched (R186-R188; design 11.16)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from lilbee_core.protocols import IndexedDocument
from lilbee_core.search import ProfileSearcher, Temporal
from lilbee_core.search._keys import TIME
from lilbee_core.testing import HashEmbedder, ManualClock, MemoryStore, StageContext, an_indexed_document
from lilbee_core.types import Filter, Query, SearchResult
from tests.core.search.fakes import ANALYZER, parts_of

NOW = datetime(2026, 3, 2, 0, 30, tzinfo=ZoneInfo("Europe/Berlin"))
GATES = {
    "pintail.md": ("The Pintail gate was oiled.", "2026-03-01"),
    "wigeon.md": ("The Wigeon gate was oiled.", "2026-02-28"),
    "shoveler.md": ("The Shoveler gate was oiled.", "2026-03-01"),
    "pochard.md": ("The Pochard gate was oiled.", "2026-02-23"),
    "teal.md": ("The Teal gate was oiled on 2026-03-05.", "2025-11-11"),
    "undated.md": ("The Smew gate was oiled.", None),
}


def document(path: str, text: str, day: str | None) -> IndexedDocument:
    vectors = HashEmbedder().embed_batch([text])
    return an_indexed_document(
        text, path=path, date=day, vectors=vectors, language="en", words=[ANALYZER.index_text(text, language="en")]
    )


def search(
    text: str,
    *,
    files: Mapping[str, tuple[str, str | None]] = GATES,
    embedder: HashEmbedder | None = None,
    now: datetime = NOW,
    options: Mapping[str, object] | None = None,
    **query: object,
) -> SearchResult:
    store = MemoryStore(*(document(path, *content) for path, content in files.items()))
    parts = parts_of(store, embedder=embedder, options=dict(options or {}))
    return ProfileSearcher(parts, clock=ManualClock(now)).search(Query(text=text, **query))


def paths(result: SearchResult) -> set[str]:
    return {hit.path for hit in result}


def notes(result: SearchResult) -> dict[str, str]:
    return {report.name: report.note for report in result.reports}


EITHER = pytest.mark.parametrize("embedder", [None, HashEmbedder()], ids=["words", "both"])


@EITHER
def test_only_documents_of_these_days_are_searched(embedder):
    result = search("gate oiled yesterday", embedder=embedder)

    assert paths(result) == {"pintail.md", "shoveler.md"}
    assert result.query.filters == Filter(after="2026-03-01", before="2026-03-02")
    assert result.query.text == "gate oiled yesterday"
    assert notes(result)["temporal"] == "yesterday: 2026-03-01"
    assert result.warnings == ("searched only what is dated 2026-03-01: yesterday",)
    assert result.found


@EITHER
def test_last_week_has_seven_days(embedder):
    result = search("gate oiled last week", embedder=embedder)

    assert paths(result) == {"pintail.md", "wigeon.md", "shoveler.md", "pochard.md"}
    assert (result.query.filters.after, result.query.filters.before) == ("2026-02-23", "2026-03-02")


def test_the_day_is_the_users():
    moment = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)

    assert search("gate yesterday", now=moment).query.filters.after == "2026-02-28"
    assert (
        search("gate yesterday", now=moment.astimezone(ZoneInfo("Europe/Berlin"))).query.filters.after == "2026-03-01"
    )
    assert (
        search("gate yesterday", now=moment.astimezone(ZoneInfo("America/New_York"))).query.filters.after
        == "2026-02-28"
    )


@pytest.mark.parametrize("moment", ["2026-03-29T01:59", "2026-03-29T03:01", "2026-10-25T02:30"])
def test_days_stay_whole_when_the_clocks_change(moment):
    zone = ZoneInfo("Europe/Berlin")
    now = datetime.fromisoformat(moment).replace(tzinfo=zone)
    day = now.date() - timedelta(days=1)
    result = search("gate yesterday", files={"a.md": ("The gate.", day.isoformat())}, now=now)

    assert (result.query.filters.after, result.query.filters.before) == (day.isoformat(), now.date().isoformat())
    assert paths(result) == {"a.md"}


def test_time_words_leave_the_words_only_as_time_words():
    files = {"a.md": ("Yesterday is a song.", "2026-02-01"), "b.md": ("Another song.", "2026-03-01")}

    assert search('"yesterday" song', files=files)[0].path == "a.md"
    assert paths(search("song yesterday", files=files)) == {"b.md"}
    assert [hit.text[start:end] for hit in search("song yesterday", files=files) for start, end in hit.highlights] == [
        "song"
    ]


def test_a_given_filter_counts_more():
    typed = search("gate oiled yesterday after:2026-02-20 before:2026-02-25")
    given = search("gate oiled yesterday", filters=Filter(before="2025-12-31"))

    assert paths(typed) == {"pochard.md"}
    assert paths(given) == {"teal.md"}
    assert given.query.filters == Filter(before="2025-12-31")
    assert notes(given)["temporal"] == "the search is already limited to dates"


def test_other_filters_stay():
    result = search("gate oiled yesterday path:shoveler.md")

    assert paths(result) == {"shoveler.md"}
    assert result.query.filters == Filter(paths=("shoveler.md",), after="2026-03-01", before="2026-03-02")


@EITHER
def test_days_without_documents_are_told_and_all_is_searched(embedder):
    result = search("gate oiled on 2024-05-05", embedder=embedder)

    assert len(result) == len(GATES)
    assert result.query.filters == Filter()
    assert result.warnings == ("nothing was found that is dated 2024-05-05, so all dates were searched",)
    assert notes(result)["temporal"] == "nothing 2024-05-05"


@EITHER
def test_dates_that_leave_out_no_document_stay_words(embedder):
    files = {"a.md": ("No limits on gates since 1990.", "2026-03-01"), "b.md": ("The limits on gates.", "2026-02-01")}
    result = search("limits on gates since 1990", files=files, embedder=embedder)

    assert result[0].path == "a.md"
    assert result.query.filters == Filter()
    assert result.warnings == ()
    assert notes(result)["temporal"] == "everything is from 1990-01-01"
    assert len(search("since 1990", files=files, embedder=embedder).query.filters.after) == 10


@EITHER
def test_words_that_no_document_of_these_days_has_are_searched_in_all(embedder):
    files = {**GATES, "otter.md": ("Zorbleat", "2026-01-01")}
    options = {"max_distance": 0.2} if embedder else {}
    result = search("zorbleat yesterday", files=files, embedder=embedder, options=options)

    assert paths(result) == {"otter.md"}
    assert result.query.filters == Filter()
    assert result.warnings == ("nothing was found that is dated 2026-03-01, so all dates were searched",)
    assert [report.name for report in result.reports].count("lexical") == 2


def test_impossible_dates_are_words_with_a_warning():
    result = search("gate oiled since 2026-02-30")
    turned = search("gate oiled between 2026-03 and 2026-01")

    assert len(result) == len(GATES)
    assert "2026-02-30" in result.warnings[0]
    assert "2026-03 and 2026-01" in turned.warnings[0]
    assert turned.query.filters == Filter()


def test_an_impossible_typed_range_is_told_with_both_dates():
    result = search("gate after:2026-03-01 before:2026-01-01")

    assert "2026-03-01" in result.warnings[0]
    assert "2026-01-01" in result.warnings[0]
    assert len(result) == 0


@EITHER
@pytest.mark.parametrize("text", ["last week", "What happened last week?", "notes of last week", "show me last week"])
def test_time_words_alone_list_documents_by_date(embedder, text):
    result = search(text, embedder=embedder)

    assert [hit.chunk.date for hit in result] == ["2026-03-01", "2026-03-01", "2026-02-28", "2026-02-23"]
    assert result.found
    assert [hit.score for hit in result] == sorted((hit.score for hit in result), reverse=True)
    assert all(not hit.highlights for hit in result)


@EITHER
def test_the_latest_of_all_lists_every_document_undated_ones_last(embedder):
    result = search("what's the latest", embedder=embedder, top_k=20)

    assert len(result) == len(GATES)
    assert [hit.path for hit in result][-1] == "undated.md"
    assert result[0].chunk.date == "2026-03-01"


def test_a_document_is_listed_once():
    texts = ["First part.", "Second part."]
    words = [ANALYZER.index_text(text, language="en") for text in texts]
    store = MemoryStore(an_indexed_document(*texts, path="a.md", date="2026-03-01", words=words))
    result = ProfileSearcher(parts_of(store), clock=ManualClock(NOW)).search(Query(text="yesterday"))

    assert [hit.text for hit in result] == ["First part."]


def test_days_alone_without_documents_search_the_words():
    result = search("yesterday", files={"a.md": ("Yesterday is a song.", "2025-01-01")})

    assert paths(result) == {"a.md"}
    assert "2026-03-01" in result.warnings[0]


@EITHER
def test_recent_lifts_newer_hits_and_hides_none(embedder):
    files = {f"{day}.md": ("The gate was oiled.", day) for day in ("2020-01-01", "2026-03-01", "2025-12-01")}
    plain = search("gate oiled", files=files, embedder=embedder, options={"fold": False, "max_per_source": 9})
    recent = search("recent gate oiled", files=files, embedder=embedder, options={"fold": False, "max_per_source": 9})

    assert [hit.chunk.date for hit in recent] == ["2026-03-01", "2025-12-01", "2020-01-01"]
    assert len(plain) == 3
    assert "decay" in dict(recent[0].scores)
    assert recent.query.filters == Filter()


def test_recent_does_not_lift_what_is_beside_the_point():
    files = {"old.md": ("The Pintail gate was oiled again.", "2025-01-01"), "new.md": ("The gate.", "2026-03-01")}

    assert search("latest pintail gate oiled", files=files)[0].path == "old.md"


@EITHER
def test_queries_without_time_words_are_as_before(embedder):
    on, off = (search("pintail gate", embedder=embedder, options={"temporal": value}) for value in (True, False))

    assert [(hit.path, hit.score, hit.scores) for hit in on] == [(hit.path, hit.score, hit.scores) for hit in off]
    assert notes(on)["temporal"] == "no time words"
    assert {report.name: report.status for report in on.reports if report.name in ("newest", "decay", "recency")} == {
        "newest": "skipped", "decay": "skipped", "recency": "skipped",
    }  # fmt: skip
    assert not {"temporal", "newest", "decay", "recency"} & {report.name for report in off.reports}


def test_switched_off_time_words_are_words():
    result = search("gate oiled yesterday", options={"temporal": False})

    assert len(result) == len(GATES)
    assert result.query.filters == Filter()


@pytest.mark.parametrize("text", ["term: gate oiled yesterday", "vec: gate oiled yesterday"])
def test_structured_modes_take_words_as_they_are(text):
    result = search(text, embedder=HashEmbedder())

    assert result.query.filters == Filter()
    assert len(result) == len(GATES)


def test_the_stage_stands_alone():
    store = MemoryStore(*(document(path, *content) for path, content in GATES.items()))
    stage = Temporal(store, ANALYZER)
    state = (
        ProfileSearcher(parts_of(store))
        .searcher("default")
        .stages[0]
        .run(_state("gate oiled yesterday lang:en"), StageContext(clock=ManualClock(NOW)))
    )
    after = stage.run(state, StageContext(clock=ManualClock(NOW)))
    sense = after.get(TIME)

    assert after.query.text == "gate oiled"
    assert [variant.text for variant in after.variants] == ["gate oiled"]
    assert sense is not None
    assert sense.before[0].text == "gate oiled yesterday"


def _state(text):
    from lilbee_core.types import SearchState

    return SearchState(query=Query(text=text))


def test_a_search_made_again_from_its_result_finds_the_same():
    first = search("gate oiled yesterday")
    again = search(first.query.text, filters=first.query.filters, now=NOW + timedelta(days=40))

    assert paths(again) == paths(first)


def test_ten_thousand_words_with_a_date_at_the_end():
    result = search(" ".join(["gate"] * 10_000) + " yesterday")

    assert paths(result) == {"pintail.md", "shoveler.md"}
