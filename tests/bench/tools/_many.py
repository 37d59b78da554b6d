"""Chunks by the hundred thousand: real texts and real vectors, multiplied.

Vectors of a few thousand real passages are multiplied by points between neighbors: a made-up vector lies among real
ones, where a passage about the same thing would. Texts are real passages put together anew. All by a fixed seed.
"""

from __future__ import annotations

import gzip
import json
import os
import sysconfig
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lilbee_core.analysis import Analyzer
from lilbee_core.embed import MiniLM
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

REAL, NEIGHBORS, CHARS, PER_DOCUMENT, PER_BATCH = 4_000, 5, 240, 50, 128
PASSAGES_PER_CHUNK = 3
FOLDERS = 20
"""A filter on one of them passes 5 % of the chunks."""
EVAL = "LILBEE_EVAL_DIR"


def passages(count: int) -> list[str]:
    """Return real passages: of judged collections where there are some, or of the interpreter's own library."""
    folder = os.environ.get(EVAL)
    found = list(_judged(Path(folder)) if folder else _sources())
    random = np.random.default_rng(2)
    return [found[place] for place in random.choice(len(found), size=min(count, len(found)), replace=False)]


def questions(count: int) -> list[str]:
    """Return real questions where there are judged collections; else passages that are not among the others."""
    folder = os.environ.get(EVAL)
    if not folder:
        return [text[:60] for text in passages(REAL + count)[REAL:]]
    lines = [line for path in sorted(Path(folder).glob("*/queries.jsonl")) for line in path.open(encoding="utf-8")]
    random = np.random.default_rng(3)
    return [json.loads(lines[place])["text"] for place in random.choice(len(lines), size=count, replace=False)]


def embedded(texts: Sequence[str]) -> Vectors:
    """Return the vectors of texts by the built-in model, on all cores."""
    threads = os.cpu_count() or 1
    with MiniLM.load() as model, ThreadPoolExecutor(threads) as pool:
        parts = pool.map(model.embed, [texts[start::threads] for start in range(threads)])
        vectors = np.empty((len(texts), model.dimension), dtype=np.float32)
        for start, part in enumerate(parts):
            vectors[start::threads] = part
    return vectors


def _judged(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("*/corpus.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                text = json.loads(line)["text"]
                if len(text) > CHARS // 2:
                    yield text[:CHARS]


def _sources() -> Iterator[str]:
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield from (text[start : start + CHARS] for start in range(0, len(text) - CHARS, CHARS))


def multiplied(real: Vectors, count: int) -> Iterator[Vectors]:
    """Yield `count` unit vectors in blocks: the real ones first, then points between neighbors."""
    random = np.random.default_rng(4)
    yield real[:count]
    left = count - len(real)
    near = _neighbors(real)
    while left > 0:
        size = min(left, PER_DOCUMENT * PER_BATCH)
        first = random.integers(0, len(real), size)
        second = near[first, random.integers(0, NEIGHBORS, size)]
        share = random.uniform(0.2, 0.8, (size, 1)).astype(np.float32)
        mixed = real[first] * share + real[second] * (1 - share)
        # A little of something else, or many would be the same to half precision.
        mixed += 0.01 * random.standard_normal(mixed.shape, dtype=np.float32)
        yield mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
        left -= size


def _neighbors(real: Vectors) -> NDArray[np.intp]:
    found = []
    for start in range(0, len(real), 1_000):
        scores = real[start : start + 1_000] @ real.T
        found.append(np.argpartition(-scores, NEIGHBORS + 1, axis=1)[:, 1 : NEIGHBORS + 1])
    return np.concatenate(found)


def fill(data: Path, count: int) -> None:
    """Write `count` chunks into the store of DATA, without building the vector index."""
    texts = passages(REAL)
    real = embedded(texts)
    analyzer = Analyzer()
    words = [analyzer.index_text(text, language="en") for text in texts]
    random = np.random.default_rng(5)
    number = 0
    with Store.open(data, ann_index_threshold=0) as store:
        for block in multiplied(real, count):
            documents = []
            for start in range(0, len(block), PER_DOCUMENT):
                chosen = random.integers(0, len(texts), (len(block[start : start + PER_DOCUMENT]), PASSAGES_PER_CHUNK))
                documents.append(_document(number, block[start : start + PER_DOCUMENT], chosen, texts, words))
                number += 1
            for first in range(0, len(documents), PER_BATCH):
                store.put(documents[first : first + PER_BATCH])
        store.maintain(force=True)


def _document(
    number: int, vectors: Vectors, chosen: NDArray[np.int64], texts: Sequence[str], words: Sequence[str]
) -> IndexedDocument:
    id_, path = DocumentId(f"{number:016x}"), f"folder{number % FOLDERS:02}/{number}.txt"
    chunks: list[Chunk] = []
    start = 0
    for ordinal, places in enumerate(chosen.tolist()):
        text = "\n".join(texts[place] for place in places)
        location = Location(line_start=ordinal + 1, line_end=ordinal + 1)
        chunks.append(
            Chunk(id=chunk_id(id_, start, text), document_id=id_, collection="bench", path=path, ordinal=ordinal,
                  text=text, span=Span(start, start + len(text)), location=location, language="en")
        )  # fmt: skip
        start += len(text) + 1
    row = DocumentRow(
        id=id_, collection="bench", path=path, state=DocumentState.INDEXED, sha256=id_, extractor="memory"
    )
    return IndexedDocument(
        row=row,
        text=StoredText(document_id=id_, text="\n".join(chunk.text for chunk in chunks)),
        chunks=tuple(chunks),
        words=tuple(" ".join(words[place] for place in places) for places in chosen.tolist()),
        vectors=vectors,
    )
