"""`rebuild`: the index anew, whatever it was built with."""

from __future__ import annotations

from dataclasses import replace

from lilbee_core.errors import SourceUnavailable
from lilbee_core.ingest import SyncOptions
from lilbee_core.library import _rebuild as spill
from lilbee_core.library._parts import Parts
from lilbee_core.protocols import CancelToken
from lilbee_core.types import SyncReport


def rebuild(parts: Parts, cancel: CancelToken) -> SyncReport:
    """Read every file again. The old index goes only after every folder proved readable.

    With the same embedder and cut the index is renewed in place and stays searchable; otherwise it is
    emptied first, and what came from memory is set aside in a file until it is back.
    """
    roots = parts.home.roots(parts.settings)
    for root in roots:
        if not root.folder.is_dir():
            raise SourceUnavailable(
                f"{root.folder} (collection {root.collection}) is not available, so the index is kept as it is",
                hint="Bring the folder back, or remove the collection first.",
            )
    meta = parts.store.meta()
    expected = parts.expected_meta(meta)
    with parts.store.writing():
        same = meta is not None and replace(meta, lilbee_version="", analyzer="") == replace(
            expected, lilbee_version="", analyzer=""
        )
        if not same:
            spill.set_aside(parts)
            parts.store.reset()
            parts.store.set_meta(expected)
        elif meta is not None and meta.analyzer != expected.analyzer:
            parts.store.set_meta(expected)
        report = parts.ingestor.sync(roots, cancel, SyncOptions(force=True))
        resume(parts)
        return report


def resume(parts: Parts) -> None:
    """Bring back what a rebuild set aside, also when that rebuild was killed."""
    if spill.pending(parts):
        from lilbee_core.library._clock import CancelSwitch

        parts.ingestor.add_documents(spill.bring_back(parts), CancelSwitch())
        spill.done(parts)
