"""What of a model's sentences is kept: those that the passages bear out, each with the words that do so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lilbee_core.analysis import fold
from lilbee_core.text import Evidence, Nearness, Support, check_citations, says_something, support
from lilbee_core.types import Chunk, Span
from lilbee_core.wiki._notes import Backed, Note, Sentence
from lilbee_core.wiki._reply import Said, Section

_WORD = re.compile(r"\w+")
_STEM = 5
_ADDRESS = re.compile(r"://|www\.|[<>{}\[\]]", re.IGNORECASE)
_LEAST_OF_TITLE = 0.5
_LONGEST_QUOTE = 600


class Checker:
    """Checks sentences against the passages that a model was given, numbered from 1."""

    def __init__(self, passages: Sequence[Chunk], *, near: Nearness | None = None) -> None:
        self._passages = passages
        self._evidence = [_evidence(chunk) for chunk in passages]
        self._near = near
        self._stems = {word[:_STEM] for one in self._evidence for word in _words(f"{one.context} {one.text}")}

    def note(self, section: Section) -> Note:
        """Return what of a section is borne out; nothing where its very title is not."""
        if not self.knows(section.title):
            return Note(title=section.title, sentences=(), dropped=tuple(one.text for one in section.said))
        sentences, dropped = self.sentences(section.said)
        return Note(title=section.title, sentences=sentences, dropped=dropped)

    def sentences(self, said: Iterable[Said]) -> tuple[tuple[Sentence, ...], tuple[str, ...]]:
        """Return the sentences that are borne out, each once, and the others."""
        kept: dict[str, Sentence] = {}
        dropped: list[str] = []
        for one in said:
            backed = self._backed(one)
            if backed:
                kept.setdefault(fold(one.text), Sentence(one.text, backed))
            else:
                dropped.append(one.text)
        return tuple(kept.values()), tuple(dropped)

    def knows(self, title: str) -> bool:
        """Say whether the passages speak of what a title names, which is no address."""
        words = [word[:_STEM] for word in _words(title)]
        held = sum(word in self._stems for word in words)
        return bool(words) and held >= _LEAST_OF_TITLE * len(words) and not _ADDRESS.search(title)

    def _backed(self, said: Said) -> tuple[Backed, ...]:
        """Return what bears a sentence out: the passages that it names, else the one that does."""
        if not says_something(said.text):
            return ()
        results = check_citations(said.text, said.passages, self._evidence, near=self._near)
        found = [self._quote(number, one) for number, one in zip(said.passages, results, strict=True) if one.supported]
        if not found:
            found = [self._quote(number, one) for number, one in self._elsewhere(said, results)]
        return tuple(dict.fromkeys(found))

    def _elsewhere(self, said: Said, results: Sequence[Support]) -> list[tuple[int, Support]]:
        """Return the passage that bears a sentence out though another one, or none, was named."""
        numbers = [one.source for one in results if one.source is not None]
        if not numbers and not any(1 <= number <= len(self._passages) for number in said.passages):
            numbers = list(range(1, len(self._passages) + 1))
        for number in numbers:
            one = support(said.text, self._evidence[number - 1], near=self._near)
            if one.supported:
                return [(number, one)]
        return []

    def _quote(self, number: int, found: Support) -> Backed:
        chunk = self._passages[number - 1]
        span = found.span or Span(0, len(chunk.text))
        return Backed(chunk.id, span.cut(chunk.text)[:_LONGEST_QUOTE].strip())


def _evidence(chunk: Chunk) -> Evidence:
    """Return a passage with what stands over it: title, headings, the name of its file."""
    name = chunk.path.rpartition("/")[2].rpartition(".")[0]
    parts = (chunk.title or "", *chunk.headings, name)
    return Evidence(text=chunk.text, context=". ".join(dict.fromkeys(part for part in parts if part)))


def _words(text: str) -> list[str]:
    return _WORD.findall(fold(text))
