"""Pages of what a chat model said about each source, put together by what they are about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from lilbee_core.analysis import fold
from lilbee_core.text import find_quote
from lilbee_core.types import Chunk, ChunkId, DocumentId
from lilbee_core.wiki._entries import ConceptMap, Entry, Passages, Statement, kind_of
from lilbee_core.wiki._notes import Backed, Note, Sentence, SourceNotes
from lilbee_core.wiki._quotes import Quote

_MOST_RELATED = 12
_LEAST_BORNE_OUT = 0.5


@dataclass(frozen=True, slots=True)
class Source:
    """A document, and a name for its content."""

    ref: str
    id: DocumentId
    content: str


@dataclass(slots=True)
class _Gathered:
    """What was said about one thing so far."""

    title: str
    kind: str
    aliases: tuple[str, ...]
    statements: dict[str, Statement] = field(default_factory=dict[str, Statement])
    dropped: list[str] = field(default_factory=list[str])
    near: tuple[str, ...] = ()


class Quotes:
    """Finds the words that bear sentences out where they stand now, whatever their passages are called by now."""

    def __init__(self, passages: Passages) -> None:
        self._passages = passages
        self._known: dict[ChunkId, Chunk] = {}
        self._documents: dict[DocumentId, tuple[Chunk, ...]] = {}

    def read(self, ids: Iterable[ChunkId]) -> None:
        """Read passages that will be needed, all at once."""
        wanted = [id_ for id_ in dict.fromkeys(ids) if id_ not in self._known]
        self._known |= {chunk.id: chunk for chunk in self._passages.get(wanted)} if wanted else {}

    def find(self, backed: Backed, within: Sequence[DocumentId]) -> Quote | None:
        """Return where a quote stands: in the passage where it stood, else elsewhere in one of the documents."""
        chunk = self._known.get(backed.chunk_id)
        found = None if chunk is None else _quote(backed, [chunk])
        if found is not None and (not within or found.chunk.document_id in within):
            return found
        return next((quote for id_ in within if (quote := _quote(backed, self._of(id_))) is not None), None)

    def _of(self, document: DocumentId) -> tuple[Chunk, ...]:
        if document not in self._documents:
            self._documents[document] = self._passages.chunks_of(document)
        return self._documents[document]


def noted_entries(
    sources: Iterable[tuple[Source, SourceNotes]], quotes: Quotes, graph: ConceptMap | None
) -> dict[str, Entry]:
    """Return an entry for each thing that the model wrote about, with what it said in the order of the sources.

    Things that the graph knows as one are one; other names are compared without case and accents.
    """
    given = list(sources)
    quotes.read(
        backed.chunk_id for _, notes in given for note in notes.notes for one in note.sentences for backed in one.backed
    )
    gathered: dict[str, _Gathered] = {}
    known: dict[str, str] = {}
    for source, notes in given:
        for note in notes.notes:
            name = fold(note.title)
            if name not in known:
                known[name], fresh = _named(note.title, graph)
                gathered.setdefault(known[name], fresh)
            one = gathered[known[name]]
            _gather(one, note, partial(_statement, quotes=quotes, within=[source.id]))
    return {key: _entry(key, one) for key, one in gathered.items()}


def overview_of(entry: Entry, notes: SourceNotes, quotes: Quotes) -> Entry | None:
    """Return the overview that a model wrote, as far as what bears it out still stands; None if nothing does."""
    quotes.read(backed.chunk_id for note in notes.notes for one in note.sentences for backed in one.backed)
    one = _Gathered(entry.title, entry.kind, (), near=entry.near)
    documents = list(dict.fromkeys(quote.chunk.document_id for it in entry.statements for quote in it.quotes))
    for note in notes.notes:
        _gather(one, note, partial(_statement, quotes=quotes, within=documents))
    return _entry(entry.key, one) if one.statements else None


def _gather(one: _Gathered, note: Note, statement: Callable[[Sentence], Statement | None]) -> None:
    for sentence in note.sentences:
        told = statement(sentence)
        if told is not None:
            one.statements.setdefault(fold(sentence.text), told)
    one.dropped += note.dropped


def _named(title: str, graph: ConceptMap | None) -> tuple[str, _Gathered]:
    concept = None if graph is None else graph.get(title)
    if graph is None or concept is None:
        return f"note {fold(title)}", _Gathered(title, "concept", ())
    near = tuple(one.target for one in graph.neighbors(concept.id, limit=_MOST_RELATED))
    return concept.id, _Gathered(concept.label, kind_of(concept), concept.aliases, near=near)


def _statement(sentence: Sentence, quotes: Quotes, within: Sequence[DocumentId]) -> Statement | None:
    found = [quotes.find(one, within) for one in sentence.backed]
    known = tuple(dict.fromkeys(one for one in found if one is not None))
    # All of it has to stand there still: parts of a statement may be borne out by each alone.
    return Statement(sentence.text, known) if known and None not in found else None


def _entry(key: str, one: _Gathered) -> Entry:
    borne_out, dropped = len(one.statements), tuple(dict.fromkeys(one.dropped))
    waits = ""
    if borne_out < _LEAST_BORNE_OUT * (borne_out + len(dropped)):
        waits = f"{len(dropped)} of {borne_out + len(dropped)} sentences are not borne out by the documents"
    return Entry(
        key=key,
        title=one.title,
        kind=one.kind,
        aliases=one.aliases,
        statements=tuple(one.statements.values()),
        near=one.near,
        by="model",
        dropped=dropped,
        waits=waits,
    )


def _quote(backed: Backed, chunks: Iterable[Chunk]) -> Quote | None:
    for chunk in chunks:
        span = find_quote(backed.quote, chunk.text)
        if span is not None:
            return Quote(chunk, span)
    return None
