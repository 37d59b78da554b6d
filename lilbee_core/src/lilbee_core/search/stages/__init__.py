"""The built-in stages, one module each."""

from lilbee_core.search.stages._cap import Cap
from lilbee_core.search.stages._cover import Cover
from lilbee_core.search.stages._dense import Dense
from lilbee_core.search.stages._fetch import Fetch
from lilbee_core.search.stages._fold import Fold
from lilbee_core.search.stages._fuse import Fuse
from lilbee_core.search.stages._graph import BoostConcepts, ExpandByGraph
from lilbee_core.search.stages._judge import Judge
from lilbee_core.search.stages._lexical import Lexical
from lilbee_core.search.stages._limit import Limit
from lilbee_core.search.stages._mark import Mark
from lilbee_core.search.stages._mmr import Mmr
from lilbee_core.search.stages._neighbors import Neighbors
from lilbee_core.search.stages._order import Order
from lilbee_core.search.stages._parse import Parse
from lilbee_core.search.stages._rerank import Rerank

__all__ = [
    "BoostConcepts", "Cap", "Cover", "Dense", "ExpandByGraph", "Fetch", "Fold", "Fuse", "Judge", "Lexical", "Limit",
    "Mark", "Mmr", "Neighbors", "Order", "Parse", "Rerank",
]  # fmt: skip
