"""FictionBook (.fb2): chapters in reading order, notes at the end, pictures left out."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, ParseError, fromstring

from lilbee_core.errors import UnsafeContent
from lilbee_core.extract._dates import iso_date
from lilbee_core.extract._package import attribute, child, children, descendants, local
from lilbee_core.extract._reading import check_length, damaged, no_text, read_text
from lilbee_core.extract._writer import TextWriter, table_row
from lilbee_core.extract._xml import refuse_bombs
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Metadata, Source

_PROLOG = re.compile(r"\s*<\?xml\b[^>]*\?>")
_BINARY = re.compile(r"<binary\b.*?</binary\s*>", re.DOTALL)
_MAX_LABEL_CHARS = 120
_MAX_DEPTH = 30


class FictionExtractor:
    """Reads e-books of FictionBook, in a worker process; a hit names its chapter."""

    name = "fb2"
    version = "2"
    in_process = False

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the text of all chapters and notes, in whatever encoding they are.

        Raises:
            ExtractError: If the file is damaged, cannot be read or holds no text.
        """
        tree = _tree(source, read_text(source, context).text)
        info = child(tree, "description", "title-info")
        book = _Book()
        book.annotation(info)
        for body in tree:
            if local(body) == "body":
                context.check()
                book.body(body)
        text = book.out.text
        if not any(char.isalnum() for char in text):
            raise no_text(source)
        check_length(source, text, context)
        language = _fact(info, "lang")
        return Document(
            path=source.path,
            collection=source.collection,
            media_type=source.media_type,
            text=text,
            title=_fact(info, "book-title"),
            language=language.lower() if language else None,
            date=_date(info),
            metadata=_metadata(tree, info),
            has_lines=False,
            segments=tuple(book.out.segments),
            headings=tuple(book.out.headings),
        )


def _tree(source: Source, text: str) -> Element:
    if refuse_bombs(text, source):
        raise UnsafeContent(
            f"{source.path} declares entities, which books never do", hint="Check where the file comes from."
        )
    try:
        # The encoding that the head names is undone already. Pictures are of no use here.
        return fromstring(_BINARY.sub("", _PROLOG.sub("", text, count=1)))
    except (ParseError, ValueError) as error:
        raise damaged(source, "it is not well-formed") from error


class _Book:
    """A book on its way to a text: each section with a title is a part of it."""

    def __init__(self) -> None:
        self.out = TextWriter()
        self._part = TextWriter()
        self._label: str | None = None

    def annotation(self, info: Element | None) -> None:
        """Write what the book says about itself."""
        self._begin("Annotation")
        for one in children(child(info, "annotation") if info is not None else None):
            self._block(one, local(one), 1)
        self._begin(None)

    def body(self, body: Element) -> None:
        """Write a body; the one of the notes goes by its name."""
        name = attribute(body, "name")
        self._begin(name.capitalize() if name else None)
        if name:
            self._notes(body)
        else:
            self._section(body, 1)
        self._begin(None)

    def _notes(self, body: Element) -> None:
        for one in body:
            # The number of a note and its text belong together.
            self._part.block(" ".join(part for part in map(_flat, one) if part))

    def _begin(self, label: str | None) -> None:
        self.out.part(self._part, label=self._label)
        self._part, self._label = TextWriter(), label

    def _section(self, section: Element, level: int) -> None:
        for one in section:
            name = local(one)
            if name == "section" and level < _MAX_DEPTH:
                around = self._label
                title = child(one, "title")
                if title is not None:
                    self._begin(" ".join(_lines(title))[:_MAX_LABEL_CHARS])
                self._section(one, level + 1)
                if title is not None:
                    self._begin(around)
            elif name == "title":
                self._part.block("\n".join(_lines(one)), heading=level)
            else:
                self._block(one, name, level)

    def _block(self, one: Element, name: str, level: int) -> None:
        if name == "table":
            self._part.rows([row for row in map(_row, descendants(one, "tr")) if row])
        elif name == "stanza":
            self._part.block("\n".join(_lines(one)))
        elif name in {"poem", "cite", "epigraph", "annotation", "section"}:
            for inner in one:
                self._block(inner, local(inner), level)
        elif name == "image":
            self._part.block(attribute(one, "title") or attribute(one, "alt"))
        else:
            self._part.block(_flat(one))


def _row(row: Element) -> str:
    return table_row([_flat(cell) for cell in row])


def _lines(element: Element) -> list[str]:
    return [line for line in map(_flat, element) if line]


def _flat(element: Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _fact(info: Element | None, name: str) -> str | None:
    found = child(info, name) if info is not None else None
    return (_flat(found) or None) if found is not None else None


def _date(info: Element | None) -> str | None:
    found = child(info, "date") if info is not None else None
    return None if found is None else iso_date(attribute(found, "value")) or iso_date(_flat(found))


def _metadata(tree: Element, info: Element | None) -> Metadata:
    names = [_name(one) for one in children(info) if local(one) == "author"]
    genres = [_flat(one) for one in children(info) if local(one) == "genre"]
    publisher = child(tree, "description", "publish-info", "publisher")
    found = {
        "author": [name for name in names if name],
        "subject": [genre for genre in genres if genre],
        "description": _fact(info, "annotation"),
        "publisher": _flat(publisher) if publisher is not None else None,
    }
    return Metadata(
        {
            key: value[0] if isinstance(value, list) and len(value) == 1 else value
            for key, value in found.items()
            if value
        }
    )


def _name(author: Element) -> str:
    parts = [_fact(author, part) for part in ("first-name", "middle-name", "last-name")]
    return " ".join(part for part in parts if part) or _fact(author, "nickname") or ""
