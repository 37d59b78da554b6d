"""Mentions go with their documents, and the graph counted from them is stored whole (R025, R027, R214)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lilbee_core.protocols import IndexedDocument, StoreLike
from lilbee_core.store import Store
from lilbee_core.store._engine import connect
from lilbee_core.testing import MemoryStore
from lilbee_core.testing.builders import an_indexed_document
from lilbee_core.types import ChunkId, Community, Concept, DocumentId, GraphTable, Mention

BEE = Mention(concept="bee", surface="Bees", kind="phrase", count=3)
WHO = Mention(concept="who", surface="WHO", kind="entity", stands_for="world health organization")


def about(path: str, *mentions: Mention, texts: tuple[str, ...] = ("one", "two")) -> IndexedDocument:
    document = an_indexed_document(*texts, path=path)
    return replace(document, mentions=(mentions, *((),) * (len(texts) - 1)))


@pytest.fixture(params=[Store, MemoryStore])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreLike]:
    opened = Store.open(tmp_path) if request.param is Store else MemoryStore()
    opened.put([about("a.md", BEE, WHO), about("b.md", BEE)])
    yield opened
    opened.close()


def concepts_of(store: StoreLike) -> list[tuple[str, int]]:
    table = store.concepts.table()
    return sorted(
        (table.concepts.values[concept], int(chunk))
        for concept, chunk in zip(table.concepts.codes, table.chunks.codes, strict=True)
    )


def graph() -> GraphTable:
    concepts = (
        Concept(id="bee", label="Bees", aliases=("bee's",), chunks=2, community=4),
        Concept(id="hive", label="hive", chunks=2, community=4),
        Concept(id="who", label="WHO", kind="entity", chunks=1, keys=("world health organization",)),
    )
    return GraphTable(
        concepts=concepts,
        sources=np.array([0, 0]),
        targets=np.array([1, 2]),
        counts=np.array([2, 1]),
        chunks=9,
        communities=(Community(id=4, label="hive, Bees", concepts=("hive", "bee"), chunks=3),),
        next_community=5,
    )


def test_mentions_come_back_as_they_were_written(store: StoreLike) -> None:
    first = about("a.md").chunks[0].id

    assert store.concepts.mentions([first, ChunkId("none")]) == {first: (BEE, WHO)}
    assert store.concepts.chunks_with(["bee", "hive"]) == {first: 3, about("b.md").chunks[0].id: 3}
    table = store.concepts.table()
    assert (table.stands_for.values, sorted(table.stands_for.codes.tolist())) == (
        ("world health organization",), [-1, -1, 0],
    )  # fmt: skip


def test_they_are_replaced_and_removed_with_their_document(store: StoreLike) -> None:
    store.put([about("a.md", WHO)])
    assert sorted(name for name, _ in concepts_of(store)) == ["bee", "who"]
    store.remove([about("b.md").row.id])
    assert [name for name, _ in concepts_of(store)] == ["who"]
    store.put([about("a.md")])
    assert concepts_of(store) == []


def test_what_a_killed_writer_left_is_swept(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.put([about("a.md", BEE, WHO)])
        store.concepts.put({DocumentId("nobody"): {ChunkId("x"): [BEE]}})
        store.sweep()

        assert len(concepts_of(store)) == 2


@pytest.mark.parametrize("published", [True, False])
def test_those_of_a_document_in_parts_are_there_once_it_is_published(store: StoreLike, *, published: bool) -> None:
    new = about("a.md", replace(BEE, count=7))
    with store.writing(), store.stage(new.text) as staged:
        staged.add([new])
        if published:
            staged.publish(new.row)

    of = store.concepts.mentions([new.chunks[0].id])[new.chunks[0].id]
    assert of == ((replace(BEE, count=7),) if published else (BEE, WHO))


def test_a_graph_comes_back_as_it_was_saved_and_is_current_until_mentions_change(store: StoreLike) -> None:
    assert store.concepts.load() is None
    assert not store.concepts.is_current()
    before = store.concepts.version
    store.concepts.save(graph())
    loaded = store.concepts.load()

    assert loaded is not None
    assert (loaded.concepts, loaded.communities, loaded.next_community, loaded.chunks) == (
        graph().concepts, graph().communities, 5, 9,
    )  # fmt: skip
    assert (loaded.sources.tolist(), loaded.targets.tolist(), loaded.counts.tolist()) == ([0, 0], [1, 2], [2, 1])
    assert store.concepts.version != before
    assert store.concepts.is_current()
    store.put([about("c.md", BEE)])
    assert not store.concepts.is_current()
    store.concepts.confirm()
    assert store.concepts.is_current()


def test_a_later_graph_replaces_the_one_before(store: StoreLike) -> None:
    store.concepts.save(graph())
    small = GraphTable(
        concepts=graph().concepts[:1], sources=np.zeros(0, int), targets=np.zeros(0, int), counts=np.zeros(0, int)
    )
    store.concepts.save(small)
    loaded = store.concepts.load()

    assert loaded is not None
    assert [one.id for one in loaded.concepts] == ["bee"]
    assert len(loaded.counts) == 0


def test_clearing_leaves_nothing(store: StoreLike) -> None:
    store.concepts.set_extractor("rules-1")
    store.concepts.save(graph())
    assert store.concepts.extractor() == "rules-1"
    store.concepts.clear()

    assert store.concepts.load() is None
    assert concepts_of(store) == []
    assert store.concepts.extractor() is None


def test_an_index_that_was_made_before_there_were_concepts_takes_them(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.put([an_indexed_document("one", path="a.md")])
    index = connect(tmp_path / "index")
    old = {
        "concepts": "id label kind aliases",
        "concept_edges": "source target",
        "chunk_concepts": "chunk_id document_id concept",
    }
    for name, columns in old.items():
        fields = [pa.field(column, pa.string()) for column in columns.split()]
        index.open_table(name).add(pa.schema(fields).empty_table(), mode="overwrite")
    with Store.open(tmp_path) as store:
        store.put([about("a.md", BEE)])
        store.concepts.save(graph())
        loaded = store.concepts.load()

        assert loaded is not None
        assert loaded.concepts == graph().concepts
        assert [name for name, _ in concepts_of(store)] == ["bee"]
        assert store.check() == ()


def test_nothing_is_written_where_nobody_looks_for_concepts(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        store.put([an_indexed_document("one", path="a.md")])
        store.put([an_indexed_document("two", path="a.md")])
        store.remove([an_indexed_document(path="a.md").row.id])

        assert store._tables.version_of("chunk_concepts") == 1
        assert store.concepts.is_current() is False
        assert store.concepts.load() is None
