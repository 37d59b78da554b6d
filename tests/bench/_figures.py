"""Figures: what was measured, what it is held against, and whether that is good enough. Nothing here asserts."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

NO_RIVAL = "no rival"


@dataclass(frozen=True, slots=True)
class Goal:
    """What a value has to be, given what it is held against."""

    text: str
    holds: Callable[[float, float], bool]
    needs_base: bool = True


def at_most(limit: float) -> Goal:
    """The value itself may be `limit` at most."""
    return Goal(f"<= {limit:g}", lambda value, _: value <= limit, needs_base=False)


def at_least(limit: float) -> Goal:
    """The value itself must be `limit` at least."""
    return Goal(f">= {limit:g}", lambda value, _: value >= limit, needs_base=False)


def exactly(wanted: float) -> Goal:
    """The value itself must be `wanted`."""
    return Goal(f"= {wanted:g}", lambda value, _: value == wanted, needs_base=False)


def at_most_times(factor: float) -> Goal:
    """The value may be `factor` times the base at most."""
    return Goal(f"<= {factor:g}x", lambda value, base: value <= factor * base)


def at_least_times(factor: float) -> Goal:
    """The value must be `factor` times the base at least."""
    return Goal(f">= {factor:g}x", lambda value, base: value >= factor * base)


def at_most_more(extra: float, unit: str) -> Goal:
    """The value may exceed the base by `extra` at most."""
    return Goal(f"<= base + {extra:g} {unit}", lambda value, base: value <= base + extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One row of the report. Without `goal` it informs only; without `base` its rival did not take part."""

    id: str
    what: str
    value: float
    unit: str
    base: float | None = None
    base_name: str = ""
    goal: Goal | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """The value in units of the base."""
        return self.value / self.base if self.base else None

    @property
    def met(self) -> str:
        """Whether the goal is reached: yes, no, no rival, or nothing where there is no goal."""
        if self.goal is None:
            return ""
        if self.base is None and self.goal.needs_base:
            return NO_RIVAL
        return "yes" if self.goal.holds(self.value, self.base or 0.0) else "no"

    def to_dict(self) -> dict[str, object]:
        values = {key: value for key, value in asdict(self).items() if key != "goal"}
        return {**values, "ratio": self.ratio, "target": self.goal.text if self.goal else "", "met": self.met}


def load() -> float:
    """Return the load of the machine over the last minute."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0


@dataclass(slots=True)
class Report:
    """The figures of a run, and the machine that they were measured on."""

    quick: bool = False
    rows: list[Figure] = field(default_factory=list[Figure])
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    load_at_begin: float = field(default_factory=load)

    def add(self, *figures: Figure) -> None:
        """Take figures and print them at once, so that a run that is stopped has said something."""
        self.rows += figures
        for figure in figures:
            print(f"\n{table([figure], head=False)}", end="", flush=True)

    def to_dict(self) -> dict[str, object]:
        return {
            "began": self.began.isoformat(timespec="seconds"),
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "quick": self.quick,
            "python": platform.python_version(),
            "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
            "load": [self.load_at_begin, load()],
            "rows": [figure.to_dict() for figure in self.rows],
        }

    def write(self, path: Path) -> None:
        """Write the figures as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")


def table(figures: Sequence[Figure], *, head: bool = True) -> str:
    """Return the figures as lines of text."""
    rows = [_cells(figure) for figure in figures]
    titles = ["id", "what", "value", "floor or rival", "ratio", "target", "met"]
    widths = [7, 58, 12, 40, 7, 18, 8]
    lines = [_line(titles, widths), _line(["-" * width for width in widths], widths)] if head else []
    return "\n".join([*lines, *(_line(row, widths) for row in rows)]) + "\n"


def _cells(figure: Figure) -> list[str]:
    base = f"{_number(figure.base)} {figure.base_name}" if figure.base is not None else figure.base_name
    ratio = f"{figure.ratio:.2f}" if figure.ratio is not None else ""
    what = f"{figure.what} ({figure.note})" if figure.note else figure.what
    value = f"{_number(figure.value)} {figure.unit}"
    return [figure.id, what, value, base, ratio, figure.goal.text if figure.goal else "", figure.met]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
