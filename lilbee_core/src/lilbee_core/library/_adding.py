"""`add`: paths become collections where they are not part of one yet. Nothing is ever copied."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.ingest import Globs, Root, shown
from lilbee_core.library._collections import Collections
from lilbee_core.library._parts import Parts
from lilbee_core.types import DocumentState


@dataclass(frozen=True, slots=True)
class Added:
    """Which collections have to be synced."""

    collections: tuple[str, ...]


def register(parts: Parts, collections: Collections, paths: Sequence[str | Path]) -> Added:
    """Make sure that each path belongs to a collection, and take back what was excluded below it.

    Raises:
        NotFound: If a path does not exist; then nothing was changed.
        InvalidArgument: If it is neither a file nor a folder.
    """
    checked = [_checked(path) for path in paths]
    names: list[str] = []
    for path in checked:
        root = _root_of(parts.roots(), path)
        if root is not None:
            _readmit(parts, root, path)
            names.append(root.collection)
        elif path.is_dir():
            names.append(collections.add(path).name)
        else:
            names.append(collections.add_file(path))
    return Added(tuple(dict.fromkeys(names)))


def _checked(path: str | Path) -> Path:
    absolute = Path(os.path.abspath(Path(path).expanduser()))
    if not os.path.lexists(absolute):
        raise NotFound(f"there is no file or folder {absolute}", hint="Check the path.")
    if not absolute.is_dir() and not absolute.is_file():
        raise InvalidArgument(f"{absolute} is neither a file nor a folder", hint="Name a file or a folder.")
    return absolute


def _root_of(roots: Sequence[Root], path: Path) -> Root | None:
    """Return the collection that holds `path`: the deepest one whose globs let it in."""
    real = Path(os.path.realpath(path))
    holding = [root for root in roots if real.is_relative_to(root.folder) and _lets_in(root, real)]
    return max(holding, key=lambda root: len(root.folder.parts), default=None)


def _lets_in(root: Root, path: Path) -> bool:
    if path == root.folder:
        return not root.include
    relative = path.relative_to(root.folder).as_posix()
    globs = Globs(root.include, root.exclude)
    return globs.prunes(relative) is None if path.is_dir() and not root.include else globs.decide(relative) is None


def _readmit(parts: Parts, root: Root, path: Path) -> None:
    real = Path(os.path.realpath(path))
    relative = shown(real.relative_to(root.folder).as_posix())
    rows = [
        row
        for row in parts.store.rows(collection=root.collection, states=(DocumentState.EXCLUDED,))
        if relative == "." or row.path == relative or row.path.startswith(relative + "/")
    ]
    if rows:
        parts.ingestor.readmit(rows)
