"""E-books: chapters in reading order."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from lilbee_core.errors import EncryptedDocument
from lilbee_core.extract._dates import iso_date
from lilbee_core.extract._decode import NotText, decode
from lilbee_core.extract._html import read_page
from lilbee_core.extract._package import Facts, Package, attribute, child, descendants, local
from lilbee_core.extract._reading import check_length, damaged, no_text, read_bytes
from lilbee_core.extract._writer import TextWriter
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Metadata, Source

_PAGES = ("application/xhtml+xml", "text/html", "application/xml", "text/x-oeb1-document")
_MAX_LABEL_CHARS = 120


class EpubExtractor:
    """Reads e-books chapter by chapter, in a worker process; a hit names its chapter."""

    name = "epub"
    version = "1"
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
            chapters = _chapters(package, book)
            names = _names(package, book)
            for number, part in enumerate(chapters, start=1):
                context.check()
                chapter, first = _chapter(package, part, context)
                label = names.get(part) or first or f"part {number}"
                out.part(chapter, label=" ".join(label.split())[:_MAX_LABEL_CHARS])
                check_length(source, chapter.text, context)
            _refuse_locked(package, found_text=bool(out.segments))
            tree = package.xml(book)
        text = out.text
        if not any(char.isalnum() for char in text):
            raise no_text(source)
        check_length(source, text, context)
        facts = Facts(child(tree, "metadata") if tree is not None else None)
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


def _items(package: Package, book: str) -> tuple[Element, dict[str, tuple[str, str, str]]]:
    """Return the book's tree, and its parts by id: path, media type, properties."""
    tree = package.xml(book)
    if tree is None:
        raise damaged(package.source, "it names no chapters")
    manifest = child(tree, "manifest")
    parts = {
        attribute(one, "id"): (
            resolve(book, attribute(one, "href")),
            attribute(one, "media-type"),
            attribute(one, "properties"),
        )
        for one in (manifest if manifest is not None else ())
    }
    return tree, parts


def resolve(base: str, target: str) -> str:
    """Return the path of a part that another one names."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(target.split("#", 1)[0])))


def _chapters(package: Package, book: str) -> list[str]:
    tree, parts = _items(package, book)
    spine = child(tree, "spine")
    ids = [attribute(one, "idref") for one in (spine if spine is not None else ()) if local(one) == "itemref"]
    listed = [parts[one][0] for one in ids if one in parts and parts[one][1] in _PAGES]
    return list(dict.fromkeys(listed)) or [path for path, kind, _ in parts.values() if kind in _PAGES]


def _names(package: Package, book: str) -> dict[str, str]:
    """Return what the table of contents calls each part; the first entry for a part names it."""
    names: dict[str, str] = {}
    for path, kind, properties in _items(package, book)[1].values():
        is_list = kind == "application/x-dtbncx+xml"
        tree = package.lesser(path) if is_list or "nav" in properties.split() else None
        if tree is None:
            continue
        for point in descendants(tree, "navPoint") if is_list else descendants(tree, "a"):
            target = child(point, "content") if is_list else point
            label = child(point, "navLabel", "text") if is_list else point
            if target is None or label is None:
                continue
            href = attribute(target, "src") or attribute(target, "href")
            text = " ".join("".join(label.itertext()).split())
            if href and text:
                names.setdefault(resolve(path, href), text)
    return names


def _chapter(package: Package, part: str, context: ExtractContext) -> tuple[TextWriter, str | None]:
    """Return the text of a chapter and its first heading."""
    out = TextWriter()
    data = package.read(part)
    if data is None:
        package.warnings.append(f"the chapter {part} is missing")
        return out, None
    try:
        page = read_page(decode(data).text, context)
    except NotText:
        package.warnings.append(f"the chapter {part} is no text")
        return out, None
    out.block(page.text)
    shift = len(page.text) - len(page.text.lstrip("\n"))
    out.headings += [type(one)(start=one.start - shift, level=one.level, title=one.title) for one in page.headings]
    return out, page.headings[0].title if page.headings else None


def _refuse_locked(package: Package, *, found_text: bool) -> None:
    if not found_text and package.read("META-INF/encryption.xml") is not None:
        raise EncryptedDocument(
            f"{package.source.path} cannot be read: its seller has locked it",
            hint="Use a copy without copy protection.",
        )
