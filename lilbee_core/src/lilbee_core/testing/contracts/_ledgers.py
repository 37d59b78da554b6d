"""What every ledger and every store of small state keeps to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

from lilbee_core.testing.builders import a_row
from lilbee_core.types import DocumentId, DocumentState, Metadata

if TYPE_CHECKING:
    from lilbee_core.protocols import Ledger, StateStore


class LedgerContract(ABC):
    """Checks for a `Ledger`: one row per file, found by id and by place, ordered."""

    @abstractmethod
    def make(self) -> Ledger:
        """Return a new, empty ledger."""

    # ------------------------------------------------------------------ the checks

    def test_an_empty_ledger_has_no_rows(self) -> None:
        ledger = self.make()
        assert list(ledger.rows()) == [], "a new ledger has rows"
        assert ledger.row(DocumentId("gone")) is None, "it found a row that nobody wrote"
        assert ledger.find("notes", "gone.txt") is None, "it found a file that nobody wrote"

    def test_a_row_comes_back_whole(self) -> None:
        row = a_row(
            "sub/Überblick.md",
            state=DocumentState.FAILED,
            code="extract.damaged",
            reason="it isn't whole",
            language="de",
            date="2026-03-14",
            raw_path="sub/%FF",
            metadata=Metadata(author="Ada", tags=("a", "b"), pages=3),
            warnings=("one", "two"),
            chunks=0,
            embedded=0,
            indexed_at=None,
        )
        ledger = self.make()
        ledger.record([row])
        assert ledger.row(row.id) == row, "the row came back changed"
        assert ledger.find(row.collection, row.path) == row, "the row was not found by its place"

    def test_a_row_written_again_is_one_row(self) -> None:
        ledger, row = self.make(), a_row(chunks=0)
        changed = replace(row, size=99, state=DocumentState.EXCLUDED)
        ledger.record([row])
        ledger.record([changed])
        assert list(ledger.rows()) == [changed], "the row was not replaced"

    def test_rows_of_many_come_at_once(self) -> None:
        ledger, rows = self.make(), [a_row(f"{name}.txt", chunks=0) for name in "abc"]
        ledger.record(rows)
        found = ledger.rows_of([rows[2].id, DocumentId("gone"), rows[0].id, rows[0].id])
        assert dict(found) == {rows[0].id: rows[0], rows[2].id: rows[2]}, f"it found {sorted(found)}"
        assert dict(ledger.rows_of([])) == {}, "it found rows of nothing"

    def test_stamps_of_many_come_with_their_collection(self) -> None:
        rows = [a_row(f"{name}.txt", collection=f"{name}s", chunks=0) for name in "abc"]
        ledger = self.make()
        ledger.record(rows)
        found = ledger.stamps_of([rows[2].id, DocumentId("gone"), rows[0].id, rows[0].id])
        assert set(found) == {rows[0].id, rows[2].id}, "it found other stamps than those asked for"
        for row in (rows[0], rows[2]):
            collection, stamp = found[row.id]
            assert collection == row.collection, "a stamp came with another collection"
            assert stamp in ledger.stamps(collection), "a stamp differs from what the collection has"

    def test_stamps_are_parts_of_rows(self) -> None:
        ledger = self.make()
        row = a_row("é.md", state=DocumentState.FAILED, code="extract.damaged", reason="broken", raw_path="e%CC%81.md")
        ledger.record([row, a_row("other.txt", collection="work", chunks=0)])
        stamps = ledger.stamps("notes")
        assert len(stamps) == 1, f"it has {len(stamps)} stamps of one file"
        (stamp,) = stamps
        for name in stamp._fields:
            assert getattr(stamp, name) == getattr(row, name), f"{name} of the stamp differs from the row"
        assert stamp.state is DocumentState.FAILED, "the state is no `DocumentState`"
        assert list(ledger.stamps("nowhere")) == [], "it has stamps of a collection that nobody wrote"

    def test_rows_are_ordered_and_chosen(self) -> None:
        rows = [
            a_row("b.txt", collection="notes", chunks=0),
            a_row("a.txt", collection="work", chunks=0, state=DocumentState.SKIPPED),
            a_row("a/z.txt", collection="notes", chunks=0, state=DocumentState.FAILED),
            a_row("B.txt", collection="notes", chunks=0),
        ]
        ledger = self.make()
        ledger.record(rows)
        ordered = sorted(rows, key=lambda row: (row.collection, row.path))
        assert list(ledger.rows()) == ordered, "rows are not in the order of collection and path"
        assert list(ledger.rows(collection="work")) == [rows[1]], "it did not choose by collection"
        chosen = list(ledger.rows(states=("failed", "skipped")))
        assert chosen == [rows[2], rows[1]], "it did not choose by state"
        assert list(ledger.rows(collection="notes", states=("skipped",))) == [], "it did not combine its conditions"

    def test_rows_are_counted(self) -> None:
        ledger = self.make()
        ledger.record([a_row("a.txt"), a_row("b.txt"), a_row("c.txt", state=DocumentState.FAILED)])
        ledger.record([a_row("a.txt", collection="work", state=DocumentState.MISSING)])
        counts = {key: count for key, count in ledger.counts().items() if count}
        expected = {
            ("notes", DocumentState.INDEXED): 2,
            ("notes", DocumentState.FAILED): 1,
            ("work", DocumentState.MISSING): 1,
        }
        assert counts == expected, f"the counts are {counts}"
        assert dict(self.make().counts()) == {}, "an empty ledger counts something"

    def test_forgotten_rows_are_gone(self) -> None:
        ledger, rows = self.make(), [a_row("a.txt", chunks=0), a_row("b.txt", chunks=0)]
        ledger.record(rows)
        ledger.forget([rows[0].id, DocumentId("never-there")])
        assert list(ledger.rows()) == [rows[1]], "the wrong rows are left"

    def test_no_rows_are_accepted(self) -> None:
        ledger = self.make()
        ledger.record([])
        ledger.forget([])
        assert list(ledger.rows()) == [], "rows came from nowhere"


class StateContract(ABC):
    """Checks for a `StateStore`: values by kind and key."""

    @abstractmethod
    def make(self) -> StateStore:
        """Return a new, empty state store."""

    # ------------------------------------------------------------------ the checks

    def test_a_value_comes_back(self) -> None:
        state, value = self.make(), {"title": "Über Bienen 🐝", "turns": [1, 2], "open": True, "none": None}
        state.save("note", "a/b 'c'", value)
        assert state.load("note", "a/b 'c'") == value, "the value came back changed"

    def test_missing_values_are_none(self) -> None:
        state = self.make()
        assert state.load("note", "gone") is None, "it found a value that nobody saved"
        assert state.delete("note", "gone") is False, "it deleted a value that nobody saved"
        assert list(state.items("note")) == [], "it has values that nobody saved"

    def test_saving_again_replaces(self) -> None:
        state = self.make()
        state.save("note", "a", {"text": "old", "more": 1})
        state.save("note", "a", {"text": "new"})
        assert state.load("note", "a") == {"text": "new"}, "the old value is not replaced"

    def test_kinds_are_apart_and_keys_ordered(self) -> None:
        state = self.make()
        for kind, key in (("note", "b"), ("job", "a"), ("note", "a")):
            state.save(kind, key, {"at": f"{kind}/{key}"})
        assert [key for key, _ in state.items("note")] == ["a", "b"], "keys are not in order"
        assert dict(state.items("job")) == {"a": {"at": "job/a"}}, "kinds are mixed up"

    def test_deleted_values_are_gone(self) -> None:
        state = self.make()
        state.save("note", "a", {"x": 1})
        assert state.delete("note", "a") is True, "it says there was nothing to delete"
        assert state.load("note", "a") is None, "the value is still there"

    def test_what_was_saved_does_not_change_with_the_callers_value(self) -> None:
        state, value = self.make(), {"text": "old"}
        state.save("note", "a", value)
        value["text"] = "new"
        assert state.load("note", "a") == {"text": "old"}, "the store shares the caller's value"

    def test_keys_are_told_without_values(self) -> None:
        state = self.make()
        for key in "ba":
            state.save("note", key, {"at": key})
        assert state.keys("note") == ("a", "b"), f"the keys are {state.keys('note')}"
        assert state.keys("gone") == (), "it has keys that nobody saved"

    def test_a_transaction_holds_as_a_whole(self) -> None:
        state = self.make()
        with state.transaction():
            state.save("note", "a", {"x": 1})
            with state.transaction():
                state.save("note", "b", {"x": 2})
            assert state.keys("note") == ("a", "b"), "what was written in a transaction is not seen in it"
        assert state.keys("note") == ("a", "b"), "a transaction that ended well is lost"

    def test_a_transaction_that_fails_leaves_nothing(self) -> None:
        state = self.make()
        state.save("note", "a", {"x": 1})
        try:
            with state.transaction():
                state.save("note", "a", {"x": 2})
                state.save("note", "b", {"x": 2})
                state.delete("note", "a")
                raise KeyError
        except KeyError:
            pass
        assert dict(state.items("note")) == {"a": {"x": 1}}, "an undone transaction left something"
        state.save("note", "c", {"x": 3})
        assert state.keys("note") == ("a", "c"), "nothing can be written after an undone transaction"
