"""One class of checks per seam. Inherit, give the part in `make`, and run the tests with any test runner.

    class TestDropShort(StageContract):
        def make(self):
            return DropShort(min_chars=20)

A check that cannot hold is marked as an expected failure, with its reason; none is skipped silently.
"""

from lilbee_core.testing.contracts._ledgers import LedgerContract, StateContract
from lilbee_core.testing.contracts._models import (
    ChatProviderContract,
    EmbedderContract,
    EmbeddingProviderContract,
    RerankerContract,
    RerankProviderContract,
    VisionProviderContract,
)
from lilbee_core.testing.contracts._plugins import PluginContract
from lilbee_core.testing.contracts._reading import ChunkerContract, ExtractorContract, FetcherContract, OcrContract
from lilbee_core.testing.contracts._running import ClockContract, ExecutorContract, LauncherContract
from lilbee_core.testing.contracts._stages import StageContract
from lilbee_core.testing.contracts._stores import StoreContract

SearchStageContract = StageContract

__all__ = [
    "ChatProviderContract", "ChunkerContract", "ClockContract", "EmbedderContract", "EmbeddingProviderContract",
    "ExecutorContract", "ExtractorContract", "FetcherContract", "LauncherContract", "LedgerContract", "OcrContract",
    "PluginContract", "RerankProviderContract", "RerankerContract", "SearchStageContract", "StageContract",
    "StateContract", "StoreContract", "VisionProviderContract",
]  # fmt: skip
