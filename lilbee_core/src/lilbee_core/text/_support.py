"""Checks of statements against the passages they cite, without a model: what is borne out, and what is not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, takewhile

from lilbee_core.text._alignment import align
from lilbee_core.text._citations import check_quote, find_quote, in_few_runs
from lilbee_core.text._grammar import AUXILIARIES, DEFINITE, PRONOUNS
from lilbee_core.text._matching import Alignment, Setting, name_key
from lilbee_core.text._pieces import Piece, pieces_of
from lilbee_core.text._terms import DENIAL, NAME, SMALL, WORD, Term, fold, read_terms
from lilbee_core.types import Span, Verdict

Nearness = Callable[[str, str], float]
"""Says how near two texts are in meaning, from 0 to 1."""

_NEEDED = 0.7  # share of a statement's words that the sentence must hold
_NEEDED_OF_CLAUSE = 0.8  # the same for a part of a statement
_NEEDED_IF_NEAR = 0.5  # the same, where both are near in meaning
_NEAR = 0.75
_CONTRADICTS = 0.5  # share of a part that a sentence must hold for what speaks against it to count
_SAYS_IT_ALL = 0.9
_MOST_LOOKED_AT = 6
_FEWEST_OF_PART = 2  # words that say something, in a part of a statement
_GAP = 3  # characters between two sentences that follow each other
_SHORTEST_RUN = 3  # words that stand together, of a statement that is stitched
_MOST_RUNS = 4

QUOTED = re.compile(r'"([^"\n]+)"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|「([^」\n]+)」')
"""A quotation with its marks."""
_FEWEST_WORDS = 3  # of a quotation; shorter ones are names and irony
_FEWEST_SIGNS = 8  # the same, where words are not set apart
_PARTS = re.compile(
    r"(?:[;,:](?=\s)|\s[–—-]\s|—)\s*(?:(?:and|but|while|which|who|where|und|aber|et|mais|y|pero)\b)?|\.\s+"
    r"|\s(?:and|but|while|whereas|und|aber|sowie|et|mais|y|pero)\s"
)
_LEAD = re.compile(r"\s*(?:(?:[-*+•>]|\d{1,3}[.)]|#{1,6})\s+)*")
_ARTICLES = frozenset(map(fold, DEFINITE)) | {"a", "an", "ein", "eine", "un", "une", "una"}
_REFERRING = frozenset(map(fold, PRONOUNS)) - _ARTICLES
_AUXILIARIES = frozenset(map(fold, AUXILIARIES))
_MARKS = re.compile(r"\[\d{1,4}\]")
_EMPHASIS = re.compile(r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}|`+|(?<!\w)__?(?=\w)|(?<=\w)__?(?!\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage, and what stands over it (title, headings, name of its file): that may name what it speaks of."""

    text: str
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What the check of a statement against a passage found.

    `span` is the stretch of the passage that bears the statement out, `source` the number of the other passage that
    does so instead. `reason` says what is wrong with a statement that is not supported: ``number``, ``unit``,
    ``date``, ``name``, ``negation``, ``opposite``, ``order``, ``quote``, or ``words`` where the passage says something
    else; `at_fault` is the word or quotation. `coverage` is the share of the statement's words that were found.
    """

    verdict: Verdict
    span: Span | None = None
    source: int | None = None
    reason: str = ""
    at_fault: str = ""
    coverage: float = 0.0

    @property
    def supported(self) -> bool:
        return self.verdict is Verdict.SUPPORTED


def support(
    statement: str, cited: str | Evidence, others: Sequence[str | Evidence] = (), *, near: Nearness | None = None
) -> Support:
    """Say whether a passage bears a statement out, by its words alone.

    - supported: one sentence of the passage says it (or each part of the statement is said by one, and all speak of
      the same thing); numbers, units, dates, names and negations match;
    - misattributed: it does not, but another one of the given passages does;
    - stitched: the statement is put together from pieces that stand apart;
    - fabricated: none of these.

    Quotations in the statement must stand in the passage word for word. `near` is asked only where many words differ
    and nothing speaks against the statement. A statement that says nothing ("See") is supported by no passage.
    """
    own = _evidence(cited)
    rest = [_evidence(one) for one in others]
    told = _bare(statement)
    found = _check(told, own, near)
    if found.supported:
        return found
    for source, other in enumerate(rest):
        if _check(told, other, near).supported:
            return replace(found, verdict=Verdict.MISATTRIBUTED, source=source)
    if found.reason == "quote":
        verdict = check_quote(found.at_fault, own.text, [one.text for one in rest]).verdict
        # The quotation stands there, and what is said around it does not.
        return replace(found, verdict=Verdict.FABRICATED if verdict is Verdict.SUPPORTED else verdict)
    if _is_stitched(told, [own, *rest]):
        return replace(found, verdict=Verdict.STITCHED)
    return found


def check_citations(
    statement: str,
    marks: Sequence[int],
    passages: Sequence[str | Evidence],
    *,
    near: Nearness | None = None,
) -> tuple[Support, ...]:
    """Check a statement against the passages that the marks behind it name, counted from 1; one result for each mark.

    Of several passages each must bear out the whole statement, or, where none does so alone, a part of it that the
    others leave. Marks that name no passage are fabricated.
    """
    given = [_evidence(one) for one in passages]
    known = [mark for mark in dict.fromkeys(marks) if 1 <= mark <= len(given)]
    results = {
        mark: support(statement, given[mark - 1], [one for at, one in enumerate(given, 1) if at != mark], near=near)
        for mark in known
    }
    if len(known) > 1 and not any(one.supported for one in results.values()):
        together = _together(_bare(statement), [given[mark - 1] for mark in known])
        results.update({known[at]: one for at, one in together.items()})
    for mark, one in results.items():
        if one.source is not None:
            results[mark] = replace(one, source=one.source + (one.source >= mark - 1) + 1)
    nothing = Support(verdict=Verdict.FABRICATED, reason="mark")
    return tuple(results.get(mark, nothing) for mark in marks)


def says_something(statement: str) -> bool:
    """Say whether a statement holds any word that a passage could bear out."""
    return any(term.kind not in (SMALL, DENIAL) for term in read_terms(_bare(statement)))


def figures_stand_in(statement: str, passage: str) -> bool:
    """Say whether every number and date of a statement stands in a passage, in any spelling and any language."""
    held = [term.figure for term in read_terms(passage) if term.figure is not None]
    told = [term.figure for term in read_terms(_bare(statement)) if term.figure is not None]
    return all(any(one.same_value(other) for other in held) for one in told)


def quotations(statement: str) -> tuple[str, ...]:
    """Return what a statement quotes, without the writer's own stop at the end; names and single words are left out."""
    # Writers put their own stop into the quotation marks.
    quotes = [
        next(group for group in match.groups() if group).rstrip(" .,;:!?…") for match in QUOTED.finditer(statement)
    ]
    return tuple(quote for quote in quotes if _is_long(quote))


def _is_long(quote: str) -> bool:
    if len(quote.split()) >= _FEWEST_WORDS:
        return True
    return len(quote) >= _FEWEST_SIGNS and not quote.isascii() and " " not in quote


def _evidence(passage: str | Evidence) -> Evidence:
    return Evidence(text=passage) if isinstance(passage, str) else passage


def _bare(statement: str) -> str:
    told = _EMPHASIS.sub("", _MARKS.sub("", statement))
    return told[_LEAD.match(told).end() :].strip(" *_\n\t")  # type: ignore[union-attr]


# ---------------------------------------------------------------- one statement, one passage


@lru_cache(maxsize=512)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem for piece in pieces_of(text) for stem in piece.stems)


@lru_cache(maxsize=512)
def _words(text: str) -> frozenset[str]:
    """Return the words of a passage that stand in lower case somewhere: they are no names."""
    return frozenset(term.word for piece in pieces_of(text) for term in piece.terms if not term.capital)


def _check(told: str, passage: Evidence, near: Nearness | None) -> Support:
    quoted = quotations(told)
    places = [find_quote(quote, passage.text) for quote in quoted]
    for quote, place in zip(quoted, places, strict=True):
        if place is None:
            return Support(verdict=Verdict.FABRICATED, reason="quote", at_fault=quote)
    statement = read_terms(told)
    if not any(term.kind not in (SMALL, DENIAL) for term in statement):
        return Support(verdict=Verdict.FABRICATED, reason="words")
    whole = find_quote(told, passage.text)
    if whole is not None and _stands_alone(passage.text, whole):
        return Support(verdict=Verdict.SUPPORTED, span=whole, coverage=1.0)
    best = _best(told, statement, passage, near)
    place = places[0] if places else None
    if place is None or (not best.supported and not _is_framed(statement, passage, place)):
        return best
    return Support(verdict=Verdict.SUPPORTED, span=place, coverage=1.0)


def _best(told: str, statement: tuple[Term, ...], passage: Evidence, near: Nearness | None) -> Support:
    pieces = pieces_of(passage.text)
    laid = list(_candidates(statement, passage, pieces))
    for piece, one in laid:
        if not one.conflict and one.holds(_NEEDED) and not _adds_from_elsewhere(one, piece, pieces):
            return Support(verdict=Verdict.SUPPORTED, span=piece.span, coverage=one.coverage)
    # A sentence that holds all of it and says it otherwise is not to be read in pieces.
    against = any(one.conflict and one.conflict != "words" and one.coverage >= _SAYS_IT_ALL for _, one in laid)
    parts = None if against else _in_parts(told, passage, pieces)
    if parts is not None:
        return parts
    if near is not None:
        for piece, one in laid[:2]:
            close = not one.conflict and one.coverage >= _NEEDED_IF_NEAR
            if (
                close
                and not _adds_from_elsewhere(one, piece, pieces)
                and near(told, piece.span.cut(passage.text)) >= _NEAR
            ):
                return Support(verdict=Verdict.SUPPORTED, span=piece.span, coverage=one.coverage)
    if not laid:
        return Support(verdict=Verdict.FABRICATED, reason="words")
    best = laid[0][1]
    fault = best.at_fault or " ".join(statement[at].word for at in best.missing[:3])
    return Support(verdict=Verdict.FABRICATED, reason=best.conflict or "words", at_fault=fault, coverage=best.coverage)


def _candidates(
    statement: tuple[Term, ...], passage: Evidence, pieces: Sequence[Piece]
) -> list[tuple[Piece, Alignment]]:
    """Return the pieces that share most with a statement, laid beside it, the fullest first."""
    stems = {term.key for term in statement if term.kind != SMALL}
    shared = sorted(
        range(len(pieces)),
        key=lambda at: (-len(stems & pieces[at].stems), len(pieces[at].terms)),
    )[:_MOST_LOOKED_AT]
    context, known, all_stems = read_terms(passage.context), _words(passage.text), _stems(passage.text)
    laid = [
        (pieces[at], align(statement, pieces[at].terms, Setting(context, _before(pieces, at), known, all_stems)))
        for at in shared
    ]
    laid = [(piece, one) for piece, one in laid if one.pairs]
    laid.sort(key=lambda pair: (-pair[1].coverage, bool(pair[1].conflict), len(pair[0].terms)))
    return laid


def _before(pieces: Sequence[Piece], at: int) -> tuple[Term, ...]:
    """Return the terms of the sentence that a pronoun refers to: the nearest one before that names anything."""
    for one in range(at - 1, max(-1, at - 3), -1):
        if not pieces[one].prose:
            return ()
        if any(term.kind == NAME or term.capital for term in pieces[one].terms):
            return pieces[one].terms
    return ()


def _adds_from_elsewhere(one: Alignment, piece: Piece, pieces: Sequence[Piece]) -> bool:
    """Say whether words that a sentence lacks were taken from another one: then two were made into one.

    Two of them stand there, or one of them beside the word that it stands beside in the statement. Words that stand
    nowhere in the passage may be others of the same meaning.
    """
    content = one.content
    keys = [one.statement[at].key for at in content]
    missing = set(one.missing)
    lacking = {key for key, at in zip(keys, content, strict=True) if at in missing}
    if not lacking:
        return False
    beside = {pair for pair, places in zip(pairwise(keys), pairwise(content), strict=True) if missing & set(places)}
    for other in pieces:
        if other.span.overlaps(piece.span):
            continue
        held = lacking & other.stems
        if len(held) > 1 or (held and beside & set(pairwise(_keys(other)))):
            return True
    return False


def _keys(piece: Piece) -> list[str]:
    return [term.key for term in piece.terms if term.kind not in (SMALL, DENIAL)]


def _stands_alone(text: str, span: Span) -> bool:
    """Say whether words that stand in a text are a sentence of it, or most of one."""
    holding = [piece for piece in pieces_of(text) if piece.span.overlaps(span)]
    return any(len(span) >= 0.8 * len(piece.span) for piece in holding)


def _is_framed(statement: tuple[Term, ...], passage: Evidence, place: Span) -> bool:
    """Say whether sentences that hold a true quotation bear out what is said around it."""
    pieces = pieces_of(passage.text)
    at = [at for at, piece in enumerate(pieces) if piece.span.overlaps(place)]
    terms = tuple(term for one in at for term in pieces[one].terms)
    before = _before(pieces, at[0]) if at else ()
    setting = Setting(read_terms(passage.context), before, _words(passage.text), _stems(passage.text))
    laid = align(statement, terms, setting)
    return not laid.conflict and laid.coverage >= _NEEDED


# ---------------------------------------------------------------- statements of several parts


def _cut(told: str) -> list[str]:
    """Cut a statement into parts that each say something."""
    cuts = [0, *(match.end() for match in _PARTS.finditer(told)), len(told)]
    parts: list[str] = []
    for start, end in pairwise(cuts):
        piece = told[start:end]
        count = sum(term.kind not in (SMALL, DENIAL) for term in read_terms(piece))
        if parts and (count < _FEWEST_OF_PART or _is_short(parts[-1])):
            parts[-1] += piece
        else:
            parts.append(piece)
    return parts


def _is_short(part: str) -> bool:
    return sum(term.kind not in (SMALL, DENIAL) for term in read_terms(part)) < _FEWEST_OF_PART


def _in_parts(told: str, passage: Evidence, pieces: Sequence[Piece]) -> Support | None:
    """Find a sentence for each part of a statement, where all of them speak of the same thing."""
    parts = _cut(told)
    if not 2 <= len(parts) <= _MOST_RUNS:
        return None
    subject = _subject_of(read_terms(parts[0]))
    spans: list[Span] = []
    coverage = 1.0
    for number, part in enumerate(parts):
        terms = read_terms(part)
        # A part that goes on inside a sentence begins no sentence of its own.
        terms = tuple(term._replace(opens=term.opens and not number) for term in terms)
        found = _of_part(terms, passage, pieces, subject if number else frozenset(), spans[-1] if spans else None)
        if found is None:
            return None
        spans.append(found[0].span)
        coverage = min(coverage, found[1].coverage)
    span = Span(min(one.start for one in spans), max(one.end for one in spans))
    if len(span) > sum(len(one) for one in set(spans)) + 2 * len(spans):
        span = spans[0]
    return Support(verdict=Verdict.SUPPORTED, span=span, coverage=coverage)


def _of_part(
    terms: tuple[Term, ...], passage: Evidence, pieces: Sequence[Piece], subject: frozenset[str], after: Span | None
) -> tuple[Piece, Alignment] | None:
    laid = _candidates(terms, passage, pieces)
    if any(piece.span == after and one.conflict and one.coverage >= _CONTRADICTS for piece, one in laid):
        return None  # the sentence of the part before says this part otherwise
    for piece, one in laid:
        fits = not one.conflict and one.coverage >= _NEEDED_OF_CLAUSE and not _adds_from_elsewhere(one, piece, pieces)
        if fits and (after is None or piece.span == after or _goes_on(one, piece, subject, after)):
            return piece, one
    return None


def _goes_on(one: Alignment, piece: Piece, subject: frozenset[str], after: Span | None) -> bool:
    """Say whether a sentence speaks of the subject of the statement: by name, or by a pronoun in its place.

    A part that brings its own subject speaks for itself.
    """
    opening = [term for term in piece.terms[: min(one.pairs.values())] if term.word not in _ARTICLES]
    named = [term for term in opening if term.kind in (NAME, WORD)]
    if named:
        return all(name_key(term.word) in subject for term in named)
    follows = after is not None and 0 <= piece.span.start - after.end <= _GAP
    refers = any(term.word in _REFERRING for term in opening)
    return not opening or (piece.prose and follows and refers)


def _subject_of(terms: tuple[Term, ...]) -> frozenset[str]:
    """Return the words that a statement begins with, up to its verb as far as that can be told."""
    run: list[Term] = []
    for term in terms:
        if term.kind in (NAME, WORD):
            run.append(term)
        elif run and term.word in _AUXILIARIES:
            return frozenset(name_key(one.word) for one in run)
        elif run:
            break
    names = list(takewhile(lambda term: term.capital, run))
    return frozenset(name_key(one.word) for one in (names or run[:1]))


def _together(told: str, cited: Sequence[Evidence]) -> dict[int, Support]:
    """Check a statement whose parts are borne out by several passages together; nothing if a part is left over."""
    parts = _cut(told)
    if len(parts) < 2 or not all(any(find_quote(one, it.text) for it in cited) for one in quotations(told)):
        return {}
    subject = _subject_of(read_terms(parts[0]))
    held: dict[int, Support] = {}
    for number, part in enumerate(parts):
        terms = tuple(term._replace(opens=term.opens and not number) for term in read_terms(part))
        borne = False
        for at, passage in enumerate(cited):
            found = _of_part(terms, passage, pieces_of(passage.text), subject, Span(0, 0) if number else None)
            if found is not None:
                borne = True
                held.setdefault(at, Support(verdict=Verdict.SUPPORTED, span=found[0].span, coverage=found[1].coverage))
        if not borne:
            return {}
    return held


# ---------------------------------------------------------------- statements put together from pieces


def _is_stitched(told: str, passages: Sequence[Evidence]) -> bool:
    """Say whether all words of a statement are a few runs of words that stand in sentences of the passages."""
    words = [term.key for term in read_terms(told)]
    if len(words) < 2 * _SHORTEST_RUN:
        return False
    texts = [[term.key for term in read_terms(passage.text)] for passage in passages]

    def longest(at: int) -> int:
        return max((_longest_run(words, at, text) for text in texts), default=0)

    return in_few_runs(len(words), longest, shortest=_SHORTEST_RUN, most=_MOST_RUNS)


def _longest_run(words: list[str], start: int, text: list[str]) -> int:
    best = 0
    for at, word in enumerate(text):
        if word != words[start]:
            continue
        length = 1
        while start + length < len(words) and at + length < len(text) and words[start + length] == text[at + length]:
            length += 1
        best = max(best, length)
    return best
