"""Word search over the one column of analyzed words."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from lilbee_core.store._columns import strings
from lilbee_core.store._engine import Table, word_query
from lilbee_core.store._rows import best_first
from lilbee_core.store._schema import WORDS
from lilbee_core.store._tables import Tables
from lilbee_core.types import Scored

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery


def search_words(tables: Tables, name: str, query: AnalyzedQuery, limit: int, where: str | None) -> tuple[Scored, ...]:
    """Return the best chunks of a table by BM25, best first; every phrase of the query must occur."""
    phrases = [joined for phrase in query.phrases if (joined := " ".join(phrase).strip())]
    if limit < 1 or query.is_empty or not (phrases or query.match_text.strip()):
        return ()
    built = word_query(WORDS, query.match_text, phrases)

    def use(table: Table) -> tuple[Scored, ...]:
        search = table.search(built, query_type="fts").select(["id", "_score"]).limit(limit)
        found = (search.where(where) if where else search).to_arrow()
        scores = cast("list[float]", found.column("_score").to_pylist())
        return best_first(strings(found, "id"), scores)

    return tables.read(name, "search the words", use, ())
