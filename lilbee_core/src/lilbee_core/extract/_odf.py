"""OpenDocument texts and presentations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

from lilbee_core.errors import EncryptedDocument
from lilbee_core.extract._drawn import Drawn, Wanted, frames_in, illustrated, picture_members
from lilbee_core.extract._members import Member, MemberReader, Nesting
from lilbee_core.extract._odf_lists import ListMarks
from lilbee_core.extract._office import written
from lilbee_core.extract._package import Facts, Package, attribute, child, descendants, local
from lilbee_core.extract._reading import damaged, read_bytes
from lilbee_core.extract._writer import TextWriter, table_row
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Source

_UNSEEN = frozenset(
    ("tracked-changes", "annotation", "note", "forms", "sequence-decls", "ruby-text", "bibliography-source")
)
_HOLDERS = frozenset(
    ("section", "list-item", "list-header", "text-box", "frame", "g", "custom-shape", "index-body", "table-of-content",
     "rect", "ellipse", "line", "a", "soft-page-break", "numbered-paragraph", "index-title", "alphabetical-index")
)  # fmt: skip
_LONG_CELL = 300
_MAX_DEPTH = 60
_MAX_REPEAT = 64


class OdfExtractor(Nesting):
    """Reads OpenDocument texts (odt, ott) and presentations (odp, otp), in a worker process."""

    name = "odf"
    version = "3"
    in_process = False
    has_own_text = True

    def inside(self, members: MemberReader) -> Extractor:
        return OdfExtractor(members, limits=members.limits)

    def members(self, source: Source, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
        return picture_members(source, context, reader.limits)

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the text with its headings; in presentations, slide by slide.

        Raises:
            ExtractError: If the file is damaged, protected, too big or holds no text.
        """
        with Package(source, read_bytes(source), self._limits) as package:
            refuse_encrypted(package)
            tree = package.xml("content.xml")
            body = child(tree, "body") if tree is not None else None
            if body is None:
                raise damaged(source, "it holds no document")
            styles = package.lesser("styles.xml")
            reader = _Reader(context, ListMarks(tree, styles))
            reader.read(body)
            reader.margins(styles)
            facts = Facts(package.lesser("meta.xml"))
            title = reader.title or next((one.title for one in reader.out.headings if one.level == 1), None)
            document = written(source, context, reader.out, facts, warnings=package.warnings, title=title)
            return illustrated(source, document, package, _drawn)


def _drawn(package: Package, wanted: Wanted) -> Iterator[Drawn]:
    tree = package.xml("content.xml")
    slides = list(descendants(tree, "page")) if tree is not None else []
    for number, slide in enumerate(slides, start=1):
        if wanted(number):
            yield from frames_in(slide, number)
    if tree is not None and not slides:
        yield from frames_in(tree)


def refuse_encrypted(package: Package) -> None:
    """Refuse a file of OpenDocument that is under a password."""
    manifest = package.lesser("META-INF/manifest.xml")
    if manifest is not None and next(descendants(manifest, "encryption-data"), None) is not None:
        raise EncryptedDocument(
            f"{package.source.path} cannot be read: it is protected by a password",
            hint="Remove the password in the program that made the file.",
        )


class _Reader:
    """Walks a document and writes its text."""

    def __init__(self, context: ExtractContext, marks: ListMarks) -> None:
        self.out = TextWriter()
        self._marks = marks
        self.title: str | None = None
        self._context = context
        self._notes: list[str] = []
        self._comments: list[str] = []

    def read(self, body: Element) -> None:
        """Write the body; slides become parts of their own."""
        slides = [one for holder in body for one in holder if local(one) == "page"]
        for number, slide in enumerate(slides, start=1):
            self._context.check()
            outer, self.out = self.out, TextWriter()
            self._slide(slide)
            inner, self.out = self.out, outer
            self.out.part(inner, page=number, label=f"slide {number}")
        if not slides:
            for holder in body:
                self._blocks(holder)
        self._add_part("footnotes", self._notes)
        self._add_part("comments", self._comments)

    def margins(self, styles: Element | None) -> None:
        """Write headers and footers, each once."""
        found = [
            self._text(paragraph)
            for name in ("header", "footer")
            for margin in (descendants(styles, name) if styles is not None else ())
            for paragraph in descendants(margin, "p")
        ]
        self._add_part("header and footer", [line for line in found if any(char.isalpha() for char in line)])

    def _add_part(self, label: str, lines: list[str]) -> None:
        part = TextWriter()
        for line in dict.fromkeys(lines):
            part.block(line, tight=True)
        self.out.part(part, label=label)

    def _slide(self, slide: Element) -> None:
        frames = [one for one in slide if local(one) != "notes"]
        for frame in sorted(frames, key=lambda one: attribute(one, "class") != "title"):
            if attribute(frame, "class") == "title":
                self.out.block(" ".join(self._text(one) for one in descendants(frame, "p")), heading=1)
            elif attribute(frame, "class") not in {"page-number", "date-time"}:
                self._blocks_of(frame)
        for notes in (one for one in slide if local(one) == "notes"):
            lines = [self._text(one) for one in descendants(notes, "p")]
            if any(any(char.isalpha() for char in line) for line in lines):
                self.out.block("Notes: " + "\n".join(line for line in lines if line.strip()))

    def _blocks(self, parent: Element, depth: int = 0, lists: int = 0) -> None:
        for one in parent:
            self._blocks_of(one, depth, lists)

    def _blocks_of(self, one: Element, depth: int = 0, lists: int = 0) -> None:
        name = local(one)
        if depth > _MAX_DEPTH or name in _UNSEEN:
            return
        self._context.check()
        if name == "h":
            level = attribute(one, "outline-level", "1")
            self.out.block(self._text(one), heading=min(int(level), 6) if level.isdecimal() else 1)
        elif name == "p":
            self._paragraph(one, lists)
        elif name == "list":
            self._list(one, depth, lists)
        elif name == "table":
            self._table(one, depth)
        elif name in _HOLDERS:
            self._blocks(one, depth + 1, lists)

    def _paragraph(self, paragraph: Element, lists: int) -> None:
        text = self._text(paragraph)
        if attribute(paragraph, "style-name") == "Title" and self.title is None:
            self.title = " ".join(text.split()) or None
        self.out.block(text, tight=lists > 0)
        for box in descendants(paragraph, "text-box"):
            self._blocks(box, 1)

    def _list(self, element: Element, depth: int, lists: int) -> None:
        self._marks.begin(element)
        for item in element:
            if local(item) not in {"list-item", "list-header"}:
                continue
            first = True
            for one in item:
                if local(one) in {"p", "h"} and first:
                    text = self._text(one)
                    if text.strip():
                        mark = f"{self._marks.mark(item)} " if local(item) == "list-item" else ""
                        self.out.block(f"{'  ' * lists}{mark}{text}", tight=True)
                    first = False
                else:
                    self._blocks_of(one, depth + 1, lists + 1)
        self._marks.end()

    def _table(self, table: Element, depth: int) -> None:
        for row in _rows(table):
            cells: list[str] = []
            holders = [one for one in row if local(one) in {"table-cell", "covered-table-cell"}]
            for cell in holders:
                repeat = attribute(cell, "number-columns-repeated", "1")
                text = " ".join(self._text(one) for one in cell.iter() if _is_paragraph(one))
                cells += [text] * (min(int(repeat), _MAX_REPEAT) if repeat.isdecimal() else 1)
            if len(holders) == 1 or any(len(cell) > _LONG_CELL for cell in cells):
                for cell in holders:
                    self._blocks(cell, depth + 1)
            else:
                self.out.block(table_row(cells).rstrip(" |"), tight=True)

    def _text(self, paragraph: Element) -> str:
        return odf_text(paragraph, self._beside)

    def _beside(self, one: Element) -> str:
        if local(one) == "note":
            return self._note(one)
        self._comment(one)
        return ""

    def _note(self, note: Element) -> str:
        body = child(note, "note-body")
        number = len(self._notes) + 1
        text = " ".join(self._text(one).strip() for one in descendants(body, "p")) if body is not None else ""
        self._notes.append(f"[{number}] {text}")
        return f"[{number}]"

    def _comment(self, comment: Element) -> None:
        author = child(comment, "creator")
        text = " ".join(self._text(one).strip() for one in descendants(comment, "p"))
        by = f" by {author.text}" if author is not None and author.text else ""
        self._comments.append(f"Comment{by}: {text}")


def odf_text(paragraph: Element, beside: Callable[[Element], str] = lambda _: "") -> str:
    """Return the text of a paragraph; `beside` is asked what stands for its notes and comments."""
    return "".join(_pieces(paragraph, beside))


def _pieces(element: Element, beside: Callable[[Element], str], depth: int = 0) -> Iterator[str]:
    yield element.text or ""
    for one in element:
        name = local(one)
        if name == "s":
            count = attribute(one, "c", "1")
            yield " " * (min(int(count), 200) if count.isdecimal() else 1)
        elif name == "tab":
            yield "\t"
        elif name == "line-break":
            yield "\n"
        elif name in {"note", "annotation"}:
            yield beside(one)
        elif name not in _UNSEEN and name not in {"frame", "text-box"} and depth < _MAX_DEPTH:
            yield from _pieces(one, beside, depth + 1)
        yield one.tail or ""


def _is_paragraph(element: Element) -> bool:
    return local(element) in {"p", "h"}


def _rows(table: Element) -> Iterator[Element]:
    for one in table:
        if local(one) == "table-row":
            yield one
        elif local(one) in {"table-header-rows", "table-rows", "table-row-group"}:
            yield from _rows(one)
