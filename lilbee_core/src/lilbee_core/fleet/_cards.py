"""Cards as the engine lists them, and how a child process is shown the right ones.

An index counts within one backend and within the cards that an environment variable leaves visible. It is never carried
over to another backend, and a child is told in the terms that the environment already uses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lilbee_core.types import Device

_LINE = re.compile(r"^\s+([A-Za-z]+?)(\d*): (.+) \((\d+) MiB, (\d+) MiB free\)\s*$", re.MULTILINE)
_MIB = 1 << 20
_PREFERRED = ("CUDA", "ROCm", "MUSA", "CANN", "SYCL", "Metal", "Vulkan")
_SPELLINGS = {"mtl": "Metal", "hip": "ROCm", **{one.lower(): one for one in _PREFERRED}}
# Cards that have no memory of their own: what they take is taken from the system.
_SHARING = re.compile(
    r"Apple|\bGB10\b|\b(?:Orin|Thor|Xavier|Tegra)\b|\bU?HD Graphics\b|\bIris\b|\bArc\(?(?:TM)?\)? Graphics\b"
    r"|\bAMD Radeon(?:\(TM\))? Graphics\b|\bRadeon(?:\(TM\))? (?:6[468]0M|7[468]0M|8[0-9]{2}M|80[0-9]{2}S)\b|\bAdreno\b"
    r"|\bMali\b|\bV3D\b",
    re.IGNORECASE,
)
# Programs that pretend to be a card.
_PRETENDING = re.compile(r"llvmpipe|softpipe|swiftshader|\bSoftware\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Visibility:
    """The variables that hide cards of a backend, the first that is set counting; and one that fixes their order."""

    variables: tuple[str, ...]
    order: tuple[str, str] | None = None


_VISIBILITY = {
    "CUDA": _Visibility(("CUDA_VISIBLE_DEVICES",), ("CUDA_DEVICE_ORDER", "PCI_BUS_ID")),
    "ROCm": _Visibility(("HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")),
    "Vulkan": _Visibility(("GGML_VK_VISIBLE_DEVICES",)),
}


def parse_devices(text: str, environment: Mapping[str, str] | None = None) -> tuple[Device, ...]:
    """Return the cards in what ``--list-devices`` printed, all of one backend.

    Where the program knows several backends, the same card may be listed by each of them: the fastest one counts.
    Where the environment names cards by UUID, they keep it.
    """
    found = [one for line in _LINE.finditer(text) if (one := _device(line)) is not None]
    backends = sorted({one.backend for one in found}, key=_preference)
    if not backends:
        return ()
    chosen = tuple(one for one in found if one.backend == backends[0])
    preset = _preset(backends[0], environment or {})
    entries = preset[1] if preset else ()
    return tuple(
        replace(one, uuid=entries[one.index]) if one.index < len(entries) and not entries[one.index].isdigit() else one
        for one in chosen
    )


def _device(line: re.Match[str]) -> Device | None:
    word, index, name, total, free = line.groups()
    backend = _SPELLINGS.get(word.lower())
    if backend is None or int(total) == 0 or _PRETENDING.search(name):
        return None
    return Device(
        backend=backend,
        index=int(index or 0),
        name=name.strip(),
        total_bytes=int(total) * _MIB,
        free_bytes=min(int(free), int(total)) * _MIB,
        unified=backend == "Metal" or bool(_SHARING.search(name)),
    )


def _preference(backend: str) -> int:
    return _PREFERRED.index(backend)


def probe_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what the program must be told so that it lists cards in the order in which it will use them."""
    added: dict[str, str] = {}
    for rule in _VISIBILITY.values():
        if rule.order and not environment.get(rule.order[0]):
            added[rule.order[0]] = rule.order[1]
    return added


def visible_environment(devices: Sequence[Device], environment: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the variables that show a child these cards and no others, in this order.

    Where the environment hides cards already, the indices of `devices` count within what it leaves, and are translated
    to its own entries (numbers or UUIDs), so that the child sees the same cards as we do.
    """
    if not devices:
        return ()
    backend = devices[0].backend
    rule = _VISIBILITY.get(backend)
    if rule is None:
        return ()
    preset = _preset(backend, environment)
    variable, entries = preset or (rule.variables[0], ())
    shown = ",".join(entries[one.index] if one.index < len(entries) else str(one.index) for one in devices)
    order = [(rule.order[0], environment.get(rule.order[0]) or rule.order[1])] if rule.order else []
    return ((variable, shown), *order)


def _preset(backend: str, environment: Mapping[str, str]) -> tuple[str, tuple[str, ...]] | None:
    """Return the variable that hides cards of a backend already, and what it leaves."""
    rule = _VISIBILITY.get(backend)
    for variable in rule.variables if rule else ():
        value = environment.get(variable, "").strip()
        if value:
            return variable, _entries(value)
    return None


def _entries(value: str) -> tuple[str, ...]:
    """Return the cards that a variable names; the first that cannot be one hides all that follow it."""
    entries: list[str] = []
    for one in (part.strip() for part in value.split(",")):
        if not one or one.startswith("-"):
            break
        entries.append(one)
    return tuple(entries)
