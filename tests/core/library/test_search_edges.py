"""Odd queries, odd libraries and odd stages, over the façade: a defined result and a warning, never a stack trace."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from lilbee_core import Filter, Lilbee
from lilbee_core.errors import EmptyQuery, InvalidArgument, InvalidFilter, LilbeeError
from lilbee_core.plugins import PluginSpec, StageSpec, after, hookimpl
from lilbee_core.protocols import SearchContext, SearchStage
from lilbee_core.search import PROFILES
from lilbee_core.testing import HashEmbedder, open_test_library
from lilbee_core.types import Hit, Part, SearchResult, SearchState

WITHOUT_A_MODEL = sorted(set(PROFILES) - {"hyde"})
FILES = {f"{at}.md": f"The bees of hive {at} fly home by the sun.\n" for at in range(6)}


@pytest.fixture
def bee() -> Iterator[Lilbee]:
    with open_test_library(files=FILES) as library:
        yield library


def sound(result: SearchResult) -> None:
    """Check what holds for every result."""
    scores = [hit.score for hit in result]
    assert all(map(math.isfinite, scores))
    assert scores == sorted(scores, reverse=True)
    assert [hit.rank for hit in result] == list(range(1, len(result) + 1))
    assert len({hit.chunk_id for hit in result}) == len(result)


@pytest.mark.parametrize("profile", WITHOUT_A_MODEL)
def test_a_library_without_documents_finds_nothing(profile):
    with open_test_library() as library:
        result = library.search("bees", profile=profile)

    assert (len(result), result.found) == (0, False)
    assert result.warnings == ("nothing is indexed here yet; run `lilbee sync`",)


@pytest.mark.parametrize("profile", WITHOUT_A_MODEL)
def test_a_library_of_one_chunk_gives_it(profile):
    with open_test_library(files={"one.md": "The bees fly home."}) as library:
        result = library.search("bees home", profile=profile, top_k=5)

    sound(result)
    assert len(result) == 1
    assert result.found


@pytest.mark.parametrize("profile", WITHOUT_A_MODEL)
def test_more_may_be_asked_for_than_there_is(bee, profile):
    result = bee.search("bees home", profile=profile, top_k=100_000)

    sound(result)
    assert len(result) == 6
    with pytest.raises(InvalidArgument):
        bee.search("bees", top_k=0)


@pytest.mark.parametrize("text", ["?!…", "----", "((", '"', '""', "*", "\\", "'; DROP TABLE chunks; --"])
@pytest.mark.parametrize("profile", WITHOUT_A_MODEL)
def test_signs_are_no_syntax(bee, profile, text):
    sound(bee.search(text, profile=profile))


@pytest.mark.parametrize(
    "text", ["bees\x00home", "\x07bees\x1b[31m", "bees\u202e\u2066home", "\ufeffbees", "be\u00ades"]
)
def test_control_characters_are_read_over(bee, text):
    result = bee.search(text)

    sound(result)
    assert len(result) > 0


@pytest.mark.parametrize("text", ["", "  ", "path:notes/"])
def test_nothing_to_search_for_is_refused(bee, text):
    with pytest.raises(EmptyQuery) as caught:
        bee.search(text)
    assert caught.value.hint


@pytest.mark.parametrize("text", ["\x00", "\u200b", "\ufeff\u00ad"])
def test_what_nobody_sees_finds_nothing(bee, text):
    assert not bee.search(text).found


def test_a_query_of_ten_thousand_words_is_answered(bee):
    result = bee.search(" ".join(f"word{at}" for at in range(9_990)) + " bees fly home by the sun")

    sound(result)
    assert len(result) == 6


def test_a_key_that_is_nearly_a_filter_is_told_with_the_right_one(bee):
    result = bee.search("bees pth:1.md")

    assert any("pth:" in message and "path:" in message for message in result.warnings)
    assert bee.search("std::vector note: bees https://example.org").warnings == ()


def test_filter_values_that_cannot_be_are_refused(bee):
    with pytest.raises(InvalidFilter):
        bee.search("bees", filters=Filter(after="yesterday-ish"))
    with pytest.raises(TypeError):
        Filter(pathes=("x",))


def test_dates_that_leave_no_day_are_told(bee):
    result = bee.search("bees after:2025-02-01 before:2025-01-01")

    assert len(result) == 0
    assert any("leaves no day" in message for message in result.warnings)


# ------------------------------------------------------------------ vectors


class OddEmbedder(HashEmbedder):
    """Gives an odd vector for each query."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        super().__init__()
        self._change = change

    def embed_query(self, text: str) -> Any:
        return self._change(super().embed_query(text))


@pytest.mark.parametrize(
    "change",
    [lambda vector: vector * math.nan, lambda vector: vector[:-1], lambda vector: np.full_like(vector, math.inf)],
    ids=["nan", "short", "infinite"],
)
def test_an_embedder_that_gives_no_usable_vector_costs_the_search_by_meaning(change):
    with open_test_library(files=FILES, embedder=OddEmbedder(change)) as library:
        result = library.search("bees home")
        with pytest.raises(LilbeeError):
            library.search("vec: bees home")

    sound(result)
    assert len(result) == 6
    assert result.warnings[0].startswith("Searched by words alone")


def test_a_query_vector_of_zeros_is_like_nothing():
    with open_test_library(files=FILES, embedder=OddEmbedder(np.zeros_like)) as library:
        result = library.search("bees home")

    sound(result)
    assert len(result) == 6


# ------------------------------------------------------------------ stages of plugins


@dataclass
class OddStage:
    """A stage that does something that no stage may."""

    change: Callable[[tuple[Hit, ...]], tuple[Hit, ...]]
    name: str = "acme-odd"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}))
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}))

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        return replace(state, hits=self.change(state.hits))


class OddPlugin:
    """A plugin with that stage behind the fetching of hits."""

    def __init__(self, change: Callable[[tuple[Hit, ...]], tuple[Hit, ...]]) -> None:
        self._change = change

    @hookimpl
    def lilbee_plugin(self) -> PluginSpec:
        return PluginSpec(name="acme", version="1")

    @hookimpl
    def lilbee_search_stages(self) -> list[StageSpec]:
        def build(options: object, services: object) -> SearchStage:
            return OddStage(self._change)

        return [StageSpec(name="acme-odd", place=after("fetch"), build=build)]


def fail(hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    raise RuntimeError("out of order")


ODD: dict[str, Callable[[tuple[Hit, ...]], tuple[Hit, ...]]] = {
    "raises": fail,
    "twice": lambda hits: (*hits, hits[-1]),
    "nan": lambda hits: (replace(hits[0], score=math.nan), *hits[1:]),
    "infinite": lambda hits: (replace(hits[0], score=math.inf), *hits[1:]),
    "rising": lambda hits: tuple(reversed([replace(hit, score=at) for at, hit in enumerate(hits)]))[::-1],
    "no hits": lambda hits: None,
}


@pytest.mark.parametrize("fault", ODD)
def test_a_stage_of_a_plugin_that_breaks_a_rule_is_left_out_with_a_warning(fault):
    with open_test_library([OddPlugin(ODD[fault])], files=FILES) as library:
        result = library.search("bees home")

    sound(result)
    assert len(result) == 6
    assert any("acme-odd" in message for message in result.warnings)
    assert [one.status for one in result.reports if one.name == "acme-odd"] == ["failed"]


# ------------------------------------------------------------------ counts and marks


def test_marks_and_counts_hold_after_joining_and_capping():
    text = "\n\n".join(f"Part {at}. The mill stands by the river. " + "Water turns the wheel. " * 40 for at in range(6))
    with open_test_library(files={"mill.md": text, "other.md": "A mill by the sea."}) as library:
        library.config.set("join_neighbors", "true")
        result = library.search("mill river", top_k=5, profile="keyword")

    sound(result)
    assert result.found
    assert any(hit.parts for hit in result)
    for hit in result:
        assert {hit.text[start:end].casefold() for start, end in hit.highlights} <= {"mill", "river"}
        assert hit.highlights
    for report in result.reports:
        kept = report.count_in - len(report.dropped)
        assert report.name in ("parse", "lexical", "fetch") or report.count_out == kept
