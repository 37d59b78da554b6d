"""E-books: chapters in reading order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from lilbee_core.errors import EncryptedDocument
from lilbee_core.extract._contents import Entry, Item, read_contents, resolve
from lilbee_core.extract._dates import iso_date
from lilbee_core.extract._decode import NotText, decode
from lilbee_core.extract._html import Page, read_page
from lilbee_core.extract._package import Facts, Package, attribute, child, children, descendants, local
from lilbee_core.extract._reading import check_length, damaged, no_text, read_bytes
from lilbee_core.extract._writer import TextWriter
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Heading, Metadata, Source

_PAGES = ("application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document")
_MAX_LABEL_CHARS = 120


class EpubExtractor:
    """Reads e-books chapter by chapter, in a worker process; a hit names its chapter as the contents do."""

    name = "epub"
    version = "2"
    in_process = False

    def __init__(self, limits: MemberLimits | None = None) -> None:
        self._limits = limits

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the text of all chapters in reading order.

        Raises:
            ExtractError: If the file is damaged, protected, too big or holds no text.
        """
        out = TextWriter()
        with Package(source, read_bytes(source), self._limits) as package:
            book = _book(package)
            tree, items = _items(package, book)
            labels = _Labels(read_contents(package, items))
            for number, part in enumerate(_chapters(tree, items), start=1):
                context.check()
                page = _page(package, part, context)
                if page is None:
                    continue
                check_length(source, page.text, context)
                for label, start, end in labels.of(part, page):
                    shown = " ".join((label or f"part {number}").split())[:_MAX_LABEL_CHARS]
                    out.part(_piece(page, start, end), label=shown)
            _refuse_locked(package, found_text=bool(out.segments))
        text = out.text
        if not any(char.isalnum() for char in text):
            raise no_text(source)
        check_length(source, text, context)
        facts = Facts(child(tree, "metadata"))
        language = facts.get("language")
        author = facts.get("creator")
        return Document(
            path=source.path,
            collection=source.collection,
            media_type=source.media_type,
            text=text,
            title=facts.get("title"),
            language=language.lower().replace("_", "-") if language else None,
            date=iso_date(facts.get("date")),
            metadata=Metadata({**facts.metadata(), **({"author": author} if author else {})}),
            has_lines=False,
            segments=tuple(out.segments),
            headings=tuple(out.headings),
            warnings=tuple(package.warnings),
        )


def _book(package: Package) -> str:
    """Return the name of the part that lists the chapters."""
    container = package.lesser("META-INF/container.xml")
    for one in descendants(container, "rootfile") if container is not None else ():
        if path := attribute(one, "full-path"):
            return path
    found = next((name for name in package.names() if name.lower().endswith(".opf")), None)
    if found is None:
        raise damaged(package.source, "it names no chapters")
    return found


def _items(package: Package, book: str) -> tuple[Element, dict[str, Item]]:
    """Return the book's tree, and its parts by id."""
    tree = package.xml(book)
    if tree is None:
        raise damaged(package.source, "it names no chapters")
    manifest = child(tree, "manifest")
    return tree, {
        attribute(one, "id"): Item(
            resolve(book, attribute(one, "href")),
            attribute(one, "media-type"),
            attribute(one, "properties").split(),
        )
        for one in children(manifest)
    }


def _chapters(tree: Element, items: dict[str, Item]) -> list[str]:
    ids = [attribute(one, "idref") for one in children(child(tree, "spine")) if local(one) == "itemref"]
    listed = [items[one].path for one in ids if one in items and items[one].media_type in _PAGES]
    return list(dict.fromkeys(listed)) or [item.path for item in items.values() if item.media_type in _PAGES]


class _Labels:
    """Tells what each piece of the book is called, part after part.

    A title of the contents reaches from its place to that of the next one, over several parts if need be. A part of its
    own is what begins with a heading of the first level.
    """

    def __init__(self, contents: Sequence[Entry]) -> None:
        self._entries: dict[str, list[Entry]] = {}
        for entry in contents:
            self._entries.setdefault(entry.part, []).append(entry)
        self._last: str | None = None

    def of(self, part: str, page: Page) -> Iterator[tuple[str | None, int, int]]:
        """Yield the labels of a part, each with where its text begins and ends."""
        # Of titles for one place, the last is the innermost.
        titles = {page.anchors.get(one.place, 0): one.title for one in self._entries.get(part, ())}
        first = page.headings[0] if page.headings else None
        if first is not None and first.start == 0 and first.level == 1 and 0 not in titles:
            self._last = first.title
        if 0 not in titles:
            titles[0] = self._last or (first.title if first is not None else "")
        starts = sorted(titles)
        for start, end in zip(starts, [*starts[1:], len(page.text)], strict=True):
            yield titles[start] or None, start, end
        if part in self._entries:
            self._last = titles[starts[-1]]


def _page(package: Package, part: str, context: ExtractContext) -> Page | None:
    """Return what a part shows, or None with a warning."""
    data = package.read(part)
    if data is None:
        package.warnings.append(f"the chapter {part} is missing")
        return None
    try:
        return read_page(decode(data).text, context)
    except NotText:
        package.warnings.append(f"the chapter {part} is no text")
        return None


def _piece(page: Page, start: int, end: int) -> TextWriter:
    """Return a piece of a part with its headings."""
    out = TextWriter()
    out.block(page.text[start:end])
    start += len(page.text[start:end]) - len(page.text[start:end].lstrip("\n"))
    out.headings += [
        Heading(start=one.start - start, level=one.level, title=one.title)
        for one in page.headings
        if start <= one.start < end
    ]
    return out


def _refuse_locked(package: Package, *, found_text: bool) -> None:
    if not found_text and package.read("META-INF/encryption.xml") is not None:
        raise EncryptedDocument(
            f"{package.source.path} cannot be read: its seller has locked it",
            hint="Use a copy without copy protection.",
        )
