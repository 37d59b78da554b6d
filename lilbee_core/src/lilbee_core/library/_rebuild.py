"""Builds the index anew. Documents that came from memory are kept aside meanwhile, so a kill loses nothing."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lilbee_core.errors import StoreError
from lilbee_core.library._parts import Parts
from lilbee_core.library._unfinished import vectors_warning
from lilbee_core.protocols import StoreLike
from lilbee_core.types import MEMORY, WIKI, Box, Document, DocumentRow, Heading, Metadata, Segment, Span

_SPILL = "rebuild.jsonl"


def set_aside(parts: Parts) -> str | None:
    """Write what cannot be read again from disk, the documents from memory, to a file.

    Returns what could not be saved from a damaged index, as a sentence.

    Raises:
        StoreError: If it cannot be written; nothing was deleted then.
    """
    target = _spill(parts)
    if target.exists():
        return None
    part = target.with_suffix(".part")
    saved = _Saved()
    try:
        with part.open("w", encoding="utf-8") as out:
            for entry in _entries(parts.store, saved):
                out.write(json.dumps(entry, ensure_ascii=True) + "\n")
            out.flush()
            os.fsync(out.fileno())
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StoreError(
            f"the documents from memory could not be set aside in {target}: {error.strerror or error}",
            hint="Free some disk space and run `lilbee rebuild` again; nothing was deleted.",
            code="store.full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "store.failed",
        ) from error
    return saved.loss


def documents(parts: Parts) -> Iterator[Document]:
    """Yield the documents that were set aside."""
    for entry in _read(_spill(parts)):
        yield _document(entry["document"])


def pending(parts: Parts) -> bool:
    """Whether a rebuild was interrupted and documents still wait to come back."""
    return (_spill(parts)).exists()


def index_warnings(parts: Parts) -> tuple[str, ...]:
    """Return what keeps the index from answering as it should, with the command that mends it."""
    warnings = parts.store.warnings()
    renewed = vectors_warning(parts)
    if renewed is not None:
        return (*warnings, renewed)
    if warnings or not pending(parts):
        return warnings
    return ("a rebuild of the index is not finished, so documents may be missing; run `lilbee sync` to go on",)


def done(parts: Parts) -> None:
    """Delete what was set aside."""
    (_spill(parts)).unlink(missing_ok=True)


def _spill(parts: Parts) -> Path:
    return parts.home.data_dir / _SPILL


@dataclass(slots=True)
class _Saved:
    """What could not be read of a damaged index."""

    ledger: bool = False
    texts: int = 0

    @property
    def loss(self) -> str | None:
        if self.ledger:
            return "the old index could not be read: documents from memory must be given again"
        return f"{self.texts} document(s) from memory could not be read from the old index" if self.texts else None


def _entries(store: StoreLike, saved: _Saved) -> Iterator[dict[str, object]]:
    try:
        rows = list(store.rows())
    except StoreError:
        saved.ledger = True
        return
    for row in rows:
        if row.extractor == MEMORY and row.holds_chunks and row.collection != WIKI:
            entry = _of_memory(store, row)
            saved.texts += entry is None
            if entry is not None:
                yield entry


def _of_memory(store: StoreLike, row: DocumentRow) -> dict[str, object] | None:
    try:
        text = store.text(row.id)
    except StoreError:
        text = None
    if text is None:
        return None
    document = Document(
        path=row.path,
        text=text.text,
        collection=row.collection,
        media_type=row.media_type,
        title=row.title,
        language=row.language,
        date=row.date,
        metadata=row.metadata,
        has_lines=text.has_lines,
        line_map=text.line_map,
        body_start=text.body_start,
        segments=text.segments,
        headings=text.headings,
    )
    return {"document": {**asdict(document), "metadata": row.metadata.to_dict()}}


def _read(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _document(raw: Mapping[str, Any]) -> Document:
    values = dict(raw)
    values["metadata"] = Metadata(values["metadata"])
    values["segments"] = tuple(_segment(one) for one in values["segments"])
    values["headings"] = tuple(Heading(**one) for one in values["headings"])
    values["line_map"] = tuple(values["line_map"]) if values["line_map"] is not None else None
    values["symbols"] = values["tables"] = values["scans"] = ()
    values["line_ends"] = None
    values["warnings"] = tuple(values["warnings"])
    values["pages_without_text"] = tuple(values.get("pages_without_text", ()))
    return Document(**values)


def _segment(raw: Mapping[str, Any]) -> Segment:
    values = dict(raw)
    values["span"] = Span(**values["span"])
    values["boxes"] = tuple(Box(**box) for box in values["boxes"])
    return Segment(**values)
