"""A library that is copied is searched through the indexes that came along (R201)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from lilbee_core.store import Store
from tests.core.store._build import Words, ids
from tests.core.store.test_ann import clustered, fill

THRESHOLD = 1_000


def index_files(place: Path) -> dict[str, int]:
    """The files of all indexes below a library, by name, with the time of their last change."""
    files = [*place.rglob("_indices/**/*"), *place.rglob("*.ann.json")]
    return {path.relative_to(place).as_posix(): os.stat(path).st_mtime_ns for path in files if path.is_file()}


@pytest.mark.slow
def test_indexes_of_words_and_vectors_travel_with_the_folder(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    with Store.open(first, ann_index_threshold=THRESHOLD) as store:
        fill(store, 12)
        said = store.maintain(force=True)
        assert any("vector index" in one for one in said)
        assert any("word index" in one for one in said)
        queries = clustered(5, seed=7)
        expected = [ids(store.dense(query, limit=5)) for query in queries]
        words = ids(store.lexical(Words("w3"), limit=5))
    shutil.copytree(first, second)
    came_along = index_files(second)
    assert came_along == index_files(first)
    assert len(came_along) > 3
    shutil.rmtree(first)
    with Store.open(second, ann_index_threshold=THRESHOLD) as store:
        assert [ids(store.dense(query, limit=5)) for query in queries] == expected
        assert ids(store.lexical(Words("w3"), limit=5)) == words
        assert store.maintain() == ()
    assert index_files(second) == came_along
