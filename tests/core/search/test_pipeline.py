from dataclasses import fields, replace

import pytest

from lilbee_core.errors import Cancelled, ProviderError, StageError
from lilbee_core.search import Chain, Parallel, Searcher, Tolerant, When, run_stage
from lilbee_core.testing import StageContext, a_hit
from lilbee_core.types import (
    ChunkId,
    DocumentId,
    Dropped,
    Hit,
    Part,
    Place,
    Query,
    Ranking,
    Scored,
    SearchState,
    Variant,
)
from tests.core.search.fakes import AnyStage

CONTEXT = StageContext()

V, R, H = Part.VARIANTS, Part.RANKINGS, Part.HITS


def a_state(*found: Hit) -> SearchState:
    return SearchState(query=Query(text="bees"), hits=found)


def variants(state: SearchState, context: object) -> SearchState:
    return replace(state, variants=(Variant(text=state.query.text),))


def hits(*found):
    return AnyStage(lambda state, _: replace(state, hits=found), name="hits", reads=[], writes=[H])


def ranking_named(name: str, *keys: str) -> AnyStage:
    made = Ranking(name=name, entries=tuple(Scored(ChunkId(key), 1.0) for key in keys))
    return AnyStage(lambda state, _: replace(state, rankings=(*state.rankings, made)), name=name, writes=[R])


def failing(error: Exception, name: str = "bad", **parts: object) -> AnyStage:
    def run(state: SearchState, context: object) -> SearchState:
        raise error

    return AnyStage(run, name=name, **parts)


class ManualClock:
    """A clock that each reading moves on by one second."""

    at = 0.0

    def monotonic(self) -> float:
        self.at += 1
        return self.at


class StopAfter:
    """Wants to stop after some checks."""

    def __init__(self, checks: int) -> None:
        self.left = checks

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Cancelled("the search was cancelled")


@pytest.mark.parametrize(
    ("part", "hint"), [(V, "Parse"), (R, "Lexical"), (H, "Fetch")], ids=["variants", "rankings", "hits"]
)
def test_a_stage_whose_input_nobody_writes_fails_when_the_list_is_built(part, hint):
    stage = AnyStage(variants, name="eager", reads=[part])

    with pytest.raises(StageError, match=f"stage eager reads {part}") as caught:
        Searcher([stage])
    assert hint in caught.value.hint
    assert caught.value.code == "search.stage"


def test_order_counts():
    write, read = AnyStage(variants, name="w", writes=[V]), AnyStage(variants, name="r", reads=[V], writes=[V])

    Searcher([write, read])
    with pytest.raises(StageError, match="stage r reads variants"):
        Searcher([read, write])


def test_combinators_are_looked_into():
    read = AnyStage(lambda state, _: state, name="r", reads=[R])

    Searcher([Parallel(ranking_named("a"), ranking_named("b")), read])
    with pytest.raises(StageError, match="r reads rankings"):
        Searcher([Tolerant(ranking_named("a")), read])  # promises nothing
    with pytest.raises(StageError, match="r reads rankings"):
        Searcher([When(lambda state: True, ranking_named("a")), read])
    with pytest.raises(StageError, match="reads rankings"):
        Searcher([Chain(read, ranking_named("a"))])


def test_hits_get_ranks_and_the_result_its_trace():
    result = Searcher([hits(a_hit(score=2.0), a_hit(score=1.0, path="b.txt"))], clock=ManualClock()).search(
        Query(text="q")
    )

    assert [hit.rank for hit in result] == [1, 2]
    assert result.found
    assert result.reports[0].name == "hits"
    assert result.reports[0].seconds == 1.0
    assert (result.reports[0].count_in, result.reports[0].count_out) == (1, 2)
    assert result.seconds > result.reports[0].seconds
    assert result.timings_ms["hits"] == 1000.0


def test_no_hits_are_not_found():
    assert not Searcher([hits()]).search(Query(text="q")).found


def test_what_a_stage_drops_is_in_its_report_and_nobody_elses():
    drop = AnyStage(
        lambda state, _: replace(state, hits=(), dropped=(Dropped(chunk_id=ChunkId("c1"), reason="dull"),), note="why"),
        name="drop", reads=[H], writes=[H],
    )  # fmt: skip
    after = AnyStage(lambda state, _: state, name="after", reads=[H])
    reports = Searcher([hits(a_hit()), drop, after]).search(Query(text="q")).reports

    assert reports[1].dropped[0].reason == "dull"
    assert reports[1].note == "why"
    assert (reports[1].count_in, reports[1].count_out) == (1, 0)
    assert reports[2].dropped == ()
    assert reports[2].note == ""


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ((a_hit(score=float("nan")),), "score nan"),
        ((a_hit(score=float("inf")),), "score inf"),
        ((a_hit(score=1.0), a_hit(score=2.0, path="b.txt")), "must not rise"),
        ((a_hit(score=1.0), a_hit(score=1.0)), "a chunk twice"),
    ],
)
def test_bad_hits_are_refused_with_the_name_of_the_stage(found, said):
    with pytest.raises(StageError, match="stage hits returned") as caught:
        Searcher([hits(*found)]).search(Query(text="q"))
    assert said in caught.value.message


def test_a_stage_may_change_only_what_it_says_it_writes():
    sly = AnyStage(lambda state, _: replace(state, variants=()), name="sly", reads=[V])
    with pytest.raises(StageError, match="stage sly changed variants"):
        Searcher([AnyStage(variants, name="w", writes=[V]), sly]).search(Query(text="q"))


def test_cancelling_stops_between_stages():
    ran: list[str] = []
    stages = [AnyStage(lambda state, _, n=n: (ran.append(n), state)[1], name=n) for n in "abc"]

    with pytest.raises(Cancelled):
        Searcher(stages).search(Query(text="q"), cancel=StopAfter(2))
    assert ran == ["a", "b"]


def test_parallel_joins_rankings_in_the_order_of_the_list():
    slow = AnyStage(
        lambda state, context: ranking_named("a", "x").run(state.warn("one"), context), name="a", writes=[R]
    )
    fast = AnyStage(
        lambda state, context: ranking_named("b", "y").run(state.warn("two"), context), name="b", writes=[R]
    )

    class Backwards:
        def map(self, function, items):
            done = [function(item) for item in reversed(list(items))]
            return reversed(done)

    state = Parallel(slow, fast).run(a_state(), StageContext(executor=Backwards()))

    assert [one.name for one in state.rankings] == ["a", "b"]
    assert [one.name for one in state.reports] == ["a", "b"]
    assert state.warnings == ("one", "two")
    assert [one.count_out for one in state.reports] == [1, 1]


def test_parallel_keeps_what_was_there_and_one_branchs_variants():
    base = replace(a_state(), rankings=(Ranking(name="old", entries=()),))
    state = Parallel(AnyStage(variants, name="v", writes=[V]), ranking_named("new")).run(base, CONTEXT)

    assert [one.name for one in state.rankings] == ["old", "new"]
    assert state.variants[0].text == "bees"


def test_two_branches_may_not_write_what_cannot_be_joined():
    with pytest.raises(StageError, match="one and two both write hits"):
        Parallel(AnyStage(variants, name="one", writes=[H]), Tolerant(AnyStage(variants, name="two", writes=[H])))


def test_a_chain_runs_in_order_and_is_told_by_its_parts():
    state = run_stage(Chain(ranking_named("a"), ranking_named("b")), a_state(), CONTEXT)

    assert [one.name for one in state.reports] == ["a", "b"]


def test_when_says_what_it_skipped_and_why():
    def unsure(state: SearchState) -> bool:
        return len(state.hits) < 1

    skipped = run_stage(When(unsure, failing(ValueError("no")), otherwise="sure enough"), a_state(a_hit()), CONTEXT)
    ran = run_stage(When(unsure, ranking_named("a", "x")), a_state(), CONTEXT)
    unnamed = run_stage(When(unsure, ranking_named("a")), a_state(a_hit()), CONTEXT)

    assert [(one.name, one.status, one.note) for one in skipped.reports] == [("bad", "skipped", "sure enough")]
    assert ran.reports[0].status == "ok"
    assert unnamed.reports[0].note == "unsure does not hold"


def test_tolerant_survives_and_says_so(caplog):
    tolerant = Tolerant(failing(ProviderError("the server is down"), "dense"), warning="Searched by words alone")
    with caplog.at_level("INFO", "lilbee_core"):
        state = run_stage(tolerant, a_state(), CONTEXT)

    assert state.warnings == ("Searched by words alone: the server is down",)
    assert [(one.name, one.status, one.note) for one in state.reports] == [("dense", "failed", "the server is down")]
    assert "dense failed" in caplog.text
    assert all(record.levelname in ("INFO", "DEBUG") for record in caplog.records)  # the result carries the warning


def test_tolerant_shows_no_stack_trace_of_a_stranger():
    state = run_stage(Tolerant(failing(KeyError("secret"), "acme")), a_state(), CONTEXT)

    assert state.warnings == ("The search stage acme failed and was left out: KeyError",)


def test_tolerant_raises_what_it_should_not_catch():
    with pytest.raises(Cancelled):
        run_stage(Tolerant(failing(Cancelled("stop"))), a_state(), CONTEXT)
    with pytest.raises(KeyError):
        run_stage(Tolerant(failing(KeyError("x")), catch=(ProviderError,)), a_state(), CONTEXT)


def test_tolerant_survives_a_stage_that_breaks_the_rules():
    nan = AnyStage(lambda state, _: replace(state, hits=(a_hit(score=float("nan")),)), name="acme", writes=[H])
    result = Searcher([hits(a_hit()), Tolerant(nan)]).search(Query(text="q"))

    assert len(result) == 1
    assert "acme" in result.warnings[0]


def test_a_hit_with_one_more_score_is_otherwise_the_same():
    hit = Hit(
        chunk=a_hit().chunk,
        score=0.25,
        rank=3,
        scores=(("dense", 0.5), ("order", 0.1)),
        also_at=(Place(document_id=DocumentId("d"), collection="c", path="p"),),
        highlights=((1, 2),),
        stale=True,
        parts=(a_hit().chunk,),
        url="https://bees.example/",
    )
    named = {one.name for one in fields(Hit)}
    assert all(getattr(hit, name) not in ((), None, False, 0) for name in named)

    assert hit.with_score("order", 0.9) == replace(hit, scores=(("dense", 0.5), ("order", 0.9)))
    assert hit.with_score("mmr", 0.0, score=0.0) == replace(hit, score=0.0, scores=(*hit.scores, ("mmr", 0.0)))


def test_what_a_stage_left_out_is_not_told_of_the_next_one():
    gone = Dropped(chunk_id=ChunkId("gone"), reason="late")
    first = AnyStage(lambda state, _: replace(state, dropped=(gone,), note="one gone"), name="first")
    begun: list[SearchState] = []

    def second(state: SearchState, context: object) -> SearchState:
        begun.append(state)
        return state

    state = run_stage(first, a_state(), CONTEXT)
    given = replace(state, dropped=(gone,), note="of a stage within")
    state = run_stage(AnyStage(second, name="second"), given, CONTEXT)

    assert [(one.note, one.dropped) for one in state.reports] == [("one gone", (gone,)), ("", ())]
    assert (begun[0].dropped, begun[0].note) == ((), "")
