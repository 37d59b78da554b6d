"""One extractor on one file, with every failure as a `LilbeeError`."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace

from lilbee_core.errors import ExtractError, LilbeeError, LimitExceeded
from lilbee_core.extract._context import FileContext
from lilbee_core.extract._reading import check_length, not_readable
from lilbee_core.extract._tables import with_tables
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Metadata, MetaValue, Source

log = logging.getLogger(__name__)

_HALF = re.compile("[\ud800-\udfff]")


def run_extractor(extractor: Extractor, source: Source, context: ExtractContext) -> Document | LilbeeError:
    """Return the document, or the error that stands for whatever went wrong."""
    try:
        document = extractor.extract(source, context)
        check_length(source, document.text, context)
        return replace(with_tables(_whole_letters(document)), extractor=f"{extractor.name}/{extractor.version}")
    except Exception as error:  # noqa: BLE001 - an extractor may be anybody's code; its failure costs one file
        if isinstance(error, MemoryError):
            return out_of_memory(source, context.memory_mb if isinstance(context, FileContext) else None)
        return _as_ours(error, extractor, source)


def _whole_letters(document: Document) -> Document:
    """Replace halves of letters, which escapes in some formats can spell and no store can keep."""
    if not any(_HALF.search(text) for text in _strings(document) if not text.isascii()):
        return document
    return replace(
        document,
        text=_whole(document.text),
        title=_whole(document.title) if document.title else document.title,
        headings=tuple(replace(one, title=_whole(one.title)) for one in document.headings),
        segments=tuple(
            replace(one, label=_whole(one.label or "") or None, member=_whole(one.member or "") or None)
            for one in document.segments
        ),
        metadata=Metadata({key: _whole_value(value) for key, value in document.metadata.items()}),
        tables=tuple(replace(one, head=_whole(one.head)) for one in document.tables),
        warnings=tuple(map(_whole, document.warnings)),
    )


def _strings(document: Document) -> Iterator[str]:
    yield document.text
    yield document.title or ""
    yield from (heading.title for heading in document.headings)
    for segment in document.segments:
        yield segment.label or ""
        yield segment.member or ""
    for value in document.metadata.values():
        parts = value if isinstance(value, tuple) else (value,)
        yield from (part for part in parts if isinstance(part, str))
    yield from document.warnings


def _whole(text: str) -> str:
    return _HALF.sub("\ufffd", text)


def _whole_value(value: MetaValue) -> MetaValue:
    if isinstance(value, tuple):
        return tuple(map(_whole, value))
    return _whole(value) if isinstance(value, str) else value


def _as_ours(error: Exception, extractor: Extractor, source: Source) -> LilbeeError:
    match error:
        case LilbeeError():
            return error
        case OSError():
            return not_readable(source, error)
        case RecursionError():
            return LimitExceeded(f"{source.path} is nested too deeply", hint="Check where the file comes from.")
        case _:
            log.warning("extractor %s failed on a file", extractor.name, exc_info=error)
            return ExtractError(
                f"{source.path} could not be read: the extractor {extractor.name!r} failed ({type(error).__name__})",
                hint="Report the file to the author of the extractor, or ignore it.",
            )


def out_of_memory(source: Source, most_mb: int | None) -> LimitExceeded:
    """Return the error for a file that needs more memory than one file may use."""
    limit = "one file may use" if most_mb is None else f"the limit of {most_mb:,} MB"
    return LimitExceeded(
        f"{source.path} needs more memory than {limit}", hint="Raise extract_memory_mb, or split the file."
    )


def timed_out(source: Source, seconds: float) -> LimitExceeded:
    """Return the error for a file that took too long."""
    return LimitExceeded(
        f"{source.path} was not read within {seconds:g} seconds", hint="Raise extract_timeout_s, or split the file."
    )


def crashed(source: Source) -> ExtractError:
    """Return the error for a file that brought its reader down."""
    return ExtractError(
        f"{source.path} made its reader crash; other files are not affected",
        hint="Open the file in its own program and save it again, or ignore it.",
        code="extract.crashed",
    )
