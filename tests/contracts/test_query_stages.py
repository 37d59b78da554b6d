"""The stages that read time words, reword queries and age hits keep to what is asked of everybody's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lilbee_core.analysis import Analyzer
from lilbee_core.protocols import SearchStage
from lilbee_core.search import (
    AdaptiveDistance,
    Chain,
    Decay,
    Embed,
    Expand,
    Guard,
    Hyde,
    Lexical,
    Newest,
    Probe,
    Recency,
    Temporal,
    Undated,
)
from lilbee_core.testing import ScriptedChat
from lilbee_core.testing.contracts import StageContract
from lilbee_core.testing.contracts.samples import sample_states
from lilbee_core.types import SearchState, Variant

ANALYZER = Analyzer()
TEXTS = ("bees last week", "yesterday", "latest bees", "bees since 2026-02-30", "bees on 2026-01-01", "recent")


def timed_states() -> list[SearchState]:
    """Return states before retrieval whose queries say something about time."""
    return [
        replace(state, query=replace(state.query, text=text), variants=(Variant(text=text),), rankings=(), hits=())
        for state in sample_states()[:1]
        for text in TEXTS
    ]


class TestTemporal(StageContract):
    def make(self) -> SearchStage:
        return Temporal(self.services.reader, ANALYZER)

    def states(self) -> Sequence[SearchState]:
        return [*sample_states(), *timed_states()]


class TestNewest(StageContract):
    def make(self) -> SearchStage:
        return Newest(self.services.reader)


class TestUndated(StageContract):
    def make(self) -> SearchStage:
        reader = self.services.reader
        return Chain(Temporal(reader, ANALYZER), Undated(Lexical(reader, ANALYZER)))

    def states(self) -> Sequence[SearchState]:
        return timed_states()


class TestProbe(StageContract):
    def make(self) -> SearchStage:
        return Probe()


class TestExpand(StageContract):
    def make(self) -> SearchStage:
        return Expand(ScriptedChat("1. bee navigation\n2. how insects return"))


class TestHyde(StageContract):
    def make(self) -> SearchStage:
        return Hyde(ScriptedChat("Bees steer by the sun and remember where their hive stands."))


class TestEmbed(StageContract):
    def make(self) -> SearchStage:
        assert self.services.embedder is not None
        return Embed(self.services.embedder)


class TestGuard(StageContract):
    def make(self) -> SearchStage:
        return Guard(0.9)


class TestAdaptiveDistance(StageContract):
    def make(self) -> SearchStage:
        return AdaptiveDistance(0.1)


class TestDecay(StageContract):
    def make(self) -> SearchStage:
        return Decay(10.0)


class TestRecency(StageContract):
    def make(self) -> SearchStage:
        return Recency()
