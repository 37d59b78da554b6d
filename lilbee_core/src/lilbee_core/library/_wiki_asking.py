"""The calls of a wiki build: which documents the chat model is asked about, one call each, kept as they come."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from lilbee_core.analysis import fold
from lilbee_core.errors import ProviderError
from lilbee_core.events import EventSink, Progress
from lilbee_core.library._graphing import graph_of, is_mapped
from lilbee_core.library._prompting import prompts_of
from lilbee_core.library._searching import answering_chat
from lilbee_core.library._waiting import query_embedder
from lilbee_core.protocols import CancelToken
from lilbee_core.types import WIKI, Chunk, PlannedCall
from lilbee_core.wiki import Call, Entry, Names, NoteBook, NoteTaker, Source, SourceNotes, Titles, names_in

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts

log = logging.getLogger(__name__)

_MESSAGE_TOKENS = 16
"""What a chat template writes around a request."""
_PROMPT_TOKENS = 700
"""What a request has beside its passages."""
_LEAST_PASSAGE_TOKENS = 200
_MOST_FAILURES = 3
"""Calls that fail one after the other; then the model is not asked any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What a build is asked for.

    `retry` asks again about documents whose replies could not be read. Without `naming` the model writes about known
    things only. At most `most_calls` calls are made.
    """

    retry: bool = False
    naming: bool = True
    most_calls: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A call to make: about what, under which key its reply is kept. There may be nothing to ask after all."""

    about: str
    key: str
    call: Callable[[], Call | None]
    content: str = ""


@dataclass(slots=True)
class Asked:
    """What came of the calls."""

    calls: int = 0
    tokens: int = 0
    dropped: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    waiting: list[str] = field(default_factory=list[str])


class Asking:
    """Asks the chat model of a library about its documents and topics."""

    def __init__(self, parts: Parts, taker: NoteTaker) -> None:
        self._parts = parts
        self._taker = taker
        self._notes = notes_of(parts)
        self._titles = Titles(notes for _, notes in self._notes.all())

    def about_sources(self, sources: Sequence[Source], request: BuildRequest) -> Iterator[Question]:
        """Yield the calls that are still to be made. Equal documents are asked about once."""
        seen: set[str] = set()
        for source in sources:
            if source.content in seen:
                continue
            seen.add(source.content)
            notes = self._notes.get(source.content)
            if notes is None or (request.retry and notes.problem) or (request.naming and not notes.named):
                call = partial(self._source_call, source, naming=request.naming)
                yield Question(about=source.ref, key=source.content, call=call)

    def about_topics(self, topics: Sequence[tuple[str, Entry, str]], *, retry: bool) -> Iterator[Question]:
        """Yield the calls for topics of which something else is to be said than last time."""
        book = topics_of(self._parts)
        for key, entry, content in topics:
            notes = book.get(key)
            if notes is None or notes.content != content or (retry and notes.problem):
                chunks = tuple({it.chunk.id: it.chunk for one in entry.statements for it in one.quotes}.values())
                call = partial(self._taker.topic_call, entry.title.removeprefix("Topic: "), chunks)
                yield Question(about=entry.title, key=key, call=call, content=content)

    def planned(self, asks: Iterator[Question]) -> Iterator[PlannedCall]:
        """Yield what calls would cost."""
        for one in asks:
            call = one.call()
            if call is not None:
                yield PlannedCall(about=one.about, tokens=call.request.tokens)

    def ask(
        self, asks: Sequence[Question], book: NoteBook, most: int | None, cancel: CancelToken, events: EventSink
    ) -> Asked:
        """Make the calls, keeping each reply at once: stopped anywhere, the next build goes on behind it.

        Raises:
            Cancelled: On request.
        """
        asked, failures = Asked(), 0
        for done, one in enumerate(asks):
            cancel.check()
            events(Progress(phase="asking the chat model", done=done, total=len(asks), unit="documents"))
            call = one.call()
            if call is None:
                book.put(one.key, SourceNotes(named=False))
            elif failures >= _MOST_FAILURES or (most is not None and asked.calls >= most):
                asked.waiting.append(one.about)
            else:
                failures = 0 if self._answered(one, call, book, asked, cancel) else failures + 1
        return asked

    def _answered(self, one: Question, call: Call, book: NoteBook, asked: Asked, cancel: CancelToken) -> bool:
        """Make a call and keep what came; say whether the model replied."""
        asked.calls += 1
        asked.tokens += call.request.tokens
        try:
            notes = call.take(cancel)
        except ProviderError as error:
            if error.code == "provider.context_overflow":  # it was never asked, and may be about the next one
                asked.calls -= 1
                asked.tokens -= call.request.tokens
                asked.failed.append((one.about, error.message))
                asked.waiting.append(one.about)
                return True
            log.warning("the chat model could not be asked about %s: %s", one.about, error.message)
            asked.failed.append((one.about, error.message))
            asked.waiting.append(one.about)
            return False
        book.put(one.key, notes.of(one.content))
        self._titles.add(notes)
        asked.dropped += notes.dropped
        if notes.problem:
            asked.failed.append((one.about, notes.problem))
        return True

    def _source_call(self, source: Source, *, naming: bool) -> Call | None:
        """Return the call about a document; None where it speaks of nothing that it may be asked about."""
        chunks = self._parts.store.chunks_of(source.id)
        names = Names(names=self._names(chunks), only=not naming)
        if not chunks or (names.only and not names.names):
            return None
        return self._taker.source_call(chunks, names)

    def _names(self, chunks: Sequence[Chunk]) -> tuple[str, ...]:
        """Return the entities and the titles of pages that a document speaks of."""
        text = "\n".join(chunk.text for chunk in chunks)
        entities: list[str] = []
        if self._parts.settings.wiki.wiki_entity_mode == "ner_entities" and has_graph(self._parts):
            graph = graph_of(self._parts)
            known = [one for id_ in graph.entities(text) if (one := graph.get(id_)) is not None]
            found = sorted((one for one in known if one.kind == "entity"), key=lambda one: (-one.chunks, one.id))
            entities = [one.label for one in found]
        return names_in(fold(text), entities, self._titles)


def sources_of(parts: Parts) -> list[Source]:
    """Return the documents that the wiki is about, by name."""
    rows = (row for row in parts.store.rows() if row.holds_chunks and row.chunks and row.collection != WIKI)
    return [Source(row.ref, row.id, row.sha256 or row.id) for row in rows]


def notes_of(parts: Parts) -> NoteBook:
    """Return what was said about documents, by their content."""
    return NoteBook(parts.state)


def topics_of(parts: Parts) -> NoteBook:
    """Return what was said about topics, by their numbers."""
    return NoteBook(parts.state, "wiki.topics")


def taker_of(parts: Parts) -> NoteTaker | None:
    """Return what has the chat model write; None without one."""
    chat = answering_chat(parts)
    if chat is None:
        return None
    from lilbee_core.answer import nearness

    options = parts.settings.wiki
    window, embedder = chat.window(), query_embedder(parts)
    reply = min(options.wiki_reply_tokens, window.context_tokens // 2)
    room = window.budget(reply) - _PROMPT_TOKENS
    return NoteTaker(
        chat,
        wording=prompts_of(parts).text,
        near=None if embedder is None else nearness(embedder),
        max_tokens=reply,
        room=window.budget(reply) - _MESSAGE_TOKENS,
        passage_tokens=max(_LEAST_PASSAGE_TOKENS, min(options.wiki_passage_tokens, room)),
        clock=parts.clock.monotonic,
    )


def has_graph(parts: Parts) -> bool:
    """Whether there is a graph of concepts to build pages from."""
    from lilbee_core.concepts import can_cluster

    return can_cluster() and is_mapped(parts) and parts.store.concepts.extractor() is not None
