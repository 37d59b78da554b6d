"""The memory of the system, a listing that fails, and the view that people look at (R109, R111)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lilbee_core.errors import FleetError
from lilbee_core.fleet._machine import LiveView, list_devices, system_memory, usable_cores
from lilbee_core.testing.fakes import ManualClock
from lilbee_core.types import MachineSnapshot
from tests.support.machines import machine

GIB = 1 << 30


def test_the_memory_of_this_machine(tmp_path: Path) -> None:
    found = system_memory(tmp_path)
    assert 0 < found.free_bytes <= found.total_bytes
    assert usable_cores() >= 1


def test_a_container_has_its_share_only(tmp_path: Path) -> None:
    limit = 64 << 20
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    (tmp_path / "memory.current").write_text(f"{40 << 20}\n")
    (tmp_path / "memory.stat").write_text(f"anon 1\ninactive_file {10 << 20}\n")
    found = system_memory(tmp_path)
    assert found.total_bytes == limit
    assert found.free_bytes == 34 << 20
    (tmp_path / "memory.max").write_text("max\n")
    assert system_memory(tmp_path).total_bytes > limit


def _program(tmp_path: Path, body: str) -> list[str]:
    script = tmp_path / "engine.py"
    script.write_text(body)
    return [sys.executable, str(script)]


def test_an_engine_is_asked_in_the_environment_of_its_servers(tmp_path: Path) -> None:
    body = "import os, sys\nprint(sys.argv[1], os.environ['CUDA_DEVICE_ORDER'], os.environ['MARK'])\n"
    assert list_devices(_program(tmp_path, body), {"MARK": "7"}).split() == ["--list-devices", "PCI_BUS_ID", "7"]


def test_an_engine_that_cannot_list_cards_is_told_with_its_own_words(tmp_path: Path) -> None:
    body = "import sys\nsys.stderr.write('cannot load libcuda.so.1')\nsys.exit(3)\n"
    with pytest.raises(
        FleetError, match=r"cannot list the cards of this machine: cannot load libcuda\.so\.1"
    ) as caught:
        list_devices(_program(tmp_path, body), {})
    assert caught.value.code == "fleet.no_devices"
    with pytest.raises(FleetError, match="cannot list the cards"):
        list_devices([str(tmp_path / "nothing")], {})


def test_a_view_asks_again_only_after_a_moment() -> None:
    clock = ManualClock()
    seen: list[MachineSnapshot] = []

    def look() -> MachineSnapshot:
        seen.append(machine(24 - len(seen)))
        return seen[-1]

    view = LiveView(look, clock)
    assert view.get() is view.get()
    clock.advance(1.9)
    assert view.get() is seen[0]
    clock.advance(0.2)
    assert view.get().devices[0].free_bytes == 23 * GIB
    assert len(seen) == 2
