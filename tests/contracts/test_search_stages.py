"""The built-in stages keep to what is asked of everybody's."""

from __future__ import annotations

from lilbee_core.analysis import Analyzer
from lilbee_core.protocols import SearchStage
from lilbee_core.search import Dense, Fetch, Fold, Fuse, Judge, Lexical, Limit, Mark, Order, Parse, Rerank, convex
from lilbee_core.testing.contracts import StageContract

ANALYZER = Analyzer()


class TestParse(StageContract):
    def make(self) -> SearchStage:
        return Parse(ANALYZER, self.services.reader, lambda text: "en")


class TestLexical(StageContract):
    def make(self) -> SearchStage:
        return Lexical(self.services.reader, ANALYZER)


class TestDense(StageContract):
    def make(self) -> SearchStage:
        assert self.services.embedder is not None
        return Dense(self.services.reader, self.services.embedder)


class TestFuse(StageContract):
    def make(self) -> SearchStage:
        return Fuse(convex)


class TestFetch(StageContract):
    def make(self) -> SearchStage:
        return Fetch(self.services.reader)


class TestOrder(StageContract):
    def make(self) -> SearchStage:
        return Order()


class TestFold(StageContract):
    def make(self) -> SearchStage:
        return Fold()


class TestRerank(StageContract):
    def make(self) -> SearchStage:
        assert self.services.reranker is not None
        return Rerank(self.services.reranker, candidates=3)


class TestLimit(StageContract):
    def make(self) -> SearchStage:
        return Limit(most=2)


class TestMark(StageContract):
    def make(self) -> SearchStage:
        return Mark(ANALYZER)


class TestJudge(StageContract):
    def make(self) -> SearchStage:
        return Judge(0.74)
