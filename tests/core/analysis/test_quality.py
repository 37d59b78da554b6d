"""The weights of a query, judged on collections that were judged by others: fixed for all, tuned to none."""

from __future__ import annotations

import gzip
import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from lilbee_core.analysis import DEFAULT_LANGUAGE, AnalyzedQuery, Analyzer, detect_language

FOLDER = os.environ.get("LILBEE_EVAL_DIR", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="LILBEE_EVAL_DIR names no folder of judged collections"),
]

# nDCG@10 of bm25s with the English stemmer and stop words, code split at identifiers, scripts without blanks in pairs.
REFERENCE = {"scifact": 0.6863, "squad2-dev": 0.8960, "cosqa": 0.3965, "hotpotqa-500": 0.7823, "xquad": 0.9167}
LEAST_SHARE = 0.01
DEPTH = 10
K1, B = 1.2, 0.75


class Postings:
    """BM25 over token lists, with the constants of the index."""

    def __init__(self, documents: Sequence[Sequence[str]]) -> None:
        lengths = np.array([len(document) for document in documents], dtype=float)
        norms = K1 * (1 - B + B * lengths / lengths.mean())
        places: dict[str, list[int]] = defaultdict(list)
        counts: dict[str, list[int]] = defaultdict(list)
        for place, document in enumerate(documents):
            for token, count in Counter(document).items():
                places[token].append(place)
                counts[token].append(count)
        self._size = len(documents)
        self._weights: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for token, holders in places.items():
            where, often = np.array(holders), np.array(counts[token], dtype=float)
            rarity = math.log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
            self._weights[token] = (where, rarity * often * (K1 + 1) / (often + norms[where]))

    def best(self, query: AnalyzedQuery) -> list[int]:
        scores = np.zeros(self._size)
        for term, weight in zip(query.terms, query.weights, strict=True):
            if term in self._weights:
                where, values = self._weights[term]
                scores[where] += weight * values
        return [place for place in np.argsort(-scores, kind="stable")[:DEPTH].tolist() if scores[place] > 0]


def gain(ranked: Sequence[str], judged: Mapping[str, int]) -> float:
    def total(grades: Sequence[int]) -> float:
        return sum(grade / math.log2(rank + 2) for rank, grade in enumerate(grades))

    ideal = total(sorted(judged.values(), reverse=True)[:DEPTH])
    return total([judged.get(name, 0) for name in ranked]) / ideal


def lines(path: Path) -> list[dict[str, str]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.mark.parametrize("name", REFERENCE)
def test_words_alone_do_not_lose_to_plain_bm25(name: str) -> None:
    folder = Path(FOLDER) / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    analyzer = Analyzer()
    documents = lines(folder / "corpus.jsonl.gz")
    found = [detect_language(document["text"]) for document in documents]
    tokens = [
        analyzer.index_text(document["text"], language=language, context=(document.get("title", ""),)).split()
        for document, language in zip(documents, found, strict=True)
    ]
    shares = Counter(language or DEFAULT_LANGUAGE for language in found)
    languages = [language for language, count in shares.most_common() if count >= LEAST_SHARE * len(documents)]
    judged: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query_id, document_id, grade = line.split("\t")
        judged[query_id][document_id] = int(grade)
    postings = Postings(tokens)
    gains = [
        gain(
            [documents[place]["_id"] for place in postings.best(analyzer.query(query["text"], languages=languages))],
            judged[query["_id"]],
        )
        for query in lines(folder / "queries.jsonl")
        if query["_id"] in judged
    ]
    mean = sum(gains) / len(gains)
    print(f"{name}: nDCG@{DEPTH} {mean:.4f} ({mean - REFERENCE[name]:+.4f})")
    assert mean >= REFERENCE[name]
