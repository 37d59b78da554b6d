"""Named lists of stages. A profile is a plain function, so that a new one is a few lines anywhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from lilbee_core.errors import ProviderError, SearchError
from lilbee_core.protocols import ChunkReader, ConceptGraphLike, EmbedderLike, QueryAnalyzer, RerankerLike, SearchStage
from lilbee_core.search._combinators import Parallel, Tolerant
from lilbee_core.search._fusion import Fusion, adaptive, reciprocal_rank, weighted
from lilbee_core.search._measured import MEASURED
from lilbee_core.search.stages import (
    BoostConcepts,
    Cap,
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
)
from lilbee_core.search.stages._lexical import Phrases
from lilbee_core.search.stages._mark import StaleAmong, none_stale

MEMORY_HITS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """The numbers of the built-in stages; each has its reason where the stage is."""

    candidates: int = 100
    candidate_multiplier: int = 3
    max_distance: float = 0.9
    fusion: str = "convex"
    dense_weight: float = 0.5
    foreign_weight: float = 0.0
    rrf_k: int = 60
    rerank_candidates: int = 20
    order_bonus: float = 0.8
    fold: bool = True
    least_words: float = 0.5
    mmr_lambda: float = 0.95
    max_per_source: int = 3
    join_neighbors: bool = False
    concept_weight: float = 0.3
    graph_variants: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParts:
    """What the built-in profiles are made from. Without an embedder they search by words alone.

    `stale_among` names the documents whose file has changed since it was indexed; `collections` names those that
    exist, so that a misspelled one is noticed.
    """

    reader: ChunkReader
    analyzer: QueryAnalyzer
    embedder: EmbedderLike | None = None
    reranker: RerankerLike | None = None
    graph: ConceptGraphLike | None = None
    stale_among: StaleAmong = none_stale
    collections: Callable[[], Collection[str]] | None = None
    options: SearchOptions = SearchOptions()


Profile: TypeAlias = Callable[[SearchParts], Sequence[SearchStage]]


def default(parts: SearchParts) -> list[SearchStage]:
    """Words and meaning together. While the embedder is down, words alone, with a warning."""
    options = parts.options
    order = Order(options.order_bonus) if options.fusion == "convex" else None
    return [_parse(parts), *_retrieve(parts, _fusion(parts)), *_finish(parts, order=order)]


def full(parts: SearchParts) -> list[SearchStage]:
    """As `default`, and with a graph of concepts also by what goes with those of the query."""
    parse, *rest = default(parts)
    related = [ExpandByGraph(parts.graph, parts.options.graph_variants)] if parts.graph is not None else []
    return [parse, *related, *rest]


def keyword(parts: SearchParts) -> list[SearchStage]:
    """Words alone (the prefix ``term:``)."""
    return [_parse(parts), _lexical(parts, "must"), *_finish(parts, rerank=False, mmr=False)]


def semantic(parts: SearchParts) -> list[SearchStage]:
    """Meaning alone (the prefix ``vec:``), whatever language the embedder declares.

    Raises:
        SearchError: If there is no embedder.
    """
    if parts.embedder is None:
        raise SearchError(
            "Search by meaning needs an embedding model, and this library has none.",
            hint="Set embedding_model (LILBEE_EMBEDDING_MODEL) to auto, or search by words.",
        )
    options = parts.options
    dense = Dense(
        parts.reader, parts.embedder, options.candidates, max_distance=options.max_distance, foreign_weight=1.0
    )
    return [_parse(parts), dense, *_finish(parts, rerank=False)]


def memory(parts: SearchParts) -> list[SearchStage]:
    """As a memory server searches: 70 % meaning, 30 % words, at most 8 hits."""
    return [_parse(parts), *_retrieve(parts, weighted), *_finish(parts, cap=False, limit=Limit(most=MEMORY_HITS))]


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {"default": default, "full": full, "keyword": keyword, "semantic": semantic, "memory": memory}
)
"""The built-in profiles by name."""


def _parse(parts: SearchParts) -> SearchStage:
    from lilbee_core.analysis import detect_language

    return Parse(parts.analyzer, parts.reader, detect_language, parts.collections)


def _lexical(parts: SearchParts, phrases: Phrases) -> SearchStage:
    return Lexical(parts.reader, parts.analyzer, parts.options.candidates, phrases)


def _retrieve(parts: SearchParts, fusion: Fusion) -> list[SearchStage]:
    if parts.embedder is None:
        return [_lexical(parts, "prefer"), Fuse(fusion)]
    options = parts.options
    dense = Dense(
        parts.reader,
        parts.embedder,
        options.candidates,
        max_distance=options.max_distance,
        foreign_weight=options.foreign_weight,
    )
    tolerant = Tolerant(dense, warning="Searched by words alone", catch=(ProviderError,))
    return [Parallel(tolerant, _lexical(parts, "prefer"), name="retrieve"), Fuse(fusion)]


def _fusion(parts: SearchParts) -> Fusion:
    options = parts.options
    if options.fusion == "rrf":
        return partial(reciprocal_rank, k=options.rrf_k)
    if options.fusion == "weighted":
        return weighted
    measured = MEASURED.get(parts.embedder.model) if parts.embedder else None
    return partial(
        adaptive, dense_weight=options.dense_weight, usual_cosine=measured.usual_cosine if measured else None
    )


def _finish(
    parts: SearchParts,
    *,
    rerank: bool = True,
    mmr: bool = True,
    cap: bool = True,
    order: Order | None = None,
    limit: Limit | None = None,
) -> list[SearchStage]:
    """Return what every profile ends with: fetch, fold, diversify, rerank where there is a model, cut, mark, judge."""
    options = parts.options
    stages: list[SearchStage] = [Fetch(parts.reader, options.candidate_multiplier)]
    stages += [order] if order else []
    stages += [BoostConcepts(parts.graph, options.concept_weight)] if rerank and parts.graph is not None else []
    stages += [Fold()] if options.fold else []
    stages += [Mmr(parts.reader, options.mmr_lambda)] if mmr and parts.embedder is not None else []
    if rerank and parts.reranker is not None:
        stage = Rerank(parts.reranker, options.rerank_candidates)
        stages.append(Tolerant(stage, warning="Hits are not reranked", catch=(ProviderError,)))
    stages += [Neighbors(parts.reader)] if options.join_neighbors else []
    stages += [Cap(options.max_per_source)] if cap else []
    measured = MEASURED.get(parts.embedder.model) if parts.embedder else None
    judge = Judge(measured.floor if measured else None, least_words=options.least_words)
    return [*stages, limit or Limit(), Mark(parts.analyzer, parts.stale_among), judge]
