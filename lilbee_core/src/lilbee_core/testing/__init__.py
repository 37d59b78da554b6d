"""For plugin authors and for lilbee itself: fakes, builders, contract suites, and a library to test with.

Public API. `lilbee_core.testing.contracts` has one class per seam; ``pytest_plugins =
["lilbee_core.testing.plugin"]`` adds fixtures.
"""

from __future__ import annotations

from lilbee_core.testing._library import open_test_library
from lilbee_core.testing.builders import (
    a_chunk,
    a_document,
    a_hit,
    a_row,
    a_source,
    a_state,
    an_indexed_document,
)
from lilbee_core.testing.fakes import (
    DirectExecutor,
    FakeLauncher,
    FakeProcess,
    HashEmbedder,
    HashProvider,
    ManualClock,
    MemoryGraph,
    MemoryState,
    MemoryStore,
    ReadContext,
    RecordingSink,
    ScriptedChat,
    ScriptedReranker,
    StageContext,
    Switch,
)

__all__ = [
    "DirectExecutor", "FakeLauncher", "FakeProcess", "HashEmbedder", "HashProvider", "ManualClock", "MemoryGraph",
    "MemoryState", "MemoryStore", "ReadContext", "RecordingSink", "ScriptedChat", "ScriptedReranker", "StageContext",
    "Switch", "a_chunk", "a_document", "a_hit", "a_row", "a_source", "a_state", "an_indexed_document",
    "open_test_library",
]  # fmt: skip
