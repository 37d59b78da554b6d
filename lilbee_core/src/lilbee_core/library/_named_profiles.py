"""Settings of search as options of its stages, and the profiles that a user named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lilbee_core.search import Profile, SearchOptions
    from lilbee_core.settings import SearchSettings, Settings


def search_options(options: SearchSettings) -> SearchOptions:
    """Return the settings of search as options of its stages."""
    from lilbee_core.search import SearchOptions

    return SearchOptions(
        candidate_multiplier=options.candidate_multiplier,
        max_distance=options.max_distance,
        adaptive_distance=options.adaptive_threshold,
        distance_step=options.adaptive_threshold_step,
        temporal=options.temporal_filtering,
        half_life_days=options.decay_half_life_days,
        expansions=options.query_expansion_count,
        skip_threshold=options.expansion_skip_threshold,
        skip_gap=options.expansion_skip_gap,
        guardrails=options.expansion_guardrails,
        least_similarity=options.expansion_similarity_threshold,
        hyde=options.hyde,
        hyde_weight=options.hyde_weight,
        fusion=options.fusion,
        dense_weight=options.fusion_dense_weight,
        rrf_k=options.rrf_k,
        rerank_candidates=options.rerank_candidates,
        mmr_lambda=options.mmr_lambda,
        max_per_source=options.diversity_max_per_source,
        join_neighbors=options.join_neighbors,
        concept_weight=options.concept_boost,
        graph_variants=options.graph_expansion_count,
    )


def named_profiles(settings: Settings) -> dict[str, Profile]:
    """Return the profiles that a user named: the stages of ``default`` with other options."""
    return {name: with_values(settings, values) for name, values in settings.profiles.items()}


def with_values(settings: Settings, values: Mapping[str, object]) -> Profile:
    """Return the profile ``default`` with other values of search settings."""
    from lilbee_core.search import default

    options = search_options(settings.changed(values).search)
    return lambda parts: default(replace(parts, options=options))
