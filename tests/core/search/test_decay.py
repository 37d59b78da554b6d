"""Scores that fall with age, hits by date, and the profile that uses both (R188, R313, R314)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.search import Decay, ProfileSearcher, Recency
from lilbee_core.testing import (
    HashEmbedder,
    ManualClock,
    MemoryStore,
    ScriptedReranker,
    StageContext,
    a_hit,
    a_state,
    an_indexed_document,
)
from lilbee_core.types import Hit, Query
from tests.core.search.fakes import ANALYZER, parts_of

CONTEXT = StageContext(clock=ManualClock(datetime(2026, 3, 31, 12, tzinfo=UTC)))


def hit(day: str | None, score: float = 1.0) -> Hit:
    return a_hit(f"text of {day} {score}", score=score, date=day)


def aged(*hits: Hit, **options: float) -> list[tuple[str | None, float]]:
    after = Decay(**options).run(a_state(*hits), CONTEXT)
    return [(one.chunk.date, pytest.approx(one.score)) for one in after.hits]


def test_a_score_halves_with_every_half_life():
    hits = [hit("2026-03-31"), hit("2026-03-01"), hit("2026-01-30")]

    assert aged(*hits) == [("2026-03-31", 1.0), ("2026-03-01", 0.5), ("2026-01-30", 0.25)]
    assert aged(*hits, half_life_days=60) == [
        ("2026-03-31", 1.0),
        ("2026-03-01", 0.5**0.5),
        ("2026-01-30", 0.5),
    ]


def test_age_takes_its_share_and_no_more():
    assert aged(hit("2026-03-01"), hit("1900-01-01", 0.9), share=0.3) == [("2026-03-01", 0.85), ("1900-01-01", 0.63)]


def test_newer_hits_overtake():
    after = Decay().run(a_state(hit("2026-01-30", 0.9), hit("2026-03-31", 0.5)), CONTEXT)

    assert [one.chunk.date for one in after.hits] == ["2026-03-31", "2026-01-30"]
    assert dict(after.hits[1].scores)["decay"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("day", "left"),
    [
        ("2026-04-30", 1.0),
        ("9999-12-31", 1.0),
        (None, 0.5),
        ("", 0.5),
        ("last spring", 0.5),
        ("2026-03-01T23:59:59+02:00", 0.5),
        ("0001-01-01", 0.0),
    ],
)
def test_odd_dates(day, left):
    assert aged(hit(day)) == [(day, left)]


def test_a_half_life_of_nothing_switches_it_off():
    assert aged(hit("2020-01-01", 0.5), half_life_days=0) == [("2020-01-01", 0.5)]
    for options in ({"half_life_days": -1.0}, {"share": 1.1}, {"share": -0.1}, {"half_life_days": float("nan")}):
        with pytest.raises(ValueError, match="half_life_days"):
            Decay(**options)


@given(
    st.lists(st.tuples(st.dates().map(str) | st.none(), st.floats(-9, 9)), max_size=8),
    st.floats(0.01, 1e5),
    st.floats(0, 1),
)
def test_no_score_rises(pairs, half_life, share):
    hits = sorted((a_hit(str(at), score=score, date=day) for at, (day, score) in enumerate(pairs)), key=_falling)
    before = {one.chunk.id: one.score for one in hits}
    after = Decay(half_life, share).run(a_state(*hits), CONTEXT).hits

    assert all(one.score <= before[one.chunk.id] for one in after)
    assert [one.score for one in after] == sorted((one.score for one in after), reverse=True)
    assert {one.chunk.id for one in after} == set(before)


def _falling(one: Hit) -> float:
    return -one.score


def test_recency_sorts_by_date_undated_last():
    days = ["2026-01-30", None, "2026-03-31", "2026-03-01"]
    after = Recency().run(a_state(*(hit(day, 1 - at / 9) for at, day in enumerate(days))), CONTEXT)

    assert [one.chunk.date for one in after.hits] == ["2026-03-31", "2026-03-01", "2026-01-30", None]
    assert [one.score for one in after.hits] == [1.0, 0.75, 0.5, 0.25]
    assert Recency().run(a_state(), CONTEXT).hits == ()


def notes() -> MemoryStore:
    embedder = HashEmbedder(dimension=512)
    texts = {day: f"Hive note of {day}: all is well." for day in ("2026-03-31", "2026-03-01", "2025-03-31")}
    return MemoryStore(
        *(
            an_indexed_document(
                text,
                path=f"{day}.md",
                date=day,
                language="en",
                words=[ANALYZER.index_text(text, language="en")],
                vectors=embedder.embed_batch([text]),
            )
            for day, text in texts.items()
        )
    )


def test_the_memory_profile_in_its_order():
    embedder = HashEmbedder(dimension=512)
    parts = parts_of(notes(), embedder=embedder, reranker=ScriptedReranker(), options={"fold": False})
    result = ProfileSearcher(parts, clock=CONTEXT.clock).search(Query(text="hive note", profile="memory", top_k=20))

    assert [report.name for report in result.reports] == [
        "parse", "lexical", "dense", "fuse", "fetch", "rerank", "decay", "mmr", "limit", "mark", "judge",
    ]  # fmt: skip
    assert [one.chunk.date for one in result] == ["2026-03-31", "2026-03-01", "2025-03-31"]
    scored = {name for one in result for name, _ in one.scores}
    assert {"dense", "lexical", "fused", "rerank_score", "decay"} <= scored


def test_age_counts_in_memory_and_not_by_default():
    parts = parts_of(notes(), embedder=HashEmbedder(dimension=512), options={"fold": False})
    searcher = ProfileSearcher(parts, clock=CONTEXT.clock)
    text = "hive note of 2025-03-31"

    assert searcher.search(Query(text=text))[0].path == "2025-03-31.md"
    assert searcher.search(Query(text=text, profile="memory"))[0].path == "2026-03-31.md"
