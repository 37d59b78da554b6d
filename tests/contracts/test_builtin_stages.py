"""The search stages that come with lilbee, and the wrappers around them, keep to the contract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lilbee_core.analysis import Analyzer, detect_language
from lilbee_core.protocols import SearchStage
from lilbee_core.search import (
    Chain,
    Dense,
    Fetch,
    Fold,
    Fuse,
    Judge,
    Lexical,
    Limit,
    Mark,
    Parallel,
    Parse,
    Rerank,
    Tolerant,
    When,
    convex,
    reciprocal_rank,
    weighted,
)
from lilbee_core.testing import HashEmbedder, StageContext
from lilbee_core.testing.contracts import StageContract
from lilbee_core.testing.contracts.samples import QUESTION, sample_services, sample_states
from lilbee_core.types import Filter, Query, Scope, SearchState

ANALYZER = Analyzer()
QUERIES = (
    Query(text=QUESTION),
    Query(text='"find home" bees', top_k=2),
    Query(text="path:notes/ honey", filters=Filter(languages=("en",))),
    Query(text="ミツバチ 🐝 Bienen", scope=Scope.BOTH, top_k=1),
    Query(text="nothing of this is there: xyzzy"),
)


def parse() -> SearchStage:
    return Parse(ANALYZER, sample_services().reader, detect_language)


def run(*stages: SearchStage) -> list[SearchState]:
    """Return the states that these stages leave behind for the one under test."""
    states = [SearchState(query=query) for query in QUERIES]
    for stage in stages:
        states = [stage.run(state, StageContext()) for state in states]
    return states


class BuiltinStage(StageContract):
    """A stage behind the ones that it needs."""

    before: tuple[SearchStage, ...] = ()

    def states(self) -> Sequence[SearchState]:
        return [*run(*self.before), *sample_states()]


READER = sample_services().reader
FOUND = (parse(), Dense(READER, HashEmbedder()), Lexical(READER, ANALYZER))
FETCHED = (*FOUND, Fuse(convex), Fetch(READER))


class TestParse(BuiltinStage):
    def make(self) -> SearchStage:
        return parse()


class TestDense(BuiltinStage):
    before = (parse(),)

    def make(self) -> SearchStage:
        return Dense(self.services.reader, HashEmbedder())


class TestDenseOfAForeignLanguage(BuiltinStage):
    before = (parse(),)

    def make(self) -> SearchStage:
        return Dense(self.services.reader, HashEmbedder(languages=("fi",)), foreign_weight=0.5)


class TestLexical(BuiltinStage):
    before = (parse(),)

    def make(self) -> SearchStage:
        return Lexical(self.services.reader, ANALYZER)


class TestConvexFuse(BuiltinStage):
    before = FOUND

    def make(self) -> SearchStage:
        return Fuse(convex)


class TestReciprocalFuse(BuiltinStage):
    before = FOUND

    def make(self) -> SearchStage:
        return Fuse(reciprocal_rank)


class TestWeightedFuse(BuiltinStage):
    before = FOUND

    def make(self) -> SearchStage:
        return Fuse(weighted)


class TestFetch(BuiltinStage):
    before = (*FOUND, Fuse(convex))

    def make(self) -> SearchStage:
        return Fetch(self.services.reader)


class TestFold(BuiltinStage):
    before = FETCHED

    def make(self) -> SearchStage:
        return Fold()


class TestRerank(BuiltinStage):
    before = FETCHED

    def make(self) -> SearchStage:
        reranker = self.services.reranker
        assert reranker is not None
        return Rerank(reranker, 3)


class TestLimit(BuiltinStage):
    before = FETCHED

    def make(self) -> SearchStage:
        return Limit()


class TestMark(BuiltinStage):
    before = FETCHED

    def make(self) -> SearchStage:
        return Mark(ANALYZER, lambda documents: documents[:1])


class TestJudge(BuiltinStage):
    before = FETCHED

    def make(self) -> SearchStage:
        return Judge()


class TestChain(BuiltinStage):
    before = FETCHED

    def make(self) -> SearchStage:
        return Chain(Fold(), Limit())


class TestParallel(BuiltinStage):
    before = (parse(),)

    def make(self) -> SearchStage:
        return Parallel(Dense(READER, HashEmbedder()), Lexical(READER, ANALYZER))


class TestWhen(BuiltinStage):
    before = FETCHED

    def make(self) -> SearchStage:
        return When(lambda state: len(state.hits) > 1, Limit(1))


class TestTolerant(BuiltinStage):
    before = (parse(),)

    def make(self) -> SearchStage:
        return Tolerant(Dense(READER, HashEmbedder()))


class TestTolerantOfAFailure(BuiltinStage):
    before = FETCHED

    def make(self) -> SearchStage:
        embedder = HashEmbedder()
        embedder.fail()
        return Tolerant(Dense(READER, embedder))


def test_the_samples_are_worth_something() -> None:
    states = run(*FETCHED)
    assert [len(state.hits) > 0 for state in states] == [True, True, True, True, True]
    assert {ranking.name for state in run(*FOUND) for ranking in state.rankings} == {"dense", "lexical"}
    assert replace(states[0], hits=()) != states[0]
