"""Named lists of stages. A profile is a plain function, so that a new one is a few lines anywhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

from lilbee_core.errors import ExtraMissing, ProviderError, SearchError
from lilbee_core.protocols import (
    ChatProvider,
    ChunkReader,
    ConceptReader,
    EmbedderLike,
    QueryAnalyzer,
    RerankerLike,
    SearchStage,
)
from lilbee_core.search._calibration import Calibrated, uncalibrated
from lilbee_core.search._combinators import Parallel, Tolerant, When
from lilbee_core.search._fusion import Fusion, adaptive, reciprocal_rank, weighted
from lilbee_core.search._measured import MEASURED
from lilbee_core.search.stages import (
    AdaptiveDistance,
    BoostConcepts,
    Cap,
    Decay,
    Define,
    Dense,
    Embed,
    Expand,
    ExpandByGraph,
    Fetch,
    Fold,
    Fuse,
    Guard,
    Hyde,
    Judge,
    Lexical,
    Limit,
    Mark,
    Mmr,
    Neighbors,
    Newest,
    Order,
    Parse,
    Probe,
    Recency,
    Rerank,
    Temporal,
    Undated,
)
from lilbee_core.search.stages._expand import has_vectors
from lilbee_core.search.stages._lexical import Phrases
from lilbee_core.search.stages._mark import StaleAmong, none_stale
from lilbee_core.search.stages._probe import is_unsure
from lilbee_core.search.stages._temporal import has_subject, is_listed, newer_is_better

MEMORY_HITS = 8
_WORDS_ALONE = "Searched by words alone"
_MISSING = (ProviderError, ExtraMissing)
"""Errors of an embedder or a reranker that a search can do without."""
_SURE = "the word search is sure, or there are no words"
_DATED = "the query has words beside those about time"
_NOT_RECENT = "nothing recent is asked for"


def no_chat() -> ChatProvider | None:
    """Say that there is no chat model."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """The numbers of the built-in stages; each has its reason where the stage is."""

    candidates: int = 100
    candidate_multiplier: int = 3
    max_distance: float = 0.9
    adaptive_distance: bool = False
    distance_step: float = 0.2
    temporal: bool = True
    half_life_days: float = 30.0
    recent_share: float = 0.3
    expansions: int = 3
    skip_threshold: float = 0.8
    skip_gap: float = 0.15
    guardrails: bool = True
    least_similarity: float = 0.5
    hyde: bool = False
    hyde_weight: float = 0.7
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
    graph_weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParts:
    """What the built-in profiles are made from. Without an embedder they search by words alone.

    `stale_among` names the documents whose file has changed since it was indexed; `collections` names those that
    exist, so that a misspelled one is noticed; `calibration` tells what cosines mean here. The chat model is looked
    for when a profile that asks one is built.
    """

    reader: ChunkReader
    analyzer: QueryAnalyzer
    embedder: EmbedderLike | None = None
    reranker: RerankerLike | None = None
    graph: ConceptReader | None = None
    chat: Callable[[], ChatProvider | None] = no_chat
    stale_among: StaleAmong = none_stale
    collections: Callable[[], Collection[str]] | None = None
    calibration: Calibrated = uncalibrated
    options: SearchOptions = SearchOptions()


Profile: TypeAlias = Callable[[SearchParts], Sequence[SearchStage]]


def default(parts: SearchParts) -> list[SearchStage]:
    """Words and meaning together. While the embedder is down, words alone, with a warning."""
    options = parts.options
    order = Order(options.order_bonus) if options.fusion == "convex" else None
    retrieve = _retrieve(parts, _fusion(parts), dated=options.temporal)
    return [*_understand(parts), *retrieve, *_finish(parts, define=True, order=order, by_date=True)]


def full(parts: SearchParts) -> list[SearchStage]:
    """As `default`, with more wordings: of a chat model, and from a graph of concepts. Without both it is `default`.

    The chat model is not asked where the word search is sure already, and nobody misses it when it fails.
    """
    known = _understand(parts)
    rest = default(parts)[len(known) :]
    chat = parts.chat()
    asking = _reword(parts, chat) if chat is not None else []
    most = parts.options.graph_variants
    related = [ExpandByGraph(parts.graph, most, parts.options.graph_weight)] if parts.graph is not None and most else []
    return [*known, *asking, *related, *(_check(parts) if asking else []), *rest]


def keyword(parts: SearchParts) -> list[SearchStage]:
    """Words alone (the prefix ``term:``)."""
    return [_parse(parts), _lexical(parts, "must"), *_finish(parts, rerank=False, mmr=False, define=True)]


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
    return [
        _parse(parts),
        _dense(parts, parts.embedder, foreign_weight=1.0),
        *_distance(parts),
        *_finish(parts, rerank=False),
    ]


def hyde(parts: SearchParts) -> list[SearchStage]:
    """As `default`, with a hypothetical answer searched beside the query (the prefix ``hyde:``).

    Raises:
        SearchError: If there is no chat model to write it, or no embedder to search with it.
    """
    chat = parts.chat()
    if chat is None:
        raise SearchError(
            "Search by a hypothetical answer needs a chat model, and none is set.",
            hint="Set chat_model (LILBEE_CHAT_MODEL), for example to ollama/qwen3:0.6b, or search without hyde:.",
        )
    if parts.embedder is None:
        raise SearchError(
            "Search by a hypothetical answer needs an embedding model, and this library has none.",
            hint="Set embedding_model (LILBEE_EMBEDDING_MODEL) to auto, or search without hyde:.",
        )
    known = _understand(parts)
    return [*known, _hyde(parts, chat), *default(parts)[len(known) :]]


def memory(parts: SearchParts) -> list[SearchStage]:
    """As a memory server searches: 70 % meaning, 30 % words, older hits count less, at most 8 hits."""
    ages = Decay(parts.options.half_life_days)
    limit = Limit(most=MEMORY_HITS)
    return [_parse(parts), *_retrieve(parts, weighted), *_finish(parts, cap=False, ages=ages, limit=limit)]


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {"default": default, "full": full, "keyword": keyword, "semantic": semantic, "hyde": hyde, "memory": memory}
)
"""The built-in profiles by name."""


def _parse(parts: SearchParts) -> SearchStage:
    from lilbee_core.analysis import detect_language

    return Parse(parts.analyzer, parts.reader, detect_language, parts.collections)


def _lexical(parts: SearchParts, phrases: Phrases) -> SearchStage:
    return Lexical(parts.reader, parts.analyzer, parts.options.candidates, phrases)


def _understand(parts: SearchParts) -> list[SearchStage]:
    """Return what a query in plain words begins with."""
    temporal = [Temporal(parts.reader, parts.analyzer)] if parts.options.temporal else []
    return [_parse(parts), *temporal]


def _reword(parts: SearchParts, chat: ChatProvider) -> list[SearchStage]:
    """Return what asks a chat model, unless the words alone are sure; what they found is not searched for again."""
    options = parts.options
    asking: list[SearchStage] = []
    if options.expansions:
        expand = Tolerant(Expand(chat, options.expansions), warning="Searched without other wordings")
        asking.append(When(is_unsure, expand, otherwise=_SURE))
    if options.hyde and parts.embedder is not None:
        asking.append(When(is_unsure, _hyde(parts, chat), otherwise=_SURE))
    probe = Probe(options.skip_threshold, options.skip_gap)
    return [_lexical(parts, "prefer"), probe, *asking] if asking else []


def _hyde(parts: SearchParts, chat: ChatProvider) -> SearchStage:
    return Tolerant(Hyde(chat, parts.options.hyde_weight), warning="Searched without a hypothetical answer")


def _check(parts: SearchParts) -> list[SearchStage]:
    """Return what embeds all wordings at once, and leaves out those that drifted."""
    if parts.embedder is None:
        return []
    embed = Tolerant(Embed(parts.embedder), warning=_WORDS_ALONE, catch=_MISSING)
    return [embed, Guard(parts.options.least_similarity)] if parts.options.guardrails else [embed]


def _dense(parts: SearchParts, embedder: EmbedderLike, *, foreign_weight: float) -> SearchStage:
    options = parts.options
    # Where the cut-off gives way, it comes behind: this cannot know whether there is enough.
    most = 1.0 if options.adaptive_distance else options.max_distance
    return Dense(parts.reader, embedder, options.candidates, max_distance=most, foreign_weight=foreign_weight)


def _distance(parts: SearchParts) -> list[SearchStage]:
    options = parts.options
    return [AdaptiveDistance(options.max_distance, options.distance_step)] if options.adaptive_distance else []


def _retrieve(parts: SearchParts, fusion: Fusion, *, dated: bool = False) -> list[SearchStage]:
    by_words = _lexical(parts, "prefer")
    stages: list[SearchStage] = [by_words]
    if parts.embedder is not None:
        dense = _dense(parts, parts.embedder, foreign_weight=parts.options.foreign_weight)
        tolerant = Tolerant(dense, warning=_WORDS_ALONE, catch=_MISSING)
        stages.append(When(has_vectors, tolerant, otherwise="the wordings could not be embedded"))
    if dated:
        stages.append(When(is_listed, Newest(parts.reader, parts.options.candidates), otherwise=_DATED))
    retrieve = Parallel(*stages, name="retrieve") if len(stages) > 1 else by_words
    distance = _distance(parts) if parts.embedder is not None else []
    return [Undated(retrieve) if dated else retrieve, *distance, Fuse(fusion)]


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
    define: bool = False,
    order: Order | None = None,
    ages: Decay | None = None,
    by_date: bool = False,
    limit: Limit | None = None,
) -> list[SearchStage]:
    """Return what every profile ends with: fetch, fold, diversify, rerank where there is a model, cut, mark, judge.

    With `ages`, scores fall with age before hits are diversified; with `by_date`, time words of the query sort them.
    """
    options = parts.options
    stages: list[SearchStage] = [Fetch(parts.reader, options.candidate_multiplier)]
    stages += [Define(parts.reader)] if define else []
    stages += [order] if order else []
    if rerank and parts.graph is not None and options.concept_weight:
        stages.append(BoostConcepts(parts.graph, options.concept_weight))
    stages += [Fold()] if options.fold else []
    diverse = [Mmr(parts.reader, options.mmr_lambda)] if mmr and parts.embedder is not None else []
    again = _rerank(parts, by_date=by_date) if rerank else []
    stages += [*again, ages, *diverse] if ages else [*diverse, *again]
    if by_date and options.temporal:
        recent = Decay(options.half_life_days, options.recent_share)
        stages.append(When(newer_is_better, recent, otherwise=_NOT_RECENT))
    stages += [Neighbors(parts.reader)] if options.join_neighbors else []
    stages += [Cap(options.max_per_source)] if cap else []
    stages += [When(is_listed, Recency(), otherwise=_DATED)] if by_date and options.temporal else []
    measured = MEASURED.get(parts.embedder.model) if parts.embedder else None
    floor = measured.floor if measured else None
    judge = Judge(floor, least_words=options.least_words, calibration=parts.calibration)
    return [*stages, limit or Limit(), Mark(parts.analyzer, parts.stale_among), judge]


def _rerank(parts: SearchParts, *, by_date: bool) -> list[SearchStage]:
    if parts.reranker is None:
        return []
    stage = Rerank(parts.reranker, parts.options.rerank_candidates, parts.options.skip_threshold)
    tolerant = Tolerant(stage, warning="Hits are not reranked", catch=_MISSING)
    dated = by_date and parts.options.temporal
    return [When(has_subject, tolerant, otherwise="the query has only time words") if dated else tolerant]
