"""Pictures in office files that stand where their text should: pages scanned into a document, slides that are pictures.

They are members of their file, so that they are recognized like scans in an archive. Pictures beside enough text, and
small ones, are left alone: they illustrate it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from xml.etree.ElementTree import Element

from lilbee_core.errors import ExtractError
from lilbee_core.extract._media import detect_media_type
from lilbee_core.extract._members import Member
from lilbee_core.extract._package import Package, attribute, descendants, local
from lilbee_core.extract._pictures import has_pictures, image_size
from lilbee_core.extract._reading import damaged, no_text, read_bytes
from lilbee_core.extract._unlock import unlocked
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Scan, Source, Span

_LITTLE_CHARS = 150
"""Fewer letters than these for each large picture are captions."""
_SLIDE_CHARS = 100
_LEAST_PIXELS, _LEAST_SIDE = 250_000, 300
"""A page of text takes as many; logos and icons take fewer."""
_MOST = 1000
_ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture in a file: its part, and the number of its slide if it stands on one."""

    part: str
    slide: int = 0

    @property
    def name(self) -> str:
        name = self.part.rsplit("/", 1)[-1]
        return f"slide {self.slide}/{name}" if self.slide else name


Wanted = Callable[[int], bool]
Find = Callable[[Package, Wanted], Iterable[Drawn]]
"""Names the pictures that a file shows, in their order; of slides, those that are wanted."""


def pictures_in(package: Package, part: str, tree: Element | None, slide: int = 0) -> Iterator[Drawn]:
    """Yield the pictures that a part of an Office file shows, in their order."""
    relations = package.relations(part)
    for one in tree.iter() if tree is not None else ():
        name = local(one)
        if name in {"blip", "imagedata"}:
            kind, path = relations.get(attribute(one, "embed" if name == "blip" else "id"), ("", ""))
            if kind == "image":
                yield Drawn(path, slide)


def frames_in(tree: Element, slide: int = 0) -> Iterator[Drawn]:
    """Yield the pictures that a part of an OpenDocument file shows, in their order."""
    for one in descendants(tree, "image"):
        if path := attribute(one, "href").removeprefix("./"):
            yield Drawn(path, slide)


def picture_members(source: Source, context: ExtractContext, limits: MemberLimits) -> Iterator[Member]:
    """Yield the pictures in a file as its members, shown or not."""
    with Package(source, unlocked(source, read_bytes(source), context.password), limits) as package:
        for part in _parts(package):
            yield Member(part.rsplit("/", 1)[-1], 0, partial(_loaded, package, part))


def _parts(package: Package) -> list[str]:
    return [name for name in package.names() if name.lower().endswith(_ENDINGS)][:_MOST]


def _loaded(package: Package, part: str) -> bytes:
    data = package.read(part)
    if data is None:
        raise damaged(package.source, f"it lacks its part {part}")
    return data


def illustrated(source: Source, document: Document, package: Package, find: Find) -> Document:
    """Return the document with those of its pictures that stand for text.

    Raises:
        NoText: If it holds neither text nor such pictures.
    """
    letters = _count(document.text)
    parts = {part.lower(): at for at, part in enumerate(_parts(package))}
    slides = _slides_of(document)
    found: dict[str, Drawn] = {}
    if slides or letters < _LITTLE_CHARS * len(parts):
        for one in find(package, lambda slide: slides.get(slide, 0) < _SLIDE_CHARS) if parts else ():
            found.setdefault(one.part.lstrip("/").lower(), one)
    large = [
        (parts[part], one, kind) for part, one in found.items() if part in parts and (kind := _if_large(package, one))
    ]
    if not slides and letters >= _LITTLE_CHARS * len(large):
        large = []
    if not letters and not large:
        raise no_text(source)
    end = Span(len(document.text), len(document.text))
    scans = (
        Scan(at=(at,), member=one.name, kind="picture", media_type=kind, span=end, pages=(1,))
        for at, one, kind in large
    )
    return replace(document, scans=tuple(scans))


def _count(text: str) -> int:
    return sum(char.isalnum() for char in text)


def _slides_of(document: Document) -> dict[int, int]:
    """Return how many letters stand on each slide that has a text."""
    return {
        one.page: _count(one.span.cut(document.text))
        for one in document.segments
        if one.page is not None and not one.fine
    }


def _if_large(package: Package, drawn: Drawn) -> str:
    """Return the media type of a picture that is large enough to show text, else an empty string."""
    try:
        data = package.read(drawn.part) or b""
    except ExtractError:
        return ""
    kind = detect_media_type(drawn.part, data[:8192])
    width, height = image_size(data)
    large = width * height >= _LEAST_PIXELS and min(width, height) >= _LEAST_SIDE
    return kind if large and has_pictures(kind) else ""
