"""How long a plan takes: eight cards and six models (four roles, two of them twice) in 50 ms."""

from __future__ import annotations

import random
import statistics
import time

import pytest

from lilbee_core.fleet import PlanOptions, RoleModel, plan_fleet
from lilbee_core.types import MachineSnapshot
from tests.support.machines import CHAT_8B, CHAT_70B, EMBED, RERANK, VISION, machine, model

pytestmark = pytest.mark.bench

LIMIT_S = 0.05
REPEATS = 5


def planned_in(snapshot: MachineSnapshot, models: tuple[RoleModel, ...], options: PlanOptions) -> float:
    """Return the shortest of some times in seconds: nothing is remembered from one plan to the next."""
    times: list[float] = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        plan_fleet(snapshot, models, options)
        times.append(time.perf_counter() - start)
    return min(times)


def test_eight_cards_and_six_models() -> None:
    chance = random.Random(8)
    options = PlanOptions(embed_replicas=2, vision_replicas=2)
    times: list[float] = []
    for _ in range(40):
        sizes = sorted(chance.choice([8, 12, 16, 24, 48, 80]) * chance.uniform(0.7, 1) for _ in range(8))
        chats = (CHAT_8B, CHAT_70B, model("chat", 130, layers=94, kv_kib=190))
        times += [planned_in(machine(*sizes), (EMBED, RERANK, VISION, chat), options) for chat in chats]
    print(f"plans: median {statistics.median(times) * 1000:.1f} ms, slowest {max(times) * 1000:.1f} ms")
    assert max(times) <= LIMIT_S


def test_eight_like_cards_with_replicas_everywhere() -> None:
    seconds = planned_in(machine(*[80.0] * 8), (EMBED, RERANK, VISION, CHAT_70B), PlanOptions())
    print(f"17 servers on eight cards: {seconds * 1000:.1f} ms")
    assert seconds <= LIMIT_S
