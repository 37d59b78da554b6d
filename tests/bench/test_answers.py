"""How often a quoted answer holds what was asked for, on judged questions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from lilbee_core import Lilbee, Settings
from lilbee_core.evaluation import EvaluationSet
from lilbee_core.types import Answer
from tests.bench._figures import Figure, Goal, Report
from tests.bench._world import World

NAME = "squad2-dev"


def test_quoted_answers(world: World, report: Report) -> None:
    folder = Path(os.environ.get("LILBEE_EVAL_DIR", "")) / NAME
    if not (folder / "queries.jsonl").is_file():
        pytest.skip(f"LILBEE_EVAL_DIR names no folder with {NAME}")
    judged = EvaluationSet.open(folder)
    qrels = judged.qrels()
    tally = dict.fromkeys(("holds", "first", "found", "chars", "asked"), 0)
    with Lilbee(data_dir=world.folder / NAME, settings=Settings()) as bee:
        bee.add_documents(judged.documents())
        for key, question, golds in islice(answerable(folder), world.size(1_000)):
            answer = bee.ask(question)
            tally["asked"] += 1
            tally["found"] += answer.found
            tally["chars"] += len(answer.text)
            tally["holds"] += any(folded(gold) in folded(answer.text) for gold in golds)
            tally["first"] += bool(answer.citations) and source(answer) in qrels[key]
    asked = tally["asked"]
    note = f"{asked} questions, {tally['found'] / asked:.3f} found, {tally['chars'] / asked:.0f} characters each"
    for what, key, goal in (("hold what was asked for", "holds", 0.78), ("cite the right text first", "first", 0.8)):
        report.add(
            Figure(
                id="A1",
                what=f"quoted answers that {what}",
                note=note,
                value=tally[key] / asked,
                unit="",
                goal=at_least(goal),
            )
        )
        note = ""


def answerable(folder: Path) -> Iterator[tuple[str, str, list[str]]]:
    """Yield id, question and the strings any of which answers it."""
    with (folder / "queries.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["_id"], row["text"], row["metadata"]["answers"]


def at_least(limit: float) -> Goal:
    """The value itself must be `limit` at least."""
    return Goal(f">= {limit:g}", lambda value, _: value >= limit, needs_base=False)


def folded(text: str) -> str:
    """Return the text without what differs between equal answers."""
    return " ".join(text.split()).casefold()


def source(answer: Answer) -> str:
    """Return the name that the judged set gives the text cited first."""
    return answer.citations[0].path
