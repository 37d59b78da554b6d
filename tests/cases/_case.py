"""Cases as they lie in a folder, and the findings of running one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Step = Mapping[str, Any]

_LONGEST = 1500
_NUMBER = re.compile(r"\{i(?::([^{}]*))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case: its steps, and the folder that holds its input files."""

    id: str
    kind: str
    needs: tuple[str, ...]
    story: str
    steps: tuple[Step, ...]
    folder: Path

    def __str__(self) -> str:
        return f"{self.id}-{self.kind}"


@dataclass(slots=True, kw_only=True)
class Findings:
    """What a run found wrong: `failures` break a promise, `wishes` only a wish."""

    case: str
    failures: list[str] = field(default_factory=list[str])
    wishes: list[str] = field(default_factory=list[str])

    def wrong(self, step: str, what: str, wanted: object, came: object, *, wished: bool = False) -> None:
        """Note an expectation that was not met."""
        line = f"{self.case} step {step}: {what}: wanted {_short(wanted)}, came {_short(came)}"
        (self.wishes if wished else self.failures).append(line)


def load_cases(folder: Path) -> list[Case]:
    """Return the cases of a folder.

    Raises:
        ValueError: If the file is of another format.
    """
    read = json.loads((folder / "cases.json").read_text("utf-8"))
    if read.get("format") != 1:
        raise ValueError(f"{folder / 'cases.json'} has format {read.get('format')!r}, this runner reads format 1")
    return [
        Case(
            id=one["id"],
            kind=one["kind"],
            needs=tuple(one.get("needs", ())),
            story=one.get("story", ""),
            steps=tuple(one["steps"]),
            folder=folder,
        )
        for one in read["cases"]
    ]


def numbered(value: Any, number: int) -> Any:
    """Return `value` with ``{i}`` and ``{i:02}`` replaced by the number, in every text inside it."""
    if isinstance(value, str):
        return _NUMBER.sub(lambda match: format(number, match[1] or ""), value)
    if isinstance(value, Mapping):
        return {key: numbered(one, number) for key, one in value.items()}
    if isinstance(value, Sequence):
        return [numbered(one, number) for one in value]
    return value


def all_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield every step, those inside repeated and parallel lists included."""
    for step in steps:
        yield step
        for inner in (step.get("steps", ()), *step.get("processes", ())):
            yield from all_steps(inner)


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
