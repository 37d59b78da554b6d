"""The embedder and the built-in model keep to the contracts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core.embed import Embedder, MiniLM
from lilbee_core.protocols import EmbedderLike, EmbeddingProvider
from lilbee_core.testing import HashProvider
from lilbee_core.testing.contracts import EmbedderContract, EmbeddingProviderContract


@pytest.fixture(scope="module")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("model")


class TestEmbedder(EmbedderContract):
    def make(self) -> EmbedderLike:
        return Embedder(HashProvider(), model="fake/hash", batch_size=3)


class TestEmbedderWithThreads(EmbedderContract):
    def make(self) -> EmbedderLike:
        return Embedder(HashProvider(), model="fake/e5-small", batch_size=2, concurrency=3, dimension=64)


@pytest.mark.slow
class TestMiniLM(EmbeddingProviderContract):
    @pytest.fixture(autouse=True)
    def _load(self, model_cache: Path) -> Iterator[None]:
        with MiniLM.load(cache_dir=model_cache, threads=2) as self.model:
            yield

    def make(self) -> EmbeddingProvider:
        return self.model


@pytest.mark.slow
class TestEmbedderOfMiniLM(EmbedderContract):
    @pytest.fixture(autouse=True)
    def _load(self, model_cache: Path) -> Iterator[None]:
        with MiniLM.load(cache_dir=model_cache, threads=2) as self.model:
            yield

    def make(self) -> EmbedderLike:
        return Embedder(self.model, model="builtin/all-MiniLM-L6-v2")
