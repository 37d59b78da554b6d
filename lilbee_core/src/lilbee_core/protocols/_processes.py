"""Model servers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lilbee_core.types import FleetPlan, LoadProgress, Placement, ServerStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model server listens."""

    base_url: str
    api_key: str | None = None
    model: str = ""
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A process to start: its command, what its environment adds, where its log goes.

    One that `outlives` us is left alone when we die; any other ends with us where the system can see to that.
    """

    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    log_file: Path | None = None
    outlives: bool = False


class ProcessHandle(Protocol):
    """A started process."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...

    def wait(self, timeout_s: float) -> int | None: ...

    def log_tail(self, lines: int = 50) -> str: ...

    def detach(self) -> None:
        """Let it run on without us; nothing is asked of it afterwards."""
        ...


class Launcher(Protocol):
    """The only place that starts model servers."""

    def start(self, launch: Launch) -> ProcessHandle: ...


class FleetLike(Protocol):
    """Managed model servers, one set per role."""

    def endpoint(self, role: str) -> Endpoint:
        """Return where the role is served, starting the server on first use."""
        ...

    def wait(self, role: str, *, on_progress: Callable[[LoadProgress], None] | None = None) -> Endpoint:
        """Return where the role is served, telling how far its server is."""
        ...

    def plan(self) -> FleetPlan:
        """Return which server runs where, without starting any."""
        ...

    def preview(self, placement: Placement | None = None) -> FleetPlan:
        """Return what a placement would make of the machine as it is now, or the planner if there is none."""
        ...

    def status(self) -> Sequence[ServerStatus]:
        """Return how each server is."""
        ...

    def close(self) -> None: ...
