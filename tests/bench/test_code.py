"""Code: names land on their definitions, and cutting at definitions loses nothing against cutting as plain text."""

from __future__ import annotations

import ast
import os
import random
import sysconfig
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

from lilbee_core import Lilbee, Settings
from lilbee_core.evaluation import EvaluationSet
from tests.bench._figures import Figure, Report, at_least, at_least_times
from tests.bench._world import World

NAME = "cosqa"
ASKED = 50
LEAST_CHARS = 6
_LEFT_OUT = frozenset({"site-packages", "__pycache__", "test", "tests", "idlelib", "lib2to3", "turtledemo"})


def test_names_land_on_their_definitions(world: World, report: Report) -> None:
    """50 names that are defined once in the standard library, without its tests (C1)."""
    folder = world.folder / "python"
    where = copy_library(folder, every=10 if world.quick else 1)
    chosen = random.Random(50).sample(sorted(where), min(ASKED, len(where)))
    with Lilbee(folder, data_dir=world.folder / "python-data", settings=Settings()) as bee:
        bee.sync()
        chunks = bee.status().chunks
        found = 0
        for name in chosen:
            path, line = where[name]
            hits = bee.search(name, top_k=1).hits
            found += (
                bool(hits) and hits[0].path == path and (hits[0].line_start or 0) <= line <= (hits[0].line_end or 0)
            )
    report.add(
        Figure(
            id="C1",
            what="names that are defined once: the definition is the first hit",
            note=f"{len(chosen)} names, {chunks} chunks",
            value=found / len(chosen),
            unit="",
            goal=at_least(0.96),
        )
    )


def copy_library(target: Path, *, every: int) -> Mapping[str, tuple[str, int]]:
    """Copy the interpreter's own library and return the public names that one place of it defines."""
    home = Path(sysconfig.get_path("stdlib"))
    places: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    sources = sorted(path for path in home.rglob("*.py") if not _LEFT_OUT & set(path.relative_to(home).parts))
    for path in sources[::every]:
        relative = path.relative_to(home)
        copy = target / relative
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                places[node.name].append((relative.as_posix(), node.lineno))
    return {
        name: found[0]
        for name, found in places.items()
        if len(found) == 1 and len(name) >= LEAST_CHARS and not name.startswith("_")
    }


def test_code_is_found_as_well_as_text(world: World, report: Report) -> None:
    """The judged functions of cosqa, as source files and as plain texts (C2)."""
    folder = Path(os.environ.get("LILBEE_EVAL_DIR", "")) / NAME
    if not (folder / "queries.jsonl").is_file():
        pytest.skip(f"LILBEE_EVAL_DIR names no folder with {NAME}")
    figures = {ending: measured(world, folder, ending) for ending in (".py", ".txt")}
    report.add(
        Figure(
            id="C2",
            what="cosqa, nDCG@10: source files against the same texts",
            note=f"{NAME}, default profile",
            value=figures[".py"],
            unit="",
            base=figures[".txt"],
            base_name="as plain text",
            goal=at_least_times(1.0),
        )
    )


def measured(world: World, folder: Path, ending: str) -> float:
    """Return nDCG@10 over the set whose documents are files with this ending."""
    judged = EvaluationSet.open(folder)
    relevant = {document for grades in judged.qrels().values() for document in grades}
    files = world.folder / f"cosqa{ending}"
    files.mkdir(parents=True, exist_ok=True)
    for number, document in enumerate(judged.documents()):
        if not world.quick or document.path in relevant or number % 10 == 0:
            (files / f"{document.path}{ending}").write_text(document.text, encoding="utf-8")
    qrels = {
        query: {f"{one}{ending}": grade for one, grade in grades.items()} for query, grades in judged.qrels().items()
    }
    with Lilbee(files, data_dir=world.folder / f"cosqa-data{ending}", settings=Settings()) as bee:
        bee.sync()
        return bee.evaluation.run(judged.queries(), qrels)["ndcg@10"]
