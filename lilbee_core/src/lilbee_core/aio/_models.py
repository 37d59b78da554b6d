"""The models and placements of `AsyncLilbee`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lilbee_core.aio._threads import Threads
from lilbee_core.types import EmbedderChange, FleetPlan, ModelEntry, Placement

if TYPE_CHECKING:
    from lilbee_core.library import Embedding, Placing
    from lilbee_core.models import Models
    from lilbee_core.protocols import CancelToken


class AsyncModels:
    """Mirrors `Models`."""

    def __init__(self, models: Models, threads: Threads) -> None:
        self._inner = models
        self._threads = threads

    @property
    def folder(self) -> Path:
        """See `Models.folder`."""
        return self._inner.folder

    async def list(self, task: str | None = None) -> tuple[ModelEntry, ...]:
        """See `Models.list`."""
        return await self._threads.run(lambda: self._inner.list(task))

    async def catalog(self, words: str = "", *, task: str | None = None, limit: int = 20) -> tuple[ModelEntry, ...]:
        """See `Models.catalog`."""
        return await self._threads.run(lambda: self._inner.catalog(words, task=task, limit=limit))

    async def show(self, ref: str) -> ModelEntry:
        """See `Models.show`."""
        return await self._threads.run(lambda: self._inner.show(ref))

    async def find(self, ref: str) -> Path | None:
        """See `Models.find`."""
        return await self._threads.run(lambda: self._inner.find(ref))

    async def pull(self, ref: str, *, cancel: CancelToken | None = None) -> ModelEntry:
        """See `Models.pull`. Cancelling the task ends it; what was fetched is kept."""
        return await self._threads.run_cancellable(lambda token: self._inner.pull(ref, cancel=token), cancel)

    async def remove(self, ref: str) -> tuple[ModelEntry, int]:
        """See `Models.remove`."""
        return await self._threads.run(lambda: self._inner.remove(ref))


class AsyncEmbedding:
    """Mirrors `Embedding`."""

    def __init__(self, embedding: Embedding, threads: Threads) -> None:
        self._inner = embedding
        self._threads = threads

    async def adopt(self, model: str | None = None, *, cancel: CancelToken | None = None) -> EmbedderChange:
        """See `Embedding.adopt`."""
        return await self._threads.run_cancellable(lambda token: self._inner.adopt(model, cancel=token), cancel)

    async def embed_anew(self, model: str, *, cancel: CancelToken | None = None) -> EmbedderChange:
        """See `Embedding.embed_anew`. Cancelling the task ends it; what was done is kept."""
        return await self._threads.run_cancellable(lambda token: self._inner.embed_anew(model, cancel=token), cancel)


class AsyncPlacing:
    """Mirrors `Placing`."""

    def __init__(self, placing: Placing, threads: Threads) -> None:
        self._inner = placing
        self._threads = threads

    async def get(self) -> Placement | None:
        """See `Placing.get`."""
        return await self._threads.run(self._inner.get)

    async def show(self) -> FleetPlan:
        """See `Placing.show`."""
        return await self._threads.run(self._inner.show)

    async def preview(self, placement: Placement | Mapping[str, Any] | str | None = None) -> FleetPlan:
        """See `Placing.preview`."""
        return await self._threads.run(lambda: self._inner.preview(placement))

    async def set(self, placement: Placement | Mapping[str, Any] | str) -> FleetPlan:
        """See `Placing.set`."""
        return await self._threads.run(lambda: self._inner.set(placement))

    async def clear(self) -> None:
        """See `Placing.clear`."""
        await self._threads.run(self._inner.clear)
