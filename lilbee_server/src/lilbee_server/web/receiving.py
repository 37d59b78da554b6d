"""Files that come with a form: written to the disk as they come, never held in memory as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from lilbee_core import LilbeeError
from lilbee_core.errors import InvalidArgument
from lilbee_server.routes.uploads import Part

MOST_FILES = 500
_BOUNDARY_CHARS = 200


@dataclass(slots=True)
class Received:
    """A file of a form: its name, and where it is, or why it is not."""

    name: str
    part: Part
    problem: LilbeeError | None = None

    def write(self, piece: bytes) -> None:
        """Take a piece; of a file that is too large the rest is let go by."""
        if self.problem is None:
            try:
                self.part.write(piece)
            except LilbeeError as error:
                self.problem = error
                self.part.path.unlink(missing_ok=True)


@dataclass(slots=True)
class Receiver:
    """Takes a form apart. Fields that are no files are left out, and so are files without a name.

    Args:
        folder: Where the files are written, by numbers: the names that they came with are no business of the disk's.
        most_bytes: How large a file may be.
    """

    folder: Path
    most_bytes: int
    files: list[Received] = field(default_factory=list[Received])
    _now: Received | None = None

    async def take(self, content_type: str, pieces: AsyncIterator[bytes]) -> list[Received]:
        """Return the files of a form.

        Raises:
            InvalidArgument: If it is no such form, or breaks off.
        """
        parser = _parser(content_type)
        try:
            async for piece in pieces:
                if piece:
                    await asyncio.to_thread(self._feed, parser, piece)
            parser.close()
        except _multipart().MultipartError as error:
            raise InvalidArgument(f"the form cannot be read: {error}", hint="Send the files again.") from error
        return self.files

    def _feed(self, parser: Any, piece: bytes) -> None:
        for event in parser.parse(piece):
            if event is None:
                self._now = None
            elif isinstance(event, _multipart().MultipartSegment):
                self._begin(event)
            elif self._now is not None:
                self._now.write(bytes(event))

    def _begin(self, segment: Any) -> None:
        name = PurePosixPath((segment.filename or "").replace("\\", "/")).name
        if not name:
            self._now = None
            return
        part = Part(self.folder / f"part-{len(self.files)}", most_bytes=self.most_bytes)
        self._now = Received(name, part)
        self.files.append(self._now)


def _parser(content_type: str) -> Any:
    kind, options = _multipart().parse_options_header(content_type)
    boundary = options.get("boundary", "")
    if kind != "multipart/form-data" or not boundary or len(boundary) > _BOUNDARY_CHARS:
        raise InvalidArgument("this is no form with files", hint="Choose files with the form of this page.")
    return _multipart().PushMultipartParser(boundary, max_segment_count=MOST_FILES)


def _multipart() -> Any:
    """Return what takes forms apart; it has no types."""
    import multipart  # type: ignore[import-untyped]

    return multipart
