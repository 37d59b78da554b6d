"""Whether the files of hits have changed since they were indexed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lilbee_core.ingest import unescaped
from lilbee_core.library._parts import Parts
from lilbee_core.types import MEMORY, Chunk, ChunkId, DocumentId, FileStamp

_REMEMBERED = 10_000
_NOWHERE: tuple[str, FileStamp | None] = ("", None)


@dataclass(frozen=True, slots=True)
class _File:
    """What the ledger says of a file, and where it lies."""

    name: str
    size: int
    mtime_ns: int

    @property
    def changed(self) -> bool:
        try:
            info = os.stat(self.name)
        except OSError:
            return True
        return info.st_size != self.size or info.st_mtime_ns != self.mtime_ns


@dataclass(frozen=True, slots=True)
class _Known:
    """What was found out about a document in one version of the index, and which of its chunks were seen there.

    A chunk's id names its text and its place, so a chunk that was seen stands in the file for as long as the file is as
    it was then, whatever became of the index since.
    """

    version: int
    file: _File | None
    chunks: frozenset[ChunkId]

    @property
    def changed(self) -> bool:
        return self.file is not None and self.file.changed

    def holds_for(self, chunks: frozenset[ChunkId], version: int, *, changed: bool) -> bool:
        return version == self.version or (not changed and chunks <= self.chunks)


class Staleness:
    """Names the documents whose file differs from what the ledger knows. Threads may share it.

    One stat per document and search. Rows of the ledger are read again when the index has changed and a hit is new, or
    its file is not what it was.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._folders = {root.collection: root.folder for root in parts.roots()}
        self._lock = threading.Lock()
        self._known: dict[DocumentId, _Known] = {}

    def __call__(self, chunks: Sequence[Chunk]) -> frozenset[DocumentId]:
        """Return the documents of these chunks whose file has changed."""
        version = self._parts.store.version
        stale: set[DocumentId] = set()
        asked = _by_document(chunks)
        unknown: dict[DocumentId, frozenset[ChunkId]] = {}
        for document, ids in asked.items():
            known = self._known.get(document)
            changed = known is not None and known.changed
            if known is None or not known.holds_for(ids, version, changed=changed):
                unknown[document] = ids
            elif changed:
                stale.add(document)
            if known is not None and known.version == version and not ids <= known.chunks:
                self._keep({document: _Known(version, known.file, known.chunks | ids)})
        fresh = self._read(unknown, version)
        self._keep(fresh)
        stale.update(document for document, known in fresh.items() if known.changed)
        return frozenset(stale)

    def _read(self, asked: Mapping[DocumentId, frozenset[ChunkId]], version: int) -> dict[DocumentId, _Known]:
        if not asked:
            return {}
        stamps = self._parts.store.stamps_of(list(asked))
        return {
            document: _Known(version, self._file(*stamps.get(document, _NOWHERE)), ids)
            for document, ids in asked.items()
        }

    def _keep(self, known: Mapping[DocumentId, _Known]) -> None:
        with self._lock:
            if len(self._known) + len(known) > _REMEMBERED:
                self._known = {}
            self._known.update(known)

    def _file(self, collection: str, stamp: FileStamp | None) -> _File | None:
        folder = self._folders.get(collection) if stamp is not None and stamp.extractor != MEMORY else None
        if stamp is None or folder is None:
            return None
        name = unescaped(stamp.raw_path) if stamp.raw_path else stamp.path
        return _File(os.path.join(folder, name), stamp.size, stamp.mtime_ns)


def _by_document(chunks: Iterable[Chunk]) -> dict[DocumentId, frozenset[ChunkId]]:
    ids: dict[DocumentId, set[ChunkId]] = {}
    for chunk in chunks:
        ids.setdefault(chunk.document_id, set()).add(chunk.id)
    return {document: frozenset(found) for document, found in ids.items()}
