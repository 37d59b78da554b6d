"""The store is what the protocols ask for. Read by type checkers only."""

from __future__ import annotations

from lilbee_core.protocols import ChunkReader, ChunkWriter, Ledger, StateStore, StoreLike, Upkeep
from lilbee_core.store import SqliteState, Store


def whole(store: Store) -> StoreLike:
    return store


def parts(store: Store) -> tuple[ChunkReader, ChunkWriter, Ledger, Upkeep]:
    return store, store, store, store


def state(state: SqliteState) -> StateStore:
    return state


def owned(store: Store) -> StateStore:
    return store.state
