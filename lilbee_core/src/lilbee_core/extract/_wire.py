"""What the pool and its workers say to each other: frames of a length and a pickle."""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass, field
from typing import IO, Any

from lilbee_core.errors import LilbeeError
from lilbee_core.extract._pictures import FOR_READING, Look, Picture
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.types import Document, Source

_LENGTH = struct.Struct("<Q")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a worker makes an extractor: by its builder, pickled, which names a function to import."""

    name: str
    builder: bytes
    options: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The first message to a worker."""

    parent_pid: int
    memory_mb: int
    cache_dir: str
    native_dir: str
    max_chars: int
    password: str | None
    languages: tuple[str, ...]
    limits: MemberLimits = field(default_factory=MemberLimits)
    most_pixels: int = 200_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A file to read by a recipe, or one page of it (or of the member at these numbers) to take a picture of."""

    source: Source
    recipe: Recipe | None = None
    page: int | None = None
    at: tuple[int, ...] = ()
    look: Look = FOR_READING


Outcome = Document | Picture | LilbeeError
"""What may come of a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came of a task. The first one, without a result, says that the worker is up."""

    result: Outcome | None = None


def send(stream: IO[bytes], message: object) -> None:
    """Write one message."""
    payload = pickle.dumps(message, protocol=5)
    stream.write(_LENGTH.pack(len(payload)))
    stream.write(payload)
    stream.flush()


def receive(stream: IO[bytes]) -> object:
    """Read one message.

    Raises:
        EOFError: If the other side is gone.
    """
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return pickle.loads(_exactly(stream, length))


def _exactly(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError("the other side closed the pipe")
    return data
