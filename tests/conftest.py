"""What holds for every test: opt-in markers, a budget for tests not marked slow, and no deadlines for properties."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes depends on what else the machine does, so it says nothing about the code.
settings.register_profile("lilbee", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("lilbee")

OPT_IN = ("model", "gpu", "network", "bench")
# A second of work, two for the first import of a heavy library, which falls on whichever test comes first, and room for
# a machine whose cores are shared.
BUDGET_CPU_S = 8.0
# What `_yardstick_s` takes on the machine that the budget was set on, with nothing else running.
YARDSTICK_S = 0.065


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let other cases than our own be run: any folder with a cases.json of the same format."""
    parser.addoption("--cases-dir", metavar="DIR", help="folder with cases.json (or LILBEE_CASES_DIR)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out opt-in tests unless the marker expression names their marker.

    A default `-m` in the settings would do the same until somebody writes `-m "not slow"`, which replaces it.
    """
    named = set(re.findall(r"\w+", config.option.markexpr))
    left_out = {marker for marker in OPT_IN if marker not in named}
    dropped = [item for item in items if any(item.get_closest_marker(marker) for marker in left_out)]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        gone = set(dropped)
        items[:] = [item for item in items if item not in gone]


def _cpu_s() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _yardstick_s() -> float:
    """CPU seconds of a fixed piece of work: how slow this machine is at this moment."""
    before = time.process_time()
    sum(number % 7 for number in range(1_000_000))
    return time.process_time() - before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that works long without saying so.

    CPU time, since wall time depends on the neighbors; in units of a fixed piece of work that is timed right after the
    test, since CPU time depends on the processor, and on what shares its cores and caches.
    """
    before = _cpu_s()
    result = yield
    used = _cpu_s() - before
    marked = any(item.get_closest_marker(marker) for marker in ("slow", *OPT_IN))
    if not marked and used > BUDGET_CPU_S and used > BUDGET_CPU_S * _yardstick_s() / YARDSTICK_S:
        pytest.fail(f"used {used:.1f} s of CPU: mark it @pytest.mark.slow or make it faster", pytrace=False)
    return result
