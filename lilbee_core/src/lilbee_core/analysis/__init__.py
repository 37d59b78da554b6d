"""Words: what a text is searched by. One analyzer makes the tokens of the index, of a query and of marked snippets."""

from lilbee_core.analysis._analyzer import Analyzer
from lilbee_core.analysis._function_words import function_words
from lilbee_core.analysis._language import DEFAULT_LANGUAGE, detect_language
from lilbee_core.analysis._letters import MARKS, fold
from lilbee_core.analysis._query import AnalyzedQuery
from lilbee_core.analysis._stems import Stems

__all__ = [
    "DEFAULT_LANGUAGE",
    "MARKS",
    "AnalyzedQuery",
    "Analyzer",
    "Stems",
    "detect_language",
    "fold",
    "function_words",
]
