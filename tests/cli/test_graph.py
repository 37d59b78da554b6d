"""`lilbee topics`, `related` and `graph`: what the documents talk about (R215, R240)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lilbee_core.concepts import can_cluster
from tests.cli.conftest import Run

pytestmark = pytest.mark.skipif(not can_cluster(), reason="graspologic-native is not installed")

NOTES = (
    "The honey bee visits almond orchards in Kent. A honey bee dances.",
    "Almond orchards near Kent need the honey bee.",
    "Almond orchards bloom; Kent hears the honey bee.",
    "The World Health Organization (WHO) met in Geneva near Lake Leman.",
    "In Geneva the WHO spoke at Lake Leman.",
    "Lake Leman and Geneva and the WHO.",
)


@pytest.fixture
def mapped(lilbee: Run, folder: Path) -> Run:
    for number, text in enumerate(NOTES):
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    assert lilbee("init", str(folder)).code == 0
    assert lilbee("sync").code == 0
    return lilbee


def test_topics_are_shown_with_their_concepts(mapped: Run) -> None:
    shown = mapped("topics")

    assert shown.code == 0
    assert "honey bee" in shown.out
    assert "3 passages" in shown.out
    topics = mapped("topics", "--json").json()["topics"]
    assert {"id", "label", "chunks", "concepts"} == set(topics[0])
    assert mapped("topics", "what does the WHO do?", "-n", "1", "--json").json()["topics"][0]["concepts"] >= ["geneva"]


def test_topics_of_a_query(mapped: Run) -> None:
    (first, *_) = mapped("topics", "honey bee", "--json").json()["topics"]

    assert "almond orchard" in first["concepts"]
    assert mapped("topics", "xylophone").out == "No topics: no concepts of these documents belong together.\n"


def test_related_concepts_by_their_names(mapped: Run) -> None:
    shown = mapped("related", "WHO")

    assert shown.out.startswith("World Health Organization: entity, 3 passages, also WHO\n")
    assert "  Geneva  (2 passages, " in shown.out
    assert mapped("related", "who", "--json").json()["related"][0]["source"] == "world health organization"


def test_an_unknown_concept_is_a_clear_error(mapped: Run) -> None:
    failed = mapped("related", "xylophone")

    assert failed.code == 4
    assert "there is no concept 'xylophone'" in failed.err


def test_export(mapped: Run, folder: Path) -> None:
    assert json.loads(mapped("graph", "export").out)["concepts"]
    assert mapped("graph", "export", "graph.html").code == 0
    assert (folder / "graph.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert mapped("graph", "export", "--format", "graphml").out.startswith("<?xml")
    assert mapped("graph", "export", "graph.doc").code == 2


def test_decisions_by_hand(mapped: Run) -> None:
    assert mapped("graph", "merge", "Lake Leman", "Geneva").out == "Lake Leman counts as Geneva now\n"
    assert mapped("graph", "forbid", "Kent").code == 0
    assert mapped("graph", "decisions").out == "lake leman counts as geneva\nkent is left out\n"
    assert mapped("related", "Kent").code == 4
    assert mapped("graph", "restore", "Kent").code == 0
    assert mapped("related", "Kent").code == 0
    assert mapped("graph", "decisions", "--json").json() == {
        "decisions": [{"name": "lake leman", "counts_as": "geneva"}]
    }
