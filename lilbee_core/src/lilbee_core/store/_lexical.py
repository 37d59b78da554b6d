"""Word search over the one column of analyzed words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lilbee_core.errors import StoreError
from lilbee_core.store._columns import row_ids, strings
from lilbee_core.store._dense import Dense
from lilbee_core.store._engine import word_query
from lilbee_core.store._filters import quote
from lilbee_core.store._health import Health
from lilbee_core.store._places import Places
from lilbee_core.store._quick import QuickTable
from lilbee_core.store._rows import best_first
from lilbee_core.store._scan import scan
from lilbee_core.store._schema import WORDS
from lilbee_core.store._tables import Tables
from lilbee_core.types import Scored

if TYPE_CHECKING:
    import pyarrow as pa

    from lilbee_core.analysis import AnalyzedQuery
    from lilbee_core.store._engine import Table

FIRST_LOOK = 200
"""Rows with all words of a phrase that are looked at before a scan of the table."""
STEP = 60
"""Rows whose words are read at first; each further step doubles what was read."""


@dataclass(frozen=True, slots=True)
class WordSearch:
    """What a word search of one table needs."""

    tables: Tables
    health: Health
    dense: Dense
    places: Places


def search_words(this: WordSearch, query: AnalyzedQuery, limit: int, where: str | None) -> tuple[Scored, ...]:
    """Return the best chunks of a table by BM25, best first; every phrase of the query must occur.

    Where the word index is damaged, the words of every row are looked at.
    """
    if limit < 1 or query.is_empty:
        return ()
    tables, dense, name = this.tables, this.dense, this.dense.name
    phrases = [phrase for phrase in query.phrases if phrase]
    text = query.match_text
    if not phrases and not text.strip():
        return ()

    def use(_: object) -> tuple[Scored, ...]:
        table = tables.quick(name)
        condition = tables.visible(name, where)
        if phrases:
            return _phrases(table, text, phrases, limit, condition)
        ids, found = _ids_and_scores(table, dense, word_query(WORDS, text), limit, condition)
        this.places.learn(tables.generation, zip(ids, cast("list[int]", row_ids(found).tolist()), strict=True))
        return best_first(ids, _scores(found))

    def without_index(table: Table) -> tuple[Scored, ...]:
        every = text or " ".join(word for phrase in phrases for word in phrase)
        return scan(table, every, _needles(phrases), limit, tables.visible(name, where))

    if not this.health.broken(name, WORDS):
        try:
            return tables.read(name, "search the words", use, ())
        except StoreError as error:
            if error.code != "store.damaged":
                raise
            this.health.failed(name, WORDS)
    return tables.read(name, "search the words", without_index, ())


def _ids_and_scores(
    table: QuickTable, dense: Dense, query: object, limit: int, where: str | None
) -> tuple[list[str], pa.Table]:
    """Return what is found with the ids of its chunks, which need not be read where the vectors are in memory."""
    held = dense.newest()
    if held is not None:
        found = table.words(query, ("_rowid", "_score"), limit, where)
        ids = held.ids_of(row_ids(found))
        if ids is not None:
            return ids, found
    found = table.words(query, ("id", "_rowid", "_score"), limit, where)
    return strings(found, "id"), found


def _phrases(
    table: QuickTable, text: str, phrases: Sequence[Sequence[str]], limit: int, where: str | None
) -> tuple[Scored, ...]:
    """Look through the rows that hold all words of the phrases, best first, for those where they follow each other.

    Words so frequent that many rows hold them in another order are the exception: then every row is looked at.
    """
    words = [word for phrase in phrases for word in phrase]
    query = word_query(WORDS, text or " ".join(words), " ".join(dict.fromkeys(words)))
    needles = _needles(phrases)
    size = max(FIRST_LOOK, 4 * limit)
    found = table.words(query, ("_rowid", "_score"), size, where)
    kept = _following(table, found, needles, limit)
    if len(kept) >= limit or found.num_rows < size:
        return best_first(list(kept), list(kept.values()))[:limit]
    holds = [f"strpos(concat(' ', {WORDS}, ' '), {quote(needle)}) > 0" for needle in needles]
    condition = " AND ".join([*holds, *([f"({where})"] if where else [])])
    every = table.words(query, ("id", "_score"), limit, condition)
    return best_first(strings(every, "id"), _scores(every))


def _needles(phrases: Sequence[Sequence[str]]) -> list[str]:
    return [f" {' '.join(phrase)} " for phrase in phrases]


def _following(table: QuickTable, found: pa.Table, needles: Sequence[str], limit: int) -> dict[str, float]:
    """Return the first `limit` of the rows found that hold the needles, with their scores."""
    ranked = dict(zip(cast("list[int]", row_ids(found).tolist()), _scores(found), strict=True))
    numbers = list(ranked)
    kept: dict[str, float] = {}
    seen = 0
    while seen < len(numbers) and len(kept) < limit:
        end = seen + max(STEP, seen)
        rows = table.take_numbered(numbers[seen:end], ["id", WORDS])
        lines = zip(cast("list[int]", row_ids(rows).tolist()), strings(rows, "id"), strings(rows, WORDS), strict=True)
        kept.update((id_, ranked[row]) for row, id_, line in lines if all(needle in f" {line} " for needle in needles))
        seen = end
    return kept


def _scores(found: pa.Table) -> list[float]:
    return cast("list[float]", found.column("_score").to_pylist())
