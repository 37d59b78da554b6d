"""The tables, their columns and indexes, and that a removed document leaves every one of them (R025, R027)."""

from __future__ import annotations

import random
import shutil
import string
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from lilbee_core.store import Store
from lilbee_core.store._engine import STABLE_ROW_IDS, connect, words_index
from lilbee_core.types import DocumentId
from tests.core.store._build import Words, a_document

NEEDED: Mapping[str, set[str]] = {
    "documents": {"id", "collection", "path", "state", "code", "reason", "size", "mtime_ns", "sha256", "chunks"},
    "texts": {"document_id", "data", "body_start", "extractor"},
    "chunks": {"id", "document_id", "text", "char_start", "char_end", "line_start", "page_start", "words", "vector"},
    "wiki_chunks": {"id", "document_id", "text", "char_start", "char_end", "words"},
    "citations": {"page", "marker", "document_id", "chunk_id", "quote", "verdict"},
    "concepts": {"id", "label", "kind", "community"},
    "concept_edges": {"source", "target", "count"},
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


def _noise(size: int) -> str:
    return "".join(random.Random(size).choices(string.ascii_letters, k=size))


@pytest.mark.parametrize("sizes", [(32_740, 32_768, 32_800), (200_000, 3, 40_000), (900,) * 80])
def test_text_that_fills_or_bursts_a_block_comes_back(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    texts = [_noise(size) + str(at) for at, size in enumerate(sizes)]
    document = a_document("doc", texts)
    with Store.open(tmp_path) as store:
        store.put([document])
        assert [chunk.text for chunk in store.chunks_of(document.row.id)] == texts
        wanted = [document.chunks[-1].id, document.chunks[0].id]
        assert [chunk.text for chunk in store.get(wanted)] == [texts[-1], texts[0]]


def test_a_table_made_with_small_blocks_goes_on(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.put([a_document("first")])
    layout = tmp_path / "index" / "layout.json"
    kept = layout.read_bytes()
    index = connect(tmp_path / "index")
    schema = index.open_table("chunks").schema
    plain = pa.schema([schema.field(name).with_metadata({}) for name in schema.names])
    shutil.rmtree(tmp_path / "index" / "chunks.lance")
    made = index.create_table("chunks", schema=plain, exist_ok=False, storage_options=STABLE_ROW_IDS)
    made.create_index("words", config=words_index())
    layout.write_bytes(kept)
    with Store.open(tmp_path) as store:
        store.put([a_document("first"), a_document("second", ("epsilon zeta",))])
        store.maintain(force=True)
        assert len(store.lexical(Words("epsilon"), limit=5)) == 1
        assert store.check() == ()
