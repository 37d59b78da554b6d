"""Documents from memory: the same again costs nothing, another one replaces, an empty one goes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core import Document, Lilbee, Metadata, Settings
from lilbee_core.errors import ProviderUnavailable
from lilbee_core.testing import HashEmbedder


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def bee(tmp_path: Path, embedder: HashEmbedder) -> Iterator[Lilbee]:
    with Lilbee(settings=Settings(), data_dir=tmp_path / "data", embedder=embedder) as library:
        yield library


def paths(bee: Lilbee, query: str) -> list[str]:
    return [hit.path for hit in bee.search(query, profile="keyword")]


def test_the_same_document_again_is_unchanged(bee: Lilbee, embedder: HashEmbedder) -> None:
    document = Document(path="a", text="The heron stands by the weir.", title="Birds")
    assert bee.add_documents([document]).added == 1
    sent = len(embedder.texts)
    before = next(bee.documents())
    again = bee.add_documents([document])
    assert (again.added, again.updated, again.unchanged, again.embedded) == (0, 0, 1, 0)
    assert len(embedder.texts) == sent
    assert next(bee.documents()) == before


@pytest.mark.parametrize(
    "changed",
    [
        Document(path="a", text="The heron stands by the weir!", title="Birds"),
        Document(path="a", text="The heron stands by the weir.", title="Waders"),
        Document(path="a", text="The heron stands by the weir.", title="Birds", metadata=Metadata(year=2026)),
        Document(path="a", text="The heron stands by the weir.", title="Birds", date="2026-01-01"),
    ],
)
def test_any_change_is_taken_in(bee: Lilbee, changed: Document) -> None:
    bee.add_documents([Document(path="a", text="The heron stands by the weir.", title="Birds")])
    identity = next(bee.documents()).id
    report = bee.add_documents([changed])
    assert (report.added, report.updated, report.unchanged) == (0, 1, 0)
    row = next(bee.documents())
    assert (row.id, row.title, row.date if changed.date else None) == (identity, changed.title, changed.date)


def test_a_document_that_became_empty_is_gone(bee: Lilbee) -> None:
    bee.add_documents([Document(path="a", text="The heron."), Document(path="b", text="The godwit.")])
    report = bee.add_documents([Document(path="a", text=" \n"), Document(path="c", text="")])
    assert report.removed == 1
    assert [one.path for one in report.skipped] == ["a", "c"]
    assert paths(bee, "heron") == []
    assert [row.path for row in bee.documents()] == ["b"]
    assert bee.add_documents([Document(path="a", text="The heron.")]).added == 1
    assert paths(bee, "heron") == ["a"]


def test_of_two_documents_with_one_path_the_last_counts(bee: Lilbee) -> None:
    bee.add_documents([Document(path="a", text="The heron."), Document(path="a", text="The godwit.")])
    assert paths(bee, "heron") == []
    assert paths(bee, "godwit") == ["a"]
    assert bee.status().chunks == 1


def test_collections_keep_equal_paths_apart(bee: Lilbee) -> None:
    bee.add_documents(
        [Document(path="a", text="The heron."), Document(path="a", text="The godwit.", collection="more")]
    )
    report = bee.add_documents([Document(path="a", text="The godwit.", collection="more")])
    assert (report.unchanged, report.updated) == (1, 0)
    assert bee.status().chunks == 2


def test_vectors_that_are_owed_are_paid_by_the_next_documents(bee: Lilbee, embedder: HashEmbedder) -> None:
    document = Document(path="a", text="The heron stands by the weir.")
    embedder.fail(ProviderUnavailable("gone"))
    first = bee.add_documents([document])
    assert (first.added, first.owed) == (1, 1)
    assert first.warnings
    embedder.recover()
    second = bee.add_documents([document])
    assert (second.unchanged, second.owed, second.embedded) == (1, 0, 1)
    assert [hit.path for hit in bee.search("heron", profile="semantic")] == ["a"]
