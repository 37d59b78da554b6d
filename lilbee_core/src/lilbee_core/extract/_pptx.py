"""Presentations: slides in their order, with tables, charts, notes and comments."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from lilbee_core.extract._drawn import Drawn, Wanted, illustrated, picture_members, pictures_in
from lilbee_core.extract._formulas import formula
from lilbee_core.extract._members import Member, MemberReader, Nesting
from lilbee_core.extract._office import written
from lilbee_core.extract._package import Facts, Package, attribute, child, children, descendants, local
from lilbee_core.extract._reading import damaged, read_bytes
from lilbee_core.extract._unlock import unlocked
from lilbee_core.extract._writer import TextWriter, table_row
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Source

_TITLES = frozenset(("title", "ctrTitle"))
_FURNITURE = frozenset(("sldNum", "hdr", "sldImg"))
_CHANGING = ("slidenum", "datetime")
_MAX_DEPTH = 40


class PptxExtractor(Nesting):
    """Reads PowerPoint presentations (pptx, ppsx, potx, pptm), in a worker process. Pages are slides."""

    name = "pptx"
    version = "2"
    in_process = False
    has_own_text = True

    def inside(self, members: MemberReader) -> Extractor:
        return PptxExtractor(members, limits=members.limits)

    def members(self, source: Source, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
        return picture_members(source, context, reader.limits)

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the text slide by slide.

        Raises:
            ExtractError: If the file is damaged, protected, too big or holds no text.
        """
        out = TextWriter()
        with Package(source, unlocked(source, read_bytes(source), context.password), self._limits) as package:
            slides = _slides(package)
            if not slides:
                raise damaged(source, "it holds no slides")
            for number, part in enumerate(slides, start=1):
                context.check()
                out.part(_Slide(package, part).read(), page=number, label=f"slide {number}")
            facts = Facts.of(package)
            title = next((heading.title for heading in out.headings), None)
            document = written(source, context, out, facts, warnings=package.warnings, title=title)
            return illustrated(source, document, package, _drawn)


def _drawn(package: Package, wanted: Wanted) -> Iterator[Drawn]:
    for number, part in enumerate(_slides(package), start=1):
        if wanted(number):
            yield from pictures_in(package, part, package.lesser(part), number)


def _slides(package: Package) -> list[str]:
    main = next((path for kind, path in package.relations("").values() if kind == "officeDocument"), None)
    main = main or "ppt/presentation.xml"
    tree = package.xml(main)
    listed = child(tree, "sldIdLst") if tree is not None else None
    relations = package.relations(main)
    ids = [_relation_id(one) for one in children(listed)]
    return [relations[one][1] for one in ids if one in relations]


def _relation_id(element: Element) -> str:
    """Return ``r:id``, which beside a plain ``id`` is told by its namespace only."""
    return next((value for key, value in element.attrib.items() if key.endswith("}id")), "")


class _Slide:
    """One slide with what hangs on it."""

    def __init__(self, package: Package, part: str) -> None:
        self._package = package
        self._tree = package.lesser(part)
        self._relations = package.relations(part)
        self._out = TextWriter()

    def read(self) -> TextWriter:
        tree = child(self._tree, "cSld", "spTree") if self._tree is not None else None
        shapes = list(_shapes(tree)) if tree is not None else []
        # A title may be drawn last; readers see it first.
        for shape in sorted(shapes, key=lambda one: _placeholder(one) not in _TITLES):
            self._shape(shape)
        for kind, path in self._relations.values():
            if kind == "notesSlide":
                self._notes(path)
            elif kind == "comments":
                self._comments(path)
        return self._out

    def _shape(self, shape: Element) -> None:
        kind = _placeholder(shape)
        if kind in _FURNITURE:
            return
        if local(shape) == "graphicFrame":
            self._graphic(shape)
            return
        body = child(shape, "txBody")
        lines = list(paragraphs(body)) if body is not None else []
        if kind in _TITLES:
            self._out.block(" ".join(line.strip() for line in lines), heading=1)
        else:
            self._out.block("\n".join(lines))

    def _graphic(self, frame: Element) -> None:
        for table in descendants(frame, "tbl"):
            for row in table:
                if local(row) == "tr":
                    cells = [" ".join(paragraphs(body)) for cell in row if (body := child(cell, "txBody")) is not None]
                    self._out.block(table_row(cells), tight=True)
        for one in frame.iter():
            name = local(one)
            if name == "chart" and _relation_id(one) in self._relations:
                self._chart(self._relations[_relation_id(one)][1])
            elif name == "relIds" and attribute(one, "dm") in self._relations:
                self._diagram(self._relations[attribute(one, "dm")][1])

    def _chart(self, path: str) -> None:
        tree = self._package.lesser(path)
        if tree is None:
            return
        title = child(tree, "chart", "title")
        if title is not None:
            self._out.block(" ".join(text for body in descendants(title, "rich") for text in paragraphs(body)))
        for series in descendants(tree, "ser"):
            name = child(series, "tx")
            categories = child(series, "cat")
            values = child(series, "val")
            label = " ".join(_points(name))
            pairs = [f"{one}: {two}" for one, two in zip(_points(categories), _points(values), strict=False)]
            self._out.block(f"{label} ({'; '.join(pairs)})" if pairs else label, tight=True)

    def _diagram(self, path: str) -> None:
        tree = self._package.lesser(path)
        for point in descendants(tree, "t") if tree is not None else ():
            if list(point):
                self._out.block(" ".join(paragraphs(point)), tight=True)

    def _notes(self, path: str) -> None:
        tree = self._package.lesser(path)
        shapes = child(tree, "cSld", "spTree") if tree is not None else None
        found = [
            "\n".join(paragraphs(body))
            for shape in (_shapes(shapes) if shapes is not None else ())
            if _placeholder(shape) == "body" and (body := child(shape, "txBody")) is not None
        ]
        if any(note.strip() for note in found):
            self._out.block("Notes: " + "\n".join(found))

    def _comments(self, path: str) -> None:
        tree = self._package.lesser(path)
        for comment in (one for one in (tree.iter() if tree is not None else ()) if local(one) in {"cm", "reply"}):
            plain = child(comment, "text")
            body = child(comment, "txBody")
            text = (plain.text or "") if plain is not None else " ".join(paragraphs(body)) if body is not None else ""
            if text.strip():
                self._out.block(f"Comment: {' '.join(text.split())}", tight=True)


def _shapes(tree: Element, depth: int = 0) -> Iterator[Element]:
    """Yield shapes and frames in the order of the file, those of groups in their place."""
    for one in tree:
        name = local(one)
        if name in {"sp", "graphicFrame", "cxnSp"}:
            yield one
        elif name in {"grpSp", "AlternateContent", "Choice"} and depth < _MAX_DEPTH:
            yield from _shapes(one, depth + 1)


def _placeholder(shape: Element) -> str:
    """Return what a shape stands for on its slide (``title``, ``body``), or an empty string."""
    for holder in shape:
        if local(holder).startswith("nv"):
            found = child(holder, "nvPr", "ph")
            return attribute(found, "type", "body") if found is not None else ""
    return ""


def _points(holder: Element | None) -> list[str]:
    return (
        [text for one in descendants(holder, "v") if (text := (one.text or "").strip())] if holder is not None else []
    )


def paragraphs(body: Element) -> Iterator[str]:
    """Yield the lines of a text body, deeper levels of lists indented."""
    for one in body:
        if local(one) != "p":
            continue
        properties = child(one, "pPr")
        level = attribute(properties, "lvl", "0") if properties is not None else "0"
        indent = "  " * int(level) if level.isdecimal() and len(level) < 2 else ""
        text = "".join(_runs(one))
        yield from (f"{indent}{line}".rstrip() for line in text.split("\n") if line.strip())


def _runs(paragraph: Element) -> Iterator[str]:
    for one in paragraph:
        name = local(one)
        if name == "br":
            yield "\n"
        elif name in {"r", "fld"} and not attribute(one, "type").startswith(_CHANGING):
            text = child(one, "t")
            yield (text.text or "") if text is not None else ""
        elif name in {"m", "AlternateContent", "Choice", "oMathPara", "oMath"}:
            yield formula(one)
