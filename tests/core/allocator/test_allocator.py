"""Freed memory goes back to the system where the setting acts, and what the user set himself stays."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest

from lilbee_core.allocator import give_memory_back, resting_collector

GLIBC = sys.platform == "linux" and (os.confstr("CS_GNU_LIBC_VERSION") or "").startswith("glibc")
needs_glibc = pytest.mark.skipif(not GLIBC, reason="the C library is not glibc")

# One large block that is freed raises the limit that glibc sets itself; blocks below it then lie on the heap, and one
# smaller one above each, too large for any gap that is there, keeps the heap from shrinking when they are freed.
WORK = """
import ctypes, sys
from lilbee_core.allocator import give_memory_back, resting_collector
if sys.argv[1] == "set":
    give_memory_back()
c = ctypes.CDLL(None)
c.malloc.restype, c.malloc.argtypes, c.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
def block(size):
    got = c.malloc(size)
    ctypes.memset(got, 1, size)
    return got
c.free(block(8_000_000))
large = []
for _ in range(60):
    large.append(block(1_000_000))
    block(100_000)
for one in large:
    c.free(one)
with open("/proc/self/statm") as file:
    print(int(file.read().split()[1]) * 4096 // 1_000_000)
"""
OURS = ("MALLOC_", "GLIBC_TUNABLES")


def held_mb(told: str, **variables: str) -> int:
    """Return what a process holds that freed 60 MB."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    done = subprocess.run(
        [sys.executable, "-c", WORK, told], env={**env, **variables}, check=True, capture_output=True, text=True
    )
    return int(done.stdout)


@needs_glibc
def test_freed_blocks_go_back_to_the_system() -> None:
    assert held_mb("left") - held_mb("set") > 50


@needs_glibc
@pytest.mark.parametrize(
    "variables",
    [
        {"MALLOC_MMAP_THRESHOLD_": "30000000"},
        {"GLIBC_TUNABLES": "glibc.malloc.check=0:glibc.malloc.mmap_threshold=30000000"},
    ],
)
def test_what_the_user_set_himself_stays(variables: dict[str, str]) -> None:
    assert held_mb("set", **variables) > 60


@needs_glibc
def test_nothing_is_set_where_the_user_set_all() -> None:
    chosen = {"MALLOC_MMAP_THRESHOLD_": "1", "GLIBC_TUNABLES": "glibc.malloc.arena_max=1"}
    assert give_memory_back({**chosen, "ARROW_DEFAULT_MEMORY_POOL": "mimalloc"}) is False


ARROW = """
from lilbee_core.allocator import give_memory_back
assert give_memory_back()
import pyarrow
print(pyarrow.default_memory_pool().backend_name)
"""


@needs_glibc
@pytest.mark.parametrize(("chosen", "used"), [({}, "system"), ({"ARROW_DEFAULT_MEMORY_POOL": "mimalloc"}, "mimalloc")])
def test_arrow_takes_the_allocator_of_the_system_unless_the_user_chose(chosen: dict[str, str], used: str) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("ARROW_")} | chosen
    done = subprocess.run([sys.executable, "-c", ARROW], env=env, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == used


@needs_glibc
def test_arrow_alone_is_set_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "mimalloc")
    assert give_memory_back({"MALLOC_MMAP_THRESHOLD_": "1", "MALLOC_ARENA_MAX": "1"}) is True
    assert os.environ["ARROW_DEFAULT_MEMORY_POOL"] == "system"


@pytest.mark.parametrize("names", [None, ValueError, OSError, ""])
def test_other_c_libraries_are_left_alone(names: type[Exception] | str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def confstr(_: str) -> str:
        if isinstance(names, type):
            raise names
        return str(names)

    if names is None:
        monkeypatch.delattr(os, "confstr", raising=False)
    else:
        monkeypatch.setattr(os, "confstr", confstr, raising=False)
    assert give_memory_back({}) is False


def test_the_collector_rests_until_a_program_has_started() -> None:
    with resting_collector():
        assert not gc.isenabled()
    assert gc.isenabled()
    try:
        with resting_collector() as started:
            started()
            assert gc.isenabled()
            assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
