"""What the cosines of this library mean, fitted at the end of a sync and kept in its state."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lilbee_core.errors import LilbeeError, StoreError
from lilbee_core.library._parts import Parts

if TYPE_CHECKING:
    from lilbee_core.protocols import EmbedderLike
    from lilbee_core.search import Calibration

log = logging.getLogger(__name__)

_KIND = "calibration"


def calibrate_if_due(parts: Parts) -> None:
    """Fit what cosines mean where that is not known, or the library has doubled or halved since.

    Never fails: a search without it judges by words.
    """
    if parts.embedder is None:
        return
    try:
        _calibrate(parts, parts.embedder)
    except LilbeeError as error:
        log.warning("what cosines mean in this library stays unknown: %s", error)


def _calibrate(parts: Parts, embedder: EmbedderLike) -> None:
    from lilbee_core.search import MEASURED, calibrate

    store = parts.store
    meta = store.meta()
    if meta is None or meta.fingerprint is None or embedder.model in MEASURED:
        return
    size = store.count().bit_length()
    known = parts.state.load(_KIND, meta.fingerprint)
    if known is not None and known.get("size") == size:
        return
    found = calibrate(store, embedder)
    values: Mapping[str, object] = found.to_dict() if found is not None else {}
    parts.state.save(_KIND, meta.fingerprint, {"size": size, **values})


class KnownCalibration:
    """Returns what was fitted last; once known, it is read once per version of the index. Threads may share it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._read: tuple[int, Calibration | None] | None = None

    def __call__(self) -> Calibration | None:
        from lilbee_core.search import Calibration

        version = self._parts.store.version
        read = self._read
        if read is None or read[0] != version or read[1] is None:
            meta = self._parts.meta()
            fingerprint = meta.fingerprint if meta is not None else None
            stored = self._stored(fingerprint) if fingerprint else None
            read = self._read = (version, Calibration.from_dict(stored) if stored else None)
        return read[1]

    def _stored(self, fingerprint: str) -> Mapping[str, object] | None:
        """Return what was fitted; a state that cannot be read is no reason not to search."""
        try:
            return self._parts.state.load(_KIND, fingerprint)
        except StoreError as error:
            log.warning("searches are not calibrated: %s", error.message)
            return None
