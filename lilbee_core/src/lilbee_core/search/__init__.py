"""Search: a list of stages, the runner, and named lists of the built-in ones."""

from lilbee_core.clock import SystemClock
from lilbee_core.search import stages
from lilbee_core.search._calibration import Calibration, calibrate
from lilbee_core.search._choose import ProfileSearcher
from lilbee_core.search._combinators import Chain, Parallel, Tolerant, When
from lilbee_core.search._context import InlineExecutor, RunContext
from lilbee_core.search._explain import trace_document
from lilbee_core.search._fusion import Fusion, adaptive, convex, reciprocal_rank, weighted
from lilbee_core.search._keys import ANALYZED, CONFIDENCE, FOUND, LANGUAGE, TIME
from lilbee_core.search._measured import MEASURED
from lilbee_core.search._parse import ParsedQuery, parse_query, split_mode
from lilbee_core.search._pipeline import Composite, Searcher, run_stage
from lilbee_core.search._profiles import (
    PROFILES,
    Profile,
    SearchOptions,
    SearchParts,
    default,
    full,
    hyde,
    keyword,
    memory,
    semantic,
)
from lilbee_core.search._select import select_for_answer
from lilbee_core.search._threads import ThreadExecutor
from lilbee_core.search.stages import (
    AdaptiveDistance,
    BoostConcepts,
    Cap,
    Cover,
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

__all__ = [
    "ANALYZED", "CONFIDENCE", "FOUND", "LANGUAGE", "MEASURED", "PROFILES", "TIME", "AdaptiveDistance", "BoostConcepts",
    "Calibration", "Cap", "Chain", "Composite", "Cover", "Decay", "Define", "Dense", "Embed", "Expand", "ExpandByGraph",
    "Fetch", "Fold", "Fuse", "Fusion", "Guard", "Hyde", "InlineExecutor", "Judge", "Lexical", "Limit", "Mark", "Mmr",
    "Neighbors", "Newest", "Order", "Parallel", "Parse", "ParsedQuery", "Probe", "Profile", "ProfileSearcher",
    "Recency", "Rerank", "RunContext", "SearchOptions", "SearchParts", "Searcher", "SystemClock", "Temporal",
    "ThreadExecutor",
    "Tolerant", "Undated", "When", "adaptive", "calibrate", "convex", "default", "full", "hyde", "keyword", "memory",
    "parse_query", "reciprocal_rank", "run_stage", "select_for_answer", "semantic", "split_mode", "stages",
    "trace_document", "weighted",
]  # fmt: skip
