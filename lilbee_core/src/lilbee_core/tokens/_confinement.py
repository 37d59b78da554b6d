"""Paths that programs name from afar: kept to the folders of the library."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lilbee_core.errors import InvalidArgument, NotFound


def confined(path: str, roots: Iterable[str]) -> str | None:
    """Return the real path of a file or folder that lies in one of the folders; None if it lies in none.

    A relative path is looked for in each of them. Links are followed first, so that none leads out.

    Raises:
        InvalidArgument: If it is no path.
        NotFound: If it would lie in one of them, and is not there.
    """
    if not path or "\0" in path or "://" in path:
        raise InvalidArgument(f"{path!r} is no path", hint="Name files and folders of the library's collections.")
    folders = [Path(os.path.realpath(one)) for one in roots if one]
    tries = [Path(path)] if os.path.isabs(path) else [folder / path for folder in folders]
    real = [Path(os.path.realpath(one)) for one in tries]
    allowed = [one for one in real if any(one.is_relative_to(folder) for folder in folders)]
    if not allowed:
        return None
    there = next((one for one in allowed if _exists(one)), None)
    if there is None:
        raise NotFound(f"there is no file {path!r}", hint="Check the path.")
    return str(there)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long for the system
        return False
