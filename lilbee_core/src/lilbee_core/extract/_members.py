"""Files inside files: what a mail carries and an archive holds, read by their own readers and joined into one text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from lilbee_core.errors import ExtractError, LilbeeError, LimitExceeded, NoText
from lilbee_core.extract._formats import PDF
from lilbee_core.extract._layout import NoLayout, opened
from lilbee_core.extract._media import HEAD_BYTES
from lilbee_core.extract._pictures import has_pictures
from lilbee_core.extract._reading import damaged, read_bytes
from lilbee_core.extract._registry import ExtractorRegistry, build_extractor
from lilbee_core.extract._run import run_extractor
from lilbee_core.plugins.specs import ExtractServices, MemberLimits
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Heading, Scan, Segment, Source, Span, Table

GAP = "\n\n"
_MOST_WARNINGS = 100


@dataclass(frozen=True, slots=True)
class Member:
    """A file inside a file. `load` gives its bytes, once, until the next member is asked for.

    It raises a `LilbeeError` where this member alone cannot be had.
    """

    name: str
    size: int
    load: Callable[[], bytes]


def held(name: str, data: bytes) -> Member:
    """Return a member whose bytes are there already."""
    return Member(name, len(data), lambda: data)


class Joined:
    """Documents joined into one text, with segments that name the member each piece came from."""

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []
        self._length = len(text)
        self.segments: list[Segment] = []
        self.headings: list[Heading] = []
        self.scans: list[Scan] = []
        self.tables: list[Table] = []
        self._warnings: list[str] = []

    @property
    def text(self) -> str:
        return GAP.join(self._pieces)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be read; the first hundred, and how many more there were."""
        more = len(self._warnings) - _MOST_WARNINGS
        return (*self._warnings[:_MOST_WARNINGS], *([f"and {more} more warnings"] if more > 0 else []))

    def warn(self, warning: str) -> None:
        """Tell of something that could not be read."""
        self._warnings.append(warning)

    def append(self, body: str, label: str | None = None) -> None:
        """Append a text of the file's own."""
        body = body.strip("\n")
        if not body.strip():
            return
        start = self._next()
        self.segments.append(Segment(span=Span(start, start + len(body)), label=label))
        self._take(body, start)

    def add(self, document: Document, member: str) -> None:
        """Append a member's document."""
        body = document.text.rstrip("\n")
        if not body.strip():
            self.scans += [_placed(one, member, self._length, 0) for one in document.scans]
            return
        start = self._next()
        self.segments += member_segments(document, member, start, len(body))
        self.headings += [replace(one, start=one.start + start) for one in document.headings if one.start < len(body)]
        self.scans += [_placed(one, member, start, len(body)) for one in document.scans]
        self.tables += moved_tables(document, start, len(body))
        self._warnings += [f"{member}: {warning}" for warning in document.warnings]
        self._take(body, start)

    def add_all(self, members: Iterator[Member], reader: MemberReader, context: ExtractContext, kind: str) -> None:
        """Read members and append what comes out; `kind` says what they are, where one cannot be read."""
        for number, member in enumerate(members):
            found = reader.read(member, context)
            self.add_read(found, member.name, number, kind)

    def add_read(self, found: Read, name: str, number: int, kind: str) -> None:
        """Append what came of reading the member with this number, if anything did."""
        before = self._length
        result = found.result
        if isinstance(result, Document):
            inner = tuple(replace(one, at=(number, *one.at)) for one in result.scans)
            self.add(replace(result, scans=inner), name)
        elif not found.is_picture:
            self.warn(f"{kind} not read: {result.message}")
        own_pages = isinstance(result, Document) and any(not one.at for one in result.scans)
        if found.is_picture and not own_pages:
            # Pages that are pictures are read later, elsewhere, and put into this place.
            start = before if self._length == before else self._length - len(self._pieces[-1])
            pages = result.pages_without_text if isinstance(result, Document) else found.pages
            span = Span(start, self._length)
            self.scans.append(
                Scan(at=(number,), member=name, kind=kind, media_type=found.media_type, span=span, pages=pages)
            )

    def _next(self) -> int:
        return self._length + (len(GAP) if self._pieces else 0)

    def _take(self, body: str, start: int) -> None:
        self._pieces.append(body)
        self._length = start + len(body)


def moved_tables(document: Document, start: int, length: int) -> Iterator[Table]:
    """Yield the tables of a document whose text begins at `start` and is so long."""
    for one in document.tables:
        if one.span.end <= length:
            yield Table(Span(start + one.span.start, start + one.span.end), one.head)


def member_segments(document: Document, member: str, start: int, length: int) -> list[Segment]:
    """Return the segments of a member's document whose text begins at `start` and is so long.

    Without the name of a member they are those of the file's own pages.
    """
    inside = [
        replace(
            one,
            span=Span(start + min(one.span.start, length), start + min(one.span.end, length)),
            member=f"{member}/{one.member}" if one.member else member or None,
        )
        for one in document.segments
    ]
    if not member:
        return inside
    # A mail's own text belongs to the mail as a member; its attachments alone have segments of their own.
    bare = [Segment(span=Span(start + first, start + last), member=member) for first, last in _bare(document, length)]
    return sorted([*bare, *inside], key=lambda one: (one.span.start, -one.span.end))


def _bare(document: Document, length: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a document, up to a length, that lie in none of its segments."""
    at = 0
    spans = sorted((one.span.start, one.span.end) for one in document.segments if not one.fine)
    for first, last in [*spans, (length, length)]:
        end = min(first, length)
        if document.text[at:end].strip():
            yield at, at + len(document.text[at:end].rstrip())
        at = max(at, last)


def _placed(scan: Scan, member: str, start: int, length: int) -> Scan:
    span = Span(start + min(scan.span.start, length), start + min(scan.span.end, length))
    return replace(scan, span=span, member=f"{member}/{scan.member}" if scan.member else member)


@dataclass(frozen=True, slots=True)
class Read:
    """What came of a member: its document or why there is none, its type, and its pages if all are pictures."""

    result: Document | LilbeeError
    media_type: str = ""
    pages: tuple[int, ...] = ()

    @property
    def is_picture(self) -> bool:
        """Whether its text may stand on pictures."""
        return has_pictures(self.media_type) and isinstance(self.result, Document | NoText)


class MemberReader:
    """Reads members with the built-in extractors, within one budget for the whole file."""

    def __init__(
        self,
        source: Source,
        *,
        limits: MemberLimits = MemberLimits(),  # noqa: B008 - a frozen value
        depth: int = 1,
        budget: list[int] | None = None,
        closed: bool = False,
    ) -> None:
        """Take the file that holds the members; `depth` counts the files around it and itself.

        A reader that is `closed` is for a file that lies so deep that only its own text is read.
        """
        self.limits = limits
        self.closed = closed
        self._source = source
        self._depth = depth
        # Shared with the readers of inner archives: bytes and members left.
        self._budget = budget if budget is not None else [limits.unpacked_bytes, limits.members]
        self._registry: ExtractorRegistry | None = None
        self._built: dict[str, Extractor] = {}

    def spend(self, size: int, *, members: int = 1) -> None:
        """Count bytes and members against the budget.

        Raises:
            LimitExceeded: If the members of the file are too many or too big.
        """
        self._budget[0] -= size
        self._budget[1] -= members
        if min(self._budget) < 0:
            raise LimitExceeded(
                f"{self._source.path} unpacks to more than is allowed",
                hint="Unpack the file yourself into the folder, or raise archive_max_mb or archive_max_members.",
            )

    def read(self, member: Member, context: ExtractContext) -> Read:
        """Return what comes of a member."""
        context.check()
        try:
            data = member.load()
        except ExtractError as error:
            # This member is too big, packed too oddly, locked or damaged; the others are there all the same.
            return Read(error)
        source = self._source_of(member.name, data)
        try:
            extractor = self._extractor(source)
        except LilbeeError as error:
            return Read(error)
        result = run_extractor(extractor, source, context)
        pages = page_numbers(source, context) if isinstance(result, NoText) and source.media_type == PDF else ()
        return Read(result, source.media_type, pages)

    def find(self, members: Iterator[Member], at: Sequence[int], context: ExtractContext) -> Source:
        """Return the member that is reached by these numbers, one for each file around it.

        Raises:
            LilbeeError: If it cannot be had.
        """
        for number, member in enumerate(members):
            context.check()
            if number != at[0]:
                continue
            source = self._source_of(member.name, member.load())
            if len(at) == 1:
                return source
            extractor = self._extractor(source)
            if isinstance(extractor, Nesting):
                return extractor.find(source, at[1:], context)
            break
        raise NoText(f"{self._source.path} holds no such member", hint="Sync again; the file may have changed.")

    def _source_of(self, name: str, data: bytes) -> Source:
        from lilbee_core.extract import builtin_extractors

        registry = self._registry = self._registry or ExtractorRegistry(builtin_extractors())
        media_type = registry.media_type(name, data[:HEAD_BYTES])
        return Source(collection=self._source.collection, path=name, media_type=media_type, data=data, size=len(data))

    def _extractor(self, source: Source) -> Extractor:
        spec = self._registry.choose(source.path, source.media_type) if self._registry is not None else None
        if spec is None:
            raise LilbeeError(
                f"{source.path} is {source.media_type}, which no extractor reads", code="extract.unsupported"
            )
        extractor = self._built.get(spec.name)
        if extractor is None:
            extractor = self._built[spec.name] = build_extractor(spec, {}, ExtractServices(limits=self.limits))
        if isinstance(extractor, Nesting):
            deep = self._depth >= self.limits.depth
            if deep and not extractor.has_own_text:
                raise LimitExceeded(f"{source.path} lies too deep inside other files")
            inner = MemberReader(source, limits=self.limits, depth=self._depth + 1, budget=self._budget, closed=deep)
            extractor = extractor.inside(inner)
        return extractor


def page_numbers(source: Source, context: ExtractContext) -> tuple[int, ...]:
    """Return the numbers of all pages of a PDF, none if it cannot be opened."""
    try:
        with opened(source.data or b"", context.password) as document:
            return tuple(range(1, len(document) + 1))
    except NoLayout:
        return ()


class Nesting:
    """An extractor whose files hold files.

    Those that have a text of their own are read at any depth, without the files in them where these lie too deep.
    """

    has_own_text = False

    def __init__(self, members: MemberReader | None = None, *, limits: MemberLimits | None = None) -> None:
        """Take the reader of members of the file around, or the limits for the outermost one."""
        self._members = members
        self._limits = limits or MemberLimits()

    def inside(self, members: MemberReader) -> Extractor:
        """Return the extractor for a file that lies inside another one."""
        raise NotImplementedError

    def members(self, source: Source, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
        """Yield the files inside, always in the same order, each counted against the reader's budget."""
        raise NotImplementedError

    def reader(self, source: Source) -> MemberReader:
        """Return the reader of the file's members."""
        return self._members or MemberReader(source, limits=self._limits)

    def find(self, source: Source, at: Sequence[int], context: ExtractContext) -> Source:
        """Return a member, by its number and those of the files around it.

        Raises:
            LilbeeError: If it cannot be had.
        """
        reader = self.reader(source)
        return reader.find(self.members(source, context, reader), at, context)


def find_member(
    source: Source, at: Sequence[int], context: ExtractContext, limits: MemberLimits
) -> Source | LilbeeError:
    """Return a member of a file with its bytes, by its number and those of the files around it; or why there is none.

    Unlike `Nesting.find` it never raises.
    """
    outer = MemberReader(source, limits=limits, depth=0)
    try:
        return outer.find(iter((held(source.path, read_bytes(source)),)), (0, *at), context)
    except LilbeeError as error:
        return error
    except Exception as error:  # noqa: BLE001 - the file was read before; whatever is wrong now costs this member
        return damaged(source, f"a member of it cannot be unpacked ({type(error).__name__})")
