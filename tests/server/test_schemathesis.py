"""Requests made from the OpenAPI document, right and wrong: no fault of ours, no answer that it does not describe.

By default each route gets a few requests, always the same ones. `nox -s fuzz_server` sends many, others each time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder, ScriptedChat
from lilbee_server.app import create_app
from tests.server.conftest import TOKEN, serving
from tests.support.llama_server import write_engine
from tests.support.model_hub import FakeHub

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
load_all_checks()
LEFT_OUT = [
    # What is right by its schema may still name what is not there, or be too much.
    CHECKS.get_one("positive_data_acceptance"),
    # Sends requests without a token, which other tests do for every route.
    CHECKS.get_one("ignored_auth"),
]
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    home = tmp_path_factory.mktemp("fuzzed")
    root = home / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    with ExitStack() as stack:
        environment = stack.enter_context(pytest.MonkeyPatch.context())
        for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "LILBEE_CONFIG_DIR"):
            environment.setenv(name, str(home))
        hub = stack.enter_context(FakeHub(repositories={"org/tiny": {"tiny-Q4_K_M.gguf": b"GGUF"}}))
        overrides: dict[str, object] = {
            "requests_per_minute": 0,
            "upload_max_mb": 1,
            "hub_url": hub.url,
            "models_dir": str(home / "models"),
            # What the machine lacks is answered by 503; here it lacks nothing.
            "llama_server_path": str(write_engine(home / "bin")),
        }
        chat = ScriptedChat("The queen lays eggs in spring [1].")
        bee = stack.enter_context(Lilbee(root, embedder=HashEmbedder(), chat=chat, overrides=overrides))
        bee.sync()
        address = stack.enter_context(serving(create_app(bee, token=TOKEN)))
        yield schemathesis.openapi.from_url(f"{address}/schema/openapi.json", headers=HEADERS)


@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["right", "wrong"])
def test_every_answer_is_as_described(schema: Any, mode: GenerationMode) -> None:
    failures: list[str] = []
    asked = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        takes = bool(operation.body or operation.query or operation.path_parameters)
        if mode is GenerationMode.NEGATIVE and not takes:
            continue
        try:
            asked += ask(operation, mode, examples=(EXAMPLES or 4) if takes else 1)
        except Exception as failure:  # noqa: BLE001 - all routes are told of together
            told = "\n".join(str(one) for one in getattr(failure, "exceptions", [failure]))
            failures.append(f"{operation.label}: {told}")
    assert not failures, "\n\n".join(failures)
    assert asked > 100


def ask(operation: Any, mode: GenerationMode, *, examples: int) -> int:
    """Send requests to a route and check the answers; returns how many there were."""
    count = 0

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=not EXAMPLES,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def run(case: Any) -> None:
        nonlocal count
        count += 1
        case.call_and_validate(headers=HEADERS, excluded_checks=LEFT_OUT)

    run()
    return count
