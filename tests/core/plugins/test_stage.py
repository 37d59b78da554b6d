"""A plugin's stage answers for itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lilbee_core.errors import Cancelled, ProviderUnavailable, StageError
from lilbee_core.plugins import PluginStage
from lilbee_core.protocols import SearchStage
from lilbee_core.testing import StageContext, Switch, a_hit, a_state
from lilbee_core.testing.contracts import StageContract
from lilbee_core.types import Part, SearchState


class Acts:
    """A stage that does what the test says."""

    name = "acme-stage"
    reads = writes = frozenset({Part.HITS})

    def __init__(self, act: Any) -> None:
        self.act = act

    def run(self, state: SearchState, context: Any) -> Any:
        return self.act(state, context)


class TestPluginStage(StageContract):
    def make(self) -> SearchStage:
        return PluginStage(Acts(lambda state, context: replace(state, hits=state.hits[:1])), "acme")


def run(act: Any, context: StageContext | None = None) -> SearchState:
    return PluginStage(Acts(act), "acme").run(a_state(a_hit()), context or StageContext())


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("no luck"), "RuntimeError: no luck"),
        (SystemExit(3), "SystemExit: 3"),
        (ProviderUnavailable("the server is down", hint="Start it."), "the server is down"),
    ],
)
def test_what_it_raises_names_the_plugin(error: BaseException, told: str) -> None:
    def act(state: SearchState, context: Any) -> SearchState:
        raise error

    with pytest.raises(StageError) as raised:
        run(act)
    assert raised.value.message == f"the stage acme-stage of the plugin acme failed: {told}"
    assert "search_stages" in raised.value.hint
    assert raised.value.__cause__ is error


def test_what_it_returns_must_be_a_state() -> None:
    with pytest.raises(StageError, match="returned NoneType instead of a SearchState"):
        run(lambda state, context: None)


def test_a_wish_to_stop_is_no_failure() -> None:
    with pytest.raises(Cancelled):
        run(lambda state, context: context.check(), StageContext(switch=Switch(after=0)))
