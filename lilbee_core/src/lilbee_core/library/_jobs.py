"""The kinds of jobs that a library runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from lilbee_core.events import EventSink
from lilbee_core.jobs import Jobs
from lilbee_core.library._crawling import CrawlRequest, run_add_all, run_crawl
from lilbee_core.library._parts import Parts
from lilbee_core.library._syncing import SyncRequest, run_rebuild, run_sync
from lilbee_core.library._watching import WATCH, run_watch
from lilbee_core.protocols import CancelToken

PULL = "pull"
"""Fetching a model: it writes no index, so nothing has to wait for it."""


def build_jobs(parts: Parts) -> Jobs:
    """Return the jobs of a library; its state remembers them."""
    kinds = {
        "sync": partial(_sync, parts),
        "add": partial(_add, parts),
        "crawl": partial(_crawl, parts),
        PULL: partial(_pull, parts),
        "rebuild": partial(_rebuild, parts),
        "wiki": partial(_wiki, parts),
        "embed_anew": partial(_embed_anew, parts),
        WATCH: partial(_watch, parts),
    }
    return Jobs(kinds, parts.state, parts.clock, beside={WATCH, PULL}, prepare=parts.home.prepare)


def _sync(
    parts: Parts,
    cancel: CancelToken,
    events: EventSink,
    *,
    prune: bool = False,
    retry: bool = False,
    collections: Sequence[str] = (),
) -> Mapping[str, object]:
    request = SyncRequest(prune=prune, retry=retry, collections=tuple(collections))
    return run_sync(parts, request, cancel, events).to_dict()


def _add(parts: Parts, cancel: CancelToken, events: EventSink, *, paths: Sequence[str]) -> Mapping[str, object]:
    return run_add_all(parts, paths, cancel, events).to_dict()


def _crawl(
    parts: Parts,
    cancel: CancelToken,
    events: EventSink,
    *,
    urls: Sequence[str],
    depth: int | None = None,
    pages: int | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    other_sites: bool = False,
    render: str | None = None,
    resume: bool = True,
) -> Mapping[str, object]:
    request = CrawlRequest(
        urls=urls,
        depth=depth,
        pages=pages,
        include=include,
        exclude=exclude,
        other_sites=other_sites,
        render=render,
        resume=resume,
    )
    return run_crawl(parts, request, cancel, events).to_dict()


def _pull(parts: Parts, cancel: CancelToken, events: EventSink, *, model: str) -> Mapping[str, object]:
    from lilbee_core.library._catalog import pull

    return pull(parts, model, cancel, events).to_dict()


def _rebuild(parts: Parts, cancel: CancelToken, events: EventSink) -> Mapping[str, object]:
    return run_rebuild(parts, cancel, events).to_dict()


def _watch(
    parts: Parts, cancel: CancelToken, events: EventSink, *, collections: Sequence[str] = ()
) -> Mapping[str, object]:
    return run_watch(parts, collections, cancel, events).to_dict()


def _wiki(
    parts: Parts,
    cancel: CancelToken,
    events: EventSink,
    *,
    topics: bool = False,
    retry: bool = False,
    most_calls: int | None = None,
) -> Mapping[str, object]:
    from lilbee_core.library._wiki_asking import BuildRequest
    from lilbee_core.library._wiki_building import run_build, run_synthesize

    run = run_synthesize if topics else run_build
    return run(parts, BuildRequest(retry=retry, most_calls=most_calls), cancel, events).to_dict()


def _embed_anew(parts: Parts, cancel: CancelToken, events: EventSink, *, model: str) -> Mapping[str, object]:
    from lilbee_core.library._reembedding import embed_anew

    return embed_anew(parts, model, cancel, events).to_dict()
