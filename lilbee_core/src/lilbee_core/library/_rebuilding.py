"""`rebuild`: the index anew, whatever it was built with, also when it cannot be read any more."""

from __future__ import annotations

from dataclasses import replace

from lilbee_core.errors import SourceUnavailable, StoreError
from lilbee_core.ingest import Ingestor, SyncOptions
from lilbee_core.library import _rebuild as spill
from lilbee_core.library._graphing import prepare_graph
from lilbee_core.library._identity import expected_meta
from lilbee_core.library._parts import Parts
from lilbee_core.protocols import CancelToken
from lilbee_core.types import IndexMeta, SyncReport


def rebuild(parts: Parts, ingestor: Ingestor, cancel: CancelToken) -> SyncReport:
    """Read every file again. The old index goes only after every folder proved readable.

    With the same embedder and cut the index is renewed in place and stays searchable; otherwise, or if it is
    damaged, it is emptied first, and what came from memory is set aside in a file until it is back.
    """
    roots = parts.roots()
    for root in roots:
        if not root.folder.is_dir():
            raise SourceUnavailable(
                f"{root.folder} (collection {root.collection}) is not available, so the index is kept as it is",
                hint="Bring the folder back, or remove the collection first.",
            )
    meta, lost = _usable_meta(parts), None
    expected = expected_meta(parts, meta or parts.known_meta())
    if meta is None or not _alike(meta, expected):
        lost = spill.set_aside(parts)
        parts.store.reset()
        parts.store.set_meta(expected)
        prepare_graph(parts, cancel)
    elif meta.analyzer != expected.analyzer:
        parts.store.set_meta(expected)
    report = ingestor.sync(roots, cancel, SyncOptions(force=True))
    resume(parts, ingestor, cancel)
    return replace(report, warnings=(*report.warnings, lost)) if lost else report


def resume(parts: Parts, ingestor: Ingestor, cancel: CancelToken) -> None:
    """Bring back what a rebuild set aside, also when that rebuild was killed."""
    if not spill.pending(parts):
        return
    report = ingestor.add_documents(spill.documents(parts), cancel)
    if not report.cancelled:
        spill.done(parts)


def _usable_meta(parts: Parts) -> IndexMeta | None:
    """Return what built the index, None where something is wrong with it."""
    try:
        parts.store.sweep()
        return None if parts.store.check() else parts.store.meta()
    except StoreError:
        return None


def _alike(meta: IndexMeta, expected: IndexMeta) -> bool:
    return replace(meta, lilbee_version="", analyzer="") == replace(expected, lilbee_version="", analyzer="")
