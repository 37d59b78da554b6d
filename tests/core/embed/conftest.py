"""The built-in model, loaded once for all tests of this folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core.embed import MiniLM


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache folder that holds the built model after the first use."""
    return tmp_path_factory.mktemp("model-cache")


@pytest.fixture(scope="session")
def minilm(model_cache: Path) -> Iterator[MiniLM]:
    with MiniLM.load(cache_dir=model_cache, threads=2) as model:
        yield model


@pytest.fixture(scope="session")
def float32_vectors() -> dict[str, list[float]]:
    """Texts with their vectors, computed by numpy_minilm.py from the upstream float32 weights."""
    stored: dict[str, list[float]] = json.loads(
        (Path(__file__).parent / "data" / "minilm_float32.json").read_text(encoding="utf-8")
    )
    return stored
