"""The body of an answer, unpacked piece by piece, so that a small packed one cannot fill the memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain

from lilbee_core.errors import CrawlError

ACCEPTED = "gzip, deflate"
"""What we can unpack bit by bit."""


def read_body(pieces: Iterable[bytes], encoding: str, *, max_bytes: int, url: str) -> bytes:
    """Return the body, unpacked.

    Raises:
        CrawlError: If it is longer than `max_bytes`, packed in an unknown way, or damaged.
    """
    found = bytearray()
    for piece in _unpacked(_bounded(pieces, max_bytes, url), encoding, max_bytes, url):
        found += piece
        if len(found) > max_bytes:
            raise too_large(url, max_bytes)
    return bytes(found)


def too_large(url: str, max_bytes: int) -> CrawlError:
    """Return the error for a page over the limit."""
    return CrawlError(
        f"{url} is over the limit of {max_bytes / 1e6:.0f} MB",
        hint="Raise crawl_max_page_mb.",
        code="crawl.too_large",
    )


def _bounded(pieces: Iterable[bytes], max_bytes: int, url: str) -> Iterator[bytes]:
    received = 0
    for piece in pieces:
        received += len(piece)
        if received > max_bytes:
            raise too_large(url, max_bytes)
        yield piece


def _unpacked(pieces: Iterator[bytes], encoding: str, max_bytes: int, url: str) -> Iterator[bytes]:
    names = [name.strip().lower() for name in encoding.split(",") if name.strip()]
    layers = [name for name in names if name != "identity"]
    if not layers:
        yield from pieces
        return
    if len(layers) > 1 or layers[0] not in {"gzip", "x-gzip", "deflate"}:
        raise CrawlError(f"{url} is packed with {encoding!r}, which was not asked for", code="crawl.unsupported")
    try:
        yield from _inflated(pieces, layers[0], max_bytes + 1)
    except zlib.error as error:
        raise CrawlError(f"{url} is packed, and damaged", hint="Try again later.") from error


def _inflated(pieces: Iterator[bytes], name: str, most: int) -> Iterator[bytes]:
    unpack = zlib.decompressobj(zlib.MAX_WBITS | (32 if name != "deflate" else 0))
    first = next(pieces, b"")
    if name == "deflate" and first and first[0] & 0x0F != 8:
        # Some servers send it without the frame that the standard asks for.
        unpack = zlib.decompressobj(-zlib.MAX_WBITS)
    left = most
    for piece in chain((first,), pieces):
        waiting = piece
        while waiting and left > 0:
            part = unpack.decompress(waiting, min(left, 1 << 20))
            left -= len(part)
            if part:
                yield part
            waiting = unpack.unconsumed_tail
            if unpack.eof:
                return
        if left <= 0:
            return
