"""One extractor on one file, with every failure as a `LilbeeError`."""

from __future__ import annotations

import logging
from dataclasses import replace

from lilbee_core.errors import ExtractError, LilbeeError, LimitExceeded
from lilbee_core.extract._reading import check_length, not_readable
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Source

log = logging.getLogger(__name__)


def run_extractor(extractor: Extractor, source: Source, context: ExtractContext) -> Document | LilbeeError:
    """Return the document, or the error that stands for whatever went wrong."""
    try:
        document = extractor.extract(source, context)
        check_length(source, document.text, context)
        return replace(document, extractor=f"{extractor.name}/{extractor.version}")
    except Exception as error:  # noqa: BLE001 - an extractor may be anybody's code; its failure costs one file
        return _as_ours(error, extractor, source)


def _as_ours(error: Exception, extractor: Extractor, source: Source) -> LilbeeError:
    match error:
        case LilbeeError():
            return error
        case OSError():
            return not_readable(source, error)
        case MemoryError():
            return out_of_memory(source)
        case RecursionError():
            return LimitExceeded(f"{source.path} is nested too deeply", hint="Check where the file comes from.")
        case _:
            log.warning("extractor %s failed on a file", extractor.name, exc_info=error)
            return ExtractError(
                f"{source.path} could not be read: the extractor {extractor.name!r} failed ({type(error).__name__})",
                hint="Report the file to the author of the extractor, or ignore it.",
            )


def out_of_memory(source: Source) -> LimitExceeded:
    """Return the error for a file that needs more memory than one file may use."""
    return LimitExceeded(
        f"{source.path} needs more memory than one file may use", hint="Raise extract_memory_mb, or split the file."
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
