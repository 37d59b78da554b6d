"""Where the planner puts models: the examples of the requirements, one by one (R103-R109, R112, R118, R120-R124)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lilbee_core.fleet import PlanOptions, RoleModel, plan_change, plan_fleet
from lilbee_core.fleet._footprint import GgufEstimator
from lilbee_core.fleet._sizing import wanted
from lilbee_core.types import FleetPlan, GgufFacts
from tests.support.machines import CHAT_8B, CHAT_70B, EMBED, GIB, RERANK, VISION, card, machine, model, pool

ALL = (EMBED, RERANK, VISION, CHAT_8B)


def where(plan: FleetPlan) -> dict[str, tuple[str, ...]]:
    return {one.id: one.devices for one in plan.servers}


def chat(plan: FleetPlan) -> tuple[tuple[str, ...], int, int]:
    """Return cards, context and slots of chat."""
    (one,) = plan.of_role("chat")
    return one.devices, one.context_tokens, one.slots


# ---------------------------------------------------------------------------------------------------- one card


def test_small_models_share_one_card_and_nobody_takes_turns() -> None:
    plan = plan_fleet(machine(24), ALL)
    assert where(plan) == {"embed-0": ("CUDA0",), "rerank-0": ("CUDA0",), "vision-0": ("CUDA0",), "chat-0": ("CUDA0",)}
    assert chat(plan) == (("CUDA0",), 8192, 4)
    assert [group.name for group in plan.groups] == ["embed", "rerank", "vision", "chat"]
    assert not any(group.swap for group in plan.groups)
    assert not plan.warnings
    assert not plan.refusals
    assert all(one.gpu_layers == len(facts.layer_bytes) + 1 for one, facts in zip(plan.servers, _facts(), strict=True))


def _facts() -> list[GgufFacts]:
    return [one.facts for one in ALL]


def test_the_share_that_may_be_used_is_nine_tenths() -> None:
    need = plan_fleet(machine(80), [EMBED]).servers[0].footprint.discrete_bytes
    fits = replace(machine(1), devices=(replace(card(0, 8), free_bytes=-(-need * 10 // 9) + 1),))
    plan = plan_fleet(fits, [EMBED])
    assert not plan.servers[0].tight
    assert plan.charged("CUDA0") <= fits.devices[0].free_bytes * 0.9
    tight = replace(fits, devices=(replace(fits.devices[0], free_bytes=need),))
    assert plan_fleet(tight, [EMBED]).servers[0].tight


def test_chat_shrinks_before_anything_else_and_gets_more_slots_last() -> None:
    roomy, small = plan_fleet(machine(12), [EMBED, CHAT_8B]), plan_fleet(machine(7.1), [EMBED, CHAT_8B])
    assert chat(roomy) == (("CUDA0",), 8192, 4)
    devices, context, slots = chat(small)
    assert (devices, slots) == (("CUDA0",), 1)
    assert 2048 <= context < 8192
    assert context % 256 == 0
    assert small.of_role("embed")[0].footprint == roomy.of_role("embed")[0].footprint


def test_the_context_follows_num_ctx_and_what_the_model_was_made_for() -> None:
    asked = plan_fleet(machine(24), [CHAT_8B], PlanOptions(num_ctx=16384))
    assert chat(asked)[1] == 16384
    target = plan_fleet(machine(24), [CHAT_8B], PlanOptions(chat_target=4096))
    assert chat(target)[1] == 4096
    short = model("chat", 1, context=2048)
    plan = plan_fleet(machine(24), [short], PlanOptions(num_ctx=16384))
    assert chat(plan)[1] == 2048
    assert plan.warnings == (f"num_ctx is 16384, and {short.ref} was made for 2048 tokens",)


def test_on_a_tight_card_those_who_answer_take_turns_with_vision() -> None:
    """The document's example: ingest's embed and vision fit exactly, as rerank and chat go into vision's group."""
    seen = plan_fleet(machine(80), [EMBED, VISION]).servers
    both = sum(one.footprint.discrete_bytes for one in seen if one.role == "embed")
    one_slot = 3.1 * GIB  # what vision takes with one request at a time
    plan = plan_fleet(machine((both + one_slot) / 0.9 / GIB), [EMBED, RERANK, VISION, model("chat", 1.5, kv_kib=56)])
    swap = [group for group in plan.groups if group.swap]
    assert [group.name for group in swap] == ["rerank+vision+chat"]
    assert swap[0].servers == ("rerank-0", "vision-0", "chat-0")
    assert not any(one.tight for one in plan.servers)
    assert plan.charged("CUDA0") <= plan.machine.devices[0].free_bytes * 0.9


def test_a_swap_group_is_charged_its_largest_member() -> None:
    plan = plan_fleet(machine(8), ALL)
    held = {one.role: one.footprint.discrete_bytes for one in plan.servers}
    (swap,) = [group for group in plan.groups if group.swap]
    turns = {one.split("-")[0] for one in swap.servers}
    resident = sum(size for role, size in held.items() if role not in turns)
    assert plan.charged("CUDA0") == resident + max(held[role] for role in turns)
    assert sum(held.values()) > plan.machine.devices[0].free_bytes


def test_rerank_alone_takes_turns_where_that_is_enough() -> None:
    rerank, vision, small = model("rerank", 3), model("vision", 3), model("chat", 2, kv_kib=16)
    assert not any(group.swap for group in plan_fleet(machine(24), [EMBED, rerank, vision, small]).groups)
    tight = plan_fleet(machine(13), [EMBED, rerank, vision, small])
    assert [group.name for group in tight.groups if group.swap] == ["rerank+vision"]


def test_without_vision_nobody_takes_turns() -> None:
    plan = plan_fleet(machine(6), [EMBED, RERANK, CHAT_8B])
    assert not any(group.swap for group in plan.groups)


def test_a_role_that_fits_nowhere_is_placed_on_the_emptiest_card_with_a_warning() -> None:
    plan = plan_fleet(machine(4, 6), [EMBED, RERANK, model("vision", 6)])
    (vision,) = plan.of_role("vision")
    assert vision.tight
    assert vision.devices == ("CUDA1",)
    assert len(vision.warnings) == 1
    assert vision.warnings[0].startswith("memory is tight on CUDA1: org/vision/vision-6.gguf needs an estimated ")
    assert vision.warnings[0].endswith(" GiB more than is left")
    assert vision.warnings[0] in plan.warnings
    assert not plan.refusals
    # It anchors the group, so that it is loaded while the others are not.
    assert vision.group == "rerank+vision"


def test_the_shortfall_is_what_the_estimate_says() -> None:
    plan = plan_fleet(machine(4), [model("embed", 3.2)])
    (one,) = plan.servers
    need, left = one.footprint.discrete_bytes, int(4 * GIB * 0.9)
    assert f"{need / GIB:.1f} GiB there for embed, {(need - left) / GIB:.1f} GiB more" in one.warnings[0]


def test_a_chat_that_a_card_could_never_hold_runs_partly_on_the_processor() -> None:
    plan = plan_fleet(machine(8, ram=64), [EMBED, CHAT_70B])
    (one,) = plan.of_role("chat")
    assert one.tight
    assert 0 < one.gpu_layers < 80
    assert one.warnings[0].endswith(f"{80 - one.gpu_layers} of its 80 layers run on the processor")
    assert plan.charged("CUDA0") <= 8 * GIB * 0.9
    assert one.context_tokens == 2048
    # Where the system could not hold the rest either, the load itself has to decide.
    small = plan_fleet(machine(8, ram=16), [EMBED, CHAT_70B])
    assert small.of_role("chat")[0].gpu_layers == 81


def test_a_card_that_is_sure_to_be_too_small_leaves_search_to_the_processor() -> None:
    """Another program holds nearly all of it: what search needs would not load there."""
    busy = machine(0.4)
    plan = plan_fleet(busy, [EMBED, RERANK])
    for one in plan.servers:
        assert one.tight
        assert (one.devices, one.environment, one.gpu_layers) == ((), (), 0)
        assert one.warnings[0].endswith("; it runs on the processor")
    assert plan.charged("CUDA0") == 0
    # An estimate that is a little too high is no reason to leave a card alone.
    need = plan_fleet(machine(80), [EMBED]).servers[0].footprint.discrete_bytes / GIB
    assert plan_fleet(machine(need * 0.85), [EMBED]).servers[0].devices == ("CUDA0",)
    # And where the system has no memory either, the card is as good a try as any.
    poor = replace(busy, free_ram_bytes=GIB // 10)
    assert plan_fleet(poor, [EMBED]).servers[0].devices == ("CUDA0",)


def test_a_context_that_was_asked_for_and_is_not_there_is_told() -> None:
    plan = plan_fleet(machine(8), [CHAT_8B], PlanOptions(num_ctx=65_536))
    got = chat(plan)[1]
    assert 2048 < got < 65_536
    assert plan.warnings == (f"num_ctx is 65536, and there is memory for {got} tokens",)


def test_a_cache_of_small_numbers_needs_flash_attention() -> None:
    plan = plan_fleet(machine(24), [CHAT_8B], PlanOptions(kv_cache_type="q8_0", flash_attention=False))
    assert plan.servers[0].kv_cache_type == "f16"
    assert plan.warnings == ("kv_cache_type q8_0 needs flash_attention, so f16 is used",)


# ---------------------------------------------------------------------------------------------------- several cards


def test_a_model_too_large_for_one_card_is_split_over_as_few_as_hold_it() -> None:
    plan = plan_fleet(machine(24, 24, 24, 24), [CHAT_70B])
    (one,) = plan.of_role("chat")
    assert one.devices == ("CUDA0", "CUDA1", "CUDA2")
    assert one.slots == 1
    assert sum(one.tensor_split) == 81
    assert len(one.footprint.shares) == 3
    assert all(share <= 24 * GIB * 0.9 for share in one.footprint.shares)
    assert one.context_tokens == 8192


def test_equal_cards_share_alike_and_unequal_ones_by_their_room() -> None:
    big = model("chat", 40, layers=79)
    (equal,) = plan_fleet(machine(40, 40), [big]).servers
    assert equal.tensor_split == (40.0, 40.0)
    (unequal,) = plan_fleet(machine(40, 16), [big]).servers
    first, second = unequal.tensor_split
    assert first > 2 * second
    assert all(share <= have * GIB * 0.9 for share, have in zip(unequal.footprint.shares, (40, 16), strict=True))


def test_chat_widens_onto_idle_cards_when_its_context_would_starve() -> None:
    """Two cards just hold it with the least context; the third one is idle, so it is used."""
    tight = plan_fleet(machine(24, 24), [CHAT_70B])
    assert tight.of_role("chat")[0].context_tokens < 8192
    wide = plan_fleet(machine(24, 24, 24), [CHAT_70B])
    assert chat(wide) == (("CUDA0", "CUDA1", "CUDA2"), 8192, 1)
    comfortable = plan_fleet(machine(30, 30, 30), [CHAT_70B])
    assert chat(comfortable)[0] == ("CUDA0", "CUDA1")


def test_where_no_split_reaches_the_target_the_longest_context_wins() -> None:
    greedy = PlanOptions(num_ctx=131_072)
    plan = plan_fleet(machine(24, 24, 24), [CHAT_70B], greedy)
    devices, context, slots = chat(plan)
    assert devices == ("CUDA0", "CUDA1", "CUDA2")
    assert slots == 1
    assert 8192 < context < 131_072


def test_the_fullest_card_bounds_the_context_of_a_split_never_the_sum() -> None:
    even, uneven = plan_fleet(machine(24, 24), [CHAT_70B]), plan_fleet(machine(44, 4), [CHAT_70B])
    for plan, sizes in ((even, (24, 24)), (uneven, (44, 4))):
        for one in plan.servers:
            for share, size in zip(one.footprint.shares, sizes, strict=False):
                assert share <= size * GIB * 0.9


def test_an_arrangement_is_found_although_the_first_card_that_fits_is_the_wrong_one() -> None:
    models = [model("rerank", 3), model("embed", 2.5), model("vision", 3.5)]
    options = PlanOptions(embed_replicas=1, vision_replicas=1)
    rerank, embed, vision = (_least(one) for one in models)
    assert rerank < vision < rerank + embed
    # The reranker would fit onto the smaller card, and then vision would fit nowhere.
    plan = plan_fleet(machine((vision + 0.01) / 0.9, (rerank + embed + 0.01) / 0.9), models, options)
    assert where(plan) == {"embed-0": ("CUDA1",), "rerank-0": ("CUDA1",), "vision-0": ("CUDA0",)}
    assert not any(group.swap for group in plan.groups)
    assert not any(one.tight for one in plan.servers)


def _least(one: RoleModel) -> float:
    """Return the GiB that a role takes on a card which has no room for more than one request at a time."""
    options = PlanOptions()
    return GgufEstimator().footprint(one, wanted(one, options, machine(80))).discrete_bytes / GIB


def test_search_keeps_its_servers_however_large_chat_is() -> None:
    plan = plan_fleet(machine(24, 24), [*ALL[:3], CHAT_70B])
    assert not any(one.tight for one in plan.servers if one.role != "chat")
    alone = plan_fleet(machine(24, 24), [CHAT_70B])
    assert plan.of_role("chat")[0].context_tokens <= alone.of_role("chat")[0].context_tokens


# ---------------------------------------------------------------------------------------------------- replicas


def test_one_replica_per_card_as_far_as_they_fit() -> None:
    plan = plan_fleet(machine(24, 24, 24), ALL)
    assert [one.id for one in plan.of_role("embed")] == ["embed-0", "embed-1", "embed-2"]
    assert {one.devices for one in plan.of_role("embed")} == {("CUDA0",), ("CUDA1",), ("CUDA2",)}
    assert len(plan.of_role("vision")) == 3
    assert [one.tier for one in plan.of_role("vision")] == ["pinned", "replica", "replica"]
    assert len(plan.of_role("rerank")) == 1
    assert chat(plan) == (("CUDA1",), 8192, 4)


def test_replicas_get_only_what_chat_leaves() -> None:
    lone, crowded = machine(24, 24), machine(24, 24)
    few = plan_fleet(crowded, [EMBED, model("vision", 4), model("chat", 18, kv_kib=8)])
    assert len(few.of_role("vision")) == 1
    assert len(plan_fleet(lone, [EMBED, model("vision", 4)]).of_role("vision")) == 2


def test_a_number_pins_the_replicas() -> None:
    three = plan_fleet(machine(24), [EMBED], PlanOptions(embed_replicas=3))
    assert [one.id for one in three.servers] == ["embed-0", "embed-1", "embed-2"]
    one = plan_fleet(machine(24, 24), [EMBED], PlanOptions(embed_replicas=1))
    assert len(one.servers) == 1
    squeezed = plan_fleet(machine(1.2), [EMBED], PlanOptions(embed_replicas=2))
    assert [server.tight for server in squeezed.servers] == [False, True]
    assert squeezed.warnings


def test_who_takes_turns_runs_once() -> None:
    plan = plan_fleet(machine(8, 1.0), ALL, PlanOptions(vision_replicas=2))
    assert [one.id for one in plan.of_role("vision")] == ["vision-0"]


# ---------------------------------------------------------------------------------------------------- shared memory


def test_on_one_pool_search_is_reserved_before_chat() -> None:
    plan = plan_fleet(pool(16), [EMBED, RERANK, CHAT_8B])
    assert [one.role for one in plan.servers] == ["embed", "rerank", "chat"]
    assert all(one.devices == () and one.gpu_layers == 0 for one in plan.servers)
    tight = plan_fleet(pool(7), [EMBED, RERANK, CHAT_8B])
    assert [one.role for one in tight.servers] == ["embed", "rerank"]
    assert tight.refusal("chat") is not None


@pytest.mark.parametrize("metal", [False, True])
def test_slots_step_down_then_context_then_chat_is_refused(metal: bool) -> None:
    seen: list[tuple[int, int] | None] = []
    for free in (24.0, 8.6, 6.9, 6.4, 5.0):
        plan = plan_fleet(pool(free, metal=metal), [EMBED, CHAT_8B])
        assert len(plan.of_role("embed")) == 1
        one = next(iter(plan.of_role("chat")), None)
        seen.append((one.context_tokens, one.slots) if one else None)
    assert seen[0] == (8192, 4 if metal else 2)
    assert seen[1] == (8192, 1)
    assert seen[2] is not None
    assert seen[2][1] == 1
    assert 512 <= seen[2][0] < 8192
    assert seen[-1] is None


def test_a_refusal_says_what_is_needed_and_what_is_there() -> None:
    plan = plan_fleet(pool(8, 16), [EMBED, CHAT_70B])
    refusal = plan.refusal("chat")
    assert refusal is not None
    assert refusal.code == "fleet.out_of_memory"
    assert refusal.reason == (
        "org/chat/chat-40.gguf needs 40.3 GiB of memory for chat, and 6.4 GiB of 8.0 GiB free may be used beside embed"
    )
    assert "smaller" in refusal.hint
    assert refusal.needed_bytes is not None
    assert refusal.needed_bytes > 40 * GIB
    assert not any(one.tight for one in plan.servers)


def test_a_pool_is_never_loaded_beyond_what_is_free() -> None:
    for free in (1, 2, 3, 4, 6, 8, 12):
        plan = plan_fleet(pool(free, 64), ALL)
        held = {group.name: 0 for group in plan.groups}
        for group in plan.groups:
            sizes = [one.footprint.unified_bytes for one in plan.members(group.name)]
            held[group.name] = max(sizes) if group.swap else sum(sizes)
        assert sum(held.values()) <= free * GIB * 0.9


def test_a_pool_takes_turns_before_it_refuses() -> None:
    plan = plan_fleet(pool(7.2), [EMBED, VISION, CHAT_8B])
    assert [group.name for group in plan.groups if group.swap] == ["vision+chat"]
    assert not plan.refusals


def test_metal_offloads_everything_and_heeds_the_limit_of_the_card() -> None:
    shared = pool(16, metal=True)
    plan = plan_fleet(shared, [CHAT_8B])
    assert plan.servers[0].gpu_layers == 37
    assert plan.servers[0].devices == ()
    assert plan.servers[0].environment == ()
    assert shared.accelerator is not None
    low = replace(shared, accelerator=replace(shared.accelerator, free_bytes=4 * GIB))
    assert plan_fleet(low, [CHAT_8B]).refusal("chat") is not None


def test_few_cores_read_one_text_at_a_time() -> None:
    (one,) = plan_fleet(pool(8, cores=2), [EMBED]).servers
    assert one.slots == 1
    (many,) = plan_fleet(pool(8, cores=16), [EMBED]).servers
    assert many.slots == 4


# ---------------------------------------------------------------------------------------------------- flags


def test_readers_have_batches_for_their_whole_context() -> None:
    embed, rerank = plan_fleet(machine(24), [EMBED, RERANK]).servers
    for one in (embed, rerank):
        assert one.batch_tokens == one.ubatch_tokens == one.context_tokens * one.slots
        assert one.tensor_split == ()
    assert (embed.context_tokens, rerank.context_tokens) == (512, 1024)
    assert (embed.pooling, rerank.pooling) == ("mean", "rank")
    long = plan_fleet(machine(24), [EMBED], PlanOptions(embedding_tokens=4096)).servers[0]
    assert long.context_tokens == 2048  # what the model was made for


def test_vision_uses_all_cores_and_layers_and_its_projector() -> None:
    (one,) = plan_fleet(machine(24, cores=12), [VISION]).servers
    assert one.threads == 12
    assert one.gpu_layers == 29
    assert one.projector_file == Path("/models/mmproj.gguf")


def test_chat_is_read_in_one_go_where_half_of_the_total_memory_holds_it() -> None:
    small, large = machine(80, ram=64), machine(80, ram=64)
    assert not plan_fleet(small, [CHAT_8B]).servers[0].mmap
    assert plan_fleet(large, [CHAT_70B]).servers[0].mmap
    # What is free does not matter, or a plan would change with every program that is opened.
    busy = replace(small, free_ram_bytes=GIB)
    assert not plan_fleet(busy, [CHAT_8B]).servers[0].mmap
    assert all(one.mmap for one in plan_fleet(small, [EMBED, VISION]).servers)


def test_cache_and_attention_follow_the_settings() -> None:
    (one,) = plan_fleet(machine(24), [CHAT_8B], PlanOptions(kv_cache_type="q8_0")).servers
    assert one.kv_cache_type == "q8_0"
    assert not plan_fleet(machine(24), [CHAT_8B], PlanOptions(flash_attention=False)).servers[0].flash_attention
    (full,) = plan_fleet(machine(24), [CHAT_8B]).servers
    assert one.footprint.kv_bytes == int(full.footprint.kv_bytes * 34 / 64)


def test_servers_see_their_own_cards_only() -> None:
    plan = plan_fleet(machine(24, 24), [*ALL[:1], CHAT_70B], environment={"CUDA_VISIBLE_DEVICES": "5,7"})
    (split,) = plan.of_role("chat")
    assert dict(split.environment) == {"CUDA_VISIBLE_DEVICES": "5,7", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    (embed, *_) = plan.of_role("embed")
    assert dict(embed.environment)["CUDA_VISIBLE_DEVICES"] in {"5", "7"}


# ---------------------------------------------------------------------------------------------------- wrong models


def test_a_model_that_cannot_serve_its_role_is_refused_before_anything_is_placed() -> None:
    plan = plan_fleet(machine(24), [replace(EMBED, role="chat"), replace(CHAT_8B, role="rerank"), EMBED])
    assert [one.role for one in plan.servers] == ["embed"]
    assert [one.code for one in plan.refusals] == ["fleet.wrong_role", "fleet.wrong_role"]
    assert plan.refusals[0].reason == "chat-4.6.gguf can serve chat and not rerank"
    blind = plan_fleet(machine(24), [replace(VISION, projector=None)])
    assert blind.refusals[0].code == "fleet.no_projector"
    assert VISION.projector is not None
    eyes = RoleModel(role="vision", ref="x", facts=VISION.projector)
    assert plan_fleet(machine(24), [eyes]).refusals[0].code == "fleet.wrong_role"


# ---------------------------------------------------------------------------------------------------- changes


def test_only_groups_whose_launches_changed_are_restarted() -> None:
    old = plan_fleet(machine(24, 24), [EMBED, RERANK, CHAT_8B])
    same = plan_fleet(machine(24, 24), [EMBED, RERANK, CHAT_8B])
    assert plan_change(old, same).to_dict() == {
        "kept": ["embed", "rerank", "chat"], "started": [], "restarted": [], "stopped": [],
    }  # fmt: skip
    other = plan_fleet(machine(24, 24), [EMBED, RERANK, CHAT_8B], PlanOptions(num_ctx=4096))
    assert plan_change(old, other).restarted == ("chat",)
    gone = plan_fleet(machine(24, 24), [EMBED, CHAT_8B, VISION], PlanOptions(embed_replicas=1, vision_replicas=1))
    change = plan_change(old, gone)
    assert change.stopped == ("rerank",)
    assert change.started == ("vision",)
    assert "embed" in change.restarted


def test_free_bytes_of_a_running_fleet_do_not_matter_to_a_plan_made_from_the_snapshot() -> None:
    clean = machine(24, 24)
    first = plan_fleet(clean, ALL)
    again = plan_fleet(first.machine, ALL)
    assert plan_change(first, again).kept == tuple(group.name for group in first.groups)


def test_no_models_make_no_plan() -> None:
    plan = plan_fleet(machine(24), [])
    assert plan.servers == ()
    assert plan.groups == ()
    assert plan.to_dict()["servers"] == []
