"""The writing verbs: check the library, hold the writer lock, do the work, each from its parts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lilbee_core.errors import EncryptedDocument, NotFound, StoreError
from lilbee_core.events import EventSink
from lilbee_core.ingest import Ingestor, SyncOptions, explain
from lilbee_core.library import _unfinished as unfinished
from lilbee_core.library._adding import register
from lilbee_core.library._calibrating import calibrate_if_due
from lilbee_core.library._collections import Collections
from lilbee_core.library._graphing import count_graph, prepare_graph
from lilbee_core.library._identity import check_chunking, check_embedder, expected_meta
from lilbee_core.library._parts import Parts
from lilbee_core.library._rebuilding import rebuild, resume
from lilbee_core.library._texts import below, find, folders_of, require
from lilbee_core.library._waiting import reading_embedder
from lilbee_core.library._wiki_syncing import refresh_pages, with_wiki
from lilbee_core.protocols import CancelToken
from lilbee_core.types import Document, DocumentRow, DocumentState, SyncReport

_NOTED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncRequest:
    """What a sync is asked for."""

    prune: bool = False
    dry_run: bool = False
    retry: bool = False
    collections: Sequence[str] = ()
    wanted: Sequence[str] = ()


def run_sync(parts: Parts, request: SyncRequest, cancel: CancelToken, events: EventSink | None = None) -> SyncReport:
    """Make the index equal to the folders."""
    roots = parts.roots()
    if request.collections:
        known = {root.collection for root in roots}
        for name in request.collections:
            if name not in known:
                raise NotFound(f"there is no collection {name!r}", hint="Run `lilbee collection list`.")
        roots = [root for root in roots if root.collection in request.collections]
    options = SyncOptions(
        prune=request.prune,
        dry_run=request.dry_run,
        retry_failed=request.retry,
        # A password that was not there when a file was refused may open it now.
        retry_codes=frozenset({EncryptedDocument.default_code} if parts.settings.ingest.extract_password else ()),
        wanted=request.wanted,
    )
    if request.dry_run:
        return ingestor(parts, events).sync(roots, cancel, options)
    parts.home.prepare()
    with parts.store.writing(cancel=cancel):
        lost = _lost(parts)
        ready_to_write(parts, cancel)
        report = finished(parts, ingestor(parts, events).sync(roots, cancel, options))
    report = replace(report, warnings=(*report.warnings, *lost))
    return with_wiki(parts, report, cancel, events)


def run_add(
    parts: Parts, paths: Sequence[str | Path], cancel: CancelToken, events: EventSink | None = None
) -> SyncReport:
    """Make paths part of the library and index them."""
    parts.home.prepare()
    with parts.store.writing(cancel=cancel):
        ready_to_write(parts, cancel)
        added = register(parts, Collections(parts), paths)
        wanted = [os.path.realpath(Path(path).expanduser()) for path in paths]
        request = SyncRequest(collections=added.collections, wanted=wanted)
        report = run_sync(parts, request, cancel, events)
        notes = [note for path in paths[:_NOTED] if (note := _why_not(parts, Path(path)))]
        return replace(report, warnings=(*report.warnings, *notes))


def run_add_documents(
    parts: Parts, documents: Iterable[Document], cancel: CancelToken, events: EventSink | None = None
) -> SyncReport:
    """Index documents from memory."""
    parts.home.prepare()
    with parts.store.writing(cancel=cancel):
        ready_to_write(parts, cancel)
        return finished(parts, ingestor(parts, events).add_documents(documents, cancel))


def run_rebuild(parts: Parts, cancel: CancelToken, events: EventSink | None = None) -> SyncReport:
    """Build the index anew."""
    parts.home.prepare()
    with parts.store.writing(cancel=cancel):
        parts.remember_own_name()
        report = rebuild(parts, ingestor(parts, events), cancel)
        prepare_graph(parts, cancel)
        return finished(parts, report)


def _lost(parts: Parts) -> tuple[str, ...]:
    """Say that the index was lost, which the sync is about to build again."""
    try:
        parts.store.require_index()
    except StoreError as error:
        return (f"{error.message}, so every file is read again; documents from memory have to be given again",)
    return ()


def run_remove(parts: Parts, refs: Sequence[str]) -> tuple[str, ...]:
    """Take documents out of the index and remember that they are unwanted; return what they are called."""
    store = parts.store
    store.require_index()
    rows: dict[str, DocumentRow] = {}
    folders: set[tuple[str, str]] = set()
    for ref in refs:
        exact = [] if ref.endswith("/") else find(store, ref)
        found = [require(store, ref)] if exact else below(store, ref)
        if not found:
            raise NotFound(f"there is no document {ref!r}", hint="Run `lilbee documents` to see all documents.")
        rows |= {row.id: row for row in found if row.state is not DocumentState.EXCLUDED}
        folders |= set() if exact else folders_of(ref, found)
    parts.home.prepare()
    with store.writing():
        parts.ingestor.exclude(list(rows.values()), folders)
        count_graph(parts)
    return tuple(row.ref for row in rows.values())


def finished(parts: Parts, report: SyncReport) -> SyncReport:
    """Return the report of a sync; unless that was stopped, what depends on all documents is brought up to date."""
    if not report.owed:
        unfinished.finish(parts)
    if not report.cancelled:
        calibrate_if_due(parts)
        count_graph(parts)
        refresh_pages(parts)
    return report


def ready_to_write(parts: Parts, cancel: CancelToken) -> None:
    """Check that this library may be written with these settings, and say in it what builds it.

    Called under the writer lock: what another process wrote before is seen.

    Raises:
        EmbedderMismatch: If another embedder built the index.
        SettingsError: If it was cut with other sizes.
    """
    store = parts.store
    parts.remember_own_name()
    meta = store.meta()
    check_embedder(reading_embedder(parts), meta)
    check_chunking(parts, meta)
    expected = expected_meta(parts, meta)
    if meta is None:
        store.set_meta(expected)
        store.sweep()  # brings back what was excluded in an index that is lost
        prepare_graph(parts, cancel)
        resume(parts, parts.ingestor, cancel)
        return
    if meta.analyzer != expected.analyzer:
        parts.ingestor.reanalyze()
        meta = replace(meta, analyzer=expected.analyzer)
        store.set_meta(meta)
    if meta.fingerprint is None and expected.fingerprint is not None:
        # Words only so far: the vectors are owed, and the sync pays them.
        store.set_meta(expected)
    prepare_graph(parts, cancel)
    resume(parts, parts.ingestor, cancel)


def ingestor(parts: Parts, events: EventSink | None) -> Ingestor:
    """Return the ingestor, one that also reports to `events` if given."""
    return parts.ingestor if events is None else parts.ingestor.reporting_to(parts.events, events)


def _why_not(parts: Parts, path: Path) -> str | None:
    """Return why a path that was added by name is not indexed."""
    absolute = Path(os.path.abspath(path.expanduser()))
    if absolute.is_dir():
        return None
    try:
        report = explain(absolute, parts.roots(), parts.store, parts.walk_options)
    except StoreError:
        return None
    return f"{report.path}: {report.reason}" if report.code == "ignored" else None
