"""Semantic chunking in a library: opt-in, by its own embedder, and a rebuild to switch (R071)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import SettingsError
from lilbee_core.testing import HashEmbedder

TOPICS = ("hive queen drone brood comb", "keel anchor tide harbor mast", "oven flour yeast crumb dough")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    sentences = [
        f"The {words[at % 5]} was near the {words[(at + 2) % 5]}."
        for words in map(str.split, TOPICS)
        for at in range(20)
    ]
    (docs / "a.txt").write_text(" ".join(sentences))
    return docs


def texts(folder: Path, **overrides: object) -> list[str]:
    with Lilbee(folder, overrides=overrides, embedder=HashEmbedder()) as bee:
        bee.sync()
        return [hit.text for hit in bee.search("the", top_k=50, diversify=False).hits]


def test_switching_needs_a_rebuild(folder: Path) -> None:
    before = texts(folder)
    with Lilbee(folder, overrides={"chunking": "semantic"}, embedder=HashEmbedder()) as bee:
        with pytest.raises(SettingsError, match="cut with chunking tokens") as refused:
            bee.sync()
        assert refused.value.code == "store.chunking_mismatch"
        assert "lilbee rebuild" in refused.value.hint
        bee.rebuild()
        assert bee.sync().unchanged == 1
    after = texts(folder, chunking="semantic")
    assert set(after) != set(before)
    other: dict[str, object] = {"chunking": "semantic", "chunk_topic_percentile": 75}
    with (
        Lilbee(folder, overrides=other, embedder=HashEmbedder()) as bee,
        pytest.raises(SettingsError, match="another percentile"),
    ):
        bee.sync()


def test_without_an_embedder_it_cannot_be_done(folder: Path) -> None:
    with (
        Lilbee(folder, overrides={"chunking": "semantic", "embedding_model": "none"}) as bee,
        pytest.raises(SettingsError, match="no embedding model"),
    ):
        bee.sync()
