"""PDFs with their attachments: the text of the pages first, then each file that is attached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from lilbee_core.errors import LimitExceeded, NoText
from lilbee_core.extract._attachments import Attached, attached_files
from lilbee_core.extract._engine import run_engine
from lilbee_core.extract._formats import PDF
from lilbee_core.extract._kreuzberg import check_text, document_of, engine_version
from lilbee_core.extract._layout import NoLayout, opened
from lilbee_core.extract._members import Joined, Member, MemberReader, Nesting, page_numbers
from lilbee_core.extract._pdf import join_pages
from lilbee_core.extract._reading import read_bytes
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Metadata, Scan, Source, Span

_OUR_VERSION = "1"


class PdfExtractor(Nesting):
    """Reads PDFs through kreuzberg by page, and the files attached to them by their own readers."""

    name = "pdf"
    in_process = False
    has_own_text = True

    @property
    def version(self) -> str:
        return engine_version(_OUR_VERSION)

    def inside(self, members: MemberReader) -> Extractor:
        return PdfExtractor(members)

    def members(self, source: Source, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
        data = read_bytes(source)
        try:
            with opened(data, context.password) as document:
                for file in attached_files(document, data):
                    context.check()
                    # How large a file is shows when it is taken out.
                    reader.spend(0)
                    yield Member(file.name, 0, partial(_taken_out, file, reader))
        except NoLayout:
            return

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the text with its pages, and that of the attachments behind it.

        Raises:
            ExtractError: With a code that says why nothing came out.
        """
        own = _own(source, read_bytes(source), context)
        attached = self._attached(source, own, context)
        document = own if attached is None else _with_attachments(source, own, attached, context)
        if isinstance(document, NoText):
            raise document
        return document

    def _attached(self, source: Source, own: Document | NoText, context: ExtractContext) -> _Attachments | None:
        """Return the text of the pages with that of the attachments, None where there are none."""
        reader = self.reader(source)
        joined, names = Joined(own.text if isinstance(own, Document) else ""), list[str]()
        try:
            for number, member in enumerate(self.members(source, context, reader)):
                if reader.closed:
                    raise LimitExceeded(f"{member.name} lies too deep inside other files")
                names.append(member.name)
                joined.add_read(reader.read(member, context), member.name, number, "attachment")
        except LimitExceeded as error:
            behind = f" behind the first {len(names)}" if names else ""
            joined.warn(f"attachments{behind} not read: {error.message}")
        return _Attachments(joined, tuple(names)) if names or joined.warnings else None


@dataclass(frozen=True, slots=True)
class _Attachments:
    joined: Joined
    names: tuple[str, ...]


def _taken_out(file: Attached, reader: MemberReader) -> bytes:
    data = file.load(reader.limits.member_bytes)
    reader.spend(len(data), members=0)
    return data


def _own(source: Source, data: bytes, context: ExtractContext) -> Document | NoText:
    """Return the pages of a PDF, or that they hold no text."""
    context.check()
    # The page texts of this form are the better ones: hyphens at line ends are joined.
    extraction = run_engine(source, data, output="markdown", password=context.password)
    pages = join_pages(extraction, data, context)
    try:
        check_text(source, pages.placed, context)
    except NoText as error:
        return error
    document = document_of(source, extraction, pages.placed)
    return replace(document, pages_without_text=pages.without_text, tables=pages.tables)


def _with_attachments(
    source: Source, own: Document | NoText, attached: _Attachments, context: ExtractContext
) -> Document | NoText:
    joined = attached.joined
    if len(joined.text) > context.max_chars:
        told = f"attachments not read: with them it holds more than {context.max_chars} characters"
        return replace(own, warnings=(*own.warnings, told)) if isinstance(own, Document) else own
    if not joined.segments and not joined.scans:
        return replace(own, warnings=(*own.warnings, *joined.warnings)) if isinstance(own, Document) else own
    whole = own if isinstance(own, Document) else _without_text(source, context)
    pages = Scan(
        at=(), member="", kind="page", media_type=PDF, span=Span(0, len(whole.text)), pages=whole.pages_without_text
    )
    return replace(
        whole,
        text=joined.text,
        metadata=Metadata({**whole.metadata, "attachments": attached.names}),
        segments=(*whole.segments, *joined.segments),
        headings=(*whole.headings, *joined.headings),
        tables=(*whole.tables, *joined.tables),
        warnings=(*whole.warnings, *joined.warnings),
        scans=(pages, *joined.scans),
        pages_without_text=(),
    )


def _without_text(source: Source, context: ExtractContext) -> Document:
    """Return a document of pages that hold no text, so that what is attached to them has one."""
    return Document(
        path=source.path,
        collection=source.collection,
        media_type=source.media_type,
        text="",
        has_lines=False,
        pages_without_text=page_numbers(replace(source, data=read_bytes(source)), context),
    )
