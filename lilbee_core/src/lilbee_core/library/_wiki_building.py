"""Builds of the wiki: the calls, then the pages, then what searches see of them."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING

from lilbee_core.errors import Cancelled, EmptyQuery, ExtraMissing, ProviderError, WikiError
from lilbee_core.events import EventSink, Progress, SafeSink
from lilbee_core.library._concepts import graph_for
from lilbee_core.library._graphing import graph_of
from lilbee_core.library._searching import run_search
from lilbee_core.library._waiting import query_embedder
from lilbee_core.library._wiki_asking import (
    Asked,
    Asking,
    BuildRequest,
    Question,
    has_graph,
    notes_of,
    sources_of,
    taker_of,
    topics_of,
)
from lilbee_core.library._wiki_index import index_pages
from lilbee_core.protocols import CancelToken
from lilbee_core.types import ChunkId, Query, WikiPlan, WikiReport
from lilbee_core.wiki import (
    Change,
    Choices,
    Entry,
    Folder,
    Limits,
    NoteBook,
    NoteTaker,
    PageMemory,
    Source,
    WikiBuilder,
    WikiFolder,
    summary,
)

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts

_TOPIC = "topic "
_NO_MODEL = "No chat model is set: overviews of topics are made of quoted sentences."


def folder_of(parts: Parts) -> WikiFolder:
    """Return the wiki's folder."""
    return WikiFolder(parts.home.wiki_dir(parts.settings))


@contextmanager
def changing(parts: Parts) -> Generator[None]:
    """Let nobody else change the wiki inside the block. The index can be written and read meanwhile.

    Raises:
        WikiError: If another process holds it for too long (``wiki.locked``).
    """
    from filelock import FileLock, Timeout

    parts.home.prepare()
    limit_s = parts.settings.store.lock_timeout_s
    lock = FileLock(parts.home.data_dir / "wiki.lock", thread_local=False)
    try:
        lock.acquire(timeout=limit_s, poll_interval=0.05)
    except Timeout:
        raise WikiError(
            f"the wiki of {parts.home.data_dir} is being built already; waited {limit_s:g} s",
            hint="wait until that is done, stop it, or raise `lock_timeout_s`",
            code="wiki.locked",
        ) from None
    except OSError as error:
        raise WikiError(
            f"{lock.lock_file} cannot be written: {error.strerror or error}", hint="Check its folder."
        ) from error
    try:
        yield
    finally:
        lock.release()


def run_plan(parts: Parts, request: BuildRequest, *, topics: bool) -> WikiPlan:
    """Say what a build would do, with its calls; nothing is written."""
    sources = sources_of(parts)
    taker = _taker(parts)
    builder, _ = _builder(parts, sources, ())
    plan = builder.plan()
    if taker is None:
        return plan
    asking = Asking(parts, taker)
    asks = asking.about_topics(_topics(builder, parts), retry=request.retry) if topics else iter(())
    calls = tuple(asking.planned(asks if topics else asking.about_sources(sources, request)))[: request.most_calls]
    return replace(plan, asks=calls, reply_tokens=len(calls) * taker.max_tokens)


def run_build(
    parts: Parts, request: BuildRequest, cancel: CancelToken, events: EventSink | None = None, *, what: str = "build"
) -> WikiReport:
    """Ask about documents that were not asked about, and write the pages that change."""
    sink = SafeSink(parts.events, events)
    with changing(parts):
        sources = sources_of(parts)
        taker, book = _taker(parts), notes_of(parts)
        asked = Asked()
        if taker is not None:
            asking = Asking(parts, taker)
            questions = list(asking.about_sources(sources, request))
            found = _asked(asking, questions, book, request, cancel, sink)
            if found is None:
                return WikiReport(cancelled=True)
            asked = found
        return _applied(parts, sources, asked, sink, what, waiting=asked.waiting)


def run_synthesize(
    parts: Parts, request: BuildRequest, cancel: CancelToken, events: EventSink | None = None
) -> WikiReport:
    """Ask for overviews of topics of which something else is to be said now, and write the pages that change."""
    sink = SafeSink(parts.events, events)
    with changing(parts):
        graph_for(parts)
        sources, taker, book = sources_of(parts), _taker(parts), topics_of(parts)
        asked = Asked()
        if taker is not None:
            asking = Asking(parts, taker)
            builder, _ = _builder(parts, sources, ())
            topics = _topics(builder, parts)
            questions = list(asking.about_topics(topics, retry=request.retry))
            found = _asked(asking, questions, book, request, cancel, sink)
            if found is None:
                return WikiReport(cancelled=True)
            asked = found
            book.keep_only(key for key, _, _ in topics)
        report = _applied(parts, sources, asked, sink, "synthesize")
        return report if taker is not None else replace(report, warnings=(*report.warnings, _NO_MODEL))


def _asked(
    asking: Asking,
    questions: Sequence[Question],
    book: NoteBook,
    request: BuildRequest,
    cancel: CancelToken,
    events: EventSink,
) -> Asked | None:
    try:
        return asking.ask(questions, book, request.most_calls, cancel, events)
    except Cancelled:
        return None


def _taker(parts: Parts) -> NoteTaker | None:
    taker = taker_of(parts)
    if taker is None and not has_graph(parts) and not any(True for _ in notes_of(parts).all()):
        try:
            graph_for(parts)
        except ExtraMissing as error:
            raise ExtraMissing(
                error.message, hint=f"{error.hint}; or choose a chat model, which writes pages without it"
            ) from error
    return taker


def _topics(builder: WikiBuilder, parts: Parts) -> list[tuple[str, Entry, str]]:
    """Return the topics with their numbers, and a name for what can be said of them."""
    return [(key.removeprefix(_TOPIC), entry, _content(entry)) for key, entry in builder.quoted_topics().items()]


def _content(entry: Entry) -> str:
    told = [entry.title, *(one.text for one in entry.statements)]
    return hashlib.blake2b("\0".join(told).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _builder(parts: Parts, sources: Sequence[Source], waiting: Sequence[str]) -> tuple[WikiBuilder, Choices]:
    files, memory, book = folder_of(parts), PageMemory(parts.state), notes_of(parts)
    folder = Folder(pages=files.pages(), drafts=files.drafts(), base=memory.base, rejected=memory.rejected())
    options, choices = parts.settings.wiki, Choices(memory.choice)
    given = [(source, notes) for source in sources if (notes := book.get(source.content)) is not None]
    builder = WikiBuilder(
        parts.store,
        folder,
        graph=graph_of(parts) if has_graph(parts) else None,
        sources=given,
        topics=topics_of(parts),
        waiting=waiting,
        rank=lambda title: _ranked(parts, title),
        measure=lambda text, chunks: _faithfulness(parts, text, chunks),
        choices=choices,
        limits=Limits(
            pages=options.wiki_max_pages,
            chunks=options.wiki_concept_max_chunks_per_page,
            per_source=parts.settings.search.diversity_max_per_source,
            faithfulness=options.wiki_min_faithfulness,
        ),
    )
    return builder, choices


def _ranked(parts: Parts, title: str) -> Sequence[ChunkId]:
    """Return the passages that a search for a title finds."""
    most = parts.settings.wiki.wiki_concept_max_chunks_per_page
    try:
        found = run_search(parts, Query(text=title.replace(":", " ").replace('"', " "), top_k=2 * most))
    except EmptyQuery:
        return ()
    return tuple(part.id for hit in found.hits for part in (hit.parts or (hit.chunk,)))


def _faithfulness(parts: Parts, text: str, chunks: Sequence[ChunkId]) -> float | None:
    """Return the cosine of a text with the middle of its passages."""
    embedder = query_embedder(parts)
    if embedder is None or not chunks:
        return None
    vectors = list(parts.store.vectors(chunks).values())
    if not vectors:
        return None
    try:
        own = embedder.embed(text)
    except ProviderError:
        return None
    middle = sum(vectors[1:], start=vectors[0])
    length = float(middle @ middle) ** 0.5
    return float(own @ middle) / length if length else None


def _applied(
    parts: Parts,
    sources: Sequence[Source],
    asked: Asked,
    events: EventSink,
    what: str,
    *,
    waiting: Sequence[str] = (),
) -> WikiReport:
    """Write what a builder says; pages about `waiting` sources stay. Killed anywhere, the next build does the rest."""
    files, memory = folder_of(parts), PageMemory(parts.state)
    builder, choices = _builder(parts, sources, waiting)
    changes, removed, failed = _saved(files, memory, builder, events)
    drafted = [one.page.slug for one in changes if one.is_draft]
    written = [one.page.slug for one in changes if not one.is_draft]
    finish(parts, files, summary(what, written, drafted, removed) if changes or removed else "")
    for key, choice in choices.fresh.items():
        memory.keep_choice(key, choice)
    made = [page.made for page in (*files.pages().values(), *files.drafts().values())]
    memory.keep_only(made=made, keys=builder.entries())
    if not waiting:
        notes_of(parts).keep_only(source.content for source in sources)
    return WikiReport(
        pages=tuple(one.planned() for one in changes),
        removed=removed,
        calls=asked.calls,
        tokens=asked.tokens,
        dropped=asked.dropped,
        failed=(*asked.failed, *failed),
        waiting=tuple(asked.waiting),
    )


def _saved(
    files: WikiFolder, memory: PageMemory, builder: WikiBuilder, events: EventSink
) -> tuple[list[Change], tuple[str, ...], list[tuple[str, str]]]:
    """Write and retire pages; return what was written, what was retired, and what could not be, with its reason.

    One page that cannot be written (its file is open elsewhere, or there is a folder of its name) costs no other one.

    Raises:
        WikiError: If nothing at all can be written.
    """
    written: list[Change] = []
    removed: list[str] = []
    failed: list[tuple[str, str]] = []
    changes, first = builder.changes(), None
    for done, change in enumerate(changes):
        events(Progress(phase="writing pages", done=done, total=len(changes), unit="pages"))
        try:
            memory.keep_base(change.made)
            if change.is_draft:
                files.write_draft(change.page.slug, change.text)
            else:
                files.write(change.page.kind, change.page.slug, change.text)
        except WikiError as error:
            first = first or error
            failed.append((change.page.slug, error.message))
        else:
            written.append(change)
    if first is not None and not written:
        raise first
    for slugs, away, done_with in (
        (builder.outdated(), files.remove_draft, []),
        (builder.removed(), files.archive, removed),
    ):
        for slug in slugs:
            try:
                away(slug)
            except WikiError as error:
                failed.append((slug, error.message))
            else:
                done_with.append(slug)
    return written, tuple(removed), failed


def finish(parts: Parts, files: WikiFolder, what: str) -> None:
    """Bring the list of pages and what searches see of them up to date; log what was done, if anything."""
    if what or files.has_index:
        files.write_index()
    if what:
        files.log(parts.clock.now().astimezone(UTC).isoformat(timespec="seconds"), what)
    index_pages(parts)
