"""What was embedded once is not embedded again, whatever becomes of its file (R017, R078, R317)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lilbee_core import Lilbee, Settings, SyncReport
from lilbee_core.testing import HashEmbedder

TEXTS = {
    "bees.md": "# Bees\n\nThe queen lays eggs in spring.\n\n# Drones\n\nDrones do not sting.\n",
    "boats.md": "# Boats\n\nThe ferry leaves at noon.\n",
}
SMALL = Settings().changed({"chunk_size": 12, "chunk_overlap": 0})
"""So that a section is a chunk."""


class World:
    """A library that is opened anew for every verb, as by one command after another."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.sent: list[str] = []

    def sync(self) -> SyncReport:
        return self._run("sync")

    def rebuild(self) -> SyncReport:
        return self._run("rebuild")

    def _run(self, verb: str) -> SyncReport:
        embedder = HashEmbedder()
        with Lilbee(self.root, SMALL, embedder=embedder) as bee:
            report: SyncReport = getattr(bee, verb)()
            assert bee.status().embedded == bee.status().chunks
        self.sent = embedder.texts
        assert report.embedded == len(self.sent)
        return report


@pytest.fixture
def world(tmp_path: Path) -> World:
    root = tmp_path / "notes"
    root.mkdir()
    for name, text in TEXTS.items():
        (root / name).write_text(text, encoding="utf-8")
    world = World(root)
    assert world.sync().added == 2
    assert len(world.sent) == 3
    return world


def test_nothing_changed(world: World) -> None:
    assert world.sync().unchanged == 2
    assert world.sent == []


def test_a_touched_file(world: World) -> None:
    os.utime(world.root / "bees.md", (1, 1))
    assert world.sync().unchanged == 2
    assert world.sent == []


def test_a_renamed_and_a_moved_file(world: World) -> None:
    (world.root / "deep").mkdir()
    (world.root / "bees.md").rename(world.root / "deep" / "insects.md")
    assert world.sync().moved == 1
    assert world.sent == []


def test_a_copied_file(world: World) -> None:
    (world.root / "copy.md").write_text(TEXTS["bees.md"], encoding="utf-8")
    assert world.sync().added == 1
    assert world.sent == []


def test_an_edited_file_sends_only_what_is_new_in_it(world: World) -> None:
    (world.root / "bees.md").write_text(TEXTS["bees.md"].replace("do not sting", "die in autumn"), encoding="utf-8")
    assert world.sync().updated == 1
    assert len(world.sent) == 1
    assert "die in autumn" in world.sent[0]


def test_a_section_put_before_others_moves_them_and_costs_itself(world: World) -> None:
    wasps = "\n\n# Wasps\n\nWasps build with paper.\n\n# Drones"
    (world.root / "bees.md").write_text(TEXTS["bees.md"].replace("\n\n# Drones", wasps), encoding="utf-8")
    assert world.sync().updated == 1
    assert len(world.sent) == 1
    assert "paper" in world.sent[0]


def test_a_rebuild_with_the_same_embedder(world: World) -> None:
    assert world.rebuild().updated == 2
    assert world.sent == []


def test_the_same_text_twice_in_one_sync_is_sent_once(world: World) -> None:
    for name in ("one.md", "two.md"):
        (world.root / name).write_text("The heron stands still.\n", encoding="utf-8")
    assert world.sync().added == 2
    assert len(world.sent) == 1


def test_a_query_is_embedded_once_per_search(world: World) -> None:
    embedder = HashEmbedder()
    with Lilbee(world.root, SMALL, embedder=embedder) as bee:
        bee.search("queen eggs")
        assert embedder.queries == ["queen eggs"]
