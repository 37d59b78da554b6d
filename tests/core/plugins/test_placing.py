"""Stages of plugins go before, after or in place of a named stage (R005)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.plugins import PluginHost, StagePlace, StageSpec, after, before, place_stages, replaces
from tests.core.plugins._samples import Whole, stage

STAGES = ["parse", "dense", "fuse", "limit"]


def placed(**places: StagePlace) -> list[str]:
    placement = place_stages(STAGES, [stage(name, place=place) for name, place in places.items()])
    assert placement.failures == ()
    return list(placement.names)


def refused(*specs: StageSpec) -> dict[str, tuple[str, str]]:
    return {one.part: (one.message, one.hint) for one in place_stages(STAGES, specs).failures}


def test_without_plugins_the_list_stays() -> None:
    assert placed() == STAGES


def test_before() -> None:
    assert placed(x=before("fuse")) == ["parse", "dense", "x", "fuse", "limit"]


def test_after() -> None:
    assert placed(x=after("limit")) == ["parse", "dense", "fuse", "limit", "x"]


def test_replaces() -> None:
    assert placed(x=replaces("fuse")) == ["parse", "dense", "x", "limit"]


def test_the_same_place_goes_by_name() -> None:
    assert placed(b=before("fuse"), a=before("fuse")) == ["parse", "dense", "a", "b", "fuse", "limit"]
    assert placed(d=after("fuse"), c=after("fuse")) == ["parse", "dense", "fuse", "c", "d", "limit"]


def test_a_stage_of_a_plugin_is_a_place_too() -> None:
    assert placed(a=after("b"), b=after("c"), c=before("parse")) == ["c", "b", "a", *STAGES]


def test_a_replaced_stage_still_marks_its_place() -> None:
    around = placed(x=replaces("fuse"), a=before("fuse"), b=after("fuse"), c=before("x"), d=after("x"))
    assert around == ["parse", "dense", "a", "c", "x", "d", "b", "limit"]


def test_a_substitute_may_be_replaced() -> None:
    assert placed(x=replaces("fuse"), y=replaces("x")) == ["parse", "dense", "y", "limit"]


def test_the_first_by_name_replaces() -> None:
    specs = [stage("b", place=replaces("fuse")), stage("a", place=replaces("fuse"))]
    assert "a" in place_stages(STAGES, specs).names
    assert refused(*specs) == {
        "b": (
            "the stage 'b' wants to replace 'fuse', which 'a' replaces already",
            "Take 'b' or 'a' out of search_stages.",
        )
    }


def test_an_unknown_place_is_reported() -> None:
    assert refused(stage("a", place=before("fuze"))) == {
        "a": ("the stage 'a' belongs before 'fuze', and there is no such stage", "Did its author mean 'fuse'?")
    }
    ((message, hint),) = refused(stage("a", place=after("qqqq"))).values()
    assert "after 'qqqq'" in message
    assert hint == "The stages are: parse, dense, fuse, limit, a."


def test_stages_that_wait_for_each_other_are_reported() -> None:
    found = refused(stage("a", place=before("b")), stage("b", place=after("a")))
    assert sorted(found) == ["a", "b"]
    assert found["a"][0] == "the stage 'a' belongs before 'b', which has no place itself"


def test_a_stage_that_loses_its_anchor_is_reported() -> None:
    specs = [stage("b", place=replaces("fuse")), stage("a", place=replaces("fuse")), stage("c", place=after("b"))]
    assert sorted(refused(*specs)) == ["b", "c"]


def test_a_name_twice_is_reported() -> None:
    assert sorted(refused(stage("fuse"), stage("a"), stage("a"))) == ["a", "fuse"]


def test_a_stage_that_runs_twice_is_one_place() -> None:
    placement = place_stages(["fuse", "limit", "fuse"], [stage("a", place=before("fuse"))])
    assert placement.names == ("a", "fuse", "limit", "fuse")
    replaced = place_stages(["fuse", "limit", "fuse"], [stage("a", place=replaces("fuse"))])
    assert replaced.names == ("a", "limit", "a")


class TestGroups:
    """The list runs `dense` and `lexical` side by side, inside one stage."""

    STAGES = ("parse", "both", "fuse")
    INSIDE = {"dense": "both", "lexical": "both"}  # noqa: RUF012

    def names(self, *specs: StageSpec) -> tuple[str, ...]:
        placement = place_stages(self.STAGES, specs, inside=self.INSIDE)
        assert placement.failures == ()
        return placement.names

    def test_neighbors_go_around_the_group(self) -> None:
        found = self.names(stage("a", place=before("lexical")), stage("b", place=after("dense")))
        assert found == ("parse", "a", "both", "b", "fuse")

    def test_the_group_can_be_replaced_but_no_part_of_it(self) -> None:
        assert self.names(stage("a", place=replaces("both"))) == ("parse", "a", "fuse")
        placement = place_stages(self.STAGES, [stage("a", place=replaces("dense"))], inside=self.INSIDE)
        assert placement.names == self.STAGES
        assert "stands inside another stage" in placement.failures[0].message


class TestAbsentStages:
    """The list lacks stages that other lists have."""

    ORDER = ("parse", "dense", "lexical", "fuse", "fetch", "rerank", "limit")

    def names(self, stages: list[str], *specs: StageSpec, **inside: str) -> list[str]:
        placement = place_stages(stages, specs, inside=inside, order=self.ORDER)
        assert placement.failures == ()
        assert placement.replaced == ()
        return list(placement.names)

    def test_their_place_is_where_they_would_stand(self) -> None:
        stages = ["parse", "lexical", "fetch", "limit"]
        assert self.names(stages, stage("a", place=before("rerank"))) == ["parse", "lexical", "fetch", "a", "limit"]
        assert self.names(stages, stage("a", place=after("fuse"))) == ["parse", "lexical", "a", "fetch", "limit"]
        assert self.names(stages, stage("a", place=after("dense"))) == ["parse", "a", "lexical", "fetch", "limit"]
        assert self.names(["parse"], stage("a", place=before("limit"))) == ["parse", "a"]

    def test_a_substitute_takes_it(self) -> None:
        stages = ["parse", "fetch", "limit"]
        assert self.names(stages, stage("a", place=replaces("rerank"))) == ["parse", "fetch", "a", "limit"]

    def test_they_keep_their_order(self) -> None:
        specs = [
            stage("a", place=after("rerank")),
            stage("b", place=before("fuse")),
            stage("c", place=before("rerank")),
        ]
        assert self.names(["parse", "limit"], *specs) == ["parse", "b", "c", "a", "limit"]

    def test_groups_count_as_their_parts(self) -> None:
        found = self.names(["parse", "both", "limit"], stage("a", place=before("fuse")), dense="both", lexical="both")
        assert found == ["parse", "both", "a", "limit"]

    def test_nothing_else_appears(self) -> None:
        assert self.names(["parse", "limit"]) == ["parse", "limit"]


def test_the_host_knows_whose_stage_it_is() -> None:
    host = PluginHost([Whole()], entry_points=list)
    for failure in place_stages(["limit"], [one.spec for one in host.active_stages()]).failures:
        host.fail(failure)
    assert [(one.plugin, one.part) for one in host.failures] == [("acme", "acme-fresh")]


NAMES = st.sampled_from([*STAGES, "a", "b", "c", "d", "nowhere"])
PLACES = st.builds(
    lambda relation, at: StagePlace(relation=relation, stage=at),
    st.sampled_from(["before", "after", "replaces"]),
    NAMES,
)
SPECS = st.dictionaries(st.sampled_from("abcdef"), PLACES).map(
    lambda found: [stage(name, place=place) for name, place in found.items()]
)


@given(SPECS, st.randoms())
def test_the_order_of_the_specs_does_not_matter(specs: list[StageSpec], random: object) -> None:
    mixed = list(specs)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert place_stages(STAGES, mixed) == place_stages(STAGES, specs)


@given(SPECS)
def test_every_stage_is_placed_replaced_or_reported(specs: list[StageSpec]) -> None:
    placement = place_stages(STAGES, specs)
    reported = {one.part for one in placement.failures}
    assert len(set(placement.names)) == len(placement.names)
    assert [name for name in STAGES if name in placement.names] == [one for one in placement.names if one in STAGES]
    assert {*placement.names, *placement.replaced} >= set(STAGES)
    for spec in specs:
        ends = (placement.names, placement.replaced, reported)
        assert sum(spec.name in end for end in ends) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_a_spec_given_twice_is_placed_once(count: int) -> None:
    assert place_stages(STAGES, [stage("a")] * count).names.count("a") == 1
