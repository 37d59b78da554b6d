"""How well a library finds what is known to be relevant: judged queries in, figures out."""

from lilbee_core.evaluation._bench import Bench
from lilbee_core.evaluation._chance import Interval
from lilbee_core.evaluation._comparison import Comparison, PairedDifference
from lilbee_core.evaluation._draft import DraftedQueries, DraftedQuery
from lilbee_core.evaluation._evaluation import Evaluation
from lilbee_core.evaluation._halves import is_held_out
from lilbee_core.evaluation._metrics import METRICS, in_run_order, score_ranking
from lilbee_core.evaluation._report import EvaluationReport, JudgedQuery, RankedDocument
from lilbee_core.evaluation._set import EvaluationSet
from lilbee_core.evaluation._tuning import TuningReport

__all__ = [
    "METRICS",
    "Bench",
    "Comparison",
    "DraftedQueries",
    "DraftedQuery",
    "Evaluation",
    "EvaluationReport",
    "EvaluationSet",
    "Interval",
    "JudgedQuery",
    "PairedDifference",
    "RankedDocument",
    "TuningReport",
    "in_run_order",
    "is_held_out",
    "score_ranking",
]
