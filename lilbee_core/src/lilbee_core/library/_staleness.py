"""Whether the files of hits have changed since they were indexed."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lilbee_core.ingest import unescaped
from lilbee_core.library._parts import Parts
from lilbee_core.types import MEMORY, DocumentId, FileStamp

_REMEMBERED = 10_000
_NOWHERE: tuple[str, FileStamp | None] = ("", None)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the ledger says of a file, and where it lies."""

    file: str
    size: int
    mtime_ns: int

    @property
    def changed(self) -> bool:
        try:
            info = os.stat(self.file)
        except OSError:
            return True
        return info.st_size != self.size or info.st_mtime_ns != self.mtime_ns


class Staleness:
    """Names the documents whose file differs from what the ledger knows. Threads may share it.

    One stat per document and search; rows of the ledger are read once per version of the index.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._folders = {root.collection: root.folder for root in parts.roots()}
        self._lock = threading.Lock()
        self._version = -1
        self._known: dict[DocumentId, _Known | None] = {}

    def __call__(self, documents: Sequence[DocumentId]) -> frozenset[DocumentId]:
        known = self._read(documents)
        return frozenset(one for one in documents if (file := known.get(one)) is not None and file.changed)

    def _read(self, documents: Sequence[DocumentId]) -> Mapping[DocumentId, _Known | None]:
        version = self._parts.store.version
        with self._lock:
            if version != self._version or len(self._known) > _REMEMBERED:
                self._version, self._known = version, {}
            known = self._known
        missing = [one for one in documents if one not in known]
        if missing:
            stamps = self._parts.store.stamps_of(missing)
            known.update({one: self._of(*stamps.get(one, _NOWHERE)) for one in missing})
        return known

    def _of(self, collection: str, stamp: FileStamp | None) -> _Known | None:
        folder = self._folders.get(collection) if stamp is not None and stamp.extractor != MEMORY else None
        if stamp is None or folder is None:
            return None
        name = unescaped(stamp.raw_path) if stamp.raw_path else stamp.path
        return _Known(os.path.join(folder, name), stamp.size, stamp.mtime_ns)
