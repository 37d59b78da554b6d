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


# ------------------------------------------------------------------ folders


@pytest.fixture
def private(root: Path) -> Path:
    """A folder of the library that was removed on request, with a file that came into it afterwards."""
    folder = root / "private"
    (folder / "deep").mkdir(parents=True)
    (folder / "diary.md").write_text("My diary of secrets.\n", encoding="utf-8")
    with a_library(root) as bee:
        bee.sync()
        assert bee.remove("private") == ("notes/private/diary.md",)
    (folder / "deep" / "letter.md").write_text("A letter of secrets.\n", encoding="utf-8")
    return folder


def test_what_comes_into_a_removed_folder_stays_out_and_says_why(root: Path, private: Path) -> None:
    letter = private / "deep" / "letter.md"
    with a_library(root) as bee:
        assert bee.explain_path(letter).state == "excluded"
        report = bee.sync()
        assert (report.added, [(one.path, one.code) for one in report.skipped]) == (
            0, [("private/deep/letter.md", "excluded")],
        )  # fmt: skip
        assert not [one for one in bee.sync().skipped if one.code == "excluded"]
        told = bee.explain_path(letter)
        assert (told.state, told.reason) == ("excluded", "its folder private/ was removed on request")
        assert "lilbee add" in (told.hint or "")
        assert bee.explain_path(private).state == "excluded"
        (root / "privateer.md").write_text("A ship.\n", encoding="utf-8")
        assert bee.sync().added == 1
        (root / "bees.md").rename(private / "bees.md")
        assert bee.sync().removed == 1
        assert not [hit for hit in bee.search("secrets bees") if hit.path.startswith("private/")]


@pytest.mark.parametrize("damage", [lose_ledger, lose_index, lose_all_but_state])
def test_a_removed_folder_is_not_forgotten_with_the_index(root: Path, private: Path, damage: Damage) -> None:
    damage(root / ".lilbee")
    with a_library(root) as bee:
        bee.rebuild()
        assert {ref: state for ref, state in states(bee).items() if "private" in ref} == {
            "notes/private/": "excluded",
            "notes/private/diary.md": "excluded",
            "notes/private/deep/letter.md": "excluded",
        }


@pytest.mark.parametrize("synced", [True, False])
def test_add_takes_back_the_folder_or_what_lies_in_it(root: Path, private: Path, synced: bool) -> None:
    letter = private / "deep" / "letter.md"
    with a_library(root) as bee:
        if synced:
            bee.sync()
        assert bee.add(letter).added == 1
        (private / "later.md").write_text("Later secrets.\n", encoding="utf-8")
        assert bee.sync().added == 0
        letter.write_text("Another letter.\n", encoding="utf-8")
        assert bee.sync().updated == 1
        assert bee.add(private).added == 2
        (private / "last.md").write_text("The last secrets.\n", encoding="utf-8")
        assert bee.sync().added == 1
        assert "notes/private/" not in states(bee)


def test_a_folder_named_with_its_collection_follows_its_name(root: Path, private: Path) -> None:
    with a_library(root) as bee:
        bee.add(private)
        bee.remove("notes/private/")
        bee.collections.rename("notes", "papers")
        (private / "later.md").write_text("Later secrets.\n", encoding="utf-8")
        assert bee.sync().added == 0
        assert states(bee)["papers/private/later.md"] == "excluded"


def test_removing_all_of_a_collection_keeps_out_nothing_new(root: Path) -> None:
    with a_library(root) as bee:
        assert len(bee.remove("notes")) == 2
        (root / "new.md").write_text("Something new.\n", encoding="utf-8")
        assert bee.sync().added == 1
