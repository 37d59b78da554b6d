"""The one place that calls kreuzberg: its configuration, its result as our own values, its errors in plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lilbee_core.errors import ExtractError, LimitExceeded, UnsupportedFormat
from lilbee_core.extract._hyphens import Hyphens
from lilbee_core.extract._loose import fields, items
from lilbee_core.extract._reading import damaged, locked, split_passwords
from lilbee_core.text import normalize_newlines
from lilbee_core.types import Source

if TYPE_CHECKING:
    from kreuzberg import ExtractionResult

# Fonts without a table of their characters leave such in the text.
_CONTROLS = dict.fromkeys(set(range(0x20)) - {0x09, 0x0A} | {0x7F})
# What the engine leaves of a hyphen at the end of a line.
_LINE_END = re.compile(r"\x02(?<=[^\W\d_]\x02)(?=[^\W_])")
_NEAR = 80
_ENCRYPTED = re.compile(r"password|encrypt", re.IGNORECASE)
_TOO_BIG = re.compile(r"security limit|bomb|exceeds? (?:the )?(?:limit|maximum)|too (?:large|deep|many)", re.IGNORECASE)
_UNKNOWN = re.compile(r"unsupported|not supported|no extractor", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A block that the engine recognized: its kind, its text, and where it stands on its page."""

    kind: str
    text: str
    level: int = 0
    page: int | None = None
    box: tuple[float, float, float, float] | None = None


Rows = list[list[str]]
Table = tuple[int, Rows]
"""A table with the number of its page or sheet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What the engine found in a file."""

    text: str
    pages: tuple[tuple[int, str], ...] = ()
    tables: tuple[Table, ...] = ()
    nodes: tuple[Node, ...] = ()
    metadata: Mapping[str, object]
    warnings: tuple[str, ...] = ()
    hyphens: Hyphens = Hyphens()
    """How the file spells its words."""


def run_engine(source: Source, data: bytes, *, output: str = "plain", password: str | None = None) -> Extraction:
    """Extract a file with kreuzberg.

    Raises:
        ExtractError: With a message without the engine's own words.
    """
    import kreuzberg

    config = kreuzberg.ExtractionConfig(
        use_cache=False,
        output_format=output,
        include_document_structure=True,
        pages=kreuzberg.PageConfig(extract_pages=True),
        pdf_options=kreuzberg.PdfConfig(passwords=split_passwords(password) or None),
    )
    try:
        result = kreuzberg.extract_bytes_sync(data, source.media_type, config)
    except kreuzberg.KreuzbergError as error:
        raise plain_error(source, error, password) from error
    except BaseException as error:
        # A panic of native code is no `Exception`; it says that the file was too odd for the reader.
        if isinstance(error, RuntimeError) or type(error).__name__ == "PanicException":
            raise damaged(source, "its content does not follow its format") from error
        raise
    return _read_result(result)


def plain_error(source: Source, error: Exception, password: str | None) -> ExtractError:
    """Return our error for one of the engine."""
    reason = str(error)
    if _ENCRYPTED.search(reason):
        return locked(source, password)
    if _TOO_BIG.search(reason):
        return LimitExceeded(
            f"{source.path} unpacks to more than is allowed", hint="Check where the file comes from before opening it."
        )
    if type(error).__name__ == "ValidationError" and (_UNKNOWN.search(reason) or source.media_type in reason):
        return UnsupportedFormat(f"{source.path} is {source.media_type}, which no extractor reads")
    if type(error).__name__ == "MissingDependencyError":
        return UnsupportedFormat(f"{source.path} needs a program that is not installed")
    return damaged(source, "its content does not follow its format")


def _read_result(result: ExtractionResult) -> Extraction:
    pages = [(int(page["page_number"]), str(page["content"])) for page in result.pages or ()]
    hyphens = Hyphens([text for _, text in pages] or [result.content])
    return Extraction(
        text=cleaned(result.content, hyphens),
        pages=tuple((number, cleaned(text, hyphens)) for number, text in pages),
        tables=tuple(
            (int(table.page_number), [[cleaned(cell, hyphens) for cell in row] for row in table.cells])
            for table in result.tables
        ),
        nodes=tuple(_read_nodes(result.document, hyphens)),
        metadata=fields(result.metadata),
        warnings=tuple(dict.fromkeys(str(getattr(one, "message", one)) for one in result.processing_warnings or ())),
        hyphens=hyphens,
    )


def cleaned(text: str, hyphens: Hyphens) -> str:
    """Return a text of the engine without what no reader sees, and with the hyphens that are part of a word."""
    whole = normalize_newlines(text)
    kept = _LINE_END.sub(lambda found: _hyphen(whole, found.start(), hyphens), whole)
    return kept.translate(_CONTROLS)


def _hyphen(text: str, at: int, hyphens: Hyphens) -> str:
    before, following = text[max(0, at - _NEAR) : at], text[at + 1 : at + 1 + _NEAR]
    return "-" if hyphens.keeps(before, following) else ""


def _read_nodes(document: object, hyphens: Hyphens) -> Iterator[Node]:
    for node in map(fields, items(fields(document).get("nodes"))):
        content = fields(node.get("content"))
        page = node.get("page")
        level = content.get("level")
        yield Node(
            kind=str(content.get("node_type", "")),
            text=cleaned(str(content.get("text") or ""), hyphens),
            level=level if isinstance(level, int) else 0,
            page=page if isinstance(page, int) else None,
            box=_box(fields(node.get("bbox"))),
        )


def _box(sides: Mapping[str, object]) -> tuple[float, float, float, float] | None:
    left, bottom, right, top = (sides.get(name) for name in ("x0", "y0", "x1", "y1"))
    if isinstance(left, float) and isinstance(bottom, float) and isinstance(right, float) and isinstance(top, float):
        return left, bottom, right, top
    return None
