"""RTF, older Office files and all else that kreuzberg alone reads; what PDFs share with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

from lilbee_core.extract._dates import iso_date
from lilbee_core.extract._engine import Extraction, run_engine
from lilbee_core.extract._formats import IMAGES, PDF, WORD
from lilbee_core.extract._loose import fields, texts
from lilbee_core.extract._paged import Placed, flow, old_word
from lilbee_core.extract._reading import check_length, no_text, read_bytes
from lilbee_core.extract._unlock import unlocked
from lilbee_core.extract._word95 import word95_text
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Metadata, Source

_OUR_VERSION = "4"


class KreuzbergExtractor:
    """Reads office formats through kreuzberg, one file at a time, in a worker process.

    Text recognition is left to others: an image is reported as holding no text.
    """

    name = "kreuzberg"
    in_process = False

    @property
    def version(self) -> str:
        return engine_version(_OUR_VERSION)

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the text with its headings.

        Raises:
            ExtractError: With a code that says why nothing came out.
        """
        if source.media_type in IMAGES:
            raise no_text(source)
        data = read_bytes(source)
        context.check()
        data = unlocked(source, data, context.password)
        if source.media_type == WORD and (text := word95_text(source, data)) is not None:
            placed = Placed(text=text)
            check_text(source, placed, context)
            return document_of(source, Extraction(text=text, metadata={}), placed)
        extraction, placed = _extract(source, data, context.password)
        check_text(source, placed, context)
        return document_of(source, extraction, placed)


def engine_version(ours: str) -> str:
    """Return the version of an extractor that calls kreuzberg: its own and the engine's."""
    try:
        return f"{ours}-{installed_version('kreuzberg')}"
    except PackageNotFoundError:
        return ours


def check_text(source: Source, placed: Placed, context: ExtractContext) -> None:
    """Refuse a file without text, or with more than is allowed.

    Raises:
        NoText: If there is none.
        LimitExceeded: If it is too long.
    """
    if not any(char.isalnum() for char in placed.text):
        raise no_text(source)
    check_length(source, placed.text, context)


def _extract(source: Source, data: bytes, password: str | None) -> tuple[Extraction, Placed]:
    extraction = run_engine(source, data, password=password)
    if source.media_type == WORD:
        extraction = replace(extraction, text=old_word(extraction.text))
    return extraction, flow(extraction)


def document_of(source: Source, extraction: Extraction, placed: Placed) -> Document:
    """Return the document of a file, with what it says about itself."""
    facts = _Facts(extraction.metadata)
    first = next((heading.title for heading in placed.headings if heading.level == 1), None)
    return Document(
        path=source.path,
        collection=source.collection,
        media_type=source.media_type,
        text=placed.text,
        title=facts.text("title") or facts.mail_subject() or first,
        # Office files name the language of the program, not that of the text.
        language=facts.text("language") if source.media_type == PDF else None,
        date=facts.date(),
        metadata=facts.metadata(),
        has_lines=False,
        segments=placed.segments,
        headings=placed.headings,
    )


class _Facts:
    """What the document says about itself, whatever the engine calls it."""

    _DATES = ("created_at", "created", "date", "modified_at", "modified")

    def __init__(self, raw: Mapping[str, object]) -> None:
        self._values: dict[str, object] = {**fields(raw.get("core_properties")), **raw}

    def text(self, name: str) -> str | None:
        value = self._values.get(name)
        return " ".join(value.split()) or None if isinstance(value, str) else None

    def mail_subject(self) -> str | None:
        return self.text("subject") if self._values.get("format_type") == "email" else None

    def date(self) -> str | None:
        return self._first_date(self._DATES)

    def _first_date(self, names: Sequence[str]) -> str | None:
        return next((date for name in names if (date := iso_date(self._values.get(name)))), None)

    def metadata(self) -> Metadata:
        found: dict[str, object] = {}
        for name in ("author", "subject", "keywords", "description", "category", "publisher", "attachments"):
            value = texts(self._values.get(name))
            if name == "author":
                value = texts(self._values.get("authors")) or texts(self._values.get("creator"))
            if value := [one for one in value if one.strip()]:
                found[name] = value if len(value) > 1 else value[0]
        for name, keys in (("created", ("created_at", "created")), ("modified", ("modified_at", "modified"))):
            if date := self._first_date(keys):
                found[name] = date
        if isinstance(pages := self._values.get("page_count"), int):
            found["pages"] = pages
        return Metadata(found)
