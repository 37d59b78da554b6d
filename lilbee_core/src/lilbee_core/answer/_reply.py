"""A chat model's reply while it is told: plain text as it comes, marks when their statement is checked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from lilbee_core.answer._evidence import Rejected, resolve, statement_before
from lilbee_core.answer._marks import Address, Mark, Piece, ReplyReader
from lilbee_core.text import EchoFilter, Nearness, says_something, sentences
from lilbee_core.types import Citation, Delta, Hit, Span, Verdict

_LONGEST_STATEMENT = 600
_TOLD_CHARS = 80  # of a statement in a warning
_LEFT_OUT = "(address left out)"
_WRONG = {
    "number": "a number differs",
    "unit": "a unit differs",
    "date": "a date differs",
    "name": "a name differs",
    "negation": "one of them denies it",
    "opposite": "it says the opposite",
    "order": "names or numbers have changed places",
    "subject": "it is said of something else",
    "words": "it says something else",
}


@dataclass(slots=True)
class Reply:
    """The reply as far as it has been told.

    A mark stands for the statement before it. One that stands before its statement ("According to [1], ...") is held
    back until the sentence ends.
    """

    given: tuple[Hit, ...]
    known: Sequence[str] = ()
    """Texts whose addresses may be told again."""
    near: Nearness | None = None
    text: str = ""
    citations: list[Citation] = field(default_factory=list[Citation])
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    unknown: list[int] = field(default_factory=list[int])
    addresses: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    reader: ReplyReader = field(default_factory=ReplyReader)
    echoes: EchoFilter = field(init=False)
    has_text: bool = False
    broken_off: str | None = None
    """Why the model did not come to an end."""
    _since: int = 0
    """Where the text behind the last mark begins."""
    _waiting: Mark | None = None
    _held: str = ""

    def __post_init__(self) -> None:
        self.echoes = EchoFilter(self.known)

    def take(self, text: str) -> Iterator[Delta]:
        """Yield what can be told of another piece."""
        said = self.echoes.feed(text)
        self.has_text = self.has_text or bool(said.strip())
        yield from self._tell(self.reader.feed(said))

    def end(self) -> Iterator[Delta]:
        """Yield what was held back."""
        yield from self._tell(self.reader.feed(self.echoes.close()))
        yield from self._tell(self.reader.close())
        yield from self._release()

    def _tell(self, pieces: Iterator[Piece]) -> Iterator[Delta]:
        for piece in pieces:
            if isinstance(piece, Mark):
                yield from self._cite(piece)
            else:
                yield from self._say(self._address(piece.text) if isinstance(piece, Address) else piece)

    def _address(self, address: str) -> str:
        """Return an address that a document (or the question) holds; any other one is left out."""
        if any(address in text for text in self.known):
            return address
        self.addresses.append(address)
        return _LEFT_OUT

    def _say(self, text: str) -> Iterator[Delta]:
        if self._waiting is not None:
            self._held += text
            if _is_complete(self._held):
                yield from self._release()
            return
        shown = text if self.text else text.lstrip()
        if shown:
            self.text += shown
            yield Delta(kind="text", text=shown)

    def _cite(self, mark: Mark) -> Iterator[Delta]:
        if self._waiting is not None:
            if not says_something(self._held):
                self._waiting = Mark((*self._waiting.numbers, *mark.numbers), self._waiting.lead)
                self._held = ""
                return
            yield from self._release()
        span = statement_before(self.text, self._since)
        # A sentence that is cited already is not what a mark behind its stop stands for.
        if not len(span) or span.end <= self._since:
            self._waiting = mark
            return
        yield from self._resolve(mark, span, "")

    def _release(self) -> Iterator[Delta]:
        """Tell what was held back behind a mark, with the mark if that bears it out."""
        mark, held = self._waiting, self._held
        self._waiting, self._held = None, ""
        if mark is None:
            return
        first = next(iter(sentences(held)), Span(0, 0))
        if says_something(first.cut(held)):
            yield from self._resolve(mark, first, held)
        elif (span := statement_before(self.text, 0)) and len(span):
            yield from self._resolve(mark, span, "")
            yield from self._say(held)
        else:
            self.unknown += mark.numbers
            yield from self._say(held)

    def _resolve(self, mark: Mark, span: Span, held: str) -> Iterator[Delta]:
        """Check a statement of the text told, or of the text `held` back behind the mark."""
        told = held or self.text
        resolved = resolve(mark.numbers, told, span, self.given, near=self.near)
        self.unknown += resolved.unknown
        self.rejected += resolved.rejected
        marks = "".join(f"[{citation.marker}]" for citation in resolved.shown)
        if marks:
            yield from self._say(f"{mark.lead}{marks}" if self.text else marks)
        start = len(self.text) - (0 if self.text else len(held) - len(held.lstrip()))
        yield from self._say(held)
        for citation in resolved.shown:
            placed = _moved(citation, start) if held else citation
            if placed not in self.citations:
                self.citations.append(placed)
                yield Delta(kind="citation", citation=placed)
        self._since = start + span.end if held else len(self.text)

    def report(self) -> list[str]:
        """Return what was left out of the reply, as warnings."""
        warnings = list(self.warnings)
        if self.unknown:
            marks = ", ".join(f"[{number}]" for number in dict.fromkeys(self.unknown))
            warnings.append(f"Marks that stand for no passage were left out of the reply: {marks}")
        warnings += [_told(one) for one in self.rejected]
        if self.reader.removed:
            warnings.append("Links, images or HTML were left out of the reply.")
        if self.addresses:
            warnings.append(f"Addresses that no passage holds were left out of the reply: {len(self.addresses)}")
        return warnings


def _is_complete(held: str) -> bool:
    """Say whether a sentence has ended, and another one or a new line has begun."""
    return len(held) > _LONGEST_STATEMENT or "\n" in held.strip(" ") or len(sentences(held)) > 1


def _moved(citation: Citation, by: int) -> Citation:
    span = citation.answer_span
    return citation if span is None else replace(citation, answer_span=Span(span.start + by, span.end + by))


def _told(one: Rejected) -> str:
    citation = one.citation
    claim = " ".join(citation.quote.split())
    said = f"“{claim if len(claim) <= _TOLD_CHARS else claim[: _TOLD_CHARS - 1].rstrip() + '…'}”"
    if one.support.reason == "quote":
        return f"A quotation in the reply is {citation.verdict}, {said}: {citation.path} does not hold it"
    if citation.verdict is Verdict.UNCHECKED:
        return f"A statement in the reply could not be checked, {said}: it is in another language than {citation.path}"
    why = _WRONG.get(one.support.reason, "it says something else")
    if citation.verdict is Verdict.MISATTRIBUTED:
        why = "another passage does"
    return f"A statement in the reply is {citation.verdict}, {said}: {citation.path} does not bear it out ({why})"


_MISSING = re.compile(
    r"\b(?:passages?|documents?|sources?|texts?|library|context|information)\b[^.]{0,60}"
    r"\b(?:do(?:es)?\s+not|don't|doesn't|no)\b[^.]{0,30}\b(?:mention|contain|hold|say|state|provide|answer|specify|include)"
    r"|\b(?:no|not enough)\s+information\b|\bI\s+(?:do not|don't|cannot|can't)\s+(?:know|find|answer)\b"
    r"|\b(?:nicht|keine?)\b[^.]{0,40}\b(?:gefunden|erwähnt|enthalten|Angaben|Informationen|beantworten)\b"
    r"|\b(?:ne|n')\s*\w*\s*(?:mentionne|contien|précise|trouve|indique)\w*\s+pas\b|\baucune\s+information\b"
    r"|\bno\s+(?:se\s+)?(?:menciona|contiene|encuentra|indica|especifica)\w*\b|\bninguna\s+información\b",
    re.IGNORECASE,
)


def says_not_found(text: str, sentence: str) -> bool:
    """Say whether a reply tells that the passages do not hold the answer: by the given sentence, or in own words."""
    told = text.strip(" .\"'“”*_")
    if told.casefold().startswith(sentence.rstrip(".").casefold()):
        return True
    first = next(iter(sentences(told)), Span(0, 0)).cut(told)
    return _MISSING.search(first) is not None
