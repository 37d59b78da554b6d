"""How the machine is: processor and memory by psutil, Nvidia cards by NVML where its library is."""

from __future__ import annotations

import ctypes
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

log = logging.getLogger(__name__)

_LIBRARIES = {"linux": "libnvidia-ml.so.1", "win32": "nvml.dll"}
_CELSIUS = 0  # NVML_TEMPERATURE_GPU


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How the machine is now, in percent and degrees Celsius; None where nothing measures it. Of cards the worst."""

    cpu: float | None = None
    free_ram: float | None = None
    gpu: float | None = None
    gpu_celsius: float | None = None


class Sensor(Protocol):
    """Measures the machine. It may raise: then there is no measurement."""

    def read(self) -> Reading:
        """Return how the machine is now; processor use is that since the last call."""
        ...


class SystemSensor:
    """This machine."""

    def __init__(self, cards: Callable[[], Cards | None] | None = None) -> None:
        self._open = cards or nvidia_cards
        self._cards: Cards | None = None
        self._looked = False

    def read(self) -> Reading:
        import psutil

        memory = psutil.virtual_memory()
        gpu, celsius = self._of_cards()
        return Reading(
            cpu=psutil.cpu_percent(interval=None),
            free_ram=100.0 * memory.available / memory.total,
            gpu=gpu,
            gpu_celsius=celsius,
        )

    def _of_cards(self) -> tuple[float | None, float | None]:
        if not self._looked:
            self._looked = True
            self._cards = self._open()
        return (None, None) if self._cards is None else self._cards.read()


class _Utilization(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class Cards:
    """Nvidia's cards through their own library, which is there with every driver."""

    def __init__(self, library: Any) -> None:
        """Take the loaded library.

        Raises:
            OSError: If it cannot speak to the driver.
        """
        self._library = library
        _done(library.nvmlInit_v2(), "nvmlInit")
        count = ctypes.c_uint()
        _done(library.nvmlDeviceGetCount_v2(ctypes.byref(count)), "nvmlDeviceGetCount")
        self._handles = [self._handle(number) for number in range(count.value)]

    def _handle(self, number: int) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        _done(self._library.nvmlDeviceGetHandleByIndex_v2(number, ctypes.byref(handle)), "nvmlDeviceGetHandleByIndex")
        return handle

    def read(self) -> tuple[float | None, float | None]:
        """Return the use of the busiest card and the temperature of the hottest one."""
        uses: list[float] = []
        temperatures: list[float] = []
        for handle in self._handles:
            use, celsius = _Utilization(), ctypes.c_uint()
            if self._library.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(use)) == 0:
                uses.append(float(use.gpu))
            if self._library.nvmlDeviceGetTemperature(handle, _CELSIUS, ctypes.byref(celsius)) == 0:
                temperatures.append(float(celsius.value))
        return max(uses, default=None), max(temperatures, default=None)


def nvidia_cards(load: Callable[[str], Any] = ctypes.CDLL) -> Cards | None:
    """Return the cards of this machine, None where there is no driver or it does not answer."""
    name = _LIBRARIES.get(sys.platform)
    if name is None:
        return None
    try:
        cards = Cards(load(name))
    except (OSError, AttributeError) as error:
        log.debug("no cards are measured: %s", error)
        return None
    return cards if cards.read() != (None, None) else None


def _done(status: int, call: str) -> None:
    if status:
        raise OSError(f"{call} failed with {status}")
