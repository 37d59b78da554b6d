"""Word and vector search: what comes back, in which order, and that every way of searching agrees (R191, R195)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lilbee_core.errors import EmbedderMismatch, InvalidArgument
from lilbee_core.protocols import IndexedDocument
from lilbee_core.store import Store
from lilbee_core.store import _dense as dense
from lilbee_core.store import _places as places
from lilbee_core.store._engine import Table
from lilbee_core.store._lexical import FIRST_LOOK
from lilbee_core.store._matrix import Matrix
from lilbee_core.store._quick import QuickTable
from lilbee_core.types import ChunkId, Filter, Location, Scope
from tests.core.store._build import DIMENSION, Words, a_document, ids, unit_vectors


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path)


# --------------------------------------------------------------------------- words


def test_words_are_found_with_and_without_an_index(store: Store) -> None:
    texts = [" ".join(f"w{(7 * i + k) % 11}" for k in range(i % 5 + 1)) for i in range(60)]
    store.put([a_document(f"doc{i}", (text,)) for i, text in enumerate(texts)])
    queries = [Words(f"w{i}") for i in range(11)] + [Words("w1 w2 w3 w3")]
    before = [store.lexical(query, limit=100) for query in queries]
    store.maintain(force=True)
    after = [store.lexical(query, limit=100) for query in queries]
    assert [ids(found) for found in before] == [ids(found) for found in after]
    for first, second in zip(before, after, strict=True):
        assert [one.score for one in first] == pytest.approx([one.score for one in second], rel=1e-5)


def test_new_and_changed_rows_are_found_beside_an_index(store: Store) -> None:
    store.put([a_document(f"doc{i}", (f"alpha number{i}",)) for i in range(20)])
    store.maintain(force=True)
    store.put([a_document("doc3", ("beta instead",)), a_document("new", ("alpha beta",))])
    assert len(store.lexical(Words("alpha"), limit=50)) == 20
    assert len(store.lexical(Words("beta"), limit=50)) == 2
    assert store.lexical(Words("number3"), limit=50) == ()


def test_nothing_to_look_for_finds_nothing(store: Store) -> None:
    store.put([a_document()])
    assert store.lexical(Words(""), limit=5) == ()
    assert store.lexical(Words("alpha"), limit=0) == ()
    assert store.lexical(Words("zzz"), limit=5) == ()


TOKENS = ("c++", ".net", "a/b/c", "foo_bar", "e=mc²", "日本", "˜stem", "🐝", "x" * 3_000, '"', "AND", "+-:(", "*")


@pytest.mark.parametrize("token", TOKENS)
def test_tokens_stay_whole(store: Store, token: str) -> None:
    store.put([a_document("it", ("it",)), a_document("other", ("other",))])
    document = a_document("odd", ("odd one",))
    store.put([replace_words(document, f"before {token} after")])
    assert ids(store.lexical(Words(token), limit=5)) == [document.chunks[0].id]
    store.maintain(force=True)
    assert ids(store.lexical(Words(token), limit=5)) == [document.chunks[0].id]


def replace_words(document: IndexedDocument, *words: str) -> IndexedDocument:
    return replace(document, words=words)


@pytest.mark.parametrize("indexed", [False, True])
def test_phrases_must_occur(store: Store, indexed: bool) -> None:
    documents = [a_document("right", ("the quick brown fox",)), a_document("wrong", ("brown quick the fox",)),
                 a_document("part", ("quick brownish",)), a_document("odd", ("a  quick\tbrown\nbear",))]  # fmt: skip
    store.put(documents)
    if indexed:
        store.maintain(force=True)
    phrase = Words("quick brown", (("quick", "brown"),))
    assert set(ids(store.lexical(phrase, limit=5))) == {documents[0].chunks[0].id, documents[3].chunks[0].id}
    both = Words("quick brown fox", (("quick", "brown"), ("fox",)))
    assert ids(store.lexical(both, limit=5)) == [documents[0].chunks[0].id]
    only = Filter(document_ids=("odd",))
    assert ids(store.lexical(phrase, limit=5, filters=only)) == [documents[3].chunks[0].id]
    assert store.lexical(Words("", (("brown", "the"),)), limit=5) == ()


@pytest.mark.slow
def test_a_phrase_is_found_behind_many_rows_that_only_hold_its_words(store: Store) -> None:
    many = [a_document(f"doc{i}", [f"b a n{i}-{k}" for k in range(10)]) for i in range(FIRST_LOOK // 5)]
    hidden = a_document("hidden", ("filler " * 50 + "a b it's",))
    store.put([*many, hidden])
    store.maintain(force=True)
    assert ids(store.lexical(Words("a b", (("a", "b"),)), limit=3)) == [hidden.chunks[0].id]
    assert ids(store.lexical(Words("b it's", (("b", "it's"),)), limit=3)) == [hidden.chunks[0].id]


@given(st.text(max_size=40))
@settings(max_examples=40)
@pytest.mark.slow
def test_any_string_is_a_query(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    with Store.open(tmp_path_factory.getbasetemp() / "any-query") as store:
        if not store.count():
            store.put([a_document()])
        usable = text.encode("utf-8", "replace").decode().replace("\x00", "")
        store.lexical(Words(usable), limit=5)
        store.lexical(Words(usable, (tuple(usable.split()),)), limit=5)


# --------------------------------------------------------------------------- vectors


def brute_force(vectors: dict[str, np.ndarray], query: np.ndarray, limit: int) -> list[str]:  # type: ignore[type-arg]
    scores = {id_: float(vector @ query / np.linalg.norm(vector)) for id_, vector in vectors.items()}
    return sorted(scores, key=lambda id_: (-scores[id_], id_))[:limit]


def stored_vectors(store: Store) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    every = [chunk.id for row in store.rows() for chunk in store.chunks_of(row.id)]
    return dict(store.vectors(every))


@pytest.mark.parametrize("cache_mb", [0, 512])
def test_vector_search_is_exact(tmp_path: Path, cache_mb: int) -> None:
    with Store.open(tmp_path, vector_cache_mb=cache_mb) as store:
        store.put([a_document(f"doc{i}", [f"text{i} {k}" for k in range(5)]) for i in range(40)])
        for change in range(5):
            known = stored_vectors(store)
            for seed in range(4):  # the first question of a version reads the column, later ones the matrix
                query = unit_vectors(1, 1000 + seed)[0]
                found = store.dense(query, limit=7)
                assert ids(found) == brute_force(known, query, 7)
                assert [one.score for one in found] == pytest.approx(
                    [float(known[i] @ query) for i in ids(found)], abs=2e-3
                )
            if change == 0:
                store.put([a_document("doc3", ("other",)), a_document("new", ("new", "newer"))])
            elif change == 1:
                store.remove([a_document("doc5").row.id, a_document("doc6").row.id])
            elif change == 2:
                store.maintain(force=True)
            elif change == 3:
                store.put([a_document("doc7", ("text7 0", "text7 1"), vectors=None)])


def test_vectors_in_memory_are_those_on_disk(store: Store) -> None:
    texts = ["one", "two", "three"]
    store.put([a_document(f"doc{i}", [f"{text}{i}" for text in texts]) for i in range(20)])
    on_disk = stored_vectors(store)
    for _ in range(3):
        store.dense(unit_vectors(1, 7)[0], limit=3)
    assert set(stored_vectors(store)) == set(on_disk)
    for id_, vector in stored_vectors(store).items():
        assert vector == pytest.approx(on_disk[id_] / np.linalg.norm(on_disk[id_]), abs=1e-6)

    old = a_document("doc3", [f"{text}3" for text in texts])
    new = a_document("doc3", ["one3", "other"], vectors=unit_vectors(2, 123))
    store.put([new])
    store.dense(unit_vectors(1, 7)[0], limit=3)
    assert new.vectors is not None
    found = store.vectors([chunk.id for chunk in (*old.chunks, *new.chunks)])
    assert set(found) == {chunk.id for chunk in new.chunks}
    for chunk, vector in zip(new.chunks, new.vectors, strict=True):
        assert found[chunk.id] == pytest.approx(vector, abs=1e-3)


def test_words_are_found_alike_with_and_without_vectors_in_memory(store: Store) -> None:
    store.put([a_document(f"doc{i}", [f"shared word{i} {k}" for k in range(3)]) for i in range(20)])
    cold = store.lexical(Words("shared word3"), limit=9)
    for _ in range(2):
        store.dense(unit_vectors(1, 7)[0], limit=3)
    assert store.stats().vector_bytes > 0
    assert store.lexical(Words("shared word3"), limit=9) == cold

    # One without a vector is none of those in memory; one that was written again lies in two rows of them.
    store.put([a_document("bare", ("shared bare",), vectors=None), a_document("doc3", ("shared word3 anew",))])
    for _ in range(2):
        store.dense(unit_vectors(1, 7)[0], limit=3)
    found = ids(store.lexical(Words("shared bare word3 anew"), limit=100))
    assert set(found[:2]) == {a_document("bare", ("shared bare",)).chunks[0].id,
                              a_document("doc3", ("shared word3 anew",)).chunks[0].id}  # fmt: skip
    assert len(found) == 19 * 3 + 2


def test_what_was_read_is_kept_until_the_next_change(store: Store) -> None:
    old = a_document("doc", ("alpha beta", "gamma delta"))
    store.put([old])
    asked = [hit.chunk_id for hit in store.lexical(Words("alpha gamma"), limit=5)]
    first, again = store.get(asked), store.get(asked)
    assert len(first) == 2
    assert all(one is other for one, other in zip(first, again, strict=True)), "read twice"
    store.relocate([replace(old.row, path="elsewhere/doc.md")], {})
    assert {chunk.path for chunk in store.get(asked)} == {"elsewhere/doc.md"}
    store.remove([old.row.id])
    assert store.get(asked) == ()


def test_only_the_latest_chunks_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "MOST_CHUNKS", 3)
    kept, chunks = places.KeptChunks(), a_document("doc", [f"text {i}" for i in range(5)]).chunks
    names = [chunk.id for chunk in chunks]
    kept.put((1, 1), chunks[:3])
    kept.get((1, 1), names[:1])
    kept.put((1, 1), chunks[3:])
    assert set(kept.get((1, 1), names)) == {names[0], names[3], names[4]}
    assert kept.get((1, 2), names) == {}
    kept.put((1, 2), chunks[1:2])
    assert set(kept.get((1, 2), names)) == {names[1]}
    kept.forget()
    assert kept.get((1, 2), names) == {}


def test_filters_come_before_ranking(store: Store) -> None:
    near, far = unit_vectors(1, 1)[0], -unit_vectors(1, 1)[0]
    store.put([a_document(f"near{i}", ("x",), path="near/x.md", vectors=near[None] + i / 100) for i in range(30)])
    store.put([a_document("far", ("x",), path="far/x.md", vectors=far[None])])
    for _ in range(3):
        found = store.dense(near, limit=5, filters=Filter(paths=("far/",)))
        assert [one.score for one in found] == pytest.approx([-1.0], abs=1e-3)
        assert len(store.dense(near, limit=5, filters=Filter(paths=("near/",)))) == 5


def test_vectors_that_cannot_be_compared_are_left_out(store: Store) -> None:
    zero = np.zeros((1, DIMENSION), dtype=np.float32)
    store.put(
        [
            a_document("zero", ("zero",), vectors=zero),
            a_document("owed", ("owed",), vectors=None),
            a_document("fine", ("fine",)),
        ]
    )
    for _ in range(3):
        assert ids(store.dense(unit_vectors(1, 0)[0], limit=5)) == [a_document("fine", ("fine",)).chunks[0].id]
        assert store.dense(zero[0], limit=5) == ()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(store: Store, value: float) -> None:
    bad = unit_vectors(2, 0)
    bad[1, 3] = value
    with pytest.raises(InvalidArgument, match="not finite"):
        store.put([a_document(vectors=bad)])
    assert store.count() == 0
    store.put([a_document()])
    with pytest.raises(InvalidArgument):
        store.dense(bad[1], limit=3)
    with pytest.raises(InvalidArgument):
        store.set_vectors({a_document().chunks[0].id: bad[1]})


def test_another_dimension_is_refused(store: Store) -> None:
    store.put([a_document()])
    with pytest.raises(EmbedderMismatch) as caught:
        store.dense(unit_vectors(1, 0, 5)[0], limit=3)
    assert "8" in str(caught.value)
    assert "5" in str(caught.value)
    with pytest.raises(EmbedderMismatch):
        store.put([a_document("more", vectors=unit_vectors(2, 0, 5))])


def test_equal_vectors_come_in_a_fixed_order(store: Store) -> None:
    same = unit_vectors(1, 0)
    store.put([a_document(f"doc{i}", ("x",), vectors=same) for i in range(20)])
    orders = {tuple(ids(store.dense(same[0], limit=5))) for _ in range(4)}
    every = sorted(a_document(f"doc{i}", ("x",)).chunks[0].id for i in range(20))
    assert tuple(every[:5]) in orders
    assert (
        len({order for order in orders if order != tuple(every[:5])}) <= 1
    )  # the engine's flat scan breaks ties its way


def test_scopes(store: Store) -> None:
    raw, wiki = a_document("raw", ("alpha raw",)), a_document("wiki", ("alpha wiki",), scope="wiki")
    store.put([raw, wiki])
    for scope, expected in ((Scope.RAW, [raw]), (Scope.WIKI, [wiki]), (Scope.BOTH, [raw, wiki])):
        wanted = {one.chunks[0].id for one in expected}
        assert set(ids(store.lexical(Words("alpha"), limit=5, scope=scope))) == wanted
        for _ in range(3):
            assert set(ids(store.dense(unit_vectors(1, 0)[0], limit=5, scope=scope))) == wanted
        assert store.count(scope=scope) == len(expected)
    assert [chunk.scope for chunk in store.get([wiki.chunks[0].id, raw.chunks[0].id])] == ["wiki", "raw"]


def test_chunks_found_and_then_changed_are_read_as_they_are(store: Store) -> None:
    document = a_document("doc", ("alpha one", "alpha two"))
    store.put([document])
    found = ids(store.lexical(Words("alpha"), limit=5))
    store.put([a_document("doc", ("alpha one", "beta three"))])
    assert [chunk.text for chunk in store.get(found)] == ["alpha one"]
    store.maintain(force=True)
    assert [chunk.text for chunk in store.get(found)] == ["alpha one"]
    store.reset()
    assert store.get(found) == ()
    store.put([a_document("other", ("gamma",)), document])
    assert set(store.get(found)) == set(document.chunks)


# --------------------------------------------------------------------------- chunks that a search has just seen


def moved(document: IndexedDocument, lines: int) -> IndexedDocument:
    """Return the document with its chunks some lines lower; their ids stay."""
    place = Location(line_start=lines, line_end=lines)
    return replace(document, chunks=tuple(replace(chunk, location=place) for chunk in document.chunks))


def reads_of(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by the number of rows of each later read of chunks by row id."""
    sizes: list[int] = []
    take = QuickTable.take

    def counted(self: QuickTable, rows: Sequence[int], columns: Sequence[str]) -> object:
        sizes.append(len(rows))
        return take(self, rows, columns)

    monkeypatch.setattr(QuickTable, "take", counted)
    return sizes


def test_what_a_commit_leaves_alone_is_not_read_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [a_document(f"doc{i}", (f"alpha number{i}",)) for i in range(40)]
    store.put(documents)
    query = unit_vectors(1, seed=5)[0]

    def found() -> list[ChunkId]:
        return ids(store.dense(query, limit=200))

    for _ in range(3):  # the first question reads the column, the next ones the matrix
        store.get(found())
    sizes = reads_of(store, monkeypatch)
    kept = {chunk.id: chunk for chunk in store.get(found())}
    assert sizes == []
    changed, gone, new = moved(documents[3], 9), documents[4], a_document("new", ("beta",))
    store.put([changed, new])
    store.remove([gone.row.id])
    every = found()
    assert gone.chunks[0].id not in every
    after = {chunk.id: chunk for chunk in store.get([*every, gone.chunks[0].id])}
    assert sizes == [3]  # the changed one, the new one, and the one whose row is gone
    assert after[changed.chunks[0].id].location.line_start == 9
    assert after[new.chunks[0].id].text == "beta"
    assert gone.chunks[0].id not in after
    others = [id_ for id_ in kept if id_ not in {changed.chunks[0].id, gone.chunks[0].id}]
    assert [after[id_] for id_ in others] == [kept[id_] for id_ in others]


def test_a_chunk_without_a_vector_is_read_again(store: Store) -> None:
    bare = a_document("bare", ("alpha",), vectors=None)
    store.put([bare, *(a_document(f"doc{i}", (f"alpha number{i}",)) for i in range(40))])
    for _ in range(3):
        store.dense(unit_vectors(1, seed=5)[0], limit=200)
        store.lexical(Words("alpha"), limit=200)
        assert store.get([bare.chunks[0].id])
    store.remove([bare.row.id])
    store.dense(unit_vectors(1, seed=5)[0], limit=200)
    assert store.get([bare.chunks[0].id]) == ()


def test_a_commit_that_came_while_the_matrix_was_read_is_seen(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    document, query = a_document("moves", ("alpha",)), unit_vectors(1, seed=5)[0]
    others = [a_document(f"doc{i}", (f"alpha number{i}",)) for i in range(40)]
    store.put([document, *others])
    id_ = document.chunks[0].id
    for _ in range(3):
        store.dense(query, limit=200)
    store.put([a_document("new", ("beta",))])
    store.lexical(Words("alpha"), limit=200)
    assert store.get([id_])  # kept for this version, before the matrix is brought up to it
    refresh = dense.refresh

    def late(table: Table, old: Matrix) -> Matrix:
        monkeypatch.setattr(dense, "refresh", refresh)
        store.put([moved(document, 9)])
        return refresh(table, old)

    monkeypatch.setattr(dense, "refresh", late)
    for _ in range(2):
        store.dense(query, limit=200)
    assert store.get([id_])[0].location.line_start == 9
