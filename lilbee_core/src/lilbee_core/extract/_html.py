"""Web pages: the text a reader sees, with the file's lines, headings, title and date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lilbee_core.extract._dates import iso_date
from lilbee_core.extract._markup import Block, PageReader
from lilbee_core.extract._reading import check_length, no_text, read_text
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Heading, Metadata, Source

_MOST_CONSENT_CHARS = 1_000
"""What is longer is no question about cookies, whatever it is called."""
_STEP_CHARS = 1 << 20
_DATES = (
    "article:published_time", "datepublished", "date", "dc.date", "dcterms.date", "dcterms.created", "pubdate", "time",
    "article:modified_time", "datemodified", "last-modified",
)  # fmt: skip
_FACTS = {
    "author": ("author", "article:author", "dc.creator"),
    "description": ("description", "og:description", "dc.description"),
    "keywords": ("keywords",),
    "url": ("canonical", "og:url"),
    "site": ("og:site_name",),
}


class HtmlExtractor:
    """Reads web pages as they look: with menus, footers, fields and the texts of pictures.

    Only questions about cookies are left out. Each line of the text is part of one line of the file, so places are
    exact.
    """

    name = "html"
    version = "2"
    in_process = False

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the text of the page.

        Raises:
            ExtractError: If the file cannot be read, is too long or shows no text.
        """
        decoded = read_text(source, context)
        page = read_page(decoded.text, context)
        if not page.text and decoded.text.strip():
            raise no_text(source)
        check_length(source, page.text, context)
        return Document(
            path=source.path,
            collection=source.collection,
            media_type=source.media_type,
            text=page.text,
            title=page.title,
            language=page.language,
            date=page.date,
            metadata=page.metadata,
            line_map=page.line_map,
            line_ends=page.line_ends,
            headings=page.headings,
            warnings=(decoded.warning,) if decoded.warning else (),
        )


class Page:
    """The visible text of a page with all that is known about it."""

    def __init__(self, reader: PageReader) -> None:
        blocks = _without_consent(reader.blocks)
        self.text, self.line_map, self.line_ends, self.headings = _joined(blocks)
        self.anchors = _places(reader, blocks)
        facts = reader.facts
        first = next((heading.title for heading in self.headings if heading.level == 1), None)
        self.title = reader.title or facts.get("og:title") or first
        self.language = (reader.language or "").strip().lower().replace("_", "-") or None
        self.date = next((date for name in _DATES if (date := iso_date(facts.get(name)))), None)
        self.metadata = Metadata({name: value for name, keys in _FACTS.items() if (value := _first(facts, keys))})


def _first(facts: Mapping[str, str], keys: Sequence[str]) -> str | None:
    return next((value for key in keys if (value := facts.get(key))), None)


def read_page(html: str, context: ExtractContext) -> Page:
    """Read a page piece by piece, so that it can be given up in between."""
    reader = PageReader()
    for at in range(0, len(html), _STEP_CHARS):
        reader.feed(html[at : at + _STEP_CHARS])
        context.check()
    reader.close()
    return Page(reader)


def _without_consent(blocks: Sequence[Block]) -> Sequence[Block]:
    """Leave out what asks for consent to cookies, if there is anything else and it is short."""
    asked = sum(block.letters for block in blocks if block.consent)
    rest = [block for block in blocks if not block.consent]
    return rest if rest and 0 < asked <= _MOST_CONSENT_CHARS else blocks


def _places(reader: PageReader, shown: Sequence[Block]) -> Mapping[str, int]:
    """Return where in the text the places are that links name."""
    starts: dict[int, int] = {}
    at = 0
    for before, block in zip((None, *shown), shown, strict=False):
        at += 0 if before is None else len(_gap(before, block))
        starts[id(block)] = at
        at += block.letters + len(block.lines) - 1
    # What is left out stands where the next block does.
    places = [at]
    for block in reversed(reader.blocks):
        places.append(starts.get(id(block), places[-1]))
    places.reverse()
    return {name: places[index] for name, index in reader.anchors.items()}


def _gap(before: Block, block: Block) -> str:
    return "\n" if block.tight and before.tight else "\n\n"


def _joined(blocks: Sequence[Block]) -> tuple[str, tuple[int, ...], tuple[int, ...], tuple[Heading, ...]]:
    pieces: list[str] = []
    lines: list[int] = []
    ends: list[int] = []
    headings: list[Heading] = []
    at = 0
    before: Block | None = None
    for block in blocks:
        if before is not None:
            gap = _gap(before, block)
            pieces.append(gap)
            at += len(gap)
            if len(gap) > 1:
                lines.append(before.lines[-1][1])
                ends.append(before.lines[-1][1])
        body = "\n".join(text for text, _ in block.lines)
        if block.heading:
            headings.append(Heading(start=at, level=block.heading, title=" ".join(body.split())))
        pieces.append(body)
        lines += [line for _, line in block.lines]
        ends += [max(line, block.end) for _, line in block.lines]
        at += len(body)
        before = block
    return "".join(pieces), tuple(lines), tuple(ends), tuple(headings)
