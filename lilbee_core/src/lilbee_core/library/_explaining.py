"""Why a path is, or is not, in the index."""

from __future__ import annotations

import os
from pathlib import Path

from lilbee_core.errors import InvalidArgument
from lilbee_core.library._parts import Parts
from lilbee_core.types import PathReport


def path_report(parts: Parts, path: str | Path) -> PathReport:
    """Return the fate of a path; a relative one that is not here is taken to lie in the library's folder.

    Raises:
        InvalidArgument: If no file can be called so.
    """
    from lilbee_core.ingest import explain

    if "\0" in str(path):
        raise InvalidArgument(f"{str(path)!r} cannot be the name of a file", hint="Check the path.")
    given, root = _expanded(Path(path)), parts.home.root
    if not given.is_absolute() and root is not None and not os.path.exists(given):
        given = root / given
    return explain(given, parts.roots(), parts.store, parts.walk_options)


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # ``~draft.md`` is a file: nobody here has that name
        return path
