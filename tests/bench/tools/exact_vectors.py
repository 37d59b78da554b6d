"""The exact nearest 30 of ROWS vectors of 384 numbers: our store warm, the engine's flat scan, numpy. DATA is made."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import lancedb
import numpy as np

from lilbee_core.protocols import IndexedDocument
from lilbee_core.store import Store
from lilbee_core.types import (
    Chunk,
    DocumentId,
    DocumentRow,
    DocumentState,
    Location,
    Span,
    StoredText,
    Vectors,
    chunk_id,
)
from tests.bench._measure import percentile

DIMENSION, PER_DOCUMENT, NEAREST = 384, 100, 30


def document(number: int, vectors: Vectors) -> IndexedDocument:
    """Return a document with a word per chunk."""
    id_ = DocumentId(f"{number:016x}")
    words = [f"chunk{number}x{ordinal}" for ordinal in range(len(vectors))]
    chunks = tuple(
        Chunk(
            id=chunk_id(id_, 20 * ordinal, word),
            document_id=id_,
            collection="bench",
            path=f"{number}.md",
            ordinal=ordinal,
            text=word,
            span=Span(20 * ordinal, 20 * ordinal + len(word)),
            location=Location(line_start=ordinal + 1, line_end=ordinal + 1),
        )
        for ordinal, word in enumerate(words)
    )
    row = DocumentRow(id=id_, collection="bench", path=f"{number}.md", state=DocumentState.INDEXED, sha256=id_)
    text = StoredText(document_id=id_, text="\n".join(word.ljust(19) for word in words))
    return IndexedDocument(row=row, text=text, chunks=chunks, words=tuple(words), vectors=vectors)


def p50_ms(work: Callable[[int], object], rounds: int) -> float:
    """Return the median of some calls."""
    work(0)
    found: list[float] = []
    for turn in range(rounds):
        began = time.perf_counter()
        work(turn)
        found.append((time.perf_counter() - began) * 1000)
    return percentile(found, 0.5)


def main(arguments: Sequence[str]) -> int:
    data, rows, rounds = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    random = np.random.default_rng(1)
    # As the store keeps them: half precision.
    values = random.standard_normal((rows, DIMENSION)).astype(np.float16).astype(np.float32)
    matrix = values / np.linalg.norm(values, axis=1, keepdims=True)
    queries = random.standard_normal((rounds, DIMENSION)).astype(np.float32)
    with Store.open(data, ann_index_threshold=0) as store:
        for first in range(0, rows, 64 * PER_DOCUMENT):
            starts = range(first, min(first + 64 * PER_DOCUMENT, rows), PER_DOCUMENT)
            store.put([document(start, matrix[start : start + PER_DOCUMENT]) for start in starts])
        store.maintain()
        table = lancedb.connect(data / "index", read_consistency_interval=timedelta(0)).open_table("chunks")

        def ours(turn: int) -> list[str]:
            return [one.chunk_id for one in store.dense(queries[turn], limit=NEAREST)]

        def flat(turn: int) -> list[str]:
            search = table.search(queries[turn]).distance_type("cosine").select(["id", "_distance"])
            found: list[str] = search.limit(NEAREST).bypass_vector_index().to_arrow()["id"].to_pylist()
            return found

        def product(turn: int) -> object:
            scores = matrix @ queries[turn]
            best = np.argpartition(scores, -NEAREST)[-NEAREST:]
            return best[np.argsort(-scores[best])]

        ours(0), ours(0)  # the second query of a table version reads the vectors
        told = {
            "ours_ms": p50_ms(ours, rounds),
            "flat_ms": p50_ms(flat, min(rounds, 20)),
            "numpy_ms": p50_ms(product, rounds),
            "same": sum(len(set(ours(turn)) & set(flat(turn))) for turn in range(10)) / (10 * NEAREST),
        }
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
