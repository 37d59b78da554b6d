"""A placement by the user: how it is read, what it makes, what is said when it does not fit (R113, R115, R116)."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.errors import PlacementError
from lilbee_core.fleet import PlanOptions, parse_placement, placement_json, plan_placement
from lilbee_core.fleet._placement import layers_by
from lilbee_core.types import FLEET_ROLES, MachineSnapshot, Placement, RolePlacement
from tests.support.machines import CHAT_8B, CHAT_70B, EMBED, GIB, RERANK, VISION, card, machine, model, pool

ALL = (EMBED, RERANK, VISION, CHAT_8B)
WRITTEN = (
    '{"chat": {"devices": [0, 1], "tensor_split": [1, 1]}, "embed": {"devices": [2], "replicas": 2},'
    ' "rerank": {"devices": [2]}, "vision": {"devices": [3]}}'
)


def placed(text: str) -> Placement:
    found = parse_placement(text)
    assert found is not None
    return found


# ---------------------------------------------------------------------------------------------------- reading it


def test_the_example_of_the_requirements() -> None:
    found = placed(WRITTEN)
    assert found.get("chat") == RolePlacement(devices=(0, 1), tensor_split=(1.0, 1.0))
    assert found.get("embed") == RolePlacement(devices=(2,), replicas=2)
    assert found.get("rerank") == RolePlacement(devices=(2,))
    assert [role for role, _ in found] == ["embed", "rerank", "vision", "chat"]
    assert placed(placement_json(found)) == found
    assert "\n" not in placement_json(found)


def test_an_empty_text_is_no_placement() -> None:
    assert parse_placement("") is None
    assert parse_placement("  ") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "it is no JSON"),
        ("[]", "it is no object of roles"),
        ("{}", "it is no object of roles"),
        ('"chat"', "it is no object of roles"),
        ('{"talk": {"devices": [0]}}', "there is no role 'talk'; roles are embed, rerank, vision, chat"),
        ('{"chat": [0]}', "chat is no object"),
        ('{"chat": {}}', "chat names no devices"),
        ('{"chat": {"devices": []}}', "chat names no devices"),
        ('{"chat": {"devices": 0}}', "chat names no devices"),
        ('{"chat": {"devices": [-1]}}', "must be the indices of cards"),
        ('{"chat": {"devices": [true]}}', "must be the indices of cards"),
        ('{"chat": {"devices": ["CUDA0"]}}', "must be the indices of cards"),
        ('{"chat": {"devices": [1, 1]}}', "chat names a card twice: [1, 1]"),
        ('{"chat": {"devices": [0], "gpu": 1}}', "chat has no 'gpu'"),
        ('{"chat": {"devices": [0, 1], "tensor_split": [1]}}', "tensor_split of chat has 1 numbers for 2 cards"),
        ('{"chat": {"devices": [0, 1], "tensor_split": [1, 0]}}', "must be numbers above 0"),
        ('{"chat": {"devices": [0, 1], "tensor_split": [1, NaN]}}', "must be numbers above 0"),
        ('{"chat": {"devices": [0, 1], "tensor_split": 2}}', "must be numbers above 0"),
        ('{"embed": {"devices": [0], "replicas": 0}}', "must be a number from 1 to 64"),
        ('{"embed": {"devices": [0], "replicas": "2"}}', "must be a number from 1 to 64"),
        ('{"chat": {"devices": [0], "replicas": 2}}', "only embed and vision take replicas"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, said: str) -> None:
    with pytest.raises(PlacementError, match=re.escape(said)) as caught:
        parse_placement(text)
    assert caught.value.code == "fleet.placement"
    assert '{"chat": {"devices": [0, 1]}' in caught.value.hint


@given(st.dictionaries(st.sampled_from(FLEET_ROLES), st.lists(st.integers(0, 9), min_size=1, unique=True), min_size=1))
def test_every_placement_survives_being_written(wanted: dict[str, list[int]]) -> None:
    found = parse_placement({role: {"devices": devices} for role, devices in wanted.items()})
    assert found is not None
    assert placed(placement_json(found)) == found
    assert json.loads(placement_json(found)) == {role: found.to_dict()[role] for role in FLEET_ROLES if role in wanted}


# ---------------------------------------------------------------------------------------------------- planning


def test_it_is_used_as_it_is() -> None:
    plan = plan_placement(machine(24, 24, 24, 24), ALL, placed(WRITTEN))
    assert plan.manual
    assert {one.id: one.devices for one in plan.servers} == {
        "embed-0": ("CUDA2",),
        "embed-1": ("CUDA2",),
        "rerank-0": ("CUDA2",),
        "vision-0": ("CUDA3",),
        "chat-0": ("CUDA0", "CUDA1"),
    }
    (chat,) = plan.of_role("chat")
    assert chat.tensor_split == (1.0, 1.0)
    assert chat.slots == 1
    assert chat.context_tokens == 8192
    assert dict(chat.environment)["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert [group.name for group in plan.groups] == ["embed", "rerank", "vision", "chat"]
    assert not any(group.swap for group in plan.groups)


def test_the_bin_pack_does_not_run() -> None:
    """Everything onto the smaller card, which no planner would choose."""
    where = placed('{"embed": {"devices": [1]}, "chat": {"devices": [1]}}')
    plan = plan_placement(machine(80, 12), (EMBED, CHAT_8B), where)
    assert {one.devices for one in plan.servers} == {("CUDA1",)}
    assert plan.charged("CUDA0") == 0


def test_cards_are_shared_evenly_unless_told_otherwise() -> None:
    (even,) = plan_placement(machine(40, 40), [CHAT_70B], placed('{"chat": {"devices": [0, 1]}}')).servers
    assert even.tensor_split == (1.0, 1.0)
    assert even.footprint.shares[0] == pytest.approx(even.footprint.shares[1], rel=0.05)
    text = '{"chat": {"devices": [0, 1], "tensor_split": [3, 1]}}'
    (told,) = plan_placement(machine(80, 40), [CHAT_70B], placed(text)).servers
    assert told.tensor_split == (3.0, 1.0)
    assert told.footprint.shares[0] > 2.5 * told.footprint.shares[1]


def test_replicas_over_several_cards_get_one_each() -> None:
    plan = plan_placement(machine(8, 8), [EMBED], placed('{"embed": {"devices": [0, 1], "replicas": 3}}'))
    assert [one.devices for one in plan.servers] == [("CUDA0",), ("CUDA1",), ("CUDA0",)]
    assert [one.id for one in plan.servers] == ["embed-0", "embed-1", "embed-2"]


def test_chat_gets_the_context_that_its_cards_hold() -> None:
    where = placed('{"chat": {"devices": [0]}}')
    (roomy,) = plan_placement(machine(24), [CHAT_8B], where).servers
    assert (roomy.context_tokens, roomy.slots) == (8192, 4)
    (small,) = plan_placement(machine(6.3), [CHAT_8B], where).servers
    assert small.context_tokens < 8192
    (asked,) = plan_placement(machine(24), [CHAT_8B], where, PlanOptions(num_ctx=1024, chat_slots=1)).servers
    assert (asked.context_tokens, asked.slots) == (1024, 1)


def test_a_card_that_is_too_full_is_named_with_what_it_has() -> None:
    cards = (card(0, 23.7, 24.0),)
    full = replace(machine(24), devices=cards)
    with pytest.raises(PlacementError) as caught:
        plan_placement(full, [CHAT_70B], placed('{"chat": {"devices": [0]}}'))
    assert caught.value.message == (
        "CUDA0: RTX 4090 (23.7 GiB free, 24.0 GiB total) cannot hold chat (org/chat/chat-40.gguf): "
        "it needs 40.4 GiB there"
    )
    assert caught.value.code == "fleet.does_not_fit"
    assert "lilbee placement set" in caught.value.hint


def test_what_is_there_already_is_named_too() -> None:
    where = placed('{"embed": {"devices": [0]}, "vision": {"devices": [0]}}')
    with pytest.raises(
        PlacementError,
        match=r"CUDA0: RTX 4090 \(4\.0 GiB free, 4\.0 GiB total\) cannot hold vision .*, beside embed .* GiB",
    ):
        plan_placement(machine(4), [model("embed", 2), VISION], where)


def test_a_split_is_held_against_each_card() -> None:
    where = placed('{"chat": {"devices": [0, 1]}}')
    plan_placement(machine(24, 24), [CHAT_70B], where)
    with pytest.raises(PlacementError, match=r"CUDA1: RTX 4090 \(16\.0 GiB free, 16\.0 GiB total\) cannot hold chat"):
        plan_placement(machine(60, 16), [CHAT_70B], where)


@pytest.mark.parametrize(
    ("snapshot", "there"),
    [
        (machine(24, 24), r"its cards: CUDA0: RTX 4090 \(24\.0 GiB free, 24\.0 GiB total\), CUDA1: RTX 4090"),
        (pool(16), "its cards: none"),
    ],
)
def test_a_card_that_is_gone_is_named(snapshot: MachineSnapshot, there: str) -> None:
    with pytest.raises(PlacementError, match=f"puts chat on card 3, which this machine does not have; {there}"):
        plan_placement(snapshot, [CHAT_8B], placed('{"chat": {"devices": [3]}}'))


def test_a_role_that_is_left_out_has_no_server_and_says_so() -> None:
    plan = plan_placement(machine(24), (EMBED, CHAT_8B), placed('{"embed": {"devices": [0]}}'))
    assert [one.role for one in plan.servers] == ["embed"]
    refusal = plan.refusal("chat")
    assert refusal is not None
    assert refusal.code == "fleet.not_placed"
    assert refusal.hint.startswith("Add chat to it")


def test_a_role_without_a_model_may_be_placed_beforehand() -> None:
    plan = plan_placement(machine(24), [EMBED], placed('{"embed": {"devices": [0]}, "chat": {"devices": [0]}}'))
    assert [one.role for one in plan.servers] == ["embed"]


def test_a_wrong_model_is_refused_here_as_well() -> None:
    plan = plan_placement(machine(24), [replace(CHAT_8B, role="embed")], placed('{"embed": {"devices": [0]}}'))
    assert plan.refusals[0].code == "fleet.wrong_role"


def test_layers_are_counted_as_the_engine_does() -> None:
    assert layers_by((1, 1), 33) == (17, 16)
    assert layers_by((3, 1), 40) == (30, 10)
    assert layers_by((40.0, 41.0), 81) == (40, 41)
    assert layers_by((1, 1, 1), 2) == (1, 1, 0)


@given(st.lists(st.integers(1, 90), min_size=1, max_size=8))
def test_counts_of_layers_are_proportions_that_give_them_back(counts: list[int]) -> None:
    assert layers_by([float(one) for one in counts], sum(counts)) == tuple(counts)


def test_a_placement_holds_no_more_than_is_free() -> None:
    where = placed('{"embed": {"devices": [0]}, "rerank": {"devices": [0]}, "chat": {"devices": [0]}}')
    for size in (8, 10, 12, 16, 24):
        plan = plan_placement(machine(size), (EMBED, RERANK, CHAT_8B), where)
        assert plan.charged("CUDA0") <= size * GIB
