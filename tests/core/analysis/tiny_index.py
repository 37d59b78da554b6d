"""The smallest index that treats a words column as ours does: split at ASCII blanks, BM25, phrases by position."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from lilbee_core.analysis import AnalyzedQuery, Analyzer, detect_language

K1, B = 1.2, 0.75
_BLANKS = str.maketrans(dict.fromkeys("\t\n\r\f\v", " "))


class TinyIndex:
    """Texts by name, searched with an analyzer."""

    def __init__(self, texts: Mapping[str, str], *, languages: Mapping[str, str | None] | None = None) -> None:
        self.analyzer = Analyzer()
        known = {name: detect_language(text) for name, text in texts.items()} | dict(languages or {})
        self.languages = tuple(dict.fromkeys(language or "en" for language in known.values()))
        self.columns = {
            name: split(self.analyzer.index_text(text, language=known[name], context=(name,)))
            for name, text in texts.items()
        }

    def search(self, text: str) -> list[str]:
        """Return the names of the texts found, best first."""
        query = self.analyzer.query(text, languages=self.languages)
        scores = {name: self._score(tokens, query) for name, tokens in self.columns.items()}
        found = [name for name, score in scores.items() if score > 0 and self._has_phrases(name, query)]
        return sorted(found, key=lambda name: (-scores[name], name))

    def _score(self, tokens: Sequence[str], query: AnalyzedQuery) -> float:
        counts = Counter(tokens)
        mean = sum(map(len, self.columns.values())) / len(self.columns)
        norm = K1 * (1 - B + B * len(tokens) / mean)
        return sum(
            weight * self._rarity(term) * counts[term] * (K1 + 1) / (counts[term] + norm)
            for term, weight in zip(query.terms, query.weights, strict=True)
        )

    def _rarity(self, term: str) -> float:
        holders = sum(term in tokens for tokens in self.columns.values())
        return math.log(1 + (len(self.columns) - holders + 0.5) / (holders + 0.5))

    def _has_phrases(self, name: str, query: AnalyzedQuery) -> bool:
        tokens = self.columns[name]
        return all(
            any(tuple(tokens[place : place + len(phrase)]) == phrase for place in range(len(tokens)))
            for phrase in query.phrases
        )


def split(column: str) -> list[str]:
    """Split a words column as the index does: at ASCII white space only."""
    return [token for token in column.translate(_BLANKS).split(" ") if token]
