"""Places in documents as addresses, where they are read."""

from __future__ import annotations

import zlib
from urllib.parse import urlencode

from lilbee_core import Citation, Hit
from lilbee_core.types import Location, Span

PATH = "/read"
_LONGEST_QUOTE = 300
_MOST_WORDS = 20


def read_url(found: Hit | Citation, query: str = "") -> str:
    """Return the address that opens a hit or a citation in its document.

    A hit is named by its characters too, and by a sum of them: a document that has changed since is told from one
    where it still stands there. The words that the search found in it are marked there again. A citation is named by
    the beginning of its quote.
    """
    asked = {"document": str(found.document_id), "place": place_named(location_of(found))}
    if isinstance(found, Hit):
        span = found.chunk.span
        asked |= {"span": f"{span.start}-{span.end}", "sum": sum_of(found.text)}
        asked["words"] = " ".join(_words_of(found)) if query else ""
    else:
        asked["quote"] = found.quote[:_LONGEST_QUOTE]
    if query:
        asked["q"] = query
    return f"{PATH}?{urlencode({name: value for name, value in asked.items() if value})}#passage"


def _words_of(hit: Hit) -> list[str]:
    words = (hit.text[first:last].casefold() for first, last in hit.highlights)
    return list(dict.fromkeys(one for one in words if one.isprintable()))[:_MOST_WORDS]


def place_named(at: Location) -> str:
    """Return a location as the library reads it: ``10-20``, ``p3``, or a name."""
    if at.line_start is not None:
        return f"{at.line_start}-{at.line_end or at.line_start}"
    if at.page_start is not None:
        return f"p{at.page_start}-{at.page_end or at.page_start}"
    return at.label or at.member or ""


def location_of(found: Hit | Citation) -> Location:
    """Return where a hit or a citation stands."""
    return found.location if isinstance(found, Citation) else found.chunk.location


def parse_span(text: str) -> Span | None:
    """Read ``120-480``; None where that is not what it says."""
    first, dash, last = text.partition("-")
    if not (dash and first.isascii() and first.isdigit() and last.isascii() and last.isdigit()) or len(text) > 30:
        return None
    return Span(int(first), int(last)) if int(first) <= int(last) else None


def sum_of(text: str) -> str:
    """Return a short sum of a text."""
    return f"{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}"
