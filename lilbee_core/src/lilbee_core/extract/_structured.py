"""Data in text form: JSON, YAML, TOML, tables, XML. The text is the file, since its places are what people cite."""

from __future__ import annotations

import csv
from dataclasses import replace

from lilbee_core.extract._decode import Decoded
from lilbee_core.extract._reading import check_length, no_text, read_text
from lilbee_core.extract._xml import MAX_PROSE_CHARS, NotWellFormed, Prose, read_all, read_prose, refuse_bombs
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Heading, Metadata, Source

_MAX_COLUMNS = 200
_MAX_NAME_CHARS = 200
_HEAD_CHARS = 300


class DataExtractor:
    """Reads JSON, JSON lines, YAML and TOML as they stand. Threads may share it."""

    name = "data"
    version = "1"
    in_process = True

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the whole text.

        Raises:
            ExtractError: If the file cannot be read, is no text or is too long.
        """
        return verbatim(source, read_text(source, context))


class TableExtractor:
    """Reads tables in text form as they stand; the names of their columns are metadata and a heading.

    Threads may share it.
    """

    name = "table"
    version = "2"
    in_process = True

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the whole text; ``columns`` and ``delimiter`` are metadata.

        Raises:
            ExtractError: If the file cannot be read, is no text or is too long.
        """
        document = verbatim(source, read_text(source, context))
        delimiter = _delimiter(document.text, source.media_type)
        columns = _columns(document.text, delimiter)
        if not columns:
            return document
        found = {**document.metadata, "columns": columns, "delimiter": delimiter}
        head = Heading(start=_first_sign(document.text), level=1, title=" | ".join(columns)[:_HEAD_CHARS])
        return replace(document, metadata=Metadata(found), headings=(head,))


class XmlExtractor:
    """Reads XML: articles and books without their tags, data and settings as they stand. Threads may share it."""

    name = "xml"
    version = "1"
    in_process = True

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the text, each line with its line in the file.

        Raises:
            UnsafeContent: If entities of the document expand without bounds.
            ExtractError: If the file cannot be read, is no text or is too long.
        """
        decoded = read_text(source, context)
        own_entities = refuse_bombs(decoded.text, source)
        drawing = source.media_type == "image/svg+xml"
        if own_entities or (len(decoded.text) > MAX_PROSE_CHARS and not drawing):
            return verbatim(source, decoded)
        try:
            prose = read_all(decoded.text) if drawing else read_prose(decoded.text)
        except NotWellFormed as error:
            return verbatim(source, decoded, f"read as plain text: {error}")
        if prose is None:
            return verbatim(source, decoded)
        if not prose.text and decoded.text.strip():
            raise no_text(source)
        check_length(source, prose.text, context)
        return _prose_document(source, decoded, prose)


def verbatim(source: Source, decoded: Decoded, warning: str | None = None) -> Document:
    """Return a document whose text is the file."""
    return Document(
        path=source.path,
        collection=source.collection,
        media_type=source.media_type,
        text=decoded.text,
        metadata=Metadata(encoding=decoded.encoding) if decoded.encoding != "utf-8" else Metadata(),
        warnings=tuple(one for one in (decoded.warning, warning) if one),
    )


def _prose_document(source: Source, decoded: Decoded, prose: Prose) -> Document:
    return replace(
        verbatim(source, decoded),
        text=prose.text,
        title=prose.title,
        line_map=prose.line_map,
        headings=prose.headings,
    )


def _first_sign(text: str) -> int:
    return len(text) - len(text.lstrip())


def _delimiter(text: str, media_type: str) -> str:
    if media_type == "text/tab-separated-values":
        return "\t"
    sample = "\n".join(text[:8192].split("\n")[:20])
    counts = {mark: _regularity(sample, mark) for mark in (",", ";", "\t", "|")}
    return max(counts, key=counts.__getitem__)


def _regularity(sample: str, mark: str) -> tuple[int, int]:
    """Say how many lines have as many fields as the first one, and how many that are."""
    try:
        widths = [len(row) for row in csv.reader(sample.split("\n"), delimiter=mark) if row]
    except csv.Error:
        return 0, 0
    if not widths or widths[0] < 2:
        return 0, 0
    return sum(width == widths[0] for width in widths), widths[0]


def _columns(text: str, delimiter: str) -> tuple[str, ...]:
    lines = text[:65_536].splitlines(keepends=True)
    try:
        row = next((row for row in csv.reader(lines, delimiter=delimiter) if any(row)), list[str]())
    except csv.Error:
        return ()
    names = tuple(" ".join(name.split()) for name in row)
    is_header = 1 < len(names) <= _MAX_COLUMNS and all(name and len(name) <= _MAX_NAME_CHARS for name in names)
    return names if is_header and not any(_is_number(name) for name in names) else ()


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
