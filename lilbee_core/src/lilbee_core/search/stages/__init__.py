"""The built-in stages, one module each."""

from lilbee_core.search.stages._adaptive import AdaptiveDistance
from lilbee_core.search.stages._cap import Cap
from lilbee_core.search.stages._cover import Cover
from lilbee_core.search.stages._decay import Decay, Recency
from lilbee_core.search.stages._define import Define
from lilbee_core.search.stages._dense import Dense
from lilbee_core.search.stages._expand import Embed, Expand, Guard
from lilbee_core.search.stages._fetch import Fetch
from lilbee_core.search.stages._fold import Fold
from lilbee_core.search.stages._fuse import Fuse
from lilbee_core.search.stages._graph import BoostConcepts, ExpandByGraph
from lilbee_core.search.stages._hyde import Hyde
from lilbee_core.search.stages._judge import Judge
from lilbee_core.search.stages._lexical import Lexical
from lilbee_core.search.stages._limit import Limit
from lilbee_core.search.stages._mark import Mark
from lilbee_core.search.stages._mmr import Mmr
from lilbee_core.search.stages._neighbors import Neighbors
from lilbee_core.search.stages._order import Order
from lilbee_core.search.stages._parse import Parse
from lilbee_core.search.stages._probe import Probe
from lilbee_core.search.stages._rerank import Rerank
from lilbee_core.search.stages._temporal import Newest, Temporal, Undated

__all__ = [
    "AdaptiveDistance", "BoostConcepts", "Cap", "Cover", "Decay", "Define", "Dense", "Embed", "Expand", "ExpandByGraph",
    "Fetch", "Fold", "Fuse", "Guard", "Hyde", "Judge", "Lexical", "Limit", "Mark", "Mmr", "Neighbors", "Newest",
    "Order", "Parse", "Probe", "Recency", "Rerank", "Temporal", "Undated",
]  # fmt: skip
