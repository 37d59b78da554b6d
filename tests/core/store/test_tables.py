"""The tables, their columns and indexes, and that a removed document leaves every one of them (R025, R027)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from lilbee_core.store import Store
from lilbee_core.store._engine import connect
from lilbee_core.types import DocumentId
from tests.core.store._build import a_document

NEEDED: Mapping[str, set[str]] = {
    "documents": {"id", "collection", "path", "state", "code", "reason", "size", "mtime_ns", "sha256", "chunks"},
    "texts": {"document_id", "data", "body_start", "extractor"},
    "chunks": {"id", "document_id", "text", "char_start", "char_end", "line_start", "page_start", "words", "vector"},
    "wiki_chunks": {"id", "document_id", "text", "char_start", "char_end", "words"},
    "citations": {"page", "marker", "document_id", "chunk_id", "quote", "verdict"},
    "concepts": {"id", "label", "kind", "community"},
    "concept_edges": {"source", "target", "weight"},
    "chunk_concepts": {"chunk_id", "document_id", "concept"},
    "meta": {"key", "value"},
}
BY_DOCUMENT = ("chunks", "wiki_chunks", "texts", "citations", "chunk_concepts")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with Store.open(tmp_path) as store:
        store.put([a_document("kept"), a_document("gone"), a_document("page", ("alpha",), scope="wiki")])
        store.maintain(force=True)
    return tmp_path


def test_every_table_is_there_with_its_columns(place: Path) -> None:
    index = connect(place / "index")
    assert {path.name.removesuffix(".lance") for path in (place / "index").glob("*.lance")} == set(NEEDED)
    for name, columns in NEEDED.items():
        assert columns <= set(index.open_table(name).schema.names), name


def test_chunks_have_an_index_of_words(place: Path) -> None:
    (words,) = connect(place / "index").open_table("chunks").list_indices()
    assert (words.index_type, words.columns) == ("FTS", ["words"])


def counts(place: Path) -> dict[str, int]:
    index = connect(place / "index")
    return {name: index.open_table(name).count_rows() for name in NEEDED}


def _mention(place: Path, documents: tuple[str, ...]) -> None:
    """Put rows into the tables that only the wiki and the concepts fill."""
    index = connect(place / "index")
    quotes = [{"page": "Alpha", "document_id": name, "chunk_id": f"{name}-1", "quote": "alpha"} for name in documents]
    concepts = [{"chunk_id": f"{name}-1", "document_id": name, "concept": "alpha"} for name in documents]
    index.open_table("citations").add(quotes)
    index.open_table("chunk_concepts").add(concepts)


def test_a_removed_document_leaves_every_table(place: Path) -> None:
    _mention(place, ("kept", "gone"))
    before = counts(place)
    with Store.open(place) as store:
        store.remove([DocumentId("gone")])
        assert store.text(DocumentId("gone")) is None
        assert store.chunks_of(DocumentId("gone")) == ()
        assert store.check() == ()
    after = counts(place)
    assert {name: before[name] - after[name] for name in before if before[name] != after[name]} == {
        "documents": 1,
        "chunks": 2,
        "texts": 1,
        "citations": 1,
        "chunk_concepts": 1,
    }
    index = connect(place / "index")
    for name in BY_DOCUMENT:
        assert index.open_table(name).count_rows("document_id = 'gone'") == 0
