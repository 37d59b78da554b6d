"""The admission gate: fixed, or measured where cards read pages; a failing sensor ends nothing (R033, R036, R037)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pytest

from lilbee_core.ingest import AdaptiveGate, Move, Reading, StaticGate, SystemSensor
from lilbee_core.ingest._sensors import nvidia_cards
from lilbee_core.testing import ManualClock


class Sensor:
    """Gives the same reading, or fails."""

    def __init__(self, reading: Reading | None = None) -> None:
        self.reading = reading
        self.asked = 0

    def read(self) -> Reading:
        self.asked += 1
        if self.reading is None:
            raise RuntimeError("the driver is gone")
        return self.reading


def gate(clock: ManualClock, sensor: Sensor, *, on_cards: bool = True, slots: int = 0) -> AdaptiveGate:
    return AdaptiveGate(
        "adaptive-conservative", 4, on_cards=lambda: on_cards, slots=lambda: slots, sensor=sensor, clock=clock
    )


def busy(one: AdaptiveGate, clock: ManualClock, pages: int) -> Move | None:
    one.under_way(one.limit)
    for _ in range(pages):
        one.page_done()
    clock.advance(5.0)
    return one.measure()


def test_a_fixed_gate_is_as_wide_as_the_servers_are() -> None:
    slots = 0
    one = StaticGate(4, slots=lambda: slots)
    assert one.limit == 4
    slots = 16
    assert one.limit == 16
    with one.open():
        one.under_way(3)
        one.page_done()
    assert one.limit == 16
    with pytest.raises(ValueError, match="positive"):
        StaticGate(0)


def test_pages_are_counted_not_documents() -> None:
    clock, sensor = ManualClock(), Sensor(Reading(cpu=10.0))
    one = gate(clock, sensor)
    assert busy(one, clock, 500) is None  # the first interval has no beginning
    assert busy(one, clock, 500) is Move.UP
    assert one.limit == 5
    assert busy(one, clock, 0) is not Move.UP


def test_without_cards_it_stays_as_it_is() -> None:
    clock, sensor = ManualClock(), Sensor(Reading(cpu=99.0))
    one = gate(clock, sensor, on_cards=False, slots=6)
    assert [busy(one, clock, 50) for _ in range(3)] == [None, None, None]
    assert (one.limit, sensor.asked) == (6, 0)


def test_a_sensor_that_fails_changes_nothing_and_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    clock, sensor = ManualClock(), Sensor()
    one = gate(clock, sensor)
    with one.open():
        assert [busy(one, clock, 50) for _ in range(4)] == [None] * 4
    assert (one.limit, sensor.asked) == (4, 4)
    assert [record.levelname for record in caplog.records].count("WARNING") == 1
    sensor.reading = Reading(cpu=99.0)
    assert busy(one, clock, 50) is Move.BACK_OFF
    assert one.limit == 2


def test_a_clock_that_stands_still_is_no_measurement() -> None:
    clock, sensor = ManualClock(), Sensor(Reading())
    one = gate(clock, sensor)
    busy(one, clock, 10)
    assert one.measure() is None


def test_this_machine_is_measured() -> None:
    reading = SystemSensor().read()
    assert reading.cpu is not None
    assert 0 <= reading.cpu <= 100
    assert reading.free_ram is not None
    assert 0 < reading.free_ram <= 100


class Nvml:
    """Nvidia's library with two cards."""

    def __init__(self, *, status: int = 0, silent: bool = False) -> None:
        self.status = status
        self.silent = silent

    def nvmlInit_v2(self) -> int:  # noqa: N802 - the library's own names
        return self.status

    def nvmlDeviceGetCount_v2(self, count: Any) -> int:  # noqa: N802
        count._obj.value = 2
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, number: int, handle: Any) -> int:  # noqa: N802
        handle._obj.value = number + 1
        return 0

    def nvmlDeviceGetUtilizationRates(self, handle: ctypes.c_void_p, use: Any) -> int:  # noqa: N802
        use._obj.gpu = 30 * (handle.value or 0)
        return 3 if self.silent else 0

    def nvmlDeviceGetTemperature(self, handle: ctypes.c_void_p, kind: int, celsius: Any) -> int:  # noqa: N802
        celsius._obj.value = 80 - (handle.value or 0)
        return 3 if self.silent else kind


def load(library: object) -> Callable[[str], object]:
    return lambda name: library


@pytest.mark.parametrize("system", ["linux", "win32"])
def test_cards_are_measured_by_their_own_library(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", system)
    reading = SystemSensor(lambda: nvidia_cards(load(Nvml()))).read()
    assert (reading.gpu, reading.gpu_celsius) == (60.0, 79.0)


def test_without_driver_or_answer_there_are_no_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr("sys.platform", "linux")
    assert nvidia_cards(missing) is None
    assert nvidia_cards(load(Nvml(status=9))) is None
    assert nvidia_cards(load(Nvml(silent=True))) is None
    assert nvidia_cards(load(object())) is None
    monkeypatch.setattr("sys.platform", "darwin")
    assert nvidia_cards(load(Nvml())) is None
