"""The light markup in which the texts of the sample library are kept: headings, paragraphs, lists, tables, breaks."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

TEXTS = Path(__file__).with_name("library")
EMPHASIS = re.compile(r"\*([^*]+)\*")


@dataclass(frozen=True, slots=True)
class Block:
    """A heading (`level` > 0), a paragraph, a list of `items`, or a table of `rows`."""

    text: str = ""
    level: int = 0
    items: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def read_text(name: str) -> str:
    return (TEXTS / name).read_text("utf-8")


def read_parts(name: str) -> list[list[Block]]:
    """Return the parts of a text (pages, slides, chapters), which `---` separates."""
    return [[parse_block(block) for block in part.strip().split("\n\n")] for part in read_text(name).split("\n---\n")]


def parse_block(source: str) -> Block:
    lines = source.splitlines()
    if lines[0].startswith("#"):
        marks, _, text = lines[0].partition(" ")
        return Block(text=text, level=len(marks))
    if lines[0].startswith("- "):
        return Block(items=tuple(line.removeprefix("- ") for line in lines))
    if lines[0].startswith("|"):
        return Block(rows=tuple(_cells(line) for line in lines if not line.startswith("|---")))
    return Block(text=" ".join(lines))


def read_table(name: str) -> list[list[str]]:
    with (TEXTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip("|").split("|"))
