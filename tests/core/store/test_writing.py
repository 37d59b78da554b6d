"""Writing: replacing, moving, removing, owing; and what a writer that stopped half-way leaves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lilbee_core.errors import EmbedderMismatch, InvalidArgument, StoreError
from lilbee_core.store import Store
from lilbee_core.store._engine import connect
from lilbee_core.store._tables import Tables
from lilbee_core.types import Box, DocumentId, Filter, Heading, Location, Scope, Segment, Span
from tests.core.store._build import DIMENSION, Words, a_document, ids, unit_vectors

DOC = DocumentId("doc")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path)


def test_every_field_comes_back(store: Store) -> None:
    box = Box(page=2, left=1.5, bottom=2.0, right=3.25, top=4.0)
    place = Location(
        line_start=1, line_end=2, page_start=3, page_end=4, label="Sheet1!A1", member="a/b.txt", boxes=(box, box)
    )
    document = a_document(
        "doc", ("one", "Zwei\x00 🐝\u2028"), location=place, headings=("A > B", "ü"), symbol="Store.open",
        symbol_kind="method", title="Title", language="de", media_type="text/html", date="2024-05-01T00:00:00Z",
    )  # fmt: skip
    text = replace(
        document.text, has_lines=False, line_map=(1, 2, 2, 9), body_start=3, extractor="x/1",
        segments=(Segment(span=Span(0, 3), page=1, label="p", member="m", boxes=(box,)), Segment(span=Span(3, 5))),
        headings=(Heading(start=0, level=1, title="A"),),
    )  # fmt: skip
    store.put([replace(document, text=text)])
    assert store.chunks_of(DOC) == document.chunks
    assert store.text(DOC) == text


@pytest.mark.parametrize("text", ["", "x", "a\udcff surrogate", "long " * 10_000, "\x00"])
def test_texts_come_back(store: Store, text: str) -> None:
    document = a_document("doc", ())
    document = replace(document, text=replace(document.text, text=text))
    store.put([document])
    assert store.text(DOC) == document.text
    assert store.check() == ()


def test_half_a_surrogate_pair_in_a_chunk_is_refused(store: Store) -> None:
    with pytest.raises(InvalidArgument, match="surrogate"):
        store.put([a_document("doc", ("a\udcff",), vectors=None)])


def test_a_batch_that_does_not_fit_changes_nothing(store: Store) -> None:
    old = a_document("doc", ("old",))
    store.put([old])
    version = store.version
    fine = a_document("fine", ("new",))
    bad = [
        replace(a_document("doc", ("new", "newer")), words=("one",)),
        a_document("doc", ("half \ud800",), vectors=unit_vectors(1, 0)),
        a_document("doc", ("new",), vectors=unit_vectors(2, 0)),
        a_document("doc", ("new",), vectors=unit_vectors(1, 0, 5)),
    ]
    for document in bad:
        with pytest.raises((InvalidArgument, EmbedderMismatch)):
            store.put([fine, document])
    for stranger in (replace(old, text=fine.text), replace(old, chunks=fine.chunks)):
        with pytest.raises(ValueError, match="must have its id"):
            store.put([stranger])
    assert store.version == version
    assert store.text(DOC) == old.text
    assert store.check() == ()


def test_chunks_come_once(store: Store) -> None:
    document = a_document("doc", ("one", "two"))
    doubled = replace(
        document,
        chunks=(*document.chunks, document.chunks[0]),
        words=(*document.words, "other"),
        vectors=np.concatenate([document.vectors, unit_vectors(1, 9)]),  # type: ignore[list-item]
    )
    for _ in range(2):
        store.put([doubled, doubled])
        assert store.chunks_of(DOC) == document.chunks
        assert store.row(DOC) == document.row
        assert store.check() == ()


def test_counts_in_the_ledger_are_those_of_what_was_written(store: Store) -> None:
    document = a_document("doc", ("one", "two"), vectors=None)
    store.put([replace(document, row=replace(document.row, chunks=99, embedded=98))])
    row = store.row(DOC)
    assert row is not None
    assert (row.chunks, row.embedded) == (2, 0)


def test_texts_of_two_documents_may_swap(store: Store) -> None:
    first, second = a_document("doc", ("one",)), a_document("other", ("two",))
    store.put([first, second])
    swapped = [a_document("doc", ("two",)), a_document("other", ("one",))]
    store.put(swapped)
    assert [store.text(one.row.id) for one in swapped] == [one.text for one in swapped]
    assert store.check() == ()


def test_an_interrupted_put_shows_one_edition_and_the_next_sweep_ends_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = a_document("doc", ("old one", "old two")), a_document("doc", ("new one", "new two", "new three"))
    store.put([old])
    for step in ("_put_chunks", "_drop_old_texts"):
        _interrupted(store, monkeypatch, step, new)
        chunks, text = store.chunks_of(DOC), store.text(DOC)
        assert text is not None
        assert all(chunk.text == text.text[chunk.span.start : chunk.span.end] for chunk in chunks)
        assert store.sweep() == 0
        assert store.text(DOC) == text
        assert not any("more than one text" in said for said in store.check())
    store.put([new])
    assert store.check() == ()
    assert store.text(DOC) == new.text


def _interrupted(store: Store, monkeypatch: pytest.MonkeyPatch, step: str, document: object) -> None:
    """Put a document, with the power going off before one step."""
    from lilbee_core.store._writer import Writer

    def off(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Writer, step, off)
        with pytest.raises(KeyboardInterrupt):
            store.put([document])  # type: ignore[list-item]


def test_what_no_row_names_is_swept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from lilbee_core.store._ledger import LedgerTable

    store.put([a_document("kept")])

    def off(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LedgerTable, "record", off)
        with pytest.raises(KeyboardInterrupt):
            store.put([a_document("orphan"), a_document("wiki orphan", scope="wiki")])
    assert len(store.check()) == 2
    assert store.sweep() == 2
    assert store.check() == ()
    assert [row.id for row in store.rows()] == ["kept"]
    assert store.count(scope=Scope.BOTH) == 2


def test_moved_documents_keep_ids_vectors_and_language(store: Store) -> None:
    document = a_document("doc", ("alpha", "beta"), language="de", title="Old")
    store.put([document, a_document("other")])
    store.maintain(force=True)
    vectors = store.vectors(ids_of(document))
    row = replace(document.row, collection="work", path="new/it's.md", title="New")
    store.relocate([row], {document.chunks[0].id: "renamed alpha"})
    moved = store.chunks_of(DOC)
    assert [chunk.id for chunk in moved] == ids_of(document)
    assert {(c.collection, c.path, c.title, c.language) for c in moved} == {("work", "new/it's.md", "New", "de")}
    assert all(np.array_equal(store.vectors(ids_of(document))[id_], vectors[id_]) for id_ in vectors)
    assert ids(store.lexical(Words("renamed"), limit=5)) == [document.chunks[0].id]
    assert ids(store.lexical(Words("beta"), limit=5, filters=Filter(paths=("new/",)))) == [document.chunks[1].id]
    assert store.find("work", "new/it's.md") == replace(row, chunks=2, embedded=2)
    assert store.find("docs", "notes/doc.md") is None
    assert store.text(DOC) == document.text
    assert store.check() == ()


def ids_of(document: object) -> list[object]:
    return [chunk.id for chunk in document.chunks]  # type: ignore[attr-defined]


def test_removed_documents_leave_every_table(store: Store) -> None:
    store.put([a_document("doc"), a_document("kept"), a_document("page", scope="wiki")])
    index = connect(store.path / "index")
    tables = Tables(store.path)
    for name, row in {
        "citations": {"page": "p", "document_id": "doc"},
        "chunk_concepts": {"chunk_id": "c", "document_id": "doc", "concept": "bees"},
    }.items():
        from lilbee_core.store._columns import full_rows

        tables.require(name).add(full_rows([row], name))
    store.remove([DOC, DocumentId("page"), DocumentId("never there")])
    for name in ("documents", "texts", "chunks", "wiki_chunks", "citations", "chunk_concepts"):
        key = "id" if name == "documents" else "document_id"
        assert index.open_table(name).count_rows(f"{key} IN ('doc', 'page')") == 0, name
    assert store.count() == 2
    assert store.check() == ()


def test_removing_stopped_half_way_is_finished_by_the_sweep(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put([a_document("doc"), a_document("kept")])
    from lilbee_core.store._writer import Writer

    def off(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "_delete_rows", off)
        with pytest.raises(KeyboardInterrupt):
            store.remove([DOC])
    assert store.row(DOC) is None  # so that a file which is still there is read anew
    assert store.sweep() == 1
    assert store.check() == ()


def test_vectors_are_owed_and_paid(store: Store) -> None:
    store.put([a_document("doc", ("one", "two", "three"), vectors=None, title="T"), a_document("done")])
    owed = store.owed(limit=10)
    assert [(one.text, one.context, one.document_id) for one in owed] == [
        (t, ("T",), "doc") for t in ("one", "two", "three")
    ]
    assert len(store.owed(limit=2)) == 2
    vectors = unit_vectors(3, 5)
    store.set_vectors({owed[0].chunk_id: vectors[0], "gone": vectors[1]})  # type: ignore[dict-item]
    row = store.row(DOC)
    assert row is not None
    assert row.embedded == 1
    assert len(store.owed(limit=10)) == 2
    assert ids(store.dense(vectors[0], limit=1)) == [owed[0].chunk_id]
    assert store.check() == ()


def test_a_library_of_words_gets_vectors_later(store: Store) -> None:
    store.put([a_document("doc", vectors=None)])
    assert store.dense(unit_vectors(1, 0)[0], limit=3) == ()
    assert store.vectors([a_document("doc").chunks[0].id]) == {}
    owed = store.owed(limit=10)
    store.set_vectors(dict(zip((one.chunk_id for one in owed), unit_vectors(2, 1), strict=True)))
    for _ in range(3):
        assert len(store.dense(unit_vectors(1, 0)[0], limit=3)) == 2
    store.put([a_document("words only", vectors=None)])
    assert len(store.owed(limit=10)) == 2


def test_dropped_vectors_make_room_for_others(store: Store) -> None:
    store.put([a_document("doc")])
    before = store.version
    for _ in range(3):
        store.dense(unit_vectors(1, 0)[0], limit=3)
    store.drop_vectors()
    assert store.version > before
    assert store.dense(unit_vectors(1, 0, 5)[0], limit=3) == ()
    assert len(store.owed(limit=9)) == 2
    assert store.check() == ()
    store.put([a_document("other", vectors=unit_vectors(2, 1, 5))])
    for _ in range(3):
        assert len(store.dense(unit_vectors(1, 0, 5)[0], limit=3)) == 2
    assert store.check() == ()


def test_the_dimension_may_be_known_before_the_first_vector(tmp_path: Path) -> None:
    with Store.open(tmp_path, dimension=DIMENSION) as store:
        store.put([a_document("doc", vectors=None)])
        with pytest.raises(StoreError):
            store.put([a_document("other", vectors=unit_vectors(2, 1, 5))])


def test_the_state_outlives_a_reset(store: Store) -> None:
    store.state.save("notes", "a", {"text": "kept"})
    store.put([a_document()])
    version = store.version
    store.reset()
    assert store.count() == 0
    assert store.meta() is None
    assert store.state.load("notes", "a") == {"text": "kept"}
    store.put([a_document()])
    assert store.version > version
