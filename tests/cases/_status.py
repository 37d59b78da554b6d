"""Whether an index is what it should be: one made by a single model, and the same as one made anew."""

from __future__ import annotations

from lilbee_core import Lilbee
from tests.cases._world import World


def mixed(world: World) -> bool:
    """Say whether the index holds vectors of more than one model: more than its own model ever made."""
    status = world.bee.status()
    makers = [one for one in world.embedders.values() if one.model == status.embedder]
    made = len({text for one in makers if one.dimension == status.dimension for text in one.texts})
    return status.embedded > made


def fresh_differs(world: World) -> str | None:
    """Return how the index differs from one that is made anew over the same folder, None if it does not."""
    with world.fresh_copy() as fresh:
        fresh.sync()
        wanted, came = _rows(fresh), _rows(world.bee)
    if wanted == came:
        return None
    return f"{sorted(came - wanted)} instead of {sorted(wanted - came)}"


def _rows(bee: Lilbee) -> set[tuple[object, ...]]:
    """Return what the library holds: files with their chunks, and every chunk that any query of one word can find."""
    status = bee.status()
    rows: set[tuple[object, ...]] = {
        ("file", row.path, row.sha256, row.chunks, row.embedded) for row in bee.documents(state="indexed")
    }
    rows.add(("all", "chunks", str(status.chunks), status.embedded, 0))
    for hit in bee.search("the a of", profile="semantic", top_k=max(1, status.chunks)).hits:
        span = hit.chunk.span
        rows.add(("chunk", hit.path, hit.text, span.start, span.end))
    return rows
