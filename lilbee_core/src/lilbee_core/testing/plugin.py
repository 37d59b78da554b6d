"""Fixtures for pytest. Opt in with ``pytest_plugins = ["lilbee_core.testing.plugin"]`` in the top conftest.py."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from lilbee_core.testing._edges import ManualClock, RecordingSink
from lilbee_core.testing._library import open_test_library
from lilbee_core.testing._models import HashEmbedder

if TYPE_CHECKING:
    from lilbee_core.library import Lilbee

# Their plain asserts are told in full, as in a test module.
pytest.register_assert_rewrite("lilbee_core.testing.contracts")


@pytest.fixture
def manual_clock() -> ManualClock:
    """A clock that stands still until the test moves it."""
    return ManualClock()


@pytest.fixture
def recording_sink() -> RecordingSink:
    """A sink that keeps every event."""
    return RecordingSink()


@pytest.fixture
def hash_embedder() -> HashEmbedder:
    """An embedder without a model."""
    return HashEmbedder()


@pytest.fixture
def test_library() -> Generator[Callable[..., Lilbee]]:
    """A function like `open_test_library`, which closes what it opened when the test ends."""
    with ExitStack() as stack:

        def open_library(*arguments: Any, **options: Any) -> Lilbee:
            opened: AbstractContextManager[Lilbee] = open_test_library(*arguments, **options)
            return stack.enter_context(opened)

        yield open_library
