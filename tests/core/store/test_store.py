"""The store as a whole: what is put in comes out, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from lilbee_core.errors import LibraryError
from lilbee_core.store import Store
from lilbee_core.types import ChunkId, DocumentId
from tests.core.store._build import DIMENSION, Words, a_document, ids, unit_vectors


def test_an_absent_index_is_empty_and_stays_absent(tmp_path: Path) -> None:
    place = tmp_path / "absent"
    with Store.open(place) as store:
        assert store.count() == 0
        assert store.lexical(Words("alpha"), limit=5) == ()
        assert store.dense(unit_vectors(1, 0)[0], limit=5) == ()
        assert store.get([ChunkId("x")]) == ()
        assert list(store.rows()) == []
        assert store.row(DocumentId("x")) is None
        assert store.meta() is None
        assert store.version == 0
        assert store.stats().chunks == 0
        assert store.check() == ()
        assert store.state.load("kind", "key") is None
    assert not place.exists()


def test_what_was_put_is_found(tmp_path: Path) -> None:
    document = a_document("doc", ("alpha beta", "gamma delta"))
    with Store.open(tmp_path) as store:
        store.put([document])
        assert store.get([chunk.id for chunk in document.chunks]) == document.chunks
        assert store.chunks_of(DocumentId("doc")) == document.chunks
        assert store.text(DocumentId("doc")) == document.text
        assert store.row(DocumentId("doc")) == document.row
        assert ids(store.lexical(Words("gamma"), limit=5)) == [document.chunks[1].id]
        assert document.vectors is not None
        assert ids(store.dense(document.vectors[0], limit=1)) == [document.chunks[0].id]
        assert store.check() == ()


def test_a_closed_store_refuses(tmp_path: Path) -> None:
    store = Store.open(tmp_path, dimension=DIMENSION)
    store.put([a_document()])
    store.close()
    store.close()
    with pytest.raises(LibraryError) as caught:
        store.count()
    assert caught.value.code == "library.closed"
    with pytest.raises(LibraryError):
        store.put([a_document()])
    with pytest.raises(LibraryError):
        store.state.load("a", "b")
