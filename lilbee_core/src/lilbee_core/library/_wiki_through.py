"""Answers from pages of the wiki, cited through to the documents that bear the pages out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from lilbee_core.types import WIKI, Answer, Background, Citation, Delta, SearchResult

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts
    from lilbee_core.protocols import Answerer
    from lilbee_core.wiki import StoredPage


@dataclass(frozen=True, slots=True)
class ThroughWiki:
    """An answerer whose citations of pages name the passages of documents behind them."""

    answerer: Answerer
    parts: Parts

    def answer(self, question: str, result: SearchResult) -> Answer:
        """Answer."""
        return _Through(self.parts).answer(self.answerer.answer(question, result))

    def stream(self, question: str, result: SearchResult, background: Background = Background()) -> Iterator[Delta]:
        """Yield the answer piece by piece."""
        through = _Through(self.parts)
        for delta in self.answerer.stream(question, result, background):
            if delta.citation is not None:
                yield replace(delta, citation=through.citation(delta.citation))
            elif delta.answer is not None:
                yield replace(delta, answer=through.answer(delta.answer))
            else:
                yield delta


class _Through:
    """Follows citations of one answer. The pages are read once, where any is cited."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._pages: Mapping[str, StoredPage] | None = None

    def answer(self, answer: Answer) -> Answer:
        if not any(one.collection == WIKI for one in answer.citations):
            return answer
        return replace(answer, citations=tuple(map(self.citation, answer.citations)))

    def citation(self, citation: Citation) -> Citation:
        if citation.collection != WIKI or citation.sources:
            return citation
        from lilbee_core.library._wiki_cited import cited_on
        from lilbee_core.wiki import WikiFolder

        if self._pages is None:
            self._pages = WikiFolder(self._parts.home.wiki_dir(self._parts.settings)).pages()
        page = self._pages.get(PurePosixPath(citation.path).stem)
        if page is None:
            return citation
        return replace(
            citation, sources=cited_on(self._parts, page, citation.location.line_start, citation.location.line_end)
        )
