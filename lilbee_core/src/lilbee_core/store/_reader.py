"""Reading chunks and texts."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lilbee_core.store._columns import strings, vectors
from lilbee_core.store._dense import Dense
from lilbee_core.store._filters import is_in, quote, to_sql
from lilbee_core.store._health import Health
from lilbee_core.store._ledger import LedgerTable, parts_of
from lilbee_core.store._lexical import WordSearch, search_words
from lilbee_core.store._places import KeptChunks, Places
from lilbee_core.store._rows import CHUNK_COLUMNS, chunks_from, content_number, text_from
from lilbee_core.store._schema import CHUNKS, TEXTS, VECTOR, WIKI
from lilbee_core.store._tables import Tables
from lilbee_core.types import Chunk, ChunkId, DocumentId, Filter, Scope, Scored, StoredText, Vector

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery
    from lilbee_core.store._engine import Table

_TABLES = {Scope.RAW: (CHUNKS,), Scope.WIKI: (WIKI,), Scope.BOTH: (CHUNKS, WIKI)}
_SCOPES = {CHUNKS: "raw", WIKI: "wiki"}
_MANY_ROWS = 2_000
_KEEP_SHARES_S = 60.0


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares of languages as they were counted once. `state` names what was counted: hidden, generation, version."""

    state: tuple[object, int, int]
    rows: int
    at: float
    shares: Mapping[str, float]

    def is_near(self, state: tuple[object, int, int], rows: int) -> bool:
        """Say whether they still hold well enough for a table in this state with so many rows."""
        near = self.rows >= _MANY_ROWS and abs(rows - self.rows) <= self.rows / 50
        return near and state[1] == self.state[1] and time.monotonic() - self.at < _KEEP_SHARES_S


class Reader:
    """Reads chunks. Threads may share it; every call sees the newest commit."""

    def __init__(
        self, tables: Tables, ledger: LedgerTable, health: Health, *, vector_cache_bytes: int, ann_threshold: int
    ) -> None:
        self._tables = tables
        self._ledger = ledger
        self._places = {name: Places() for name in _SCOPES}
        self._kept = {name: KeptChunks() for name in _SCOPES}
        self._dense = {
            name: Dense(tables, name, places, health, cache_bytes=vector_cache_bytes, ann_threshold=ann_threshold)
            for name, places in self._places.items()
        }
        self._words = {
            name: WordSearch(tables, health, self._dense[name], places) for name, places in self._places.items()
        }
        self._lock = threading.Lock()
        self._languages: Shares | None = None

    # ------------------------------------------------------------------ by id

    def get(self, ids: Sequence[ChunkId]) -> tuple[Chunk, ...]:
        """Return the chunks that exist, in the order of `ids`."""
        found: dict[ChunkId, Chunk] = {}
        for name in (CHUNKS, WIKI):
            missing = [id_ for id_ in dict.fromkeys(ids) if id_ not in found]
            if not missing:
                break
            found.update((chunk.id, chunk) for chunk in self._remembered(name, missing))
            for part in parts_of(id_ for id_ in missing if id_ not in found):
                found.update((chunk.id, chunk) for chunk in self._chunks(name, is_in("id", part)))
        return tuple(found[id_] for id_ in ids if id_ in found)

    def _remembered(self, name: str, ids: Sequence[ChunkId]) -> list[Chunk]:
        """Return those of the chunks whose row a search has just seen."""

        def use(table: Table) -> list[Chunk]:
            tables, kept = self._tables, self._kept[name]
            state = tables.state_of(name)
            held = self._dense[name].newest()
            if held is not None and held.before is not None:
                kept.carry(held.before, held.version, held.is_unchanged)
            known = kept.get(state, ids)
            wanted = frozenset(ids) - known.keys()
            rows = self._places[name].rows(tables.generation, list(wanted))
            if not rows:
                return list(known.values())
            present = tables.columns_of(name, table)
            columns = [column for column in CHUNK_COLUMNS if column in present]
            found = chunks_from(tables.quick(name).take(rows, columns), _SCOPES[name])
            fresh = [chunk for chunk in found if chunk.id in wanted]
            kept.put(state, fresh)
            return [*known.values(), *fresh]

        return self._tables.read(name, "read chunks", use, [])

    def vectors(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, Vector]:
        """Return the vectors of those of the chunks that have one."""
        found: dict[ChunkId, Vector] = {}
        for name in (CHUNKS, WIKI):
            found.update(self._dense[name].vectors([id_ for id_ in ids if id_ not in found]))
            missing = [id_ for id_ in dict.fromkeys(ids) if id_ not in found]
            if not missing or (dimension := self._tables.dimension(name)) is None:
                continue
            for part in parts_of(missing):
                where = f"has_vector AND {is_in('id', part)}"
                table = self._tables.select(name, "read vectors", ("id", VECTOR), where)
                found.update(zip(map(ChunkId, strings(table, "id")), vectors(table, dimension), strict=True))
        return found

    def vectors_by_content(self, contents: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors of chunks that were stored with these contents."""
        numbers = {content_number(content): content for content in contents}
        found: dict[str, Vector] = {}
        for name in (CHUNKS, WIKI):
            if not numbers or (dimension := self._tables.dimension(name)) is None:
                continue
            for part in parts_of(str(number) for number in numbers):
                where = f"has_vector AND content_hash IN ({', '.join(part)})"
                table = self._tables.select(name, "read vectors", ("content_hash", VECTOR), where)
                names = [numbers[number] for number in cast("list[int]", table.column("content_hash").to_pylist())]
                found.update(zip(names, vectors(table, dimension), strict=True))
        return found

    def neighbors(self, chunk: Chunk, before: int, after: int) -> tuple[Chunk, ...]:
        """Return the chunks around `chunk` in its document, itself included, in order."""
        low, high = chunk.ordinal - max(before, 0), chunk.ordinal + max(after, 0)
        where = f"document_id = {quote(chunk.document_id)} AND ordinal >= {low} AND ordinal <= {high}"
        return self._in_order(where)

    def chunks_of(self, document_id: DocumentId) -> tuple[Chunk, ...]:
        """Return the chunks of a document, in order."""
        return self._in_order(f"document_id = {quote(document_id)}")

    def text(self, document_id: DocumentId) -> StoredText | None:
        """Return the extracted text that the chunks of the document were cut from."""
        where = f"document_id = {quote(document_id)}"
        columns = ("document_id", "revision", "codec", "size", "data", "has_lines", "line_map", "segments", "headings",
                   "body_start", "extractor")  # fmt: skip
        table = self._tables.select(TEXTS, "read a text", columns, where)
        rows = {cast("str", row["revision"]): row for row in cast("list[dict[str, object]]", table.to_pylist())}
        if not rows:
            return None
        revision = self._revision(document_id) if len(rows) > 1 else None
        return text_from(rows[revision] if revision in rows else next(iter(rows.values())))

    def _revision(self, document_id: DocumentId) -> str | None:
        """Return the revision that readers see: that of the chunks, or of the ledger without chunks."""
        for name in (CHUNKS, WIKI):
            where = f"document_id = {quote(document_id)}"
            found = strings(self._tables.select(name, "read a text", ("revision",), where), "revision")
            if found:
                return found[0]
        return self._ledger.revisions([document_id]).get(document_id)

    # ------------------------------------------------------------------ search

    def dense(self, vector: Vector, limit: int, filters: Filter, scope: Scope) -> tuple[Scored, ...]:
        """Return the nearest chunks, best first."""
        where = to_sql(filters)
        return _merged([self._dense[name].search(vector, limit, where) for name in _TABLES[scope]], limit)

    def lexical(self, query: AnalyzedQuery, limit: int, filters: Filter, scope: Scope) -> tuple[Scored, ...]:
        """Return the best chunks by words, best first."""
        where = to_sql(filters)
        return _merged([search_words(self._words[name], query, limit, where) for name in _TABLES[scope]], limit)

    def newest(self, limit: int, filters: Filter, scope: Scope) -> tuple[ChunkId, ...]:
        """Return the first chunk of each document, newest document first."""
        where = to_sql(filters)
        where = f"ordinal = 0 AND ({where})" if where else "ordinal = 0"
        rows: list[tuple[str, str]] = []
        for name in _TABLES[scope]:
            table = self._tables.select(name, "read dates", ("id", "date"), where)
            dates = cast("list[str | None]", table.column("date").to_pylist())
            rows += [(date or "", id_) for date, id_ in zip(dates, strings(table, "id"), strict=True)]
        rows.sort(key=lambda row: row[1])
        rows.sort(key=lambda row: row[0], reverse=True)
        return tuple(ChunkId(id_) for _, id_ in rows[:limit])

    # ------------------------------------------------------------------ counts

    def count(self, filters: Filter, scope: Scope) -> int:
        """Return the number of chunks."""
        where = to_sql(filters)
        return sum(self._count(name, where) for name in _TABLES[scope])

    def _count(self, name: str, where: str | None) -> int:
        tables = self._tables
        return tables.read(name, "count chunks", lambda table: table.count_rows(tables.visible(name, where)), 0)

    def languages(self) -> Mapping[str, float]:
        """Return the share of chunks per language, most frequent first.

        A large table is counted again once a fiftieth of it is new, or a minute has passed.
        """
        tables = self._tables
        state = (tables.hidden, *tables.state_of(CHUNKS))
        with self._lock:
            known = self._languages
        if known is not None and known.state == state:
            return known.shares
        rows = tables.read(CHUNKS, "read languages", lambda table: table.count_rows(), 0)
        if known is not None and known.is_near(state, rows):
            return known.shares
        shares = self._count_languages()
        with self._lock:
            self._languages = Shares(state, rows, time.monotonic(), shares)
        return shares

    def _count_languages(self) -> Mapping[str, float]:
        column = self._tables.select(CHUNKS, "read languages", ("language",)).column("language")
        counts = Counter(cast("list[str | None]", column.to_pylist()))
        ordered = sorted(((language, count) for language, count in counts.items() if language), key=_by_count)
        return {language: count / len(column) for language, count in ordered}

    @property
    def vector_bytes(self) -> int:
        """What vectors take in memory now."""
        return sum(dense.memory_bytes for dense in self._dense.values())

    def forget(self) -> None:
        """Free what is held in memory."""
        for name, dense in self._dense.items():
            dense.forget()
            self._places[name].forget()
            self._kept[name].forget()

    # ------------------------------------------------------------------ inside

    def _chunks(self, name: str, where: str) -> list[Chunk]:
        return chunks_from(self._tables.select(name, "read chunks", CHUNK_COLUMNS, where), _SCOPES[name])

    def _in_order(self, where: str) -> tuple[Chunk, ...]:
        found = self._chunks(CHUNKS, where) or self._chunks(WIKI, where)
        return tuple(sorted(found, key=lambda chunk: chunk.ordinal))


def _by_count(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]


def _merged(parts: list[tuple[Scored, ...]], limit: int) -> tuple[Scored, ...]:
    if len(parts) == 1:
        return parts[0]
    every = [scored for part in parts for scored in part]
    return tuple(sorted(every, key=lambda scored: (-scored.score, scored.chunk_id))[:limit])
