"""The built-in stages keep to what is asked of everybody's."""

from __future__ import annotations

from lilbee_core.analysis import Analyzer
from lilbee_core.protocols import SearchStage
from lilbee_core.search import (
    BoostConcepts,
    Cap,
    Cover,
    Define,
    Dense,
    ExpandByGraph,
    Fetch,
    Fold,
    Fuse,
    Judge,
    Lexical,
    Limit,
    Mark,
    Mmr,
    Neighbors,
    Order,
    Parse,
    Rerank,
    convex,
)
from lilbee_core.testing import MemoryGraph
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


class TestDefine(StageContract):
    def make(self) -> SearchStage:
        return Define(self.services.reader)


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


class TestMmr(StageContract):
    def make(self) -> SearchStage:
        return Mmr(self.services.reader, 0.5)


class TestCap(StageContract):
    def make(self) -> SearchStage:
        return Cap(1, strict=True)


class TestNeighbors(StageContract):
    def make(self) -> SearchStage:
        return Neighbors(self.services.reader)


class TestCover(StageContract):
    def make(self) -> SearchStage:
        return Cover(ANALYZER, 2)


def a_graph() -> MemoryGraph:
    return MemoryGraph(relations=[("bees", "honey", 2.0), ("honey", "wax", 1.0)])


class TestExpandByGraph(StageContract):
    def make(self) -> SearchStage:
        return ExpandByGraph(a_graph())


class TestBoostConcepts(StageContract):
    def make(self) -> SearchStage:
        return BoostConcepts(a_graph())
