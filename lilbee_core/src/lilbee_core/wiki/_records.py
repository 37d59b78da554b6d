"""What the library's state keeps for the wiki: a damaged record is as good as none, since a build makes it anew."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

from lilbee_core.errors import StoreError
from lilbee_core.protocols import StateStore

log = logging.getLogger(__name__)


def kept(state: StateStore, kind: str, key: str) -> Mapping[str, object] | None:
    """Return a record, None where there is none that can be read."""
    try:
        return state.load(kind, key)
    except StoreError as error:
        if error.code != "store.damaged" or key not in state.keys(kind):
            raise  # the file itself
        log.warning("%s: it is made anew", error.message)
        return None


def all_kept(state: StateStore, kind: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the records of a kind that can be read."""
    try:
        yield from state.items(kind)
    except StoreError as error:
        if error.code != "store.damaged":
            raise
        for key in state.keys(kind):
            value = kept(state, kind, key)
            if value is not None:
                yield key, value
