"""What every search stage keeps to."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from lilbee_core.errors import Cancelled, LilbeeError
from lilbee_core.plugins.specs import StageServices
from lilbee_core.testing._edges import StageContext, Switch
from lilbee_core.testing.contracts._tools import check_hits, check_name, check_ranking
from lilbee_core.testing.contracts.samples import empty_state, sample_services, sample_states
from lilbee_core.types import Part, SearchState

if TYPE_CHECKING:
    from lilbee_core.protocols import SearchStage

S = TypeVar("S")
T = TypeVar("T")


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
                assert part in _may_write(stage) or kept, f"it changed {part}, which is not among its writes"
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


def _may_write(stage: SearchStage) -> frozenset[Part]:
    """Return what a stage writes; one that is made of stages writes what those write."""
    inner = cast("tuple[SearchStage, ...]", getattr(stage, "stages", ()))
    return stage.writes.union(*map(_may_write, inner))


class LastFirst:
    """An executor that does the last piece of work first, and yields in order all the same."""

    def map(self, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        done = [function(item) for item in reversed(list(items))]
        return iter(done[::-1])
