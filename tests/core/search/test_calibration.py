"""What cosines of a library mean, fitted on the library itself (R194)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import ProviderError
from lilbee_core.search import Calibration, Judge, calibrate
from lilbee_core.search._questions import QUESTIONS
from lilbee_core.testing import HashEmbedder, MemoryStore, a_document, an_indexed_document
from lilbee_core.types import Document, Query, SearchState, Vector, Vectors

SUBJECTS = ("hive", "queen", "drone", "swarm", "nectar", "pollen", "comb", "brood", "smoker", "frame")
TEXTS = [
    f"The {one} stands by the {other} in row {number}. Each {one} is weighed with its {other} before number {number}."
    for number, (one, other) in enumerate((one, other) for one in SUBJECTS for other in SUBJECTS)
] + ["Last of all, the empty boxes are carried to the shed behind the old mill."] * 4


class Subjects(HashEmbedder):
    """Knows only whether a text is about bees: near there, far elsewhere; `spread` squeezes all cosines."""

    def __init__(self, spread: float = 1.0) -> None:
        super().__init__(dimension=24)
        self._spread = spread

    def embed_query(self, text: str) -> Vector:
        row: Vector = self.embed_query_batch([text])[0]
        return row

    def embed(self, text: str) -> Vector:
        row: Vector = self.embed_query_batch([text])[0]
        return row

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        return self.embed_query_batch(texts)

    def embed_query_batch(self, texts: Sequence[str]) -> Vectors:
        self.queries.extend(texts)
        rows = np.stack([self._row(text) for text in texts])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)

    def _row(self, text: str) -> Vector:
        row = np.zeros(24, dtype=np.float32)
        row[0] = 3.0 if any(word in text for word in SUBJECTS) else 0.0
        row[1:23] = np.random.default_rng(sum(map(ord, text))).normal(0, 0.4, 22)
        row[23] = (1 / self._spread - 1) * np.linalg.norm(row)
        return row


def store_of(texts: Sequence[str], embedder: HashEmbedder, **changes: object) -> MemoryStore:
    documents = [an_indexed_document(text, path=f"{at}.txt", **changes) for at, text in enumerate(texts)]  # type: ignore[arg-type]
    store = MemoryStore(*documents)
    store.set_vectors({one.chunks[0].id: embedder.embed(one.chunks[0].text) for one in documents})
    return store


@pytest.mark.parametrize("spread", [1.0, 0.5])
def test_cosines_are_placed_between_unrelated_and_related(spread: float) -> None:
    embedder = Subjects(spread)
    found = calibrate(store_of(TEXTS, embedder), embedder)
    assert found is not None
    assert found.tells
    assert found.related > found.unrelated + 0.1
    assert found.separation > 0.95
    assert found.place(found.unrelated) == 0
    assert found.place(found.related) == pytest.approx(1)
    assert calibrate(store_of(TEXTS, embedder), embedder) == found


def test_an_embedder_that_knows_nothing_tells_nothing() -> None:
    class Blind(Subjects):
        def _row(self, text: str) -> Vector:
            return np.random.default_rng(sum(map(ord, text))).normal(0, 1, 24).astype(np.float32)

    found = calibrate(store_of(TEXTS, Blind()), Blind())
    assert found is not None
    assert not found.tells


def test_a_small_library_says_nothing_and_is_not_asked() -> None:
    embedder = Subjects()
    store = store_of(TEXTS[:50], embedder)
    embedder.queries.clear()
    assert calibrate(store, embedder) is None
    assert embedder.queries == []


def test_questions_are_asked_in_the_language_of_the_library() -> None:
    embedder = Subjects()
    store = store_of(TEXTS, embedder, language="de")
    embedder.queries.clear()
    calibrate(store, embedder)
    assert embedder.queries[: len(QUESTIONS["de"])] == list(QUESTIONS["de"])


def test_questions_differ_and_are_many() -> None:
    for questions in QUESTIONS.values():
        assert len(set(questions)) == len(questions) >= 20


@pytest.mark.parametrize("stored", [{}, {"unrelated": 0.1}, {"unrelated": "x", "related": 1.0, "separation": 1.0}])
def test_a_value_that_says_something_else_is_no_calibration(stored: dict[str, object]) -> None:
    assert Calibration.from_dict(stored) is None


def test_a_calibration_comes_back_as_it_was_stored() -> None:
    one = Calibration(unrelated=0.25, related=0.75, separation=0.875)
    assert Calibration.from_dict(one.to_dict()) == one


def rule(known: Calibration) -> Callable[[float, float], float]:
    return Judge(calibration=lambda: known)._rule(SearchState(query=Query(text="q")))


def test_the_judge_measures_cosines_by_their_place() -> None:
    known = Calibration(unrelated=0.7, related=0.9, separation=0.99)
    assert rule(known)(0.82, 0.0) < 1 <= rule(known)(0.84, 0.0)
    assert rule(known)(0.72, 0.6) < 1 <= rule(known)(0.74, 0.6)
    blind = Calibration(unrelated=0.7, related=0.9, separation=0.6)
    assert rule(blind)(0.99, 0.25) == pytest.approx(0.5), "words alone count"


@pytest.fixture
def embedder() -> Subjects:
    return Subjects(0.5)


@pytest.fixture
def bee(tmp_path: Path, embedder: Subjects) -> Iterator[Lilbee]:
    with Lilbee(data_dir=tmp_path / "data", embedder=embedder) as library:
        yield library


def documents(texts: Sequence[str]) -> list[Document]:
    return [a_document(text, path=f"{at}.txt") for at, text in enumerate(texts)]


def test_a_library_learns_at_the_end_of_a_sync_what_is_foreign_to_it(bee: Lilbee, embedder: Subjects) -> None:
    bee.add_documents(documents(TEXTS[:30]))
    assert not bee.search("how are meteors named").found
    asked = len(embedder.queries)
    bee.add_documents(documents(TEXTS))
    assert len(embedder.queries) > asked + 40, "it asked the library"
    assert bee.search("heavy frame and brood").found
    assert bee.search("which smoker costs less").found
    assert not bee.search("how are meteors named").found
    assert not bee.search("is the mill of London older than its tower").found


def test_it_is_not_asked_again_before_the_library_has_doubled(bee: Lilbee, embedder: Subjects) -> None:
    bee.add_documents(documents(TEXTS))
    asked = len(embedder.queries)
    bee.add_documents(documents([*TEXTS, "One more hive was bought."]))
    assert len(embedder.queries) == asked + 1


def test_an_embedder_that_fails_there_costs_nothing(bee: Lilbee, embedder: Subjects) -> None:
    def fail(texts: Sequence[str]) -> Vectors:
        raise ProviderError("the server is gone")

    whole = embedder.embed_query_batch
    embedder.embed_batch = whole  # type: ignore[method-assign]
    embedder.embed_query_batch = fail  # type: ignore[method-assign]
    report = bee.add_documents(documents(TEXTS))
    assert (report.added, report.failed) == (len(TEXTS), ())
