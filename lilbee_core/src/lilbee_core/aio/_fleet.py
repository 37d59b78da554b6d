"""The model servers of `AsyncLilbee`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lilbee_core.aio._threads import Threads
from lilbee_core.types import FleetPlan, LoadProgress, MachineSnapshot, Placement, ServerStatus

if TYPE_CHECKING:
    from lilbee_core.fleet import Engine, Fleet
    from lilbee_core.protocols import Endpoint

    OnProgress = Callable[[LoadProgress], None]


class AsyncFleet:
    """Mirrors `Fleet`, as far as people use it."""

    def __init__(self, fleet: Fleet, threads: Threads) -> None:
        self._inner = fleet
        self._threads = threads

    async def endpoint(self, role: str) -> Endpoint:
        """See `Fleet.endpoint`."""
        return await self._threads.run(lambda: self._inner.endpoint(role))

    async def wait(self, role: str, *, on_progress: OnProgress | None = None) -> Endpoint:
        """See `Fleet.wait`. `on_progress` is called in a thread."""
        return await self._threads.run(lambda: self._inner.wait(role, on_progress=on_progress))

    async def wait_chat_ready(self, on_progress: OnProgress | None = None) -> Endpoint:
        """See `Fleet.wait_chat_ready`. `on_progress` is called in a thread."""
        return await self._threads.run(lambda: self._inner.wait_chat_ready(on_progress))

    async def warm(self) -> None:
        """See `Fleet.warm`."""
        await self._threads.run(self._inner.warm)

    async def plan(self) -> FleetPlan:
        """See `Fleet.plan`."""
        return await self._threads.run(self._inner.plan)

    async def preview(self, placement: Placement | None = None) -> FleetPlan:
        """See `Fleet.preview`."""
        return await self._threads.run(lambda: self._inner.preview(placement))

    async def machine(self) -> MachineSnapshot:
        """See `Fleet.machine`."""
        return await self._threads.run(self._inner.machine)

    async def check(self) -> FleetPlan:
        """See `Fleet.check`."""
        return await self._threads.run(self._inner.check)

    async def engine(self) -> Engine:
        """See `Fleet.engine`."""
        return await self._threads.run(self._inner.engine)

    async def reload(self) -> tuple[str, ...]:
        """See `Fleet.reload`."""
        return await self._threads.run(self._inner.reload)

    async def status(self) -> tuple[ServerStatus, ...]:
        """See `Fleet.status`."""
        return await self._threads.run(self._inner.status)

    async def running(self) -> tuple[ServerStatus, ...]:
        """See `Fleet.running`."""
        return await self._threads.run(self._inner.running)

    async def log(self, server: str, *, lines: int = 50, ended: bool = False) -> str:
        """See `Fleet.log`."""
        return await self._threads.run(lambda: self._inner.log(server, lines=lines, ended=ended))

    async def stop(self) -> tuple[int, ...]:
        """See `Fleet.stop`."""
        return await self._threads.run(self._inner.stop)
