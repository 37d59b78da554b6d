"""Where a run of benchmarks works: its folders, the environment of what it starts, the corpora."""

from __future__ import annotations

import os
import random
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = Path(__file__).parent / "tools"
QUICK_SHARE = 10
OLD_S = 3_600
"""Files are made to look this old: one that has just changed is hashed again by the next sync."""

_LEFT_OUT = frozenset({"site-packages", "__pycache__"})
_TOPICS = (
    "hive swarm queen drone brood comb nectar pollen propolis smoker", "ledger invoice budget margin audit receipt tax",
    "sail keel harbor tide anchor compass mast rudder", "oven flour yeast crumb crust dough rye starter",
    "compiler parser token grammar symbol scope closure pointer", "glacier moraine ridge summit crevasse rope piton",
)  # fmt: skip
_FILLER = "the and of with from into over under near between after before while about again every"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A folder of files."""

    folder: Path
    files: int
    bytes: int

    @property
    def megabytes(self) -> float:
        """Millions of bytes."""
        return self.bytes / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The folder of a run, and how large the run is."""

    folder: Path
    quick: bool

    def size(self, full: int) -> int:
        """Return `full`, or a tenth of it in a quick run."""
        return max(full // QUICK_SHARE, 1) if self.quick else full

    def times(self, full: int) -> int:
        """Return how often something is repeated: `full`, or three times at most in a quick run."""
        return min(full, 3) if self.quick else full

    def env(self, **variables: str) -> dict[str, str]:
        """Return an environment without the user's own settings."""
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("LILBEE_")}
        own = {"LILBEE_CONFIG_DIR": str(self.folder / "config"), "LILBEE_CACHE_DIR": str(self.folder / "cache")}
        # As in a plain installation: the tests' own has the extra that maps concepts, which has its figures elsewhere.
        return {**inherited, **own, "NO_COLOR": "1", "LILBEE_CONCEPTS": "false", **variables}


def lilbee() -> list[str]:
    """Return the command line's first words."""
    script = Path(sys.executable).parent / ("lilbee.exe" if os.name == "nt" else "lilbee")
    return [str(script)] if script.exists() else [sys.executable, "-m", "lilbee_cli.main"]


def tool(name: str, *arguments: object) -> list[str]:
    """Return the command that runs a script of `tools` in a process of its own."""
    return [sys.executable, "-m", f"tests.bench.tools.{name}", *map(str, arguments)]


def standard_library(target: Path, *, every: int = 1, first: int = 0) -> Corpus:
    """Copy the interpreter's own library, each `every`-th file, as plain text."""
    home = Path(sysconfig.get_path("stdlib"))
    for path in list(_sources(home))[first::every]:
        copy = target / path.relative_to(home).with_suffix(".txt")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return _aged(target)


def notes(target: Path, count: int) -> Corpus:
    """Write many small notes, a hundred to a folder. Note 7 holds the word ``note7mark`` and nobody else does."""
    for number in range(count):
        path = target / f"{number // 100:03}" / f"note-{number:05}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note(number), encoding="utf-8")
    return _aged(target)


def note(number: int, edition: int = 0) -> str:
    """Return the text of a note."""
    chance = random.Random(number * 1_000 + edition)
    topic, filler = _TOPICS[number % len(_TOPICS)].split(), _FILLER.split()
    sentences = [
        " ".join(chance.choice(topic if chance.random() < 0.6 else filler) for _ in range(9)).capitalize() + "."
        for _ in range(chance.randint(3, 6))
    ]
    return f"# {topic[0].title()} {number}\n\nnote{number}mark edition{edition}\n\n{' '.join(sentences)}\n"


def _sources(home: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(home):
        folders[:] = sorted(set(folders) - _LEFT_OUT)
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(".py"))


def _aged(folder: Path) -> Corpus:
    files = [path for path in folder.rglob("*") if path.is_file()]
    for path in files:
        info = path.stat()
        os.utime(path, (info.st_atime - OLD_S, info.st_mtime - OLD_S))
    return Corpus(folder=folder, files=len(files), bytes=sum(path.stat().st_size for path in files))
