"""How many documents are read at once, by measurement: every branch, and where it settles (R034, R035, R038-R048)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.ingest import AGGRESSIVE, CONSERVATIVE, Climber, Move, Profile, Sample

BOTH = (CONSERVATIVE, AGGRESSIVE)
EASY = {"cpu": 40.0, "free_ram": 60.0, "gpu": 70.0, "gpu_celsius": 60.0}


def sample(rate: float, in_flight: int, **machine: float | None) -> Sample:
    return Sample(pages_per_s=rate, in_flight=in_flight, **{**EASY, **machine})


def climbed(profile: Profile, *, start: int = 8, rate: float = 8.0) -> Climber:
    """Return a climber that stands at the knee of steady work."""
    climber = Climber(profile, start=start)
    for _ in range(4):
        climber.take(sample(rate, climber.limit))
    return climber


def test_the_profiles_have_the_documented_constants() -> None:
    numbers = [
        (one.interval_s, one.smoothing, [one.step(n) for n in (1, 15, 16, 64, 144)], one.dead_band, one.latency_veto,
         one.cool_down)
        for one in BOTH
    ]  # fmt: skip
    assert numbers == [
        (5.0, 0.3, [1, 1, 1, 1, 1], 0.05, 1.5, 3),
        (2.0, 0.5, [1, 1, 2, 3, 4], 0.03, 2.0, 2),
    ]


@pytest.mark.parametrize("profile", BOTH, ids=lambda one: one.name)
@pytest.mark.parametrize(
    ("machine", "move"),
    [
        ({"cpu": 97.0}, Move.BACK_OFF),
        ({"cpu": 96.9}, Move.HOLD),
        ({"cpu": 90.0}, Move.HOLD),
        ({"cpu": 89.9}, Move.UP),
        ({"free_ram": 9.9}, Move.BACK_OFF),
        ({"free_ram": 10.0}, Move.HOLD),
        ({"free_ram": 19.9}, Move.HOLD),
        ({"free_ram": 20.0}, Move.UP),
        ({"gpu_celsius": 85.0}, Move.BACK_OFF),
        ({"gpu_celsius": 84.9}, Move.HOLD),
        ({"gpu_celsius": 80.0}, Move.HOLD),
        ({"gpu_celsius": 79.9}, Move.UP),
        ({"gpu": 100.0}, Move.UP),
        ({"cpu": None, "free_ram": None, "gpu": None, "gpu_celsius": None}, Move.UP),
    ],
)
def test_what_the_machine_says_comes_first(profile: Profile, machine: dict[str, float | None], move: Move) -> None:
    climber = Climber(profile, start=8)
    assert climber.take(sample(8.0, 8, **machine)) is move
    assert climber.limit == {Move.BACK_OFF: 4, Move.HOLD: 8, Move.UP: 9}[move]


@pytest.mark.parametrize("profile", BOTH, ids=lambda one: one.name)
def test_danger_comes_before_saturation_and_cools_down(profile: Profile) -> None:
    climber = climbed(profile)
    before = climber.limit
    assert climber.take(sample(1.0, before, gpu=100.0, cpu=99.0)) is Move.BACK_OFF
    assert climber.limit == before // 2
    moves = [climber.take(sample(8.0, climber.limit)) for _ in range(profile.cool_down)]
    assert moves == [Move.HOLD] * profile.cool_down
    assert climber.take(sample(8.0, climber.limit)) is Move.UP


@pytest.mark.parametrize("profile", BOTH, ids=lambda one: one.name)
def test_saturated_cards_that_slip_step_down(profile: Profile) -> None:
    climber = climbed(profile)
    before = climber.limit
    assert climber.take(sample(4.0, before, gpu=97.0)) is Move.DOWN
    assert climber.limit == before - profile.step(before)
    calm = climbed(profile)
    assert calm.take(sample(4.0, calm.limit, gpu=96.9)) is not Move.DOWN
    assert calm.limit == before


@pytest.mark.parametrize("profile", BOTH, ids=lambda one: one.name)
def test_pages_that_take_longer_than_they_need_end_the_climb(profile: Profile) -> None:
    climber = Climber(replace(profile, smoothing=1.0), start=4)
    assert climber.take(sample(4.0, 4)) is Move.UP  # a page takes a second
    slow = 5 / (profile.latency_veto * 1.01)
    assert climber.take(sample(slow * 3, 5 * 3)) is Move.HOLD
    assert climber.limit == 5


@pytest.mark.parametrize("profile", BOTH, ids=lambda one: one.name)
def test_a_gate_that_is_not_full_is_not_widened(profile: Profile) -> None:
    climber = Climber(profile, start=8)
    assert [climber.take(sample(rate, 7)) for rate in (5.0, 9.0, 20.0)] == [Move.HOLD] * 3
    assert climber.limit == 8


@pytest.mark.parametrize("profile", BOTH, ids=lambda one: one.name)
def test_nothing_done_holds(profile: Profile) -> None:
    climber = Climber(profile, start=8)
    assert climber.take(sample(0.0, 8)) is Move.KNEE
    assert climber.limit == 8


@pytest.mark.parametrize("profile", BOTH, ids=lambda one: one.name)
@pytest.mark.parametrize("knee", [3, 6, 10, 20, 40])
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_it_settles_at_the_knee(profile: Profile, knee: int, noise: float) -> None:
    """A machine whose pages per second grow with the documents under way up to the knee, and not beyond."""
    chance = random.Random(knee)
    climber = Climber(profile, start=2)
    limits = []
    for _ in range(600):
        rate = 0.8 * min(climber.limit, knee) * (1 + chance.uniform(-noise, noise))
        climber.take(sample(rate, climber.limit, gpu=100.0 if climber.limit >= knee else 80.0))
        limits.append(climber.limit)
    settled = sorted(limits[-200:])
    assert abs(settled[100] - knee) <= (max(profile.step(knee), 0.15 * knee) if noise else profile.step(knee))
    assert settled[-1] <= knee * profile.latency_veto + 1


@pytest.mark.parametrize("profile", BOTH, ids=lambda one: one.name)
def test_it_follows_when_pages_become_lighter(profile: Profile) -> None:
    climber = Climber(profile, start=2)
    for knee in (6, 12):
        for _ in range(400):
            climber.take(sample(float(min(climber.limit, knee)), climber.limit))
    assert abs(climber.limit - 12) <= profile.step(12) + 1


def test_the_aggressive_profile_is_there_sooner() -> None:
    seconds = []
    for profile in BOTH:
        climber, passed = Climber(profile, start=2), 0.0
        while climber.limit < 30:
            climber.take(sample(float(climber.limit), climber.limit))
            passed += profile.interval_s
        seconds.append(passed)
    assert seconds[1] < seconds[0] / 2


machines = st.builds(
    Sample,
    pages_per_s=st.floats(0, 1e4),
    in_flight=st.integers(0, 600),
    cpu=st.none() | st.floats(0, 100),
    free_ram=st.none() | st.floats(0, 100),
    gpu=st.none() | st.floats(0, 100),
    gpu_celsius=st.none() | st.floats(0, 110),
)


@given(st.lists(machines, max_size=60), st.integers(1, 512))
def test_both_profiles_share_their_limits(samples: list[Sample], start: int) -> None:
    """Danger halves both, soft pressure lets neither climb, and both stay in bounds."""
    climbers = [Climber(profile, start=start) for profile in BOTH]
    for one in samples:
        critical = (one.cpu or 0) >= 97 or (one.free_ram if one.free_ram is not None else 100) < 10
        critical = critical or (one.gpu_celsius or 0) >= 85
        pressed = (one.cpu or 0) >= 90 or (one.free_ram if one.free_ram is not None else 100) < 20
        pressed = pressed or (one.gpu_celsius or 0) >= 80
        for climber in climbers:
            before = climber.limit
            move = climber.take(one)
            assert (move is Move.BACK_OFF) == critical
            assert climber.limit == max(1, before // 2) if critical else not (pressed and climber.limit > before)
            assert 1 <= climber.limit <= 512


def test_nonsense_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match="does not hold"):
        Climber(CONSERVATIVE, start=0)
