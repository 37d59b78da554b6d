"""The memory of this process, for programs that stay: the allocator, and Python's collector.

By default the C library of most Linux systems serves a large block from the heap once one as large was freed, and one
heap from each of up to eight per core. What a sync frees then lies between what stays, and a process that syncs for
days keeps growing though it holds no more. With a fixed limit every large block is a mapping of its own, which goes
back to the system when it is freed. Arrow brings an allocator of its own, which keeps what threads that have ended had
freed: 240 small syncs grew by 50 MB with it, by 8 with that of the C library.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Option:
    """An option of the allocator, and how a user sets it himself."""

    number: int
    value: int
    variable: str
    tunable: str


_OPTIONS = (
    _Option(-3, 128 * 1024, "MALLOC_MMAP_THRESHOLD_", "glibc.malloc.mmap_threshold"),
    _Option(-8, 2, "MALLOC_ARENA_MAX", "glibc.malloc.arena_max"),
)
"""The numbers are those of the C library's header: M_MMAP_THRESHOLD and M_ARENA_MAX."""
_ARROW_POOL = "ARROW_DEFAULT_MEMORY_POOL"


def give_memory_back(env: Mapping[str, str] | None = None) -> bool:
    """Have this process give large blocks back to the system as they are freed; say whether anything was set.

    For servers, watchers and other programs that sync often; call it before threads start. It acts where the C library
    is glibc, and does nothing elsewhere. What the environment sets (``MALLOC_MMAP_THRESHOLD_``, ``MALLOC_ARENA_MAX``,
    ``GLIBC_TUNABLES`` or ``ARROW_DEFAULT_MEMORY_POOL``) stays as it is. The last one is set where it was not: Arrow
    reads it when it is imported.
    """
    if not _is_glibc():
        return False
    from ctypes import CDLL

    environment = os.environ if env is None else env  # noqa: TID251 - read by the C library when the process starts
    is_ours = _ARROW_POOL not in environment
    if is_ours:
        os.environ[_ARROW_POOL] = "system"  # noqa: TID251 - set for a library that is imported later
    mallopt = getattr(CDLL(None), "mallopt", None)
    if mallopt is None:
        return is_ours
    free = [one for one in _OPTIONS if not _is_set(one, environment)]
    worked = [mallopt(one.number, one.value) for one in free]
    return is_ours or 1 in worked


@contextmanager
def resting_collector() -> Generator[Callable[[], None]]:
    """Keep the collector from looking at what a program makes while it starts; gives what to call when it has started.

    All of that stays until the end, so that a tenth of the start would be spent on it for nothing, and a part of every
    later look as well.
    """
    gc.disable()

    def started() -> None:
        gc.freeze()
        gc.enable()

    try:
        yield started
    finally:
        gc.enable()


def _is_set(option: _Option, environment: Mapping[str, str]) -> bool:
    tunables = environment.get("GLIBC_TUNABLES", "").split(":")
    return option.variable in environment or any(one.startswith(f"{option.tunable}=") for one in tunables)


def _is_glibc() -> bool:
    try:
        return (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
    except (AttributeError, ValueError, OSError):
        return False
