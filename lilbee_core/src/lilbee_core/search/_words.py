"""What search asks of the analyzer, which turns text into tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery
    from lilbee_core.types import Span


class QueryAnalyzer(Protocol):
    """Reads queries the way the index was written. `lilbee_core.analysis.Analyzer` is the one we ship."""

    def query(self, text: str, languages: Sequence[str] = ()) -> AnalyzedQuery: ...

    def spans(self, text: str, query: AnalyzedQuery) -> Sequence[Span]: ...
