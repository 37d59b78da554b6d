"""What the store costs beside the bare engine, as ratios measured in turns in one run.

    python -m tests.bench.bench_store [--chunks 16000] [--json FILE]

Absolute times depend on the machine and its other work; the ratios are what counts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lilbee_core.analysis import Analyzer
from lilbee_core.protocols import IndexedDocument
from lilbee_core.store import Store
from lilbee_core.types import (
    Chunk,
    ChunkId,
    DocumentId,
    DocumentRow,
    DocumentState,
    Filter,
    Location,
    Span,
    StoredText,
    Vector,
    chunk_id,
)

DIMENSION = 384
CHUNKS_PER_DOCUMENT = 10
WORDS_PER_CHUNK = 100
VOCABULARY = 30_000


class Writer:
    """Makes documents of words with the frequencies of a language (Zipf), always the same for a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._vectors = np.random.default_rng(seed)
        letters = "etaoinshrdlucmfw"
        words = {"".join(self._random.choices(letters, k=self._random.randint(2, 11))) for _ in range(2 * VOCABULARY)}
        self._words = sorted(words)[:VOCABULARY]
        self._random.shuffle(self._words)
        self._weights = [1 / (rank + 3) for rank in range(len(self._words))]
        self._analyzer = Analyzer()

    def text(self, words: int) -> str:
        return " ".join(self._random.choices(self._words, self._weights, k=words))

    def document(self, number: int) -> IndexedDocument:
        id_ = DocumentId(f"{number:016x}")
        path = f"folder{number % 20}/{self.text(2).replace(' ', '_')}_{number}.md"
        texts = [self.text(WORDS_PER_CHUNK) for _ in range(CHUNKS_PER_DOCUMENT)]
        chunks: list[Chunk] = []
        start = 0
        for ordinal, text in enumerate(texts):
            chunks.append(
                Chunk(
                    id=chunk_id(id_, start, text), document_id=id_, collection="bench", path=path, ordinal=ordinal,
                    text=text, span=Span(start, start + len(text)), title=f"Document {number}", language="en",
                    location=Location(line_start=ordinal * 9 + 1, line_end=ordinal * 9 + 9), date="2026-01-01",
                )
            )  # fmt: skip
            start += len(text) + 1
        words = [self._analyzer.index_text(one.text, language="en", context=(*one.context, path)) for one in chunks]
        row = DocumentRow(
            id=id_, collection="bench", path=path, state=DocumentState.INDEXED, sha256=id_ * 4, size=start,
            extractor="text/1", attempted_at="2026-01-01T00:00:00Z", indexed_at="2026-01-01T00:00:00Z", language="en",
        )  # fmt: skip
        text = StoredText(document_id=id_, text="\n".join(texts), extractor="text/1")
        vectors = unit(self._vectors.standard_normal((len(chunks), DIMENSION)))
        return IndexedDocument(row=row, text=text, chunks=tuple(chunks), words=tuple(words), vectors=vectors)


def unit(values: np.ndarray) -> Vector:  # type: ignore[type-arg]
    values = values.astype(np.float32)
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


@dataclass(frozen=True)
class Result:
    """Two ways of doing the same thing, in seconds."""

    name: str
    ours: float
    floor: float
    target: float | None

    @property
    def ratio(self) -> float:
        return self.ours / self.floor

    def __str__(self) -> str:
        target = f"<= {self.target:g}" if self.target is not None else ""
        return f"{self.name:<44} {self.ours * 1e3:10.2f} ms {self.floor * 1e3:10.2f} ms {self.ratio:7.2f}x  {target}"


def in_turns(ours: Callable[[int], object], floor: Callable[[int], object], rounds: int) -> tuple[float, float]:
    """Return the median time of each, measured in turns so that both meet the same other work."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds):
        for function, kept in zip((ours, floor), times, strict=True):
            started = time.perf_counter()
            function(turn)
            kept.append(time.perf_counter() - started)
    return statistics.median(times[0]), statistics.median(times[1])


class Bench:
    """The library that is measured, and its tables opened with the bare engine."""

    def __init__(self, place: Path, chunks: int) -> None:
        self.place = place
        self.chunks = chunks
        self.writer = Writer(1)
        self.store = Store.open(place / "library")
        self.results: list[Result] = []
        self.notes: dict[str, float] = {}
        self._next = 0

    def documents(self, count: int) -> list[IndexedDocument]:
        self._next += count
        return [self.writer.document(number) for number in range(self._next - count, self._next)]

    def bare(self, name: str):  # type: ignore[no-untyped-def]
        from datetime import timedelta

        import lancedb

        return lancedb.connect(self.place / "library" / "index", read_consistency_interval=timedelta(0)).open_table(
            name
        )

    def add(self, name: str, times: tuple[float, float], target: float | None) -> None:
        self.results.append(Result(name, *times, target))
        print(self.results[-1], flush=True)

    # ------------------------------------------------------------------ writing

    def fill(self) -> None:
        """Write the library; every batch is also merged into a bare table of the same columns."""
        import lancedb

        copies = lancedb.connect(self.place / "copies")
        copy = None
        ours: list[float] = []
        floor: list[float] = []
        while self._next * CHUNKS_PER_DOCUMENT < self.chunks:
            batch = self.documents(64)
            started = time.perf_counter()
            self.store.put(batch)
            ours.append(time.perf_counter() - started)
            ids = ", ".join(f"'{one.row.id}'" for one in batch)
            rows = self.bare("chunks").search().where(f"document_id IN ({ids})").to_arrow()
            started = time.perf_counter()
            if copy is None:
                copy = copies.create_table("chunks", schema=rows.schema)
            merge = copy.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            merge.when_not_matched_by_source_delete(f"document_id IN ({ids})").execute(rows)
            floor.append(time.perf_counter() - started)
        self.add("put of 64 documents, 10 chunks each", (statistics.median(ours), statistics.median(floor)), 2.0)
        started = time.perf_counter()
        print(*self.store.maintain(), sep="\n")
        self.notes["first upkeep, s"] = time.perf_counter() - started

    def size(self) -> float:
        total = sum(path.stat().st_size for path in (self.place / "library").rglob("*") if path.is_file())
        return total / self.store.count()

    # ------------------------------------------------------------------ reading

    def warm(self) -> None:
        """Word search, vector search and the reading of ten hits, beside the bare calls."""
        from lancedb.query import MatchQuery

        table = self.bare("chunks")
        analyzer = Analyzer()
        queries = [analyzer.query(self.writer.text(4)) for _ in range(20)]
        vectors = unit(np.random.default_rng(2).standard_normal((20, DIMENSION)))
        matrix = unit(np.random.default_rng(3).standard_normal((self.store.count(), DIMENSION)))
        found = [[one.chunk_id for one in self.store.dense(vectors[i], limit=30)][:10] for i in range(20)]
        rows = [_row_ids(table, ids) for ids in found]

        def fts(turn: int) -> object:
            query = MatchQuery(queries[turn % 20].match_text, "words")
            return table.search(query, query_type="fts").select(["_rowid", "_score"]).limit(30).to_arrow()

        def product(turn: int) -> object:
            scores = matrix @ vectors[turn % 20]
            best = np.argpartition(scores, -30)[-30:]
            return best[np.argsort(-scores[best])]

        def take(turn: int) -> object:
            return table.take_row_ids(rows[turn % 20]).select(["id", "text"]).to_arrow().to_pylist()

        def flat(turn: int) -> object:
            query = table.search(vectors[turn % 20]).distance_type("cosine")
            return query.select(["id", "_distance"]).limit(30).to_arrow()

        def words(turn: int) -> object:
            return self.store.lexical(queries[turn % 20], limit=30)

        def dense(turn: int) -> object:
            return self.store.dense(vectors[turn % 20], limit=30)

        def get(turn: int) -> object:
            return self.store.get(found[turn % 20])

        def all_of(parts: Sequence[Callable[[int], object]]) -> Callable[[int], object]:
            return lambda turn: [part(turn) for part in parts]

        self.add("word search, top 30", in_turns(words, fts, 60), 1.5)
        self.add("vector search, top 30, beside numpy", in_turns(dense, product, 60), None)
        self.add("vector search, top 30, beside the flat scan", in_turns(dense, flat, 20), 0.25)
        self.add("ten chunks, beside ids and texts of ten rows", in_turns(get, take, 60), None)
        self.add("all three", in_turns(all_of([words, dense, get]), all_of([fts, product, take]), 60), 1.5)
        narrow = Filter(paths=("folder3/",))
        where = "starts_with(path, 'folder3/')"
        self.add(
            "word search with a 5 % filter",
            in_turns(
                lambda turn: self.store.lexical(queries[turn % 20], limit=30, filters=narrow),
                lambda turn: table.search(MatchQuery(queries[turn % 20].match_text, "words"), query_type="fts")
                .where(where).select(["_rowid", "_score"]).limit(30).to_arrow(),
                20,
            ),
            1.5,
        )  # fmt: skip
        self.add(
            "vector search with a 5 % filter, beside flat",
            in_turns(
                lambda turn: self.store.dense(vectors[turn % 20], limit=30, filters=narrow),
                lambda turn: table.search(vectors[turn % 20]).distance_type("cosine").where(where)
                .select(["id", "_distance"]).limit(30).to_arrow(),
                20,
            ),
            0.25,
        )  # fmt: skip

    def cold(self) -> None:
        """A process that asks once: the store, and a script with the bare engine."""
        place = self.place / "library"
        vector = "numpy.ones(384, dtype='float32')"
        ours = f"""
import numpy
from types import SimpleNamespace as Q
from lilbee_core.store import Store
with Store.open({str(place)!r}) as store:
    words = store.lexical(Q(match_text='tea oat', phrases=(), is_empty=False), limit=30)
    near = store.dense({vector}, limit=30)
    store.get([one.chunk_id for one in (*words, *near)][:10])
"""
        floor = f"""
import numpy
import lancedb
from lancedb.query import MatchQuery
table = lancedb.connect({str(place / "index")!r}).open_table('chunks')
table.search(MatchQuery('tea oat', 'words'), query_type='fts').select(['_rowid', '_score']).limit(30).to_arrow()
near = table.search({vector}).distance_type('cosine').select(['_rowid', '_distance']).limit(30).to_arrow()
table.take_row_ids(near.column('_rowid').to_pylist()[:10]).select(['id', 'text']).to_arrow()
"""

        def run(code: str) -> Callable[[int], object]:
            return lambda _: subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL)

        times = in_turns(run(ours), run(floor), 9)
        self.add("a process that asks once", times, None)
        self.notes["a process that asks once: added, s (target 0.2)"] = times[0] - times[1]

    # ------------------------------------------------------------------ change

    def change(self, syncs: int) -> None:
        """Many small changes with upkeep after each: what a search costs meanwhile, and the size afterwards."""
        before = self.size()
        vector = unit(np.random.default_rng(4).standard_normal(DIMENSION))
        query = Analyzer().query(self.writer.text(4))
        idle = statistics.median(_timed(lambda: self._both(query, vector)) for _ in range(30))
        busy: list[float] = []
        puts: list[float] = []
        for _ in range(syncs):
            document = self.documents(1)[0]
            old = replace(document.row, id=DocumentId(f"{self._next % 500:016x}"))
            puts.append(_timed(lambda d=document, o=old: self.store.put([_renamed(d, o)])))
            busy.append(_timed(lambda: self._both(query, vector)))
            self.store.maintain()
        busy.sort()
        self.add(f"search just after a change (p95), {syncs} changes", (busy[int(len(busy) * 0.95)], idle), 2.0)
        self.notes["one changed document: written, s"] = statistics.median(puts)
        self.notes[f"size after {syncs} small syncs, of a fresh one (target 1.3)"] = self.size() / before

    def _both(self, query: object, vector: Vector) -> object:
        return self.store.lexical(query, limit=30), self.store.dense(vector, limit=30)  # type: ignore[arg-type]


def _renamed(document: IndexedDocument, row: DocumentRow) -> IndexedDocument:
    chunks = tuple(
        replace(chunk, document_id=row.id, id=chunk_id(row.id, chunk.span.start, chunk.text))
        for chunk in document.chunks
    )
    return replace(document, row=row, chunks=chunks, text=replace(document.text, document_id=row.id))


def _timed(function: Callable[[], object]) -> float:
    started = time.perf_counter()
    function()
    return time.perf_counter() - started


def _row_ids(table, ids: Sequence[ChunkId]) -> list[int]:  # type: ignore[no-untyped-def]
    listed = ", ".join(f"'{id_}'" for id_ in ids)
    return table.search().where(f"id IN ({listed})").select(["_rowid"]).to_arrow().column("_rowid").to_pylist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=16_000)
    parser.add_argument("--syncs", type=int, default=500)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        bench = Bench(Path(place), options.chunks)
        print(f"{options.chunks:,} chunks of {WORDS_PER_CHUNK} words, {os.cpu_count()} cores")
        print(f"{'':<44} {'ours':>13} {'floor':>13} {'ratio':>8}  target")
        bench.fill()
        bench.notes["bytes per chunk, everything (target 3000)"] = bench.size()
        bench.warm()
        bench.cold()
        bench.change(options.syncs)
        for name, value in bench.notes.items():
            print(f"{name}: {value:,.3f}")
        if options.json:
            results = [{**vars(one), "ratio": one.ratio} for one in bench.results]
            options.json.write_text(json.dumps({"results": results, "notes": bench.notes}, indent=2))
        bench.store.close()


if __name__ == "__main__":
    main()
