"""State, clocks and executors that come with lilbee keep to the contracts."""

from __future__ import annotations

from pathlib import Path

import pytest

from lilbee_core.protocols import Clock, Executor, StateStore
from lilbee_core.search import InlineExecutor, SystemClock, ThreadExecutor
from lilbee_core.store import SqliteState
from lilbee_core.testing.contracts import ClockContract, ExecutorContract, StateContract


class TestSqliteState(StateContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path, request: pytest.FixtureRequest) -> None:
        self.place, self.made, self.closing = tmp_path, 0, request.addfinalizer

    def make(self) -> StateStore:
        self.made += 1
        state = SqliteState(self.place / str(self.made))
        self.closing(state.close)
        return state


class TestInlineExecutor(ExecutorContract):
    def make(self) -> Executor:
        return InlineExecutor()


class TestThreadExecutor(ExecutorContract):
    @pytest.fixture(autouse=True)
    def _closing(self, request: pytest.FixtureRequest) -> None:
        self.closing = request.addfinalizer

    def make(self) -> Executor:
        executor = ThreadExecutor()
        self.closing(executor.close)
        return executor


class TestSystemClock(ClockContract):
    def make(self) -> Clock:
        return SystemClock()
