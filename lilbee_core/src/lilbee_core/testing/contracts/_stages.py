"""What every search stage keeps to."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from lilbee_core.errors import Cancelled, LilbeeError
from lilbee_core.plugins.specs import StageServices
from lilbee_core.testing._edges import StageContext, Switch
from lilbee_core.testing._memory import MemoryStore
from lilbee_core.testing._models import HashEmbedder, ScriptedReranker, hash_vector
from lilbee_core.testing.builders import an_indexed_document
from lilbee_core.testing.contracts._tools import check_hits, check_name, check_ranking
from lilbee_core.types import Hit, Part, Query, Ranking, Scored, SearchState, Variant

if TYPE_CHECKING:
    from lilbee_core.protocols import IndexedDocument, SearchStage

S = TypeVar("S")
T = TypeVar("T")

_NOTES = {
    "notes/bees.md": ("Bees find home by the sun.", "A bee dances to tell where flowers are.", "Bees."),
    "notes/honey.md": ("Honey keeps for years when it is dry.", "Honey is made of nectar."),
    "notes/hive.md": ("The hive is warm in winter: 35 degrees.", "Bees find home by the sun."),
    "log/2026.txt": ("Hive seven swarmed on 3 May. " * 20, "ok"),
    "notes/bienen.md": ("Bienen finden heim, weil sie die Sonne sehen.", "ミツバチは太陽で家に帰る。"),
}
QUESTION = "how do bees find home?"


class StageContract(ABC):
    """Checks for a `SearchStage`: give the stage in `make`, and states of your own in `states` where it needs any.

    ``services`` is what a stage may be built from: a small store in memory, an embedder, a reranker.
    """

    @abstractmethod
    def make(self) -> SearchStage:
        """Return a new stage."""

    @property
    def services(self) -> StageServices:
        """A store with five documents, an embedder by hash, and a reranker by shared words."""
        return sample_services()

    def states(self) -> Sequence[SearchState]:
        """Return the states that the stage is tried on, beside the empty one."""
        return sample_states()

    # ------------------------------------------------------------------ the checks

    def test_it_says_what_it_is(self) -> None:
        stage = self.make()
        check_name(stage.name, "the stage's name")
        for name in ("reads", "writes"):
            parts = getattr(stage, name)
            assert isinstance(parts, frozenset), f"{name} is {type(parts).__name__}, not a frozenset"
            members = cast("frozenset[object]", parts)
            assert all(isinstance(part, Part) for part in members), f"{name} holds {members}, not parts of the state"

    def test_same_input_same_output(self) -> None:
        for state in self._inputs():
            first, second = self.make().run(state, StageContext()), self.make().run(state, StageContext())
            assert first == second, "the same state gave two results"
            stage = self.make()
            again = [stage.run(state, StageContext()) for _ in range(2)]
            assert again[0] == again[1] == first, "one stage gave two results for the same state"

    def test_the_input_stays_unchanged(self) -> None:
        for state in self._inputs():
            before = copy.deepcopy(state)
            self.make().run(state, StageContext())
            assert state == before, "the stage changed the state that it was given"
            for one, old in zip(state.variants, before.variants, strict=True):
                same = old.vector is None or (one.vector is not None and one.vector.tobytes() == old.vector.tobytes())
                assert same, "the stage changed a vector of the state that it was given"

    def test_only_what_it_writes_differs(self) -> None:
        stage = self.make()
        for state, result in self._runs(stage):
            for part in Part:
                kept = getattr(result, part) is getattr(state, part)
                assert part in stage.writes or kept, f"it changed {part}, which is not among its writes"
            old = len(state.reports)
            assert result.reports[:old] == state.reports, "it changed the reports of stages before it"

    def test_scores_are_finite_and_descending_without_doubles(self) -> None:
        stage = self.make()
        for _, result in self._runs(stage):
            if Part.HITS in stage.writes:
                check_hits(result.hits, "hits")
            if Part.RANKINGS in stage.writes:
                for ranking in result.rankings:
                    check_ranking(ranking)

    def test_the_empty_state_is_accepted(self) -> None:
        result = self.make().run(empty_state(), StageContext())
        assert isinstance(result, SearchState), f"run returned {type(result).__name__}, not a SearchState"

    def test_a_cancelled_search_ends(self) -> None:
        for state in self._inputs():
            context = StageContext(switch=Switch(after=0))
            try:
                self.make().run(state, context)
            except Cancelled:
                continue
            except LilbeeError as error:
                raise AssertionError(f"cancelled, it raised {error!r} instead of Cancelled") from error
            assert not context.switch.checks, "it swallowed Cancelled"

    def test_the_order_of_work_does_not_matter(self) -> None:
        for state in self._inputs():
            first = self.make().run(state, StageContext())
            second = self.make().run(state, StageContext(executor=LastFirst()))
            assert first == second, "it depends on which piece of work on the executor is done first"

    # ------------------------------------------------------------------ inside

    def _inputs(self) -> list[SearchState]:
        return [empty_state(), *self.states()]

    def _runs(self, stage: SearchStage) -> Iterator[tuple[SearchState, SearchState]]:
        for state in self._inputs():
            result = stage.run(state, StageContext())
            assert isinstance(result, SearchState), f"run returned {type(result).__name__}, not a SearchState"
            yield state, result


class LastFirst:
    """An executor that does the last piece of work first, and yields in order all the same."""

    def map(self, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        done = [function(item) for item in reversed(list(items))]
        return iter(done[::-1])


def sample_documents() -> list[IndexedDocument]:
    """Return five small documents with vectors, a chunk per passage."""
    import numpy as np

    return [
        an_indexed_document(
            *texts,
            path=path,
            vectors=np.stack([hash_vector(text) for text in texts]),
            language="de" if "bienen" in path else "en",
            date=f"2026-0{at}-01",
        )
        for at, (path, texts) in enumerate(_NOTES.items(), start=1)
    ]


def sample_services() -> StageServices:
    """Return what a stage may be built from, over the sample documents."""
    reader = MemoryStore(*sample_documents())
    return StageServices(reader=reader, embedder=HashEmbedder(), reranker=ScriptedReranker())


def empty_state() -> SearchState:
    """Return a state in which nothing has been found yet."""
    return SearchState(query=Query(text=QUESTION))


def sample_states() -> list[SearchState]:
    """Return states as they occur: before and after retrieval, with many hits, one, equal scores, odd texts."""
    reader = MemoryStore(*sample_documents())
    vector = hash_vector(QUESTION)
    near = reader.dense(vector, limit=50)
    variants = (
        Variant(text=QUESTION, vector=vector),
        Variant(text="bee navigation", kind="expansion", weight=0.5, vector=hash_vector("bee navigation")),
    )
    rankings = (
        Ranking(name="dense", entries=near),
        Ranking(name="lexical", entries=tuple(Scored(one.chunk_id, 9.0 - at) for at, one in enumerate(near[::-2]))),
        Ranking(name="lexical", entries=(), variant="expansion"),
    )
    hits = tuple(
        Hit(chunk=chunk, score=1.0 / at, scores=(("dense", 1.0 / at),))
        for at, chunk in enumerate(reader.get([one.chunk_id for one in near]), start=1)
    )
    start = empty_state()
    return [
        replace(start, variants=variants),
        replace(start, variants=variants, rankings=rankings),
        replace(start, variants=variants, rankings=rankings, hits=hits),
        replace(
            start, query=Query(text="mitö 🐝", top_k=1), variants=variants[:1], rankings=rankings[:1], hits=hits[:1]
        ),
        replace(start, variants=variants, rankings=rankings, hits=tuple(replace(hit, score=0.5) for hit in hits)),
        replace(start, variants=variants, hits=tuple(replace(hit, score=hit.score - 0.4) for hit in hits)),
    ]
