"""Additive changes of the layout: columns that a newer version added are filled with null.

Anything that is not additive raises `_schema.SCHEMA` and gets a step here; an index that no step can bring up
to date is refused with the hint to rebuild it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from lilbee_core.store._engine import Table
from lilbee_core.store._schema import Field

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger(__name__)


def add_missing_columns(table: Table, schema: pa.Schema) -> tuple[str, ...]:
    """Add the columns of `schema` that `table` lacks; return their names."""
    present = frozenset(table.schema.names)
    # Rows that exist already cannot satisfy a new required column.
    missing = [field.with_nullable(True) for field in cast("Iterable[Field]", schema) if field.name not in present]
    if missing:
        table.add_columns(missing)
        log.info("store: added the columns %s", ", ".join(field.name for field in missing))
    return tuple(field.name for field in missing)
