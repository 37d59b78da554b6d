"""Looks for inconsistencies: what should never be, said in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from lilbee_core.errors import StoreError
from lilbee_core.store._columns import row_ids, strings, vectors
from lilbee_core.store._engine import Table, word_query
from lilbee_core.store._ledger import LedgerTable
from lilbee_core.store._matrix import BATCH_ROWS
from lilbee_core.store._schema import CHUNK_TABLES, TABLES, TEXTS, VECTOR, WORDS, dimension_of
from lilbee_core.store._tables import Tables
from lilbee_core.types import DocumentRow, DocumentState

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLE = 1_000
_MEND = "run `lilbee sync` to build it again"
SHOWN = 3
NORM_TOLERANCE = 1e-2


def check(tables: Tables, ledger: LedgerTable) -> tuple[str, ...]:
    """Return every inconsistency found; where files are damaged, that alone."""
    damage = tuple(sentence for name in TABLES for sentence in _damage(tables, name))
    if damage:
        return tuple(dict.fromkeys(damage))
    rows = list(ledger.rows(None, ()))
    chunks = {name: _columns(tables, name) for name in CHUNK_TABLES}
    owners = [owner for table in chunks.values() for owner in strings(table, "document_id")]
    texts = strings(tables.select(TEXTS, "check the index", ("document_id",)), "document_id")
    return (
        *_ids(rows, chunks),
        *_orphans(rows, owners, texts),
        *_counts(rows, owners, chunks),
        *(sentence for name in CHUNK_TABLES for sentence in _contents(tables, name)),
    )  # fmt: skip


def _damage(tables: Tables, name: str) -> Iterator[str]:
    """Read every value of a table, and find one of its rows by a word of it."""
    try:
        tables.read(name, f"read the table {name}", _read_all, None)
    except StoreError as error:
        yield f"{error.message}; {error.hint}"
        return
    try:
        if name in CHUNK_TABLES and not tables.read(name, "search the words", finds_its_words, True):
            yield f"the word index of {name} does not find a word that a row holds; {_MEND}"
    except StoreError as error:
        yield f"the word index of {name} is damaged; {_MEND}" if error.code == "store.damaged" else error.message


def _read_all(table: Table) -> None:
    for _ in table.search().to_batches(BATCH_ROWS):
        pass


def finds_its_words(table: Table) -> bool:
    """Say whether the word index of a table finds a word of one of its rows."""
    some = table.search().select([WORDS]).where(f"{WORDS} <> ''").limit(1).to_arrow()
    word = next((word for line in strings(some, WORDS) for word in line.split(" ") if word), None)
    if word is None:
        return True
    query = word_query(WORDS, word)
    return table.search(query, query_type="fts").select(["_rowid", "_score"]).limit(1).to_arrow().num_rows > 0


def _columns(tables: Tables, name: str) -> pa.Table:
    return tables.select(name, "check the index", ("id", "document_id", "has_vector"))


def _ids(rows: list[DocumentRow], chunks: dict[str, pa.Table]) -> Iterator[str]:
    yield from _listed("document ids twice in the ledger", _doubled(row.id for row in rows))
    yield from _listed("files twice in the ledger", _doubled(row.ref for row in rows))
    every = (id_ for table in chunks.values() for id_ in strings(table, "id"))
    yield from _listed("chunk ids twice", _doubled(every))


def _orphans(rows: list[DocumentRow], owners: list[str], texts: list[str]) -> Iterator[str]:
    known = {row.id for row in rows}
    indexed = {row.id for row in rows if row.state is DocumentState.INDEXED}
    yield from _listed("documents with chunks but no ledger row", sorted(set(owners) - known))
    yield from _listed("documents with a text but no ledger row", sorted(set(texts) - known))
    yield from _listed("indexed documents without a text", sorted(indexed - set(texts)))
    yield from _listed("documents with more than one text", _doubled(texts))


def _counts(rows: list[DocumentRow], owners: list[str], chunks: dict[str, pa.Table]) -> Iterator[str]:
    counted = Counter(owners)
    embedded = Counter(
        owner
        for table in chunks.values()
        for owner, has in zip(strings(table, "document_id"), table.column("has_vector").to_pylist(), strict=True)
        if has
    )
    wrong = [f"{row.ref} ({row.chunks} in the ledger, {counted[row.id]} stored)" for row in rows
             if row.chunks != counted[row.id]]  # fmt: skip
    yield from _listed("documents whose number of chunks differs from the ledger", wrong)
    wrong = [f"{row.ref} ({row.embedded} in the ledger, {embedded[row.id]} stored)" for row in rows
             if row.embedded != embedded[row.id]]  # fmt: skip
    yield from _listed("documents whose number of vectors differs from the ledger", wrong)


def _contents(tables: Tables, name: str) -> Iterator[str]:
    without = tables.read(name, "check the index", lambda table: table.count_rows(f"{WORDS} IS NULL"), 0)
    if without:
        yield f"{without:,} rows of {name} have no words, so that word search cannot find them"
    if tables.dimension(name) is None:
        return
    wrong = f"(has_vector AND {VECTOR} IS NULL) OR (NOT has_vector AND {VECTOR} IS NOT NULL)"
    marked = tables.read(name, "check the index", lambda table: table.count_rows(wrong), 0)
    if marked:
        yield f"{marked:,} rows of {name} are marked wrongly as having or lacking a vector"
    yield from _norms(name, tables.read(name, "check the vectors", _sample, None))


def _sample(table: Table) -> pa.Table | None:
    """Return vectors from all over the table."""
    if dimension_of(table.schema) is None:
        return None
    rows = row_ids(table.search().select(["_rowid"]).where("has_vector").to_arrow())
    taken = rows[:: max(len(rows) // SAMPLE, 1)].tolist()
    return table.take_row_ids(taken).select(["id", VECTOR]).to_arrow() if taken else None


def _norms(name: str, sample: pa.Table | None) -> Iterator[str]:
    if sample is None:
        return
    import numpy as np

    norms = np.linalg.norm(vectors(sample, dimension_of(sample.schema) or 0), axis=1)
    ids = np.asarray(strings(sample, "id"))
    yield from _listed(f"vectors of {name} with numbers that are not finite", list(ids[~np.isfinite(norms)]))
    off = np.isfinite(norms) & (np.abs(norms - 1) > NORM_TOLERANCE)
    yield from _listed(f"vectors of {name} that are not of unit length", list(ids[off]))


def _doubled(values: Iterable[str]) -> list[str]:
    return sorted(value for value, count in Counter(values).items() if count > 1)


def _listed(what: str, found: list[str]) -> Iterator[str]:
    if found:
        more = f" and {len(found) - SHOWN:,} more" if len(found) > SHOWN else ""
        yield f"{len(found):,} {what}: {', '.join(map(str, found[:SHOWN]))}{more}"
