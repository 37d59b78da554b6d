"""Captions of pictures: the text that cameras and editors write into a PNG beside its pixels, as an OCR engine."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lilbee_core.errors import ExtractError
from lilbee_core.protocols import OcrPage

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True, slots=True)
class CaptionReader:
    """Reads the title and the description that a PNG carries. Nothing is guessed, so it is sure of every word."""

    name: str = "acme-captions"

    def recognize(self, image: bytes, *, languages: Sequence[str], timeout_s: float) -> OcrPage:
        """Return what the picture says of itself.

        Raises:
            ExtractError: If it is no PNG or has no caption; the next engine then looks at its pixels.
        """
        if not image.startswith(_SIGNATURE):
            raise ExtractError("this is no PNG")
        told = [text for name, text in captions(image) if name in {"Title", "Description", "Comment"}]
        if not told:
            raise ExtractError("the picture has no caption")
        return OcrPage(text="\n".join(told), confidence=1.0)


def captions(image: bytes) -> Iterator[tuple[str, str]]:
    """Yield the texts of a PNG with their names."""
    at = len(_SIGNATURE)
    while at + 8 <= len(image):
        length, kind = struct.unpack_from(">I4s", image, at)
        body = image[at + 8 : at + 8 + length]
        at += 12 + length
        name, _, rest = body.partition(b"\0")
        if kind == b"tEXt":
            yield name.decode("latin-1"), rest.decode("latin-1")
        elif kind == b"zTXt":
            text = zlib.decompressobj().decompress(rest[1:], 1 << 20)
            yield name.decode("latin-1"), text.decode("latin-1")
