"""The store: the index of a library in LanceDB, its small state in SQLite."""

from lilbee_core.store._filters import matches
from lilbee_core.store._schema import SCHEMA
from lilbee_core.store._sizes import folder_size
from lilbee_core.store._state import SqliteState
from lilbee_core.store._store import Store

__all__ = ["SCHEMA", "SqliteState", "Store", "folder_size", "matches"]
