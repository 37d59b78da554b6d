"""A second opinion on the best hits, by a model that reads query and text together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from lilbee_core.errors import ProviderError
from lilbee_core.protocols import RerankerLike, SearchContext
from lilbee_core.search._keys import ANALYZED
from lilbee_core.search.stages._probe import normalized
from lilbee_core.types import Hit, Part, SearchState


def blend_weight(rank: int) -> float:
    """Return how much the score before reranking counts at a rank (from 1): .7 to 3, .5 to 10, then .3."""
    if rank <= 3:
        return 0.7
    return 0.5 if rank <= 10 else 0.3


@dataclass(frozen=True, slots=True)
class Rerank:
    """Blend the first `candidates` hits' scores with those of a reranker, and sort them anew.

    The higher a hit stood, the more its old score counts (as a share of the best one). A first hit whose words alone
    make it `certain` (its BM25 score between 0 and 1, as `Probe` reckons it, exceeds that) stays first, whatever the
    reranker thinks of it. Hits that were not reranked follow in their old order.

    Raises:
        ProviderError: If the reranker fails, or gives scores that cannot be used.
    """

    reranker: RerankerLike
    candidates: int = 20
    certain: float = 0.8
    name: str = "rerank"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        first, rest = state.hits[: self.candidates], state.hits[self.candidates :]
        if not first:
            return state
        scores = _usable(self.reranker.score(state.query.text, [hit.chunk.text for hit in first]), len(first), self)
        blended = _blend(first, scores)
        note = self.reranker.model
        if self._is_certain(first[0], state) and blended[0].chunk.id != first[0].chunk.id:
            blended = _keep_first(blended, first[0])
            note += ", the first hit stays for its words"
        return replace(state, hits=(*blended, *_below(rest, blended[-1].score)), note=note)

    def _is_certain(self, hit: Hit, state: SearchState) -> bool:
        score = dict(hit.scores).get("lexical")
        return score is not None and normalized(score, state.get(ANALYZED)) > self.certain


def _usable(scores: tuple[float, ...], count: int, stage: Rerank) -> tuple[float, ...]:
    if len(scores) == count and all(map(math.isfinite, scores)):
        return scores
    odd = f"{len(scores)} scores for {count} texts" if len(scores) != count else "scores that are no numbers"
    raise ProviderError(
        f"{stage.reranker.model} gave {odd}", hint="Restart the model's server, or choose another reranker."
    )


def _blend(hits: tuple[Hit, ...], scores: tuple[float, ...]) -> tuple[Hit, ...]:
    best = hits[0].score
    blended: list[Hit] = []
    for rank, (hit, score) in enumerate(zip(hits, scores, strict=True), start=1):
        weight = blend_weight(rank)
        before = hit.score / best if best > 0 else 0.0
        named = hit.with_score("before_rerank", hit.score).with_score("rerank_score", score)
        blended.append(replace(named, score=weight * before + (1 - weight) * score))
    return tuple(sorted(blended, key=lambda hit: -hit.score))


def _keep_first(hits: tuple[Hit, ...], certain: Hit) -> tuple[Hit, ...]:
    kept = next(hit for hit in hits if hit.chunk.id == certain.chunk.id)
    kept = replace(kept, score=max(kept.score, hits[0].score))
    return (kept, *(hit for hit in hits if hit.chunk.id != kept.chunk.id))


def _below(hits: tuple[Hit, ...], ceiling: float) -> tuple[Hit, ...]:
    """Return the hits with scores scaled to lie at or below `ceiling`, in their order."""
    if not hits or hits[0].score <= ceiling:
        return hits
    if hits[0].score <= 0 or ceiling <= 0:
        drop = hits[0].score - ceiling
        return tuple(replace(hit, score=hit.score - drop) for hit in hits)
    return tuple(replace(hit, score=hit.score / hits[0].score * ceiling) for hit in hits)
