"""Stages of a search and what they may use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from lilbee_core.protocols._edges import Clock, Executor
from lilbee_core.types import (
    Part,
    Query,
    SearchResult,
    SearchState,
    StateKey,
)

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery


ANALYZED: StateKey[AnalyzedQuery] = StateKey("lilbee.analyzed")
"""The original wording as tokens. Set by `parse`, read by stages and, in the result, by what answers."""


class QueryAnalyzer(Protocol):
    """Reads queries the way the index was written, and finds their words in a text."""

    def query(self, text: str, *, languages: Sequence[str] = ()) -> AnalyzedQuery:
        """Return `text` as tokens to look for, stemmed in these languages."""
        ...

    def spans(self, text: str, query: AnalyzedQuery, *, language: str | None = None) -> Sequence[tuple[int, int]]:
        """Return where words of the query stand in `text`: sorted, without overlap, ends exclusive."""
        ...


class SearchContext(Protocol):
    """What a stage may ask for while it runs."""

    @property
    def clock(self) -> Clock: ...

    @property
    def executor(self) -> Executor: ...

    def check(self) -> None:
        """Raise `Cancelled` when the caller gave up."""
        ...


class SearchStage(Protocol):
    """One element of the search list. Pure: takes a state, returns a new one."""

    @property
    def name(self) -> str: ...

    @property
    def reads(self) -> frozenset[Part]: ...

    @property
    def writes(self) -> frozenset[Part]: ...

    def run(self, state: SearchState, context: SearchContext) -> SearchState: ...


class SearcherLike(Protocol):
    """Runs a query through its stages."""

    def search(self, query: Query) -> SearchResult: ...
