"""Pages of documents as they look."""

from __future__ import annotations

import os

from lilbee_core.errors import InvalidArgument, LimitExceeded, NotFound, UnsupportedFormat
from lilbee_core.extract import has_pictures, image_type
from lilbee_core.ingest import unescaped
from lilbee_core.library._parts import Parts
from lilbee_core.types import MEMORY, DocumentRow, PagePicture, Source

DPI, LEAST_DPI, MOST_DPI = 110, 36, 300
MOST_PIXELS = 8_000_000
"""A page is drawn with fewer dots where it is so large."""
MOST_BYTES = 30_000_000


def picture_of(parts: Parts, row: DocumentRow, page: int, dpi: int) -> PagePicture:
    """Return a page of a document as it looks.

    Raises:
        InvalidArgument: If there is no such page, or `dpi` is out of bounds.
        UnsupportedFormat: If its format has no pages that can be drawn.
        NotFound: If its file is gone.
        ExtractError: If it cannot be drawn within the limits.
    """
    if not LEAST_DPI <= dpi <= MOST_DPI:
        raise InvalidArgument(f"{dpi} dots per inch cannot be drawn", hint=f"Choose {LEAST_DPI} to {MOST_DPI}.")
    if page < 1:
        raise InvalidArgument(f"there is no page {page}", hint="Pages are counted from 1.")
    if not has_pictures(row.media_type):
        raise UnsupportedFormat(f"{row.ref} is {row.media_type}, which has no pictures", hint="Read its text instead.")
    file = _file_of(parts, row)
    try:
        info = os.stat(file)
    except OSError as error:
        raise NotFound(f"the file of {row.ref} is gone", hint="Read its text, which is in the index.") from error
    source = Source(collection=row.collection, path=row.path, media_type=row.media_type, file=file, size=info.st_size)
    drawn = parts.reader.picture(source, page, dpi=dpi, most_pixels=MOST_PIXELS)
    kind = image_type(drawn.data[:16])
    if kind is None:
        raise UnsupportedFormat(f"{row.ref} is {row.media_type}, which is not shown", hint="Read its text instead.")
    if len(drawn.data) > MOST_BYTES:
        told = f"the picture of {row.ref} has {len(drawn.data) / 1e6:,.0f} MB, more than is shown"
        raise LimitExceeded(told, hint="Read its text instead.")
    return PagePicture(
        document_id=row.id,
        collection=row.collection,
        path=row.path,
        data=drawn.data,
        media_type=kind,
        page=drawn.page,
        pages=drawn.pages,
        width=drawn.width,
        height=drawn.height,
        stale=(info.st_size, info.st_mtime_ns) != (row.size, row.mtime_ns),
    )


def _file_of(parts: Parts, row: DocumentRow) -> str:
    folders = {root.collection: root.folder for root in parts.roots()}
    if row.extractor == MEMORY or row.collection not in folders:
        raise NotFound(f"{row.ref} has no file", hint="Read its text, which is in the index.")
    return os.path.join(folders[row.collection], unescaped(row.raw_path) if row.raw_path else row.path)
