"""Fakes: small, honest implementations of the protocols, for tests that need no disk, model, server or sleep."""

from lilbee_core.testing._edges import (
    DirectExecutor,
    FakeLauncher,
    FakeProcess,
    ManualClock,
    ReadContext,
    RecordingSink,
    StageContext,
    Switch,
)
from lilbee_core.testing._graph import MemoryGraph
from lilbee_core.testing._memory import MemoryState, MemoryStore
from lilbee_core.testing._models import (
    ChatRequest,
    HashEmbedder,
    HashProvider,
    Reply,
    ScriptedChat,
    ScriptedReranker,
    hash_vector,
    words_of,
)

__all__ = [
    "ChatRequest", "DirectExecutor", "FakeLauncher", "FakeProcess", "HashEmbedder", "HashProvider", "ManualClock",
    "MemoryGraph", "MemoryState", "MemoryStore", "ReadContext", "RecordingSink", "Reply", "ScriptedChat",
    "ScriptedReranker", "StageContext", "Switch", "hash_vector", "words_of",
]  # fmt: skip
