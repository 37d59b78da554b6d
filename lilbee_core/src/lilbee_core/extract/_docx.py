"""Word documents: what a reader sees, with tables, notes, comments, headers and numbers; deleted text is not read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.etree.ElementTree import Element

from lilbee_core.extract._drawn import Drawn, Wanted, illustrated, picture_members, pictures_in
from lilbee_core.extract._formulas import formula
from lilbee_core.extract._members import Member, MemberReader, Nesting
from lilbee_core.extract._numbering import Numbering, indent_of
from lilbee_core.extract._office import written
from lilbee_core.extract._package import Facts, Package, attribute, child, children, descendants, local
from lilbee_core.extract._reading import damaged, read_bytes
from lilbee_core.extract._unlock import unlocked
from lilbee_core.extract._writer import TextWriter, table_row
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Source

_UNSEEN = frozenset(("del", "moveFrom", "instrText", "delText", "rPr", "pPr", "sdtPr", "rt", "txbxContent", "Fallback"))
_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_HEADING_NAME = re.compile(r"heading ([1-9])$", re.IGNORECASE)
_LIST_NAME = re.compile(r"list (?:bullet|number|continue)(?: ([2-9]))?$", re.IGNORECASE)
_LONG_CELL = 300
_MAX_DEPTH = 40


class DocxExtractor(Nesting):
    """Reads Word documents (docx, docm, dotx), in a worker process."""

    name = "docx"
    version = "3"
    in_process = False
    has_own_text = True

    def inside(self, members: MemberReader) -> Extractor:
        return DocxExtractor(members, limits=members.limits)

    def members(self, source: Source, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
        return picture_members(source, context, reader.limits)

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the text with its headings.

        Raises:
            ExtractError: If the file is damaged, protected, too big or holds no text.
        """
        with Package(source, unlocked(source, read_bytes(source), context.password), self._limits) as package:
            main = _main_part(package)
            tree = package.xml(main) if main else None
            body = child(tree, "body") if tree is not None else None
            if main is None or body is None:
                raise damaged(source, "it holds no document")
            reader = _Reader(package, main, context)
            reader.read(body)
            facts = Facts.of(package)
            title = reader.title or next((one.title for one in reader.out.headings if one.level == 1), None)
            document = written(source, context, reader.out, facts, warnings=package.warnings, title=title)
            return illustrated(source, document, package, _drawn)


def _drawn(package: Package, wanted: Wanted) -> Iterator[Drawn]:
    """Yield the pictures of the body; those of headers and footers are logos."""
    main = _main_part(package)
    if main is not None:
        yield from pictures_in(package, main, package.xml(main))


def _main_part(package: Package) -> str | None:
    for kind, path in package.relations("").values():
        if kind == "officeDocument":
            return path
    return next((name for name in package.names() if name.lower() == "word/document.xml"), None)


class _Styles:
    """What styles say about the paragraphs that have them: heading levels and lists."""

    def __init__(self, tree: Element | None) -> None:
        self._styles = {attribute(one, "styleId"): one for one in children(tree) if local(one) == "style"}

    def _chain(self, style: str) -> Iterator[Element]:
        for _ in range(20):
            found = self._styles.get(style)
            if found is None:
                return
            yield found
            based = child(found, "basedOn")
            style = attribute(based, "val") if based is not None else ""

    def level(self, style: str) -> int:
        """Return the heading level of a style, 0 for none."""
        for one in self._chain(style):
            name = child(one, "name")
            title = attribute(name, "val") if name is not None else ""
            if found := _HEADING_NAME.match(title):
                return int(found[1])
            if (level := outline_level(child(one, "pPr"))) is not None:
                return level
        return 0

    def is_title(self, style: str) -> bool:
        """Say whether paragraphs of the style are the document's title."""
        names = (child(one, "name") for one in self._chain(style))
        return any(name is not None and attribute(name, "val").lower() == "title" for name in names)

    def list_level(self, style: str) -> int | None:
        """Return the level that the name of a style tells (``List Bullet 2``), None where it is none of a list."""
        for one in self._chain(style):
            name = child(one, "name")
            if name is not None and (found := _LIST_NAME.match(attribute(name, "val"))):
                return int(found[1] or 1) - 1
        return None

    def indent(self, style: str) -> int:
        """Return how far paragraphs of a style are indented."""
        return next((told for one in self._chain(style) if (told := indent_of(child(one, "pPr", "ind")))), 0)

    def list_of(self, style: str) -> Element | None:
        """Return the list that a style puts its paragraphs in."""
        return next((found for one in self._chain(style) if (found := child(one, "pPr", "numPr")) is not None), None)


def outline_level(properties: Element | None) -> int | None:
    """Return the outline level of a paragraph or a style: 1 to 9, 0 for body text, None when nothing is said."""
    found = child(properties, "outlineLvl") if properties is not None else None
    value = attribute(found, "val") if found is not None else ""
    return (int(value) + 1) % 10 if value.isdecimal() and int(value) <= 9 else None


class _Reader:
    """Walks a document and writes its text."""

    def __init__(self, package: Package, main: str, context: ExtractContext) -> None:
        self.out = TextWriter()
        self.title: str | None = None
        self._package = package
        self._context = context
        self._relations = package.relations(main)
        self._parts = dict(self._relations.values())
        self.styles = _Styles(self._part("styles"))
        self._numbering = Numbering(self._part("numbering"))
        self._notes: list[tuple[str, str]] = []
        self._item_indents: list[int] = []

    def _part(self, kind: str) -> Element | None:
        return self._package.lesser(self._parts[kind]) if kind in self._parts else None

    def read(self, body: Element) -> None:
        """Write the body, then notes, comments, headers and footers."""
        self._blocks(body)
        for kind, name in (("footnote", "footnotes"), ("endnote", "endnotes")):
            self._add_part(name, self._note_lines(kind, self._part(name)))
        self._add_part("comments", self._comment_lines(self._part("comments")))
        self._add_part("header and footer", self._margin_lines())

    def _add_part(self, label: str, lines: Iterable[str]) -> None:
        part = TextWriter()
        for line in dict.fromkeys(lines):
            part.block(line, tight=True)
        self.out.part(part, label=label)

    # ------------------------------------------------------------------ blocks

    def _blocks(self, parent: Element, depth: int = 0) -> None:
        if depth > _MAX_DEPTH:
            return
        for one in parent:
            match local(one):
                case "p":
                    self._context.check()
                    self._paragraph(one)
                case "tbl":
                    self._table(one)
                case "AlternateContent":
                    self._blocks(_choice(one), depth + 1)
                case "sdt" | "sdtContent" | "customXml" | "ins" | "moveTo" | "txbxContent" | "smartTag":
                    self._blocks(one, depth + 1)
                case _:
                    pass

    def _paragraph(self, paragraph: Element) -> None:
        text = self._text(paragraph)
        properties = child(paragraph, "pPr")
        style = child(properties, "pStyle") if properties is not None else None
        style_id = attribute(style, "val") if style is not None else ""
        level = outline_level(properties)
        level = self.styles.level(style_id) if level is None else level
        if self.styles.is_title(style_id):
            self.title = self.title or " ".join(text.split()) or None
            level = level or 1
        mark, depth = self._mark(properties, style_id) if text.strip() else ("", 0)
        indent = "  " * depth if mark and not level else ""
        self.out.block(
            f"{indent}{mark} {text}" if mark else text, heading=min(level, 6), tight=bool(mark) and not level
        )
        for box in _text_boxes(paragraph):
            self._blocks(box, 1)

    def _mark(self, properties: Element | None, style: str) -> tuple[str, int]:
        """Return what stands before a paragraph of a list and how deep it lies, an empty mark for other paragraphs."""
        own = child(properties, "numPr") if properties is not None else None
        inherited = self.styles.list_of(style)
        number = _value(own, "numId") or _value(inherited, "numId")
        if not number or number == "0":
            self._item_indents.clear()
            return "", 0
        told = _value(own, "ilvl") or _value(inherited, "ilvl")
        level = int(told) if told.isdecimal() and len(told) < 3 else self._numbering.depth_of(number, style)
        mark = self._numbering.mark(number, level)
        named = self.styles.list_level(style)
        if level == 0 and mark:
            level = named if named is not None else self._depth_by_indent(properties, style, number)
        return mark, level

    def _depth_by_indent(self, properties: Element | None, style: str, number: str) -> int:
        """Return how deep an item lies whose list has one level, by how far it stands to the right of those before."""
        own = indent_of(child(properties, "ind") if properties is not None else None)
        indent = own or self.styles.indent(style) or self._numbering.indent(number, 0)
        while self._item_indents and indent < self._item_indents[-1]:
            self._item_indents.pop()
        if not self._item_indents or indent > self._item_indents[-1]:
            self._item_indents.append(indent)
        return len(self._item_indents) - 1

    def _table(self, table: Element) -> None:
        for row in _rows(table):
            cells = [self._cell(cell) for cell in _cells(row)]
            if any(len(cell) > _LONG_CELL for cell in cells) or len(cells) == 1:
                # A table that only arranges the page.
                for cell in _cells(row):
                    self._blocks(cell, 1)
            else:
                self.out.block(table_row(cells), tight=True)

    def _cell(self, cell: Element) -> str:
        return " ".join(self._text(paragraph).strip() for paragraph in _paragraphs(cell)).strip()

    # ------------------------------------------------------------------ text

    def _text(self, paragraph: Element) -> str:
        pieces: list[str] = []
        self._collect(paragraph, pieces)
        return "".join(pieces)

    def _collect(self, parent: Element, pieces: list[str], depth: int = 0) -> None:
        for one in parent:
            name = local(one)
            if name == "t":
                pieces.append(one.text or "")
            elif name in _CHARACTERS:
                pieces.append(_CHARACTERS[name])
            elif name in {"footnoteReference", "endnoteReference"}:
                self._notes.append((name.removesuffix("Reference"), attribute(one, "id")))
                pieces.append(f"[{len(self._notes)}]")
            elif name == "AlternateContent":
                self._collect(_choice(one), pieces, depth + 1)
            elif name in {"oMath", "oMathPara"}:
                pieces.append(formula(one))
            elif name == "sym":
                pieces.append(_symbol(attribute(one, "char")))
            elif name not in _UNSEEN and depth < _MAX_DEPTH and not (name == "r" and _is_hidden(one)):
                self._collect(one, pieces, depth + 1)

    # ------------------------------------------------------------------ beside the body

    def _note_lines(self, kind: str, tree: Element | None) -> Iterator[str]:
        notes = {attribute(one, "id"): one for one in children(tree) if local(one) == kind}
        for number, (noted, key) in enumerate(tuple(self._notes), start=1):
            if noted == kind and key in notes:
                yield f"[{number}] {self._flat(notes[key])}"

    def _comment_lines(self, tree: Element | None) -> Iterator[str]:
        for one in children(tree):
            author = attribute(one, "author")
            yield f"Comment{f' by {author}' if author else ''}: {self._flat(one)}"

    def _margin_lines(self) -> Iterator[str]:
        for kind, path in self._relations.values():
            tree = self._package.lesser(path) if kind in {"header", "footer"} else None
            for paragraph in descendants(tree, "p") if tree is not None else ():
                line = " ".join(self._text(paragraph).split())
                # A page number alone says nothing.
                if any(char.isalpha() for char in line) or sum(char.isdigit() for char in line) > 3:
                    yield line

    def _flat(self, parent: Element) -> str:
        return " ".join(" ".join(self._text(one) for one in descendants(parent, "p")).split())


def _choice(alternatives: Element) -> Element:
    """Return the first of several forms of the same content."""
    forms = [one for one in alternatives if local(one) == "Choice"] or [*alternatives, Element("none")]
    return forms[0]


def _text_boxes(paragraph: Element) -> Iterator[Element]:
    """Yield the text boxes that are tied to a paragraph; each is stored in two forms, of which one is read."""
    waiting = list(paragraph)
    while waiting:
        one = waiting.pop(0)
        if local(one) == "Fallback":
            continue
        if local(one) == "AlternateContent":
            waiting[:0] = list(_choice(one))
        elif local(one) == "txbxContent":
            yield one
        else:
            waiting[:0] = list(one)


def _rows(table: Element) -> Iterator[Element]:
    for one in table:
        if local(one) == "tr":
            yield one
        elif local(one) in {"sdt", "sdtContent", "customXml", "ins"}:
            yield from _rows(one)


def _cells(row: Element) -> Iterator[Element]:
    for one in row:
        if local(one) == "tc":
            yield one
        elif local(one) in {"sdt", "sdtContent", "customXml", "ins"}:
            yield from _cells(one)


def _paragraphs(parent: Element) -> Iterator[Element]:
    """Yield the paragraphs of a cell, those of tables in it included."""
    for one in parent:
        if local(one) == "p":
            yield one
        elif local(one) in {"tbl", "tr", "tc", "sdt", "sdtContent", "customXml", "ins"}:
            yield from _paragraphs(one)


def _value(holder: Element | None, name: str) -> str:
    found = child(holder, name) if holder is not None else None
    return attribute(found, "val") if found is not None else ""


def _is_hidden(run: Element) -> bool:
    vanish = child(run, "rPr", "vanish")
    return vanish is not None and attribute(vanish, "val", "1") not in {"0", "false"}


def _symbol(code: str) -> str:
    try:
        value = int(code, 16)
    except ValueError:
        return ""
    # Symbol fonts keep their characters in a private area; nothing readable is there.
    return "" if 0xE000 <= value <= 0xF8FF or value > 0x10FFFF or 0xD800 <= value <= 0xDFFF else chr(value)
