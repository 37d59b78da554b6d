"""Builds the index anew. Documents that came from memory are kept aside meanwhile, so a kill loses nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lilbee_core.library._parts import Parts
from lilbee_core.protocols import StoreLike
from lilbee_core.types import Box, Document, DocumentRow, DocumentState, Heading, Metadata, Segment, Span

_SPILL = "rebuild.jsonl"


def set_aside(parts: Parts) -> None:
    """Write what cannot be read again from disk (documents from memory, exclusions) to a file."""
    target = _spill(parts)
    if target.exists():
        return
    part = target.with_suffix(".part")
    with part.open("w", encoding="utf-8", errors="surrogatepass") as out:
        for entry in _entries(parts.store):
            out.write(json.dumps(entry, ensure_ascii=True) + "\n")
        out.flush()
        os.fsync(out.fileno())
    part.replace(target)


def bring_back(parts: Parts) -> Iterator[Document]:
    """Record the exclusions and yield the documents that were set aside."""
    excluded = [_excluded(entry["row"]) for entry in _read(_spill(parts)) if entry["kind"] == "excluded"]
    if excluded:
        with parts.store.writing():
            parts.store.record(excluded)
    for entry in _read(_spill(parts)):
        if entry["kind"] == "document":
            yield _document(entry["document"])


def pending(parts: Parts) -> bool:
    """Whether a rebuild was interrupted and documents still wait to come back."""
    return (_spill(parts)).exists()


def done(parts: Parts) -> None:
    """Delete what was set aside."""
    (_spill(parts)).unlink(missing_ok=True)


def _spill(parts: Parts) -> Path:
    return parts.home.data_dir / _SPILL


def _excluded(raw: Any) -> DocumentRow:
    return DocumentRow(**{**raw, "state": DocumentState.EXCLUDED, "metadata": Metadata(), "warnings": ()})


def _entries(store: StoreLike) -> Iterator[dict[str, object]]:
    for row in store.rows():
        if row.state is DocumentState.EXCLUDED:
            plain = {**asdict(row), "metadata": {}, "warnings": []}
            yield {"kind": "excluded", "row": plain}
        elif row.extractor == "memory" and (text := store.text(row.id)) is not None:
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
            yield {"kind": "document", "document": {**asdict(document), "metadata": row.metadata.to_dict()}}


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
    values["symbols"] = ()
    values["warnings"] = tuple(values["warnings"])
    return Document(**values)


def _segment(raw: Mapping[str, Any]) -> Segment:
    values = dict(raw)
    values["span"] = Span(**values["span"])
    values["boxes"] = tuple(Box(**box) for box in values["boxes"])
    return Segment(**values)
