"""Files to text with places: one extractor per format, chosen by media type, run where they can do no harm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.extract._media import HEAD_BYTES, detect_media_type
from lilbee_core.extract._pool import ExtractPool
from lilbee_core.extract._registry import ExtractorRegistry
from lilbee_core.plugins.specs import ExtractorSpec, ExtractServices, Options

if TYPE_CHECKING:
    from lilbee_core.protocols import Extractor

__all__ = ["HEAD_BYTES", "ExtractPool", "ExtractorRegistry", "builtin_extractors", "detect_media_type"]


def builtin_extractors() -> tuple[ExtractorSpec, ...]:
    """Return the extractors that come with lilbee. Nothing is imported or started until one is built."""
    from lilbee_core.extract._formats import KREUZBERG, MARKDOWN, TEXT

    return (
        ExtractorSpec(
            name="text", media_types=TEXT, build=_text, summary="Plain text as it stands, with the file's lines"
        ),
        ExtractorSpec(
            name="markdown", media_types=MARKDOWN, build=_markdown, summary="Markdown with headings and front matter"
        ),
        ExtractorSpec(name="code", media_types=("text/x-*",), build=_code, summary="Source code with its definitions"),
        ExtractorSpec(
            name="kreuzberg",
            media_types=KREUZBERG,
            build=_kreuzberg,
            summary="PDF, Office, OpenDocument, RTF, e-books and Outlook mail",
        ),
    )


def _text(options: Options, services: ExtractServices) -> Extractor:
    from lilbee_core.extract._text import TextExtractor

    return TextExtractor()


def _markdown(options: Options, services: ExtractServices) -> Extractor:
    from lilbee_core.extract._markdown import MarkdownExtractor

    return MarkdownExtractor()


def _code(options: Options, services: ExtractServices) -> Extractor:
    from lilbee_core.extract._code import CodeExtractor

    return CodeExtractor()


def _kreuzberg(options: Options, services: ExtractServices) -> Extractor:
    from lilbee_core.extract._kreuzberg import KreuzbergExtractor

    return KreuzbergExtractor()
