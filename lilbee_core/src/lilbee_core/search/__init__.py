"""Search: a list of stages, the runner, and named lists of the built-in ones."""

from lilbee_core.search import stages
from lilbee_core.search._choose import ProfileSearcher
from lilbee_core.search._combinators import Chain, Parallel, Tolerant, When
from lilbee_core.search._context import InlineExecutor, RunContext, SystemClock
from lilbee_core.search._fusion import Fusion, adaptive, convex, reciprocal_rank, weighted
from lilbee_core.search._keys import ANALYZED, FOUND, LANGUAGE
from lilbee_core.search._parse import ParsedQuery, parse_query, split_mode
from lilbee_core.search._pipeline import Composite, Searcher, run_stage
from lilbee_core.search._profiles import (
    PROFILES,
    Profile,
    SearchOptions,
    SearchParts,
    default,
    full,
    keyword,
    memory,
    semantic,
)
from lilbee_core.search.stages import (
    BoostConcepts,
    Cap,
    Cover,
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

__all__ = [
    "ANALYZED", "FOUND", "LANGUAGE", "PROFILES", "BoostConcepts", "Cap", "Chain", "Composite", "Cover", "Dense",
    "ExpandByGraph", "Fetch", "Fold", "Fuse", "Fusion", "InlineExecutor", "Judge", "Lexical", "Limit", "Mark", "Mmr",
    "Neighbors", "Order", "Parallel", "Parse", "ParsedQuery", "Profile",
    "ProfileSearcher", "Rerank", "RunContext", "SearchOptions", "SearchParts", "Searcher",
    "SystemClock", "Tolerant", "When", "adaptive", "convex", "default", "full", "keyword", "memory", "parse_query",
    "reciprocal_rank", "run_stage", "semantic", "split_mode", "stages", "weighted",
]  # fmt: skip
