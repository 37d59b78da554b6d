"""The parts of search, reranking and answers are what the protocols ask for."""

from __future__ import annotations

from typing import assert_type

from lilbee_core.analysis import Analyzer
from lilbee_core.answer import ExtractiveAnswerer, GeneratedAnswerer
from lilbee_core.protocols import (
    Answerer,
    ChatProvider,
    ChunkReader,
    Clock,
    EmbedderLike,
    Executor,
    QueryAnalyzer,
    RerankerLike,
    RerankProvider,
    SearchContext,
    SearcherLike,
    SearchStage,
)
from lilbee_core.rerank import Reranker
from lilbee_core.search import (
    Chain,
    Dense,
    Fetch,
    Fold,
    Fuse,
    InlineExecutor,
    Judge,
    Lexical,
    Limit,
    Mark,
    Parallel,
    Parse,
    ProfileSearcher,
    Rerank,
    RunContext,
    Searcher,
    SearchParts,
    SystemClock,
    Tolerant,
    When,
    default,
)
from lilbee_core.types import Query, SearchResult


def parts_of_search(reader: ChunkReader, embedder: EmbedderLike, reranker: RerankerLike) -> None:
    analyzer: QueryAnalyzer = Analyzer()
    stages: list[SearchStage] = [
        Parse(analyzer, reader, lambda text: None),
        Parallel(Tolerant(Dense(reader, embedder)), Lexical(reader, analyzer)),
        Fuse(),
        Fetch(reader),
        Chain(Fold(), When(lambda state: True, Rerank(reranker))),
        Limit(),
        Mark(analyzer),
        Judge(),
    ]
    searcher: SearcherLike = Searcher(stages)
    parts = SearchParts(reader=reader, analyzer=analyzer, embedder=embedder, reranker=reranker)
    by_profile: SearcherLike = ProfileSearcher(parts)
    assert_type(searcher.search(Query(text="bees")), SearchResult)
    assert_type(by_profile.search(Query(text="bees")), SearchResult)
    assert_type(default(parts), list[SearchStage])


def edges_of_search() -> None:
    clock: Clock = SystemClock()
    executor: Executor = InlineExecutor()
    context: SearchContext = RunContext(clock=clock, executor=executor)
    context.check()


def parts_of_answers(chat: ChatProvider, provider: RerankProvider) -> None:
    quoted: Answerer = ExtractiveAnswerer(Analyzer())
    generated: Answerer = GeneratedAnswerer(chat, model="fake/chat")
    reranker: RerankerLike = Reranker(provider, model="fake/reranker")
    del quoted, generated, reranker
