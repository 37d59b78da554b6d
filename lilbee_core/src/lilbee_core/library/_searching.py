"""Searching and asking: settings and parts to a searcher and an answerer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from lilbee_core.errors import EmbedderMismatch, ExtraMissing, LilbeeError
from lilbee_core.library._calibrating import KnownCalibration
from lilbee_core.library._graphing import SearchGraph, is_mapped
from lilbee_core.library._identity import EMBEDDER_UNKNOWN, check_embedder
from lilbee_core.library._named_profiles import named_profiles, search_options
from lilbee_core.library._narrowing import check_collections, collection_names, type_warnings
from lilbee_core.library._parts import Parts
from lilbee_core.library._plugin_stages import with_plugins
from lilbee_core.library._prompting import prompts_of
from lilbee_core.library._rebuild import index_warnings
from lilbee_core.library._staleness import Staleness
from lilbee_core.library._waiting import (
    answer_chat,
    embedder_if_usable,
    query_chat,
    query_embedder,
    query_reranker,
)
from lilbee_core.library._web_hits import with_urls
from lilbee_core.types import Answer, Delta, DocumentRow, DocumentTrace, Query, SearchResult

if TYPE_CHECKING:
    from lilbee_core.chat import WindowedChat
    from lilbee_core.protocols import Answerer
    from lilbee_core.search import ProfileSearcher

_WORDS_ONLY = frozenset({"keyword"})
_MEANING_ONLY = frozenset({"semantic", "hyde"})


def run_search(parts: Parts, query: Query) -> SearchResult:
    """Run a query through the profile that it names."""
    check_collections(parts, query.filters.collections)
    searcher, lacking = _searcher(parts, query)
    result = with_urls(parts, searcher.search(query))
    warnings = (*lacking, *index_warnings(parts), *type_warnings(parts, result))
    if not warnings and not result.hits and not parts.store.version:
        warnings = ("nothing is indexed here yet; run `lilbee sync`",)
    return replace(result, warnings=(*warnings, *result.warnings)) if warnings else result


def trace_in_search(parts: Parts, query: Query, row: DocumentRow) -> DocumentTrace:
    """Say what becomes of a document in a search."""
    from lilbee_core.search import split_mode, trace_document

    check_collections(parts, query.filters.collections)
    searcher = searcher_for(parts, query)
    mode, words = split_mode(query.text)
    profile = mode or query.profile
    asked = replace(query, text=words, profile=profile)
    return trace_document(searcher.searcher(profile).stages, asked, row, parts.store, clock=parts.clock)


def search_for_answer(parts: Parts, query: Query) -> SearchResult:
    """Run a query, and choose the hits that speak of all that was asked."""
    return _selected(parts, run_search(parts, query))


def run_ask(parts: Parts, query: Query) -> Answer:
    """Search, then answer from the hits that speak of all that was asked."""
    started = parts.clock.monotonic()
    result = search_for_answer(parts, query)
    answer = answerer_for(parts).answer(query.text, result)
    return replace(answer, seconds=parts.clock.monotonic() - started)


def run_ask_stream(parts: Parts, query: Query) -> Iterator[Delta]:
    """Search, then answer piece by piece. The search runs when the first piece is asked for."""
    started = parts.clock.monotonic()
    result = search_for_answer(parts, query)
    for delta in answerer_for(parts).stream(query.text, result):
        if delta.answer is None:
            yield delta
        else:
            yield replace(delta, answer=replace(delta.answer, seconds=parts.clock.monotonic() - started))


def _selected(parts: Parts, result: SearchResult) -> SearchResult:
    from lilbee_core.search import select_for_answer

    most = parts.settings.answer.max_context_sources
    return select_for_answer(result, reader=parts.store, analyzer=parts.analyzer, most=most, clock=parts.clock)


def searcher_for(parts: Parts, query: Query) -> ProfileSearcher:
    """Return the searcher; one that needs no vectors is built without an embedder.

    Raises:
        EmbedderMismatch: If the query needs vectors and another embedder made those of the index.
    """
    return _searcher(parts, query)[0]


def _searcher(parts: Parts, query: Query) -> tuple[ProfileSearcher, tuple[str, ...]]:
    """Return the searcher, and what is to be told where it has to do without the embedder that the settings name."""
    from lilbee_core.search import split_mode

    mode, _ = split_mode(query.text)
    profile, warnings = mode or query.profile, tuple[str, ...]()
    if profile not in _WORDS_ONLY:
        _warm(parts)
        trouble = _trouble(parts)
        if trouble is None:
            return parts.once("searcher", partial(_build, parts, with_vectors=True)), ()
        if profile in _MEANING_ONLY:
            raise trouble
        hint = f" {trouble.hint}" if trouble.hint else ""
        warnings = (f"Searched by words alone, since the embedding model cannot be used: {trouble.message}.{hint}",)
    return parts.once("searcher.words", partial(_build, parts, with_vectors=False)), warnings


def _trouble(parts: Parts) -> LilbeeError | None:
    """Return why the embedder that the settings name cannot be used at all, if so.

    Raises:
        EmbedderMismatch: If it is known to be another one than that of the index.
    """
    embedder, trouble = embedder_if_usable(parts)
    if trouble is not None:
        return trouble
    try:
        check_embedder(embedder, parts.meta())
    except ExtraMissing as error:
        return error
    except EmbedderMismatch as error:
        if error.code != EMBEDDER_UNKNOWN:
            raise
        return error
    return None


def _warm(parts: Parts) -> None:
    """Load the embedder while the store's library loads: together they are most of a cold search."""
    if parts.has("store") or parts.has("embedder"):
        return
    parts.settings  # noqa: B018 - errors in settings belong to the caller's thread
    thread = threading.Thread(target=_quietly, args=(partial(_open_store, parts),), daemon=True)
    thread.start()
    _quietly(lambda: parts.embedder)
    thread.join()


def _open_store(parts: Parts) -> None:
    parts.store.meta()


def _quietly(load: Callable[[], object]) -> None:
    try:
        load()
    except LilbeeError:
        # The same call is made again where its error can be raised.
        return


def _build(parts: Parts, *, with_vectors: bool) -> ProfileSearcher:
    from lilbee_core.search import PROFILES, ProfileSearcher, SearchParts, ThreadExecutor

    options = parts.settings.search
    search_parts = SearchParts(
        reader=parts.store,
        analyzer=parts.analyzer,
        embedder=query_embedder(parts) if with_vectors else None,
        reranker=query_reranker(parts) if with_vectors else None,
        graph=SearchGraph(parts) if is_mapped(parts) else None,
        chat=lambda: query_chat(parts),
        stale_among=Staleness(parts),
        collections=lambda: collection_names(parts),
        calibration=KnownCalibration(parts),
        options=search_options(options),
    )
    lists = {**PROFILES, **named_profiles(parts.settings)}
    profiles = {name: partial(with_plugins, parts, profile) for name, profile in lists.items()}
    executor = parts.once("search_threads", lambda: parts.owned(ThreadExecutor()))
    return ProfileSearcher(search_parts, profiles=profiles, clock=parts.clock, executor=executor)


def answering_chat(parts: Parts) -> WindowedChat | None:
    """Return the chat model that answers, asked no more than it reads; None if there is none."""
    chat = answer_chat(parts)
    return None if chat is None else parts.windowed(chat)


def answerer_for(parts: Parts, *, usage: bool = False) -> Answerer:
    """Return what answers: the chat model, asked for the tokens where `usage` is wanted, or sentences of documents."""
    from lilbee_core.answer import ExtractiveAnswerer, GeneratedAnswerer
    from lilbee_core.library._wiki_through import ThroughWiki

    chat = answering_chat(parts)
    if chat is None:
        embedder, _ = embedder_if_usable(parts)
        kept_as = "answerer" if embedder is not None else "answerer.words"
        return ThroughWiki(parts.once(kept_as, lambda: ExtractiveAnswerer(parts.analyzer, embedder=embedder)), parts)
    options = parts.settings.answer
    answerer = GeneratedAnswerer(
        chat,
        model=parts.chat_model,
        wording=prompts_of(parts).text,
        show_reasoning=options.show_reasoning,
        usage=usage,
        max_context_sources=options.max_context_sources,
        max_tokens=options.answer_max_tokens,
        context_tokens=chat.window().context_tokens,
        embedder=embedder_if_usable(parts)[0],
    )
    return ThroughWiki(answerer, parts)
