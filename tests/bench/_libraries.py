"""Libraries that several benchmarks use. Their vectors are hashed words under the built-in model's name.

Embedding them for real would take most of an hour and change nothing that is measured on them: a query is embedded by
the built-in model all the same.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from tests.bench._measure import run
from tests.bench._world import ROOT, Corpus, World, notes, standard_library, tool

BIG_SHARE = 4
"""Each fourth source file makes about 16,000 chunks of the size that the built-in model reads."""
MANY = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A folder and its index."""

    corpus: Corpus
    data: Path
    chunks: int

    @property
    def options(self) -> list[str]:
        """How the command line names it."""
        return ["--library", str(self.corpus.folder), "--data-dir", str(self.data)]


def big_library(world: World) -> Library:
    """Build the library of source files."""
    share = BIG_SHARE * 10 if world.quick else BIG_SHARE
    return build(world, standard_library(world.folder / "code", every=share), "code-data")


def notes_library(world: World) -> Library:
    """Build the library of notes."""
    return build(world, notes(world.folder / "notes", world.size(MANY)), "notes-data")


def build(world: World, corpus: Corpus, name: str) -> Library:
    """Index a corpus with made-up vectors."""
    data = world.folder / name
    done = run(tool("build_library", corpus.folder, data), env=world.env(), cwd=ROOT, every_s=1.0)
    told = cast("dict[str, Any]", json.loads(done.out))
    return Library(corpus=corpus, data=data, chunks=told["chunks"])
