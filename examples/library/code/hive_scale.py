"""Read the log of the scale under hive seven and say what happened to the hive.

The scale writes one line every five minutes:

    2025-05-24T11:40:00+01:00 hive=7 weight_kg=41.8 temp_c=21.9 battery_v=3.71

Usage: python hive_scale.py ../logs/hive7-scale.log
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

# A prime swarm weighs between one and a half and three kilograms and is gone within ten minutes.
SWARM_MIN_KG = 1.5
SWARM_WINDOW = timedelta(minutes=10)
# The cat weighs 4.6 kg, and she always comes back: what leaves and returns was never a swarm.
CAT_KG = 4.6
CAT_TOLERANCE_KG = 0.3


@dataclass(frozen=True)
class Reading:
    """What the scale saw at one moment."""

    time: datetime
    weight_kg: float
    temp_c: float
    battery_v: float


def parse_reading(line: str) -> Reading | None:
    """Return the reading in a line of the log, or None for messages of the device."""
    first, *rest = line.split()
    fields = dict(part.split("=", 1) for part in rest if "=" in part)
    if "weight_kg" not in fields:
        return None
    return Reading(
        time=datetime.fromisoformat(first),
        weight_kg=float(fields["weight_kg"]),
        temp_c=float(fields["temp_c"]),
        battery_v=float(fields["battery_v"]),
    )


def is_cat(change_kg: float) -> bool:
    """Tell whether a sudden change of weight is the cat getting on or off the roof."""
    return abs(abs(change_kg) - CAT_KG) <= CAT_TOLERANCE_KG


def detect_swarm(readings: list[Reading]) -> Reading | None:
    """Return the reading at which a swarm had left, or None.

    A swarm is a loss of at least 1.5 kg within ten minutes that is not the cat. Foragers leave over an hour in the
    morning and return over an hour at dusk, so they stay below the limit.
    """
    for index, last in enumerate(readings):
        window = [one for one in readings[: index + 1] if last.time - one.time <= SWARM_WINDOW]
        loss = max(one.weight_kg for one in window) - last.weight_kg
        if loss >= SWARM_MIN_KG and not is_cat(loss):
            return last
    return None


def main(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    readings = [reading for line in lines if line and (reading := parse_reading(line))]
    swarm = detect_swarm(readings)
    if swarm is None:
        print(f"{len(readings)} readings, no swarm")
    else:
        print(f"{len(readings)} readings, swarm gone by {swarm.time:%H:%M} at {swarm.weight_kg} kg")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
