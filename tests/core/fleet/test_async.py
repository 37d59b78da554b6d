"""`AsyncLilbee.fleet`: the same names and arguments as `Fleet`, awaited (R091, R150)."""

from __future__ import annotations

import inspect
from pathlib import Path

import anyio
import pytest

from lilbee_core import AsyncLilbee
from lilbee_core.aio._fleet import AsyncFleet
from lilbee_core.errors import FleetError
from lilbee_core.fleet import Fleet

NAMES = [name for name in vars(AsyncFleet) if not name.startswith("_")]


@pytest.mark.parametrize("name", NAMES)
def test_the_mirror_has_the_same_arguments(name: str) -> None:
    own, mirrored = inspect.signature(getattr(Fleet, name)), inspect.signature(getattr(AsyncFleet, name))
    assert [(one.name, one.kind, one.default) for one in mirrored.parameters.values()] == [
        (one.name, one.kind, one.default) for one in own.parameters.values()
    ]


def test_it_can_be_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"LILBEE_{name}_DIR", str(tmp_path / name.lower()))

    async def look() -> None:
        overrides = {"llama_server_path": "/nowhere/llama-server", "embedding_model": "none"}
        async with AsyncLilbee(tmp_path, overrides=overrides) as bee:
            assert await bee.fleet.running() == ()
            assert await bee.fleet.status() == ()
            assert await bee.fleet.stop() == ()
            with pytest.raises(FleetError, match="nowhere"):
                await bee.fleet.engine()
            with pytest.raises(FleetError, match="nowhere"):
                await bee.fleet.wait_chat_ready()

    anyio.run(look)
