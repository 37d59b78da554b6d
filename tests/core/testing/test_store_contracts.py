"""The contracts of stores notice every broken store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from lilbee_core.protocols import CancelToken, IndexedDocument, Owed
from lilbee_core.testing import MemoryState, MemoryStore
from lilbee_core.testing.contracts import LedgerContract, StateContract, StoreContract
from lilbee_core.types import Chunk, ChunkId, DocumentRow, DocumentState, Filter, Scope, Scored
from tests.core.testing._breaking import checks_of, fails, rows


def broken(**methods: Any) -> Callable[[], MemoryStore]:
    """Return a maker of stores whose methods are replaced; each gets the healthy store first."""
    healthy = {name: getattr(MemoryStore, name) for name in methods}

    def bind(name: str, method: Callable[..., Any]) -> Any:
        def replaced(self: MemoryStore, *arguments: Any, **more: Any) -> Any:
            return method(lambda *a, **m: healthy[name](self, *a, **m), *arguments, **more)

        return replaced

    return type("Broken", (MemoryStore,), {name: bind(name, method) for name, method in methods.items()})


def nothing(old: Any, *arguments: Any, **more: Any) -> None:
    """Do nothing at all."""


def twice(old: Any, *arguments: Any, **more: Any) -> Any:
    return (*old(*arguments, **more), *old(*arguments, **more))


def unfiltered(old: Any, *arguments: Any, filters: Filter = Filter(), **more: Any) -> Any:
    return old(*arguments, **more)


def unscoped(old: Any, *arguments: Any, scope: Scope = Scope.RAW, **more: Any) -> Any:
    return old(*arguments, scope=Scope.BOTH, **more)


def backwards(old: Any, *arguments: Any, **more: Any) -> Any:
    return old(*arguments, **more)[::-1]


def unlimited(old: Any, *arguments: Any, limit: int, **more: Any) -> Any:
    return old(*arguments, limit=limit + 50, **more)


def keep_put(old: Any, documents: Sequence[IndexedDocument]) -> None:
    """Forget half of what is given, loudly or not."""
    old([replace(one, chunks=one.chunks[:1], words=one.words[:1], vectors=None, contents=()) for one in documents])


class Grows(MemoryStore):
    """Never replaces: old chunks stay under new ids."""

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        for document in documents:
            old = [self._content.chunks[chunk.id] for chunk in self.chunks_of(document.row.id)]
            super().put([document])
            for one in old:
                id_ = ChunkId(f"{one.chunk.id}x")
                self._content.chunks[id_] = replace(one, chunk=replace(one.chunk, id=id_))


class Constant(MemoryStore):
    version = 7  # type: ignore[assignment]


class NoClose(MemoryStore):
    def close(self) -> None:
        return


class CloseOnce(MemoryStore):
    def close(self) -> None:
        self.count()
        super().close()


class NoNesting(MemoryStore):
    held = False

    @contextmanager
    def writing(self, *, timeout_s: float | None = None, cancel: CancelToken | None = None) -> Iterator[None]:
        assert not self.held, "locked"
        self.held = True
        yield
        self.held = False


class Stale(MemoryStore):
    """Answers searches from the first version it saw."""

    def lexical(self, query: Any, **more: Any) -> tuple[Scored, ...]:
        self.__dict__.setdefault("seen", super().lexical(query, **more))
        return self.__dict__["seen"]


class Lossy(MemoryStore):
    """Loses one attribute of a row."""

    def row(self, document_id: Any) -> DocumentRow | None:
        row = super().row(document_id)
        return row and replace(row, raw_path="", warnings=())

    def rows(self, **more: Any) -> Iterator[DocumentRow]:
        return (replace(row, warnings=()) for row in super().rows(**more))


class AppendsRows(MemoryStore):
    def rows(self, **more: Any) -> Iterator[DocumentRow]:
        return iter([*super().rows(**more)] * 2)


class PartlyWritten(MemoryStore):
    """Writes what it refuses."""

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        fitting = [replace(one, words=tuple("" for _ in one.chunks), vectors=None) for one in documents]
        super().put(fitting)
        if any(len(one.words) != len(one.chunks) for one in documents):
            super().put(documents)


class SeenTooEarly(MemoryStore):
    """Shows the parts of a document as they come."""

    @contextmanager
    def stage(self, text: Any) -> Iterator[Any]:
        parts: list[IndexedDocument] = []

        def add(pieces: Sequence[IndexedDocument]) -> None:
            parts.extend(pieces)
            self.put([replace(pieces[0], words=pieces[0].words[:1], chunks=pieces[0].chunks[:1], vectors=None)])

        yield SimpleNamespace(add=add, publish=lambda row: None)


class NeverSeen(MemoryStore):
    """Does not show a document that came in parts."""

    @contextmanager
    def stage(self, text: Any) -> Iterator[Any]:
        yield SimpleNamespace(add=lambda pieces: None, publish=lambda row: None)


class ForgetsTheExcluded(MemoryStore):
    def reset(self) -> None:
        self.forget([row.id for row in self.rows()])
        super().reset()


def lose_contexts(old: Any, *, limit: int) -> tuple[Owed, ...]:
    return tuple(replace(one, context=()) for one in old(limit=limit))


def lose_lines(old: Any, ids: Any) -> tuple[Chunk, ...]:
    return tuple(replace(chunk, language=None) for chunk in old(ids))


LEDGER: dict[str, Any] = {
    "test_an_empty_ledger_has_no_rows": broken(find=lambda old, *a: next(iter([DocumentState.INDEXED]))),
    "test_a_row_comes_back_whole": [Lossy, broken(find=nothing), broken(record=nothing)],
    "test_a_row_written_again_is_one_row": [AppendsRows, broken(record=nothing)],
    "test_rows_are_ordered_and_chosen": [
        broken(rows=lambda old, **more: iter([*old(**more)][::-1])),
        broken(rows=lambda old, **more: old(states=more.get("states", ()))),
        broken(rows=lambda old, **more: old(collection=more.get("collection"))),
    ],
    "test_rows_of_many_come_at_once": [
        broken(rows_of=lambda old, ids: old(ids[:1])),
        broken(rows_of=lambda old, ids: {**old(ids), "gone": None}),
    ],
    "test_stamps_are_parts_of_rows": [
        broken(stamps=lambda old, collection: [one._replace(size=0) for one in old(collection)]),
        broken(stamps=lambda old, collection: [*old("notes"), *old("work")]),
    ],
    "test_stamps_of_many_come_with_their_collection": [
        broken(stamps_of=lambda old, ids: old(ids[:1])),
        broken(stamps_of=lambda old, ids: {id_: ("nowhere", stamp) for id_, (_, stamp) in old(ids).items()}),
        broken(
            stamps_of=lambda old, ids: {id_: (name, one._replace(size=-1)) for id_, (name, one) in old(ids).items()}
        ),
    ],
    "test_rows_are_counted": broken(counts=lambda old: dict.fromkeys(old(), 1)),
    "test_forgotten_rows_are_gone": [broken(forget=nothing), broken(forget=lambda old, ids: old([]))],
    "test_no_rows_are_accepted": broken(rows=lambda old, **more: iter([1])),
}

STORE: dict[str, Any] = {
    **LEDGER,
    "test_an_empty_store_answers": [
        broken(count=lambda old: 1),
        broken(languages=lambda old: {"en": 1.0}),
        broken(meta=lambda old: "somebody"),
        broken(owed=lambda old, limit: (1,)),
    ],
    "test_what_was_put_comes_back": [
        broken(get=backwards),
        broken(get=lose_lines),
        broken(text=nothing),
        broken(chunks_of=backwards),
        broken(row=lambda old, id_: replace(old(id_), embedded=0)),
    ],
    "test_vectors_come_back": [
        broken(vectors=lambda old, ids: {}),
        broken(vectors=lambda old, ids: {id_: vector[::-1] for id_, vector in old(ids).items()}),
    ],
    "test_vectors_are_found_by_content": [
        broken(vectors_by_content=lambda old, contents: {}),
        broken(vectors_by_content=lambda old, contents: {**old(contents), "wax!": 1}),
    ],
    "test_neighbors_stand_around": [
        broken(neighbors=lambda old, chunk, before=1, after=1: old(chunk, before=1, after=1)),
        broken(neighbors=lambda old, chunk, **more: tuple(c for c in old(chunk, **more) if c != chunk)),
    ],
    "test_the_newest_documents_come_first": [
        broken(newest=backwards),
        broken(newest=unfiltered),
        broken(newest=unscoped),
        broken(newest=unlimited),
    ],
    "test_languages_are_shares": [
        broken(languages=lambda old: dict(reversed(old().items()))),
        broken(languages=lambda old: dict.fromkeys(old(), 3.0)),
    ],
    "test_dense_finds_the_nearest_first": [
        broken(dense=backwards),
        broken(dense=unlimited),
        broken(dense=twice),
        broken(dense=lambda old, *a, **m: tuple(Scored(one.chunk_id, one.score * 3) for one in old(*a, **m))),
    ],
    "test_dense_refuses_vectors_that_cannot_be_compared": broken(dense=lambda old, *a, **m: ()),
    "test_lexical_finds_words": [broken(lexical=lambda old, *a, **m: ()), broken(lexical=twice)],
    "test_lexical_prefers_rare_words_and_more_of_them": broken(lexical=backwards),
    "test_phrases_must_occur": broken(lexical=lambda old, query, **m: old(replace(query, phrases=()), **m)),
    "test_filters_choose": [broken(dense=unfiltered), broken(lexical=unfiltered), broken(count=unfiltered)],
    "test_filters_choose_documents": broken(count=unfiltered),
    "test_bad_filters_are_refused": broken(count=unfiltered),
    "test_scopes_are_apart": [broken(count=unscoped), broken(lexical=unscoped)],
    "test_put_replaces_a_document": Grows,
    "test_put_twice_is_put_once": [Grows, broken(check=lambda old: ("all is wrong",))],
    "test_a_document_may_have_no_chunks": Grows,
    "test_put_refuses_what_does_not_fit": [broken(put=keep_put), PartlyWritten],
    "test_a_document_in_parts_is_seen_when_it_is_whole": [SeenTooEarly, NeverSeen],
    "test_the_same_document_can_come_in_parts_again": SeenTooEarly,
    "test_parts_that_are_given_up_leave_nothing": SeenTooEarly,
    "test_vectors_can_be_owed_and_paid": [
        broken(owed=lambda old, limit: ()),
        broken(owed=unlimited),
        broken(set_vectors=nothing),
        broken(row=lambda old, id_: replace(old(id_), embedded=0)),
    ],
    "test_what_is_owed_says_what_to_embed": broken(owed=lose_contexts),
    "test_relocated_documents_keep_vectors_and_ids": [
        broken(relocate=nothing),
        broken(relocate=lambda old, rows, words: old(rows, {})),
        broken(vectors=lambda old, ids: {}),
    ],
    "test_removed_documents_are_gone": [
        broken(remove=nothing),
        broken(remove=lambda old, ids: None),
        broken(text=lambda old, id_: "still here"),
    ],
    "test_leftovers_are_swept": [
        broken(sweep=lambda old: 0),
        broken(check=lambda old: ()),
        broken(sweep=lambda old: old() + 1),
    ],
    "test_the_version_grows_with_every_commit": Constant,
    "test_a_search_sees_the_last_commit": Stale,
    "test_stats_count": broken(stats=lambda old: replace(old(), embedded=0)),
    "test_upkeep_changes_nothing_that_can_be_seen": [
        broken(maintain=lambda old, force=False: []),
        broken(maintain=lambda old, force=False: old() or ("deleted",), check=lambda old: ("x",)),
    ],
    "test_it_remembers_who_built_it": broken(set_meta=nothing),
    "test_reset_empties_it": broken(reset=nothing),
    "test_what_is_excluded_outlives_a_reset": [ForgetsTheExcluded, broken(forget=nothing)],
    "test_writing_can_be_nested": NoNesting,
    "test_it_closes_twice_and_then_refuses": [NoClose, CloseOnce],
}


class Cabinet(MemoryState):
    """A state store to break."""


def cabinet(**methods: Any) -> Callable[[], MemoryState]:
    healthy = {name: getattr(MemoryState, name) for name in methods}

    def bind(name: str, method: Callable[..., Any]) -> Any:
        return lambda self, *a: method(lambda *b: healthy[name](self, *b), *a)

    return type("Broken", (Cabinet,), {name: bind(name, method) for name, method in methods.items()})


class Sharing(MemoryState):
    """Keeps the caller's own mapping."""

    def save(self, kind: str, key: str, value: Mapping[str, object]) -> None:
        self._values[kind, key] = value  # type: ignore[assignment]


def save_merged(old: Any, kind: str, key: str, value: Mapping[str, object]) -> None:
    old(kind, key, {"more": 1, **value})


@contextmanager
def undone(transaction: AbstractContextManager[None]) -> Iterator[None]:
    with suppress(KeyError), transaction:
        yield
        raise KeyError


STATE: dict[str, Any] = {
    "test_a_value_comes_back": [cabinet(load=lambda old, *a: None), cabinet(save=save_merged)],
    "test_missing_values_are_none": [
        cabinet(load=lambda old, *a: old(*a) or {}),
        cabinet(delete=lambda old, *a: bool(old(*a)) or True),
    ],
    "test_saving_again_replaces": cabinet(save=save_merged),
    "test_kinds_are_apart_and_keys_ordered": [
        cabinet(items=lambda old, kind: reversed([*old(kind)])),
        cabinet(items=lambda old, kind: old("note")),
    ],
    "test_deleted_values_are_gone": [cabinet(delete=lambda old, *a: True), cabinet(delete=lambda old, *a: False)],
    "test_what_was_saved_does_not_change_with_the_callers_value": Sharing,
    "test_keys_are_told_without_values": [
        cabinet(keys=lambda old, kind: old(kind)[::-1]),
        cabinet(keys=lambda old, kind: old("note")),
    ],
    "test_a_transaction_holds_as_a_whole": cabinet(transaction=lambda old: undone(old())),
    "test_a_transaction_that_fails_leaves_nothing": cabinet(transaction=lambda old: nullcontext()),
}


@pytest.mark.parametrize(
    ("contract", "cases"), [(LedgerContract, LEDGER), (StoreContract, STORE), (StateContract, STATE)]
)
def test_every_check_is_broken_once(contract: type, cases: dict[str, Any]) -> None:
    assert set(cases) == checks_of(contract)


@pytest.mark.parametrize(
    ("contract", "check", "make"),
    [*rows(LedgerContract, LEDGER), *rows(StoreContract, STORE), *rows(StateContract, STATE)],
)
def test_a_broken_one_fails(contract: type, check: str, make: Callable[[], Any]) -> None:
    fails(contract, check, make)
