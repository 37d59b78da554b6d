"""Pairs of a passage and a claim about it, true and false ones, made by rule from judged paragraphs.

``python -m tests.bench.tools.citation_pairs FOLDER SEED`` prints them as lines of JSON.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.bench.tools._false_claims import CHANGES, neighbor
from tests.bench.tools._prose import Paragraph
from tests.bench.tools._true_claims import LIGHT, PARAPHRASES, Edit, is_telling

_LIGHT_TOO = 0.3  # share of the false claims that get a light edit as well


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A claim with the passage that it cites. `home` is where it was taken from, if that is another passage."""

    kind: str
    group: str
    """``verbatim``, ``light``, ``paraphrase`` or ``false``."""
    claim: str
    passage: str
    title: str
    home: str | None = None
    origin: str = ""
    """The sentence that the claim was made of."""


def paragraphs(folder: Path) -> list[Paragraph]:
    """Return the paragraphs of a judged set."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [Paragraph(row["_id"], row["title"], row["text"]) for row in rows]


def pairs(folder: Path, seed: int, *, each: int = 60) -> list[Pair]:
    """Return about `each` pairs for every kind of change."""
    chance = random.Random(seed)
    told = paragraphs(folder)
    articles: dict[str, list[Paragraph]] = defaultdict(list)
    for one in told:
        articles[one.title].append(one)
    return [
        *_true("verbatim", {"verbatim": lambda sentence, _: sentence}, told, chance, each=2 * each),
        *_true("light", LIGHT, told, chance, each=each // 2),
        *_true("paraphrase", PARAPHRASES, told, chance, each=each // 2),
        *_false(told, chance, each=each),
        *_neighbors(told, articles, chance, each=each),
    ]


def _sentences(told: Sequence[Paragraph], chance: random.Random) -> Iterator[tuple[Paragraph, str]]:
    found = [(one, sentence) for one in told for sentence in one.sentences if is_telling(sentence)]
    chance.shuffle(found)
    yield from found


def _true(
    group: str, edits: Mapping[str, Edit], told: Sequence[Paragraph], chance: random.Random, *, each: int
) -> Iterator[Pair]:
    for kind, edit in edits.items():
        count = 0
        for paragraph, sentence in _sentences(told, chance):
            claim = edit(sentence, chance)
            if claim is None:
                continue
            yield Pair(
                kind=kind, group=group, claim=claim, passage=paragraph.text, title=paragraph.title, origin=sentence
            )
            count += 1
            if count == each:
                break


def _false(told: Sequence[Paragraph], chance: random.Random, *, each: int) -> Iterator[Pair]:
    for kind, change in CHANGES.items():
        count = 0
        for paragraph, sentence in _sentences(told, chance):
            claim = change(sentence, paragraph, chance)
            if claim is None or claim in paragraph.text:
                continue
            if chance.random() < _LIGHT_TOO:
                edited = LIGHT[chance.choice(sorted(LIGHT))](claim, chance)
                claim = edited if edited is not None else claim
            yield Pair(
                kind=kind, group="false", claim=claim, passage=paragraph.text, title=paragraph.title, origin=sentence
            )
            count += 1
            if count == each:
                break


def _neighbors(
    told: Sequence[Paragraph], articles: dict[str, list[Paragraph]], chance: random.Random, *, each: int
) -> Iterator[Pair]:
    count = 0
    for paragraph, sentence in _sentences(told, chance):
        other = neighbor(sentence, paragraph, articles[paragraph.title], chance)
        if other is None:
            continue
        yield Pair(
            kind="neighbor",
            group="false",
            claim=sentence,
            passage=other.text,
            title=paragraph.title,
            home=paragraph.text if chance.random() < 0.5 else None,
            origin=sentence,
        )
        count += 1
        if count == each:
            break


if __name__ == "__main__":
    for pair in pairs(Path(sys.argv[1]), int(sys.argv[2])):
        print(json.dumps(asdict(pair), ensure_ascii=False))
