from __future__ import annotations

from collections.abc import Iterator

import pytest

from lilbee_core.providers import OpenAIClient
from lilbee_core.testing import ManualClock
from tests.support.openai_fake import FakeOpenAI


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        yield fake


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def client(server: FakeOpenAI, clock: ManualClock) -> Iterator[OpenAIClient]:
    with OpenAIClient(server.url, api_key="secret-key", clock=clock, jitter=lambda: 0.5, name="Fake") as made:
        yield made
