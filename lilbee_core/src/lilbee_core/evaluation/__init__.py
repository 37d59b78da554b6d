"""How well a library finds what is known to be relevant: judged queries in, figures out."""

from lilbee_core.evaluation._evaluation import Evaluation
from lilbee_core.evaluation._metrics import METRICS, in_run_order, score_ranking
from lilbee_core.evaluation._report import EvaluationReport, JudgedQuery, RankedDocument
from lilbee_core.evaluation._set import EvaluationSet

__all__ = [
    "METRICS",
    "Evaluation",
    "EvaluationReport",
    "EvaluationSet",
    "JudgedQuery",
    "RankedDocument",
    "in_run_order",
    "score_ranking",
]
