"""PDF, Office, e-books and all else that kreuzberg reads."""

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
from lilbee_core.extract._pdf import join_pages
from lilbee_core.extract._reading import check_length, no_text, read_bytes
from lilbee_core.extract._unlock import unlocked
from lilbee_core.extract._word95 import word95_text
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Metadata, Source

_OUR_VERSION = "4"


class KreuzbergExtractor:
    """Reads office formats through kreuzberg, one file at a time, in a worker process.

    Places are exact where the format has them: pages of PDF, slides. Text recognition is left to others:
    an image, or a PDF of images, is reported as holding no text.
    """

    name = "kreuzberg"
    in_process = False

    @property
    def version(self) -> str:
        try:
            return f"{_OUR_VERSION}-{installed_version('kreuzberg')}"
        except PackageNotFoundError:
            return _OUR_VERSION

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the text with its pages or slides.

        Raises:
            ExtractError: With a code that says why nothing came out.
        """
        if source.media_type in IMAGES:
            raise no_text(source)
        data = read_bytes(source)
        context.check()
        if source.media_type == PDF:
            return _pdf(source, data, context)
        data = unlocked(source, data, context.password)
        if source.media_type == WORD and (text := word95_text(source, data)) is not None:
            placed = Placed(text=text)
            _check(source, placed, context)
            return _document(source, Extraction(text=text, metadata={}), placed)
        extraction, placed = _extract(source, data, context.password)
        _check(source, placed, context)
        return _document(source, extraction, placed)


def _pdf(source: Source, data: bytes, context: ExtractContext) -> Document:
    # The page texts of this form are the better ones: hyphens at line ends are joined.
    extraction = run_engine(source, data, output="markdown", password=context.password)
    pages = join_pages(extraction, data, context)
    _check(source, pages.placed, context)
    return replace(
        _document(source, extraction, pages.placed), pages_without_text=pages.without_text, tables=pages.tables
    )


def _check(source: Source, placed: Placed, context: ExtractContext) -> None:
    if not any(char.isalnum() for char in placed.text):
        raise no_text(source)
    check_length(source, placed.text, context)


def _extract(source: Source, data: bytes, password: str | None) -> tuple[Extraction, Placed]:
    extraction = run_engine(source, data, password=password)
    if source.media_type == WORD:
        extraction = replace(extraction, text=old_word(extraction.text))
    return extraction, flow(extraction)


def _document(source: Source, extraction: Extraction, placed: Placed) -> Document:
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
