"""Files inside files: what a mail carries and an archive holds, read by their own readers and joined into one text."""

from __future__ import annotations

from dataclasses import replace

from lilbee_core.errors import LilbeeError, LimitExceeded
from lilbee_core.extract._media import HEAD_BYTES
from lilbee_core.extract._registry import ExtractorRegistry, build_extractor
from lilbee_core.extract._run import run_extractor
from lilbee_core.plugins.specs import ExtractServices, MemberLimits
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Heading, Segment, Source, Span

GAP = "\n\n"


class Joined:
    """Documents joined into one text, with segments that name the member each piece came from."""

    def __init__(self, text: str = "") -> None:
        self._pieces = [text] if text else []
        self._length = len(text)
        self.segments: list[Segment] = []
        self.headings: list[Heading] = []
        self.warnings: list[str] = []

    @property
    def text(self) -> str:
        return GAP.join(self._pieces)

    def add(self, document: Document, member: str) -> None:
        """Append a member's document."""
        body = document.text.rstrip("\n")
        if not body.strip():
            return
        start = self._length + (len(GAP) if self._pieces else 0)
        self.segments += _segments(document, member, start, len(body))
        self.headings += [replace(one, start=one.start + start) for one in document.headings if one.start < len(body)]
        self.warnings += [f"{member}: {warning}" for warning in document.warnings]
        self._pieces.append(body)
        self._length = start + len(body)


def _segments(document: Document, member: str, start: int, length: int) -> list[Segment]:
    if not document.segments:
        return [Segment(span=Span(start, start + length), member=member)]
    return [
        replace(
            one,
            span=Span(start + min(one.span.start, length), start + min(one.span.end, length)),
            member=f"{member}/{one.member}" if one.member else member,
        )
        for one in document.segments
    ]


class MemberReader:
    """Reads members with the built-in extractors, within one budget for the whole file."""

    def __init__(
        self,
        source: Source,
        *,
        limits: MemberLimits = MemberLimits(),  # noqa: B008 - a frozen value
        depth: int = 1,
        budget: list[int] | None = None,
    ) -> None:
        """Take the file that holds the members; `depth` counts the files around it and itself."""
        self.limits = limits
        self._source = source
        self._depth = depth
        # Shared with the readers of inner archives: bytes and members left.
        self._budget = budget if budget is not None else [limits.unpacked_bytes, limits.members]
        self._registry: ExtractorRegistry | None = None
        self._built: dict[str, Extractor] = {}

    def spend(self, size: int) -> None:
        """Count a member against the budget.

        Raises:
            LimitExceeded: If the members of the file are too many or too big.
        """
        self._budget[0] -= size
        self._budget[1] -= 1
        if min(self._budget) < 0:
            raise LimitExceeded(
                f"{self._source.path} unpacks to more than is allowed",
                hint="Unpack the file yourself into the folder, or raise archive_max_mb or archive_max_members.",
            )

    def read(self, name: str, data: bytes, context: ExtractContext) -> Document | LilbeeError:
        """Return the document of a member, or why there is none."""
        context.check()
        from lilbee_core.extract import builtin_extractors

        registry = self._registry = self._registry or ExtractorRegistry(builtin_extractors())
        media_type = registry.media_type(name, data[:HEAD_BYTES])
        source = Source(collection=self._source.collection, path=name, media_type=media_type, data=data, size=len(data))
        spec = registry.choose(name, media_type)
        if spec is None:
            return LilbeeError(f"{name} is {media_type}, which no extractor reads", code="extract.unsupported")
        extractor = self._built.get(spec.name)
        if extractor is None:
            extractor = self._built[spec.name] = build_extractor(spec, {}, ExtractServices(limits=self.limits))
        if isinstance(extractor, Nesting):
            if self._depth >= self.limits.depth:
                return LimitExceeded(f"{name} lies too deep inside other files")
            extractor = extractor.inside(
                MemberReader(source, limits=self.limits, depth=self._depth + 1, budget=self._budget)
            )
        return run_extractor(extractor, source, context)


class Nesting:
    """An extractor whose files hold files."""

    def __init__(self, members: MemberReader | None = None, *, limits: MemberLimits | None = None) -> None:
        """Take the reader of members of the file around, or the limits for the outermost one."""
        self._members = members
        self._limits = limits or MemberLimits()

    def inside(self, members: MemberReader) -> Extractor:
        """Return the extractor for a file that lies inside another one."""
        raise NotImplementedError

    def reader(self, source: Source) -> MemberReader:
        """Return the reader of the file's members."""
        return self._members or MemberReader(source, limits=self._limits)
