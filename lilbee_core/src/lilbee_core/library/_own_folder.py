"""What a library's own folder is called as a collection: what it was called when it was first indexed.

The folder may be renamed, copied, mounted elsewhere or reached through a link, and its settings may be lost: documents
keep their collection all the same. Its name lies in the state, beside where the folder was.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from lilbee_core.errors import StoreError
from lilbee_core.ingest import Root
from lilbee_core.library._home import Home, free_name
from lilbee_core.protocols import StateStore, StoreLike
from lilbee_core.types import MEMORY

log = logging.getLogger(__name__)

_KIND = "folder"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a folder was: seen from the data, since both may be moved together, and by its full path."""

    path: str
    at: str

    @classmethod
    def of(cls, home: Home) -> _Place:
        return cls(_relative(home), str(home.base))

    def is_folder_of(self, home: Home) -> bool:
        here = os.path.realpath(home.base)
        return here in (os.path.realpath(home.data_dir / self.path), os.path.realpath(self.at))

    @property
    def is_gone(self) -> bool:
        return not os.path.isdir(self.at)


def own_name(home: Home, store: StoreLike, state: StateStore) -> str:
    """Return the name of the collection that a library with a folder has by itself."""
    if home.root is None:
        return ""
    try:
        known = _folders(state)
        return _recorded(home, known) if known else _indexed(home, store)
    except StoreError as error:
        # What is damaged is said by whoever reads or writes documents.
        log.debug("the name of the own folder: %s", error.message)
        return home.folder_name


def remember_own_name(home: Home, roots: list[Root], state: StateStore) -> None:
    """Keep what the library's own folder is called now, for when its name or the settings are lost."""
    if home.root is None:
        return
    folder = Path(os.path.realpath(home.root))
    own = next((root.collection for root in roots if root.folder == folder and not root.include), None)
    try:
        known, here = _folders(state), _Place.of(home)
        for name, place in known.items():
            if name != own and place.is_folder_of(home):
                state.delete(_KIND, name)
        if own is not None and known.get(own) != here:
            state.save(_KIND, own, asdict(here))
    except StoreError as error:
        log.warning("what the folder is called as a collection could not be kept: %s", error.message)


def _folders(state: StateStore) -> Mapping[str, _Place]:
    return {name: _Place(str(value.get("path", "")), str(value.get("at", ""))) for name, value in state.items(_KIND)}


def _recorded(home: Home, known: Mapping[str, _Place]) -> str:
    same = [name for name, place in known.items() if place.is_folder_of(home)]
    if same:
        return same[0]
    # The data lie elsewhere: a folder that is not there any more is this one, under another name.
    gone = [name for name, place in known.items() if place.is_gone]
    if len(gone) == 1:
        return gone[0]
    return free_name(home.folder_name, known)


def _indexed(home: Home, store: StoreLike) -> str:
    """Return what the ledger tells, where an older version kept no name."""
    names = {collection for collection, _ in store.counts()}
    if not names or home.folder_name in names:
        return home.folder_name
    here = [name for name in names if _lies_here(home, store, name)]
    return here[0] if len(here) == 1 else home.folder_name


def _lies_here(home: Home, store: StoreLike, name: str) -> bool:
    files = (one for one in store.stamps(name) if one.extractor != MEMORY and not one.raw_path)
    return any((home.base / one.path).exists() for one in files)


def _relative(home: Home) -> str:
    try:
        return Path(os.path.relpath(home.base, home.data_dir)).as_posix()
    except ValueError:  # on another drive
        return str(home.base)
