"""The state of a library."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from lilbee_core.library._collections import Collections
from lilbee_core.library._parts import Parts
from lilbee_core.library._rebuild import index_warnings
from lilbee_core.store import folder_size
from lilbee_core.types import MEMORY, WIKI, DocumentState, FileProblem, LibraryStatus

_SHOWN = 50


def library_status(parts: Parts, collections: Collections) -> LibraryStatus:
    """Count documents per state and chunks, and measure the data folder."""
    from lilbee_core import __version__

    store = parts.store
    counts = dict.fromkeys((str(state) for state in DocumentState), 0)
    problems: list[FileProblem] = []
    last = ""
    of_files: Counter[str] = Counter()
    for row in store.rows():
        if row.collection == WIKI:
            continue
        of_files[row.collection] += row.holds_chunks and row.extractor != MEMORY
        counts[str(row.state)] += 1
        last = max(last, row.indexed_at or "")
        if row.state is DocumentState.FAILED and len(problems) < _SHOWN:
            problems.append(
                FileProblem(path=row.path, collection=row.collection, code=row.code or "", reason=row.reason or "")
            )
    meta, stats = store.meta(), store.stats()
    return LibraryStatus(
        root=str(parts.home.root) if parts.home.root else None,
        data_dir=str(parts.home.data_dir),
        states=tuple(counts.items()),
        chunks=stats.chunks,
        embedded=stats.embedded,
        embedder=meta.embedder if meta else None,
        dimension=meta.dimension if meta else None,
        size_bytes=folder_size(parts.home.data_dir),
        index_bytes=folder_size(parts.home.data_dir / "index"),
        vector_bytes=stats.vector_bytes,
        languages=tuple(store.languages().items()),
        collections=collections.list(),
        last_sync=last or None,
        version=__version__,
        problems=tuple(problems),
        warnings=(*parts.settings.warnings, *index_warnings(parts), *_without_folder(parts, of_files)),
    )


def _without_folder(parts: Parts, of_files: Mapping[str, int]) -> Iterator[str]:
    """Say which collections hold documents of files, though no settings tell where these are."""
    known = {root.collection for root in parts.roots()}
    for name, count in sorted(of_files.items()):
        if count and name not in known:
            yield (
                f"collection {name} has no folder in the settings any more; its {count} document(s) are kept as they "
                f"were: run `lilbee collection add PATH --name {name}` to bring it back, or "
                f"`lilbee collection remove {name}` to drop them"
            )
