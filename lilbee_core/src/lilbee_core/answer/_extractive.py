"""Answers without a chat model: the sentences of the library that say most about the question."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lilbee_core.analysis import detect_language
from lilbee_core.answer._framing import is_framing, is_like_heading
from lilbee_core.answer._marks import harmless
from lilbee_core.answer._not_found import not_found
from lilbee_core.answer._sentences import Sentence, cite, sentences_of
from lilbee_core.errors import ExtraMissing, ProviderError
from lilbee_core.protocols import ANALYZED, EmbedderLike, QueryAnalyzer
from lilbee_core.text import fold_space, subjects
from lilbee_core.types import Answer, Background, Citation, Delta, SearchResult, Span

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery

log = logging.getLogger(__name__)

NO_MODEL = "No chat model is set: the answer is made of sentences quoted from the documents."
_MOST_CANDIDATES = 60
# What a sentence counts: the words of the question that it holds, its nearness in meaning, the rank of its hit.
# Chosen on one half of the questions of squad2-dev, checked on the other: docs/explanation/retrieval.md.
_WORDS, _MEANING, _HIT = 0.4, 0.6, 0.3
# Another sentence is told if it holds this share of the question that the ones before it lack, and counts enough to be
# about the question: a word in common makes no subject in common. Of a question with more words that can be found than
# two it must hold two: "They need two litres of water." is no worse for not naming the tomatoes;
_GAIN, _ABOUT, _LEAST_WORDS = 0.25, 0.7, 2
# or if it counts nearly as much as the best one and holds this much of what that one holds of the question: then nobody
# knows which of them answers, while a sentence that only names the same subject does not;
_NEARLY, _ALIKE = 0.85, 0.6
# or if the question is about several things, it holds this share of the words of one that is not told of yet, and
# counts half as much as it would have to otherwise.
_OF_SUBJECT = 0.6
_UNSPACED = "\u0e00"


@dataclass(frozen=True, slots=True)
class _Rated:
    sentence: Sentence
    score: float
    shares: dict[str, float]
    """The words of the question that it holds, with their share of the whole question."""


class ExtractiveAnswerer:
    """Answers with at most three quoted sentences, each cited with its exact place. Threads may share it.

    Sentences are rated by how many of the question's words they hold, rare words counting more, by the score of their
    hit, and, where there is an embedder, by how near they are in meaning.
    """

    def __init__(
        self,
        analyzer: QueryAnalyzer,
        *,
        embedder: EmbedderLike | None = None,
        max_sentences: int = 3,
        max_chars: int = 400,
        max_sources: int = 5,
    ) -> None:
        self._analyzer = analyzer
        self._embedder = embedder
        self._max_sentences = max_sentences
        self._max_chars = max_chars
        self._max_sources = max_sources

    def answer(self, question: str, result: SearchResult) -> Answer:
        """Return the best sentences of the hits, or say plainly that nothing was found."""
        if not result.found or not result.hits:
            return not_found(question, result)
        candidates = [
            sentence
            for order, hit in enumerate(result.hits[: self._max_sources])
            for sentence in sentences_of(hit, order=order, max_chars=self._max_chars)
            if _shown(sentence)
        ]
        if not candidates:
            return not_found(question, result)
        candidates = [sentence for sentence in candidates if not is_framing(sentence)] or candidates
        words = result.get(ANALYZED) or self._analyzer.query(question)
        chosen = self._choose(self._rate(question, words, candidates), self._subjects(question, words))
        text, citations = _compose(chosen)
        return Answer(
            question=question,
            text=text,
            citations=citations,
            found=True,
            warnings=(NO_MODEL, *result.warnings),
            trace=result,
        )

    def stream(self, question: str, result: SearchResult, background: Background = Background()) -> Iterator[Delta]:
        """Yield the answer sentence by sentence, each followed by its citation, and the whole at the end.

        Sentences are quoted whatever was said before, so the `background` makes no difference.
        """
        answer = self.answer(question, result)
        at = 0
        for citation in answer.citations:
            assert citation.answer_span is not None
            end = citation.answer_span.end + len(f" [{citation.marker}]")
            yield Delta(kind="text", text=answer.text[at:end])
            yield Delta(kind="citation", citation=citation)
            at = end
        if answer.text[at:]:
            yield Delta(kind="text", text=answer.text[at:])
        yield Delta(kind="done", answer=answer)

    def _rate(self, question: str, query: AnalyzedQuery, sentences: Sequence[Sentence]) -> list[_Rated]:
        """Return the sentences with their scores, best first."""
        words = self._words_of(query, sentences)
        holders = Counter(word for held in words for word in held)
        rarity = {word: math.log(1 + len(sentences) / count) for word, count in holders.items()}
        most = sum(rarity.values())
        best = max(sentence.hit.score for sentence in sentences)
        rated: list[_Rated] = []
        for sentence, held in zip(sentences, words, strict=True):
            shares = {word: rarity[word] / most for word in sorted(held)}
            of_hit = _HIT * sentence.hit.score / best if best > 0 else 0.0
            rated.append(_Rated(sentence, _WORDS * sum(shares.values()) + of_hit, shares))
        rated.sort(key=lambda one: -one.score)
        return self._rate_by_meaning(question, rated[:_MOST_CANDIDATES])

    def _words_of(self, query: AnalyzedQuery, sentences: Sequence[Sentence]) -> list[frozenset[str]]:
        found: list[frozenset[str]] = []
        for sentence in sentences:
            text = sentence.text
            spans = self._analyzer.spans(text, query, language=sentence.hit.chunk.language)
            found.append(frozenset(word for start, end in spans for word in _words_in(text[start:end], query)))
        return found

    def _rate_by_meaning(self, question: str, rated: list[_Rated]) -> list[_Rated]:
        if self._embedder is None or not _reads(self._embedder, question):
            return rated
        try:
            asked = self._embedder.embed_query(question)
            near = self._embedder.embed_batch([fold_space(one.sentence.text) for one in rated]) @ asked
        except (ProviderError, ExtraMissing) as error:
            log.warning("sentences are rated by words alone: %s", error.message)
            return rated
        both = [
            _Rated(one.sentence, one.score + _MEANING * float(cosine), one.shares)
            for one, cosine in zip(rated, near, strict=True)
        ]
        return sorted(both, key=lambda one: -one.score)

    def _subjects(self, question: str, query: AnalyzedQuery) -> list[AnalyzedQuery]:
        """Return the things that the question is about, none where it is about one."""
        parts = [self._analyzer.query(part, languages=query.languages) for part in subjects(question)]
        named = [part for part in parts if part.highlights]
        return named if len(named) > 1 else []

    def _tells_of(self, sentence: Sentence, subject: AnalyzedQuery) -> bool:
        spans = self._analyzer.spans(sentence.text, subject, language=sentence.hit.chunk.language)
        held = {sentence.text[start:end].casefold() for start, end in spans}
        return len(held) >= _OF_SUBJECT * len(subject.highlights)

    def _choose(self, rated: Sequence[_Rated], asked: Sequence[AnalyzedQuery]) -> list[Sentence]:
        """Return the best sentence, and those that add something to it and fit."""
        chosen, told, best = [rated[0]], set(rated[0].shares), rated[0].score
        untold = [one for one in asked if not self._tells_of(rated[0].sentence, one)]
        room = self._max_chars - len(fold_space(rated[0].sentence.text))
        least = _LEAST_WORDS if len({word for one in rated for word in one.shares}) > _LEAST_WORDS else 1
        for one in rated[1:]:
            if len(chosen) == self._max_sentences:
                break
            length = len(fold_space(one.sentence.text)) + 1
            if length > room or is_like_heading(one.sentence) or _repeats(one, chosen):
                continue
            gain = sum(share for word, share in one.shares.items() if word not in told)
            adds = gain >= _GAIN and len(one.shares) >= least
            alike = sum(one.shares.values()) >= _ALIKE * sum(rated[0].shares.values())
            about = (alike and one.score >= _NEARLY * best) or (adds and one.score >= _ABOUT * best)
            if about or (one.score >= _ABOUT / 2 * best and any(self._tells_of(one.sentence, it) for it in untold)):
                chosen.append(one)
                told |= one.shares.keys()
                untold = [subject for subject in untold if not self._tells_of(one.sentence, subject)]
                room -= length
        return [one.sentence for one in chosen]


def _words_in(found: str, query: AnalyzedQuery) -> Iterator[str]:
    """Yield what was found as words; in scripts without blanks, where what touches is one, as pairs of characters."""
    if max(found) < _UNSPACED:
        yield found.casefold()
        return
    pairs = {found[at : at + 2] for at in range(len(found) - 1)} or {found}
    yield from sorted(pairs.intersection(query.terms) or {found.casefold()})


def _reads(embedder: EmbedderLike, question: str) -> bool:
    language = detect_language(question)
    return not embedder.languages or language is None or language in embedder.languages


def _repeats(one: _Rated, chosen: Sequence[_Rated]) -> bool:
    text = fold_space(one.sentence.text)
    return any(text in fold_space(other.sentence.text) or fold_space(other.sentence.text) in text for other in chosen)


def _shown(sentence: Sentence) -> str:
    return harmless(fold_space(sentence.text)).strip()


def _compose(sentences: Sequence[Sentence]) -> tuple[str, tuple[Citation, ...]]:
    text = ""
    citations: list[Citation] = []
    for marker, sentence in enumerate(sentences, start=1):
        text += " " if text else ""
        start = len(text)
        text += _shown(sentence)
        citations.append(cite(sentence, marker=marker, answer_span=Span(start, len(text))))
        text += f" [{marker}]"
    return text, tuple(citations)
