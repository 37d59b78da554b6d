"""Pages as pictures, kept for the moment between the page that measures one and the browser that fetches it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from lilbee_core import Lilbee
from lilbee_core.types import DocumentRow, PagePicture

_MOST_BYTES = 32_000_000
_KEPT_S = 60.0


class Pictures:
    """Draws pages, and keeps the last ones for a minute. Threads may share it.

    Args:
        library: Draws them.
        now: A clock, in seconds.
    """

    def __init__(self, library: Lilbee, *, now: Callable[[], float] = time.monotonic) -> None:
        self._library = library
        self._now = now
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str, int, int], tuple[PagePicture, float]] = OrderedDict()

    def get(self, row: DocumentRow, page: int, dpi: int) -> PagePicture:
        """Return a page of a document as it looks.

        Raises:
            LilbeeError: If it cannot be drawn.
        """
        key, now = (str(row.id), row.sha256, page, dpi), self._now()
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and now - kept[1] < _KEPT_S:
            return kept[0]
        drawn = self._library.get_picture(str(row.id), page, dpi=dpi)
        with self._lock:
            self._kept[key] = (drawn, now)
            self._kept.move_to_end(key)
            while sum(len(one.data) for one, _ in self._kept.values()) > _MOST_BYTES:
                self._kept.popitem(last=False)
        return drawn
