"""What built the index: a row in the store, and `manifest.json` for people and tools that do not open it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from lilbee_core.store._engine import upsert
from lilbee_core.store._filters import quote
from lilbee_core.store._layout import MANIFEST, write_atomically
from lilbee_core.store._rows import dump, load_object
from lilbee_core.store._schema import META, schemas
from lilbee_core.store._tables import Tables
from lilbee_core.types import IndexMeta

if TYPE_CHECKING:
    import pyarrow as pa

_KEY = "index"
# What a row of an older version may lack.
_DEFAULTS: dict[str, object] = {
    "schema": 1, "embedder": None, "fingerprint": None, "dimension": None, "chunk_size": 0, "chunk_overlap": 0,
    "chunking": "", "analyzer": "", "library_id": "", "created_at": "", "lilbee_version": "",
}  # fmt: skip


def load_meta(tables: Tables) -> IndexMeta | None:
    """Return what built the index, None before the first `save_meta`."""
    rows = tables.select(META, "read what built the index", ("key", "value"), f"key = {quote(_KEY)}")
    if not rows.num_rows:
        return None
    stored = load_object(cast("str", rows.column("value").to_pylist()[0]))
    names = IndexMeta.__slots__
    values = {**_DEFAULTS, **{name: stored[name] for name in names if name in stored}}
    return IndexMeta(**values)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def save_meta(tables: Tables, meta: IndexMeta) -> None:
    """Write what built the index."""
    table = tables.require(META)
    with tables.engine("write what built the index", META):
        upsert(table, _rows(meta), on="key")
        text = json.dumps(meta.to_dict(), ensure_ascii=False, indent=2, sort_keys=True)
        write_atomically(tables.data_dir / MANIFEST, text.encode() + b"\n")


def _rows(meta: IndexMeta) -> pa.Table:
    import pyarrow as pa

    return pa.table({"key": [_KEY], "value": [dump(meta.to_dict())]}, schema=schemas()[META])
