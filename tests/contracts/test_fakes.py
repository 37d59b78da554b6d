"""Our own fakes keep to the contracts that they stand in for."""

from __future__ import annotations

from lilbee_core.protocols import Clock, EmbeddingProvider, Executor, Launcher, RerankProvider, StateStore
from lilbee_core.testing import (
    DirectExecutor,
    FakeLauncher,
    HashEmbedder,
    HashProvider,
    ManualClock,
    MemoryState,
    MemoryStore,
    ScriptedChat,
    ScriptedReranker,
)
from lilbee_core.testing.contracts import (
    ChatProviderContract,
    ClockContract,
    EmbedderContract,
    EmbeddingProviderContract,
    ExecutorContract,
    LauncherContract,
    RerankerContract,
    RerankProviderContract,
    StateContract,
    StoreContract,
)


class TestMemoryStore(StoreContract):
    def make(self) -> MemoryStore:
        return MemoryStore()


class TestMemoryState(StateContract):
    def make(self) -> StateStore:
        return MemoryState()


class TestHashEmbedder(EmbedderContract):
    def make(self) -> HashEmbedder:
        return HashEmbedder()


class TestHashProvider(EmbeddingProviderContract):
    def make(self) -> EmbeddingProvider:
        return HashProvider()


class TestScriptedChat(ChatProviderContract):
    def make(self) -> ScriptedChat:
        return ScriptedChat("Bees make honey.")


class TestScriptedReranker(RerankerContract):
    def make(self) -> ScriptedReranker:
        return ScriptedReranker()


class TestScriptedRerankProvider(RerankProviderContract):
    def make(self) -> RerankProvider:
        return ScriptedReranker()


class TestManualClock(ClockContract):
    def make(self) -> Clock:
        return ManualClock()


class TestDirectExecutor(ExecutorContract):
    def make(self) -> Executor:
        return DirectExecutor()


class TestFakeLauncher(LauncherContract):
    def make(self) -> Launcher:
        return FakeLauncher()
