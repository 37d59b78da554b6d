"""Why a path is, or is not, in the index."""

from __future__ import annotations

from pathlib import Path

from lilbee_core.library._parts import Parts
from lilbee_core.types import PathReport


def path_report(parts: Parts, path: str | Path) -> PathReport:
    """Return the fate of a path; a relative one that is not here is taken to lie in the library's folder."""
    from lilbee_core.ingest import explain

    given, root = Path(path).expanduser(), parts.home.root
    if not given.is_absolute() and root is not None and not given.exists():
        given = root / given
    return explain(given, parts.roots(), parts.store, parts.walk_options)
