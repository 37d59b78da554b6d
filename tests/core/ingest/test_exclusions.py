"""What was removed on request stays out, whatever becomes of the index, the file and the folders."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import StoreError
from lilbee_core.store import Store
from tests.core.ingest.conftest import a_library

OLD = 1_600_000_000
Damage = Callable[[Path], object]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A library of three files; boats.md was removed on request."""
    root = tmp_path / "notes"
    root.mkdir()
    for number, name in enumerate(("bees", "boats", "herons")):
        file = root / f"{name}.md"
        file.write_text(f"# On {name}\n\nAll about {name}.\n", encoding="utf-8")
        os.utime(file, (OLD + number, OLD + number))
    with a_library(root) as bee:
        bee.sync()
        bee.remove("boats.md")
    return root


def states(bee: Lilbee) -> dict[str, str]:
    return {row.ref: str(row.state) for row in bee.documents()}


EXPECTED = {"notes/bees.md": "indexed", "notes/boats.md": "excluded", "notes/herons.md": "indexed"}


def lose_layout(data: Path) -> None:
    (data / "index" / "layout.json").unlink()


def lose_ledger(data: Path) -> None:
    shutil.rmtree(data / "index" / "documents.lance")


def lose_index(data: Path) -> None:
    shutil.rmtree(data / "index")


def lose_all_but_state(data: Path) -> None:
    for path in data.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif not path.name.startswith("state.sqlite"):
            path.unlink()


def lose_state(data: Path) -> None:
    for path in data.glob("state.sqlite*"):
        path.unlink()


@pytest.mark.parametrize("damage", [lose_layout, lose_ledger, lose_index, lose_all_but_state, lose_state])
def test_a_lost_index_forgets_no_exclusion(root: Path, damage: Damage) -> None:
    damage(root / ".lilbee")
    with a_library(root) as bee:
        refused = None
        try:
            bee.sync()
        except StoreError as error:
            refused = error
            bee.rebuild()
        assert refused is None or (refused.code == "store.damaged" and "lilbee rebuild" in refused.hint)
        assert states(bee) == EXPECTED
        bee.rebuild()
        assert states(bee) == EXPECTED
        assert all(hit.path != "boats.md" for hit in bee.search("all about boats"))


@pytest.mark.parametrize("damage", [lose_index, lose_state])
def test_what_came_back_on_request_stays_in(root: Path, damage: Damage) -> None:
    with a_library(root) as bee:
        bee.add(root / "boats.md")
    damage(root / ".lilbee")
    with a_library(root) as bee:
        bee.sync()
        assert states(bee) == {**EXPECTED, "notes/boats.md": "indexed"}


def test_add_brings_it_back_also_right_after_the_loss(root: Path) -> None:
    lose_index(root / ".lilbee")
    with a_library(root) as bee:
        bee.add(root / "boats.md")
        assert states(bee)["notes/boats.md"] == "indexed"


def test_it_follows_the_name_of_its_collection(root: Path) -> None:
    with a_library(root) as bee:
        bee.collections.rename("notes", "papers")
    lose_index(root / ".lilbee")
    with a_library(root) as bee:
        bee.sync()
        assert states(bee)["papers/boats.md"] == "excluded"


def test_a_removed_collection_forgets_what_was_excluded_in_it(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "drafts.md").write_text("drafts\n", encoding="utf-8")
    with a_library(root) as bee:
        bee.add(other)
        bee.remove("other/drafts.md")
        bee.collections.remove("other")
        bee.add(other)
        assert states(bee)["other/drafts.md"] == "indexed"


def test_a_file_that_moves_stays_out(root: Path) -> None:
    (root / "old").mkdir()
    (root / "boats.md").rename(root / "old" / "ships.md")
    with a_library(root) as bee:
        assert bee.sync(dry_run=True).added == 0
        assert bee.sync().added == 0
        assert states(bee) == {
            "notes/bees.md": "indexed",
            "notes/herons.md": "indexed",
            "notes/old/ships.md": "excluded",
        }
        lose_index(root / ".lilbee")
    with a_library(root) as bee:
        bee.sync()
        assert states(bee)["notes/old/ships.md"] == "excluded"
        (root / "old" / "ships.md").rename(root / "boats.md")
        assert bee.sync().added == 0
        assert states(bee) == EXPECTED


def test_a_file_that_moves_to_another_collection_stays_out(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    with a_library(root) as bee:
        bee.add(other)
        (root / "boats.md").rename(other / "boats.md")
        assert bee.sync().added == 0
        assert states(bee)["other/boats.md"] == "excluded"


def test_a_copy_of_it_is_another_document(root: Path) -> None:
    shutil.copy(root / "boats.md", root / "copy.md")
    with a_library(root) as bee:
        assert bee.sync().added == 1
        assert states(bee) == {**EXPECTED, "notes/copy.md": "indexed"}


def test_a_moved_file_that_is_added_by_name_comes_back(root: Path) -> None:
    (root / "boats.md").rename(root / "ships.md")
    with a_library(root) as bee:
        bee.add(root / "ships.md")
        assert states(bee)["notes/ships.md"] == "indexed"


def test_a_document_that_took_its_place_in_the_ledger_goes(root: Path) -> None:
    """As after a kill between the state and the ledger."""
    data = root / ".lilbee"
    with Store.open(data) as store:
        kept = list(store.state.items("excluded"))
    with a_library(root) as bee:
        bee.add(root / "boats.md")
        assert states(bee)["notes/boats.md"] == "indexed"
    with Store.open(data) as store:
        for key, value in kept:
            store.state.save("excluded", key, value)
    with a_library(root) as bee:
        assert bee.sync().added == 0
        assert states(bee) == EXPECTED
        assert bee.doctor.run()
    with Store.open(data) as store:
        assert store.check() == ()
        for key, _ in kept:
            store.state.delete("excluded", key)
    with a_library(root) as bee:
        bee.sync()
        assert states(bee)["notes/boats.md"] == "indexed"


def test_a_state_that_cannot_be_read_leaves_the_last_word_to_the_ledger(root: Path) -> None:
    lose_state(root / ".lilbee")
    (root / ".lilbee" / "state.sqlite").write_bytes(b"no database" * 500)
    with a_library(root) as bee:
        assert bee.status().states
        assert bee.sync().added == 0
        assert states(bee) == EXPECTED


def test_many_exclusions_are_kept_in_one_transaction(root: Path) -> None:
    with a_library(root) as bee:
        bee.remove("bees.md", "herons.md")
    connection = sqlite3.connect(root / ".lilbee" / "state.sqlite")
    try:
        assert connection.execute("SELECT count(*) FROM state WHERE kind = 'excluded'").fetchone() == (3,)
    finally:
        connection.close()
