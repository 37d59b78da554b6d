"""The fakes fit the protocols that they stand in for. Read by mypy and pyright, never run."""

from __future__ import annotations

from lilbee_core.events import EventSink
from lilbee_core.protocols import (
    CancelToken,
    ChatProvider,
    Clock,
    ConceptGraphLike,
    EmbedderLike,
    EmbeddingProvider,
    Executor,
    ExtractContext,
    Launcher,
    ProcessHandle,
    RerankerLike,
    RerankProvider,
    SearchContext,
    StateStore,
    StoreLike,
)
from lilbee_core.testing import (
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


def conform(process: FakeProcess) -> None:
    store: StoreLike = MemoryStore()
    state: StateStore = MemoryState()
    embedder: EmbedderLike = HashEmbedder()
    provider: EmbeddingProvider = HashProvider()
    chat: ChatProvider = ScriptedChat()
    reranker: RerankerLike = ScriptedReranker()
    ranks: RerankProvider = ScriptedReranker()
    clock: Clock = ManualClock()
    executor: Executor = DirectExecutor()
    launcher: Launcher = FakeLauncher()
    handle: ProcessHandle = process
    sink: EventSink = RecordingSink()
    token: CancelToken = Switch()
    searching: SearchContext = StageContext()
    reading: ExtractContext = ReadContext()
    graph: ConceptGraphLike = MemoryGraph()
    del store, state, embedder, provider, chat, reranker, ranks, clock, executor, launcher, handle, sink, token
    del searching, reading, graph
