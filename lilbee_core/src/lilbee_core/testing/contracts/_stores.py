"""What every store keeps to: what was put can be read, found, moved, owed, removed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from lilbee_core.errors import EmbedderMismatch, InvalidArgument, InvalidFilter, LilbeeError
from lilbee_core.testing._models import hash_vector, words_of
from lilbee_core.testing.builders import a_row, an_indexed_document
from lilbee_core.testing.contracts._ledgers import LedgerContract
from lilbee_core.testing.contracts._tools import check_close, check_descending, check_unique
from lilbee_core.types import (
    ChunkId,
    DocumentId,
    DocumentState,
    Filter,
    IndexMeta,
    Scope,
    Scored,
)

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery
    from lilbee_core.protocols import IndexedDocument, StoreLike

BEES, HONEY, HIVE = "Bees find home by the sun.", "Honey keeps for years.", "The hive is warm in winter."


def query(*terms: str, phrases: Sequence[Sequence[str]] = ()) -> AnalyzedQuery:
    """Return a query for these tokens."""
    from lilbee_core.analysis import AnalyzedQuery

    every = tuple(dict.fromkeys((*terms, *(word for phrase in phrases for word in phrase))))
    return AnalyzedQuery(terms=every, weights=(1,) * len(every), phrases=tuple(map(tuple, phrases)))


def stored(*texts: str, path: str = "bees.txt", **more: object) -> IndexedDocument:
    """Return a document whose words and vectors belong to its texts."""
    import numpy as np

    values: dict[str, object] = {
        "words": [" ".join(words_of(text)) for text in texts],
        "vectors": np.stack([hash_vector(text) for text in texts]),
        **more,
    }
    return an_indexed_document(*texts, path=path, **values)  # type: ignore[arg-type]


class StoreContract(LedgerContract):
    """Checks for a whole `StoreLike`, on a store that starts empty."""

    @abstractmethod
    def make(self) -> StoreLike:
        """Return a new, empty store."""

    def filled(self) -> StoreLike:
        """Return a store with three documents in two collections."""
        store = self.make()
        with store.writing():
            store.put(
                [
                    stored(
                        BEES, HONEY, path="notes/bees.md", language="en", date="2026-01-10", media_type="text/markdown"
                    ),
                    stored(HIVE, path="notes/sub/hive.txt", language="en", date="2026-02-20"),
                    stored("Bienen finden heim.", path="bienen.txt", collection="work", language="de"),
                ]
            )
        return store

    # ------------------------------------------------------------------ reading

    def test_an_empty_store_answers(self) -> None:
        store = self.make()
        assert store.get([ChunkId("gone")]) == (), "it found a chunk that nobody wrote"
        assert store.dense(hash_vector(BEES), limit=5) == (), "it found vectors that nobody wrote"
        assert store.lexical(query("bees"), limit=5) == (), "it found words that nobody wrote"
        assert store.newest(limit=5) == (), "it found documents that nobody wrote"
        assert store.count() == 0, "it counts chunks that nobody wrote"
        assert dict(store.languages()) == {}, "it knows languages of nothing"
        assert store.text(DocumentId("gone")) is None, "it found a text that nobody wrote"
        assert store.owed(limit=5) == (), "it owes vectors of nothing"
        assert store.meta() is None, "it knows who built it before anybody did"

    def test_what_was_put_comes_back(self) -> None:
        document = stored(BEES, HONEY, HIVE, language="en", date="2026-01-10")
        store = self.make()
        store.put([document])
        ids = [chunk.id for chunk in document.chunks]
        assert store.get(ids[::-1]) == document.chunks[::-1], "chunks came back changed, or in another order"
        assert store.get([ids[1], ChunkId("gone"), ids[0]]) == (document.chunks[1], document.chunks[0]), "wrong chunks"
        assert store.chunks_of(document.row.id) == document.chunks, "the chunks of the document came back changed"
        assert store.text(document.row.id) == document.text, "the text came back changed"
        row = store.row(document.row.id)
        assert row == replace(document.row, chunks=3, embedded=3), "the ledger row came back changed"

    def test_vectors_come_back(self) -> None:
        store, document = self.make(), stored(BEES, HONEY)
        store.put([document])
        first, second = document.chunks
        found = store.vectors([second.id, first.id, ChunkId("gone")])
        assert set(found) == {first.id, second.id}, "vectors of the wrong chunks came back"
        assert document.vectors is not None
        for at, chunk in enumerate(document.chunks):
            check_close(found[chunk.id], document.vectors[at], "a vector")

    def test_vectors_are_found_by_content(self) -> None:
        store, document = self.make(), stored(BEES, HONEY, contents=("bees!", "honey!"))
        store.put([document])
        found = store.vectors_by_content(["honey!", "wax!"])
        assert set(found) == {"honey!"}, f"it found the vectors of {sorted(found)}"
        check_close(found["honey!"], hash_vector(HONEY), "a vector")

    def test_neighbors_stand_around(self) -> None:
        store, document = self.make(), stored("one 1", "two 2", "three 3", "four 4", "five 5")
        store.put([document, stored(HIVE, path="hive.txt")])
        chunks = document.chunks
        assert store.neighbors(chunks[2]) == chunks[1:4], "wrong neighbors"
        assert store.neighbors(chunks[0], before=2, after=1) == chunks[:2], "wrong neighbors at the start"
        assert store.neighbors(chunks[4], before=0, after=9) == chunks[4:], "wrong neighbors at the end"

    def test_the_newest_documents_come_first(self) -> None:
        store = self.filled()
        every = [chunk.path for chunk in store.get(store.newest(limit=9))]
        assert every == ["notes/sub/hive.txt", "notes/bees.md", "bienen.txt"], "not by date, or not each document once"
        assert [chunk.text for chunk in store.get(store.newest(limit=2))] == [HIVE, BEES], "not their first chunks"
        older = store.get(store.newest(limit=9, filters=Filter(before="2026-02-01")))
        assert [chunk.path for chunk in older] == ["notes/bees.md"], "it does not heed the filter"
        assert store.newest(limit=9, scope=Scope.WIKI) == (), "it does not heed the scope"

    def test_languages_are_shares(self) -> None:
        shares = self.filled().languages()
        assert list(shares) == ["en", "de"], f"the languages are {list(shares)}"
        assert abs(shares["en"] - 0.75) < 1e-6, f"English has a share of {shares['en']}"

    # ------------------------------------------------------------------ search

    def test_dense_finds_the_nearest_first(self) -> None:
        store = self.filled()
        found = store.dense(hash_vector(HONEY) * 3, limit=10)
        assert len(found) == 4, f"{len(found)} of 4 chunks were compared"
        self._check(found)
        assert store.get([found[0].chunk_id])[0].text == HONEY, "the nearest chunk is not the first"
        assert abs(found[0].score - 1) < 1e-3, f"an equal vector has the score {found[0].score}"
        assert len(store.dense(hash_vector(HONEY), limit=2)) == 2, "the limit was not kept"
        assert store.dense(hash_vector(HONEY), limit=0) == (), "no hits were asked for"

    def test_dense_refuses_vectors_that_cannot_be_compared(self) -> None:
        store = self.filled()
        for vector, error in (
            (hash_vector(BEES, 32), EmbedderMismatch),
            (hash_vector(BEES) * float("nan"), InvalidArgument),
        ):
            try:
                store.dense(vector, limit=3)
            except error:
                continue
            raise AssertionError(f"it took a vector that should raise {error.__name__}")

    def test_lexical_finds_words(self) -> None:
        store = self.filled()
        found = store.lexical(query("bees", "sun"), limit=10)
        self._check(found)
        assert [chunk.text for chunk in store.get([one.chunk_id for one in found])] == [BEES], "wrong chunks"
        assert store.lexical(query("wax"), limit=10) == (), "it found a word that is nowhere"
        assert store.lexical(query(), limit=10) == (), "it found something for no words"

    def test_lexical_prefers_rare_words_and_more_of_them(self) -> None:
        store = self.make()
        store.put([stored(*(f"the hive {n} is warm" for n in range(20)), "the queen is warm", path="a.txt")])
        found = store.get([one.chunk_id for one in store.lexical(query("warm", "queen"), limit=3)])
        assert found[0].text == "the queen is warm", f"{found[0].text!r} is first"

    def test_phrases_must_occur(self) -> None:
        store = self.make()
        store.put([stored("sun and bees and home", "bees find home", "home find bees", path="a.txt")])
        found = store.lexical(query("bees", phrases=[("find", "home")]), limit=10)
        assert [one.text for one in store.get([one.chunk_id for one in found])] == ["bees find home"], "wrong chunks"

    def test_filters_choose(self) -> None:
        store = self.filled()
        cases = [
            (Filter(paths=("notes/",)), 3), (Filter(paths=("notes",)), 3), (Filter(paths=("*.md",)), 2),
            (Filter(paths=("notes/*.txt",)), 0), (Filter(paths=("notes/**",)), 3), (Filter(paths=("hive.txt",)), 1),
            (Filter(paths=("*.md", "bienen.txt")), 3), (Filter(media_types=("text/markdown",)), 2),
            (Filter(media_types=("text/*",)), 4), (Filter(media_types=("md", "pdf")), 2),
            (Filter(languages=("de",)), 1), (Filter(collections=("work",)), 1), (Filter(collections=("x'; --",)), 0),
            (Filter(after="2026-01-10"), 3), (Filter(before="2026-01-10"), 0), (Filter(after="2026-01-11"), 1),
            (Filter(after="2026-01", before="2026-02"), 2), (Filter(paths=("notes/",), languages=("de",)), 0),
        ]  # fmt: skip
        for filters, count in cases:
            counted = store.count(filters=filters)
            assert counted == count, f"{filters} lets {counted} chunks through, expected {count}"
            near = store.dense(hash_vector(BEES), limit=10, filters=filters)
            assert len(near) == count, f"{filters} lets {len(near)} vectors through, expected {count}"
        words = query("bees", "bienen")
        assert len(store.lexical(words, limit=10, filters=Filter(languages=("de",)))) == 1, "words ignore filters"

    def test_filters_choose_documents(self) -> None:
        store = self.filled()
        (row,) = store.rows(collection="work")
        assert store.count(filters=Filter(document_ids=(row.id,))) == 1, "it did not choose by document"

    def test_bad_filters_are_refused(self) -> None:
        store = self.filled()
        for filters in (Filter(after="yesterday"), Filter(before="31.12.2026"), Filter(paths=("",))):
            try:
                store.count(filters=filters)
            except InvalidFilter:
                continue
            raise AssertionError(f"it took {filters}")

    def test_scopes_are_apart(self) -> None:
        store = self.filled()
        store.put([stored("Bees in the wiki.", path="bees.md", collection="wiki", chunk={"scope": "wiki"})])
        counts = [store.count(scope=scope) for scope in (Scope.RAW, Scope.WIKI, Scope.BOTH)]
        assert counts == [4, 1, 5], f"raw, wiki and both hold {counts} chunks"
        found = [
            len(store.lexical(query("bees"), limit=9, scope=scope)) for scope in (Scope.RAW, Scope.WIKI, Scope.BOTH)
        ]
        assert found == [1, 1, 2], f"the word is found {found} times"

    # ------------------------------------------------------------------ writing

    def test_put_replaces_a_document(self) -> None:
        store = self.filled()
        changed = stored(HIVE, "Ants live in the ground.", path="notes/bees.md")
        store.put([changed])
        assert store.chunks_of(changed.row.id) == changed.chunks, "the old chunks are still there"
        assert store.count() == 4, f"{store.count()} chunks instead of 4"
        assert store.lexical(query("honey"), limit=5) == (), "a word of the old text is still found"
        assert len(store.lexical(query("ants"), limit=5)) == 1, "a word of the new text is not found"

    def test_put_twice_is_put_once(self) -> None:
        store, document = self.make(), stored(BEES, HONEY)
        store.put([document, document])
        store.put([document])
        assert store.count() == 2, f"{store.count()} chunks instead of 2"
        assert len(list(store.rows())) == 1, "one document has several rows"
        assert store.check() == (), f"it is not in order: {store.check()}"

    def test_a_document_may_have_no_chunks(self) -> None:
        store, document = self.make(), stored(BEES)
        store.put([document])
        store.put([replace(document, chunks=(), words=(), vectors=None, contents=())])
        assert store.chunks_of(document.row.id) == (), "the old chunks are still there"
        row = store.row(document.row.id)
        assert row is not None, "the row is gone"
        assert row.chunks == 0, f"the ledger counts {row.chunks} chunks"

    def test_put_refuses_what_does_not_fit(self) -> None:
        document = stored(BEES, HONEY)
        for wrong in (replace(document, words=("bees",)), replace(document, vectors=hash_vector(BEES)[None])):
            store = self.make()
            try:
                store.put([wrong])
            except InvalidArgument:
                assert store.count() == 0, "it kept a part of what it refused"
                continue
            raise AssertionError("it took a document whose words or vectors do not fit its chunks")

    def test_a_document_in_parts_is_seen_when_it_is_whole(self) -> None:
        store = self.filled()
        new = stored(HIVE, "Ants dig.", "Wax melts.", path="notes/bees.md")
        row, seen = new.row, store.chunks_of(new.row.id)
        with store.writing(), store.stage(new.text) as staged:
            for at in range(3):
                staged.add([_piece(new, at, with_vectors=at != 1)])
                assert store.chunks_of(row.id) == seen, "a part is seen before the others are there"
                assert store.count() == 4, f"{store.count()} chunks are counted instead of 4"
                assert len(store.dense(hash_vector(HONEY), limit=9)) == 4, "a vector of a part is found"
                assert store.lexical(query("ants", "wax"), limit=9) == (), "words of a part are found"
                assert store.text(row.id) is not None, "the old text is gone"
                assert store.check() == (), f"it is not in order: {store.check()}"
            before = store.version
            staged.publish(row)
            assert store.version > before, "the version did not grow"
            assert store.chunks_of(row.id) == new.chunks, "it is not there once it was published"
        assert store.count() == 5, f"{store.count()} chunks instead of 5"
        assert store.text(row.id) == new.text, "the text is not the new one"
        assert store.lexical(query("honey"), limit=9) == (), "a word of the old text is still found"
        known = store.row(row.id)
        assert known is not None, "the row is gone"
        assert (known.chunks, known.embedded) == (3, 2), f"the ledger counts {known.chunks} and {known.embedded}"
        assert [one.text for one in store.owed(limit=9)] == ["Ants dig."], "it owes the wrong vectors"
        assert store.check() == (), f"it is not in order: {store.check()}"

    def test_the_same_document_can_come_in_parts_again(self) -> None:
        store, document = self.make(), stored(BEES, HONEY)
        for _ in range(2):
            with store.writing(), store.stage(document.text) as staged:
                staged.add([document])
                staged.publish(document.row)
        assert store.chunks_of(document.row.id) == document.chunks, "the chunks are not those that were added"
        assert store.count() == 2, f"{store.count()} chunks instead of 2"
        store.put([document])
        assert store.count() == 2, f"{store.count()} chunks instead of 2"
        assert store.check() == (), f"it is not in order: {store.check()}"

    def test_parts_that_are_given_up_leave_nothing(self) -> None:
        store = self.filled()
        new = stored(HIVE, "Ants dig.", path="notes/bees.md")
        seen = store.chunks_of(new.row.id)
        for failing in (False, True):
            with suppress(ZeroDivisionError), store.writing(), store.stage(new.text) as staged:
                staged.add([_piece(new, 0)])
                if failing:
                    raise ZeroDivisionError
            assert store.chunks_of(new.row.id) == seen, "the document is not as it was"
            assert store.sweep() == 0, "something had to be swept"
            assert store.check() == (), f"it is not in order: {store.check()}"
        assert store.count() == 4, f"{store.count()} chunks instead of 4"

    def test_vectors_can_be_owed_and_paid(self) -> None:
        store = self.make()
        store.put([stored(BEES, HONEY, vectors=None), stored(HIVE, path="hive.txt")])
        owed = store.owed(limit=10)
        assert sorted(one.text for one in owed) == [BEES, HONEY], "it owes the wrong chunks"
        assert len(store.owed(limit=1)) == 1, "the limit was not kept"
        assert len(store.lexical(query("honey"), limit=5)) == 1, "words wait for vectors"
        store.set_vectors({one.chunk_id: hash_vector(one.text) for one in owed} | {ChunkId("gone"): hash_vector("x")})
        assert store.owed(limit=10) == (), "it still owes what was paid"
        row = store.row(owed[0].document_id)
        assert row is not None, "the row is gone"
        assert (row.chunks, row.embedded) == (2, 2), f"the ledger counts {row.embedded} vectors"
        assert len(store.dense(hash_vector(HONEY), limit=5)) == 3, "a vector is not found"

    def test_what_is_owed_says_what_to_embed(self) -> None:
        store = self.make()
        store.put([stored(BEES, vectors=None, chunk={"headings": ("Animals", "Bees"), "symbol": "home"})])
        (owed,) = store.owed(limit=1)
        assert owed.context == ("Bees", "Animals", "home"), f"the context is {owed.context}"

    def test_relocated_documents_keep_vectors_and_ids(self) -> None:
        store, document = self.make(), stored(BEES, HONEY)
        store.put([document])
        moved = replace(document.row, collection="work", path="new/bees.md", title="Bees!", chunks=2, embedded=2)
        first = document.chunks[0]
        store.relocate([moved], {first.id: "bees moved"})
        assert store.row(document.row.id) == moved, "the ledger does not know the new place"
        assert store.find("notes", "bees.txt") is None, "the old place is still known"
        places = {(chunk.id, chunk.collection, chunk.path, chunk.title) for chunk in store.chunks_of(document.row.id)}
        assert places == {(one.id, "work", "new/bees.md", "Bees!") for one in document.chunks}, "chunks did not move"
        assert len(store.vectors([one.id for one in document.chunks])) == 2, "vectors are lost"
        assert [one.chunk_id for one in store.lexical(query("moved"), limit=5)] == [first.id], "new words are not found"
        assert len(store.lexical(query("honey"), limit=5)) == 1, "words that were not given are lost"

    def test_removed_documents_are_gone(self) -> None:
        store = self.filled()
        row = store.find("notes", "notes/bees.md")
        assert row is not None, "the row is not there"
        ids = [chunk.id for chunk in store.chunks_of(row.id)]
        store.remove([row.id, DocumentId("never-there")])
        assert store.row(row.id) is None, "the row is still there"
        assert store.text(row.id) is None, "the text is still there"
        assert store.get(ids) == (), "chunks are still there"
        assert store.lexical(query("honey"), limit=5) == (), "words are still found"
        assert store.count() == 2, f"{store.count()} chunks are left instead of 2"

    def test_leftovers_are_swept(self) -> None:
        store = self.filled()
        (row,) = store.rows(collection="work")
        store.forget([row.id])
        assert store.check(), "it calls a store in order that holds chunks without a row"
        assert store.sweep() == 1, "it swept another number of documents than one"
        assert store.text(row.id) is None, "the text is still there"
        assert store.count() == 3, f"{store.count()} chunks are left instead of 3"
        assert store.sweep() == 0, "it swept twice"
        assert store.check() == (), f"it is not in order: {store.check()}"

    # ------------------------------------------------------------------ the whole

    def test_the_version_grows_with_every_commit(self) -> None:
        store = self.make()
        seen = [store.version]
        document = stored(BEES, vectors=None)
        writes: tuple[Callable[[], None], ...] = (
            lambda: store.put([document]),
            lambda: store.set_vectors({document.chunks[0].id: hash_vector(BEES)}),
            lambda: store.remove([document.row.id]),
        )
        for write in writes:
            write()
            seen.append(store.version)
        assert seen == sorted(set(seen)), f"the versions were {seen}"

    def test_a_search_sees_the_last_commit(self) -> None:
        store = self.make()
        for n in range(3):
            store.put([stored(f"bees number{n}", path=f"{n}.txt")])
            found = store.get([one.chunk_id for one in store.lexical(query(f"number{n}"), limit=5)])
            assert [one.text for one in found] == [f"bees number{n}"], "a new word is not found at once"
            assert len(store.dense(hash_vector("bees"), limit=9)) == n + 1, "a new vector is not found at once"

    def test_stats_count(self) -> None:
        store = self.filled()
        store.put([stored(HIVE, path="owed.txt", vectors=None)])
        stats = store.stats()
        assert (stats.documents, stats.chunks, stats.embedded) == (4, 5, 4), f"it counts {stats}"

    def test_upkeep_changes_nothing_that_can_be_seen(self) -> None:
        store = self.filled()
        before = (store.lexical(query("bees"), limit=9), store.dense(hash_vector(BEES), limit=9), list(store.rows()))
        done: object = store.maintain(force=True)
        assert isinstance(done, tuple), f"maintain returned {type(done).__name__}, not a tuple"
        after = (store.lexical(query("bees"), limit=9), store.dense(hash_vector(BEES), limit=9), list(store.rows()))
        assert [one.chunk_id for one in before[0]] == [one.chunk_id for one in after[0]], "other words are found"
        assert [one.chunk_id for one in before[1]] == [one.chunk_id for one in after[1]], "other vectors are found"
        assert before[2] == after[2], "rows changed"
        assert store.check() == (), f"it is not in order: {store.check()}"

    def test_it_remembers_who_built_it(self) -> None:
        store, meta = self.make(), _meta()
        store.set_meta(meta)
        assert store.meta() == meta, "what built the index came back changed"

    def test_reset_empties_it(self) -> None:
        store = self.filled()
        store.set_meta(_meta())
        store.reset()
        assert store.count() == 0, "chunks are still there"
        assert list(store.rows()) == [], "rows are still there"
        assert store.meta() is None, "it still knows who built it"
        store.put([stored(BEES)])
        assert store.count() == 1, "it cannot be filled again"

    def test_what_is_excluded_outlives_a_reset(self) -> None:
        store, row = self.filled(), a_row("unwanted.txt", state=DocumentState.EXCLUDED, chunks=0, embedded=0)
        store.record([row])
        store.reset()
        store.sweep()
        assert [one.ref for one in store.rows()] == [row.ref], "it forgot what was excluded"
        store.forget([row.id])
        store.reset()
        store.sweep()
        assert list(store.rows()) == [], "it brought back what was excluded no more"

    def test_writing_can_be_nested(self) -> None:
        store = self.make()
        with store.writing(timeout_s=5), store.writing():
            store.put([stored(BEES)])
        assert store.count() == 1, "the write is lost"

    def test_it_closes_twice_and_then_refuses(self) -> None:
        store = self.filled()
        store.close()
        store.close()
        try:
            store.count()
        except LilbeeError:
            return
        raise AssertionError("it answers after it was closed")

    # ------------------------------------------------------------------ inside

    def _check(self, found: Sequence[Scored]) -> None:
        assert found, "it found nothing"
        check_descending([one.score for one in found], "the ranking")
        check_unique([one.chunk_id for one in found], "the ranking")


def _piece(document: IndexedDocument, at: int, *, with_vectors: bool = True) -> IndexedDocument:
    """Return one chunk of a document as a part of it."""
    vectors = document.vectors[at : at + 1] if document.vectors is not None and with_vectors else None
    return replace(
        document,
        chunks=document.chunks[at : at + 1],
        words=document.words[at : at + 1],
        vectors=vectors,
        contents=document.contents[at : at + 1],
    )


def _meta() -> IndexMeta:
    return IndexMeta(
        schema=1,
        embedder="fake/hash",
        fingerprint="fake/hash-64",
        dimension=64,
        chunk_size=512,
        chunk_overlap=100,
        chunking="tokens@1",
        analyzer="1",
        library_id="abc",
        created_at="2026-03-14T12:00:00+00:00",
        lilbee_version="0.1.0",
    )
