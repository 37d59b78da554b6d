"""The engine keeps to the public checks, and reads what a picture says of itself."""

import struct
import zlib

import pytest
from acme_lilbee.captions import CaptionReader

from lilbee_core.errors import ExtractError
from lilbee_core.testing.contracts import OcrContract


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def picture(*texts):
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    inside = [*texts, chunk(b"IDAT", zlib.compress(b"\0\0")), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(inside)


CAPTION = picture(chunk(b"tEXt", b"Title\0Otters at the weir"), chunk(b"zTXt", b"Comment\0\0" + zlib.compress(b"June")))


class TestCaptions(OcrContract):
    """The public checks for every engine."""

    def make(self):
        return CaptionReader()

    def images(self):
        return [CAPTION]


def test_title_and_comment_are_read():
    assert CaptionReader().recognize(CAPTION, languages=(), timeout_s=1).text == "Otters at the weir\nJune"


def test_a_picture_without_a_caption_is_left_to_others():
    with pytest.raises(ExtractError):
        CaptionReader().recognize(picture(chunk(b"tEXt", b"Software\0gimp")), languages=(), timeout_s=1)
