"""Every seam of the system. No implementations, no defaults.

Constructors ask for these protocols, never for the concrete classes, and implementations do not
inherit from them. `lilbee_core.testing.contracts` holds one public suite per seam.
"""

from lilbee_core.protocols._edges import CancelToken, Clock, Executor
from lilbee_core.protocols._knowledge import (
    Answerer,
    ConceptExtractor,
    ConceptGraphLike,
    ConceptStore,
    LibraryConcepts,
    WikiBuilderLike,
)
from lilbee_core.protocols._models import (
    ChatProvider,
    EmbedderLike,
    EmbeddingProvider,
    ModelRouter,
    RerankerLike,
    RerankProvider,
    TokenEmbedder,
    VisionProvider,
)
from lilbee_core.protocols._processes import Endpoint, FleetLike, Launch, Launcher, ProcessHandle
from lilbee_core.protocols._reading import (
    Chunker,
    DocumentReader,
    ExtractContext,
    Extractor,
    Fetched,
    Fetcher,
    OcrEngine,
    OcrPage,
    Renderer,
    Revalidating,
    StreamingChunker,
    TokenCounter,
)
from lilbee_core.protocols._search import ANALYZED, QueryAnalyzer, SearchContext, SearcherLike, SearchStage
from lilbee_core.protocols._store import (
    ChunkReader,
    ChunkWriter,
    IndexedDocument,
    Ledger,
    Owed,
    StagedDocument,
    StateStore,
    StoreLike,
    Upkeep,
)

__all__ = [
    "ANALYZED",
    "Answerer",
    "CancelToken",
    "ChatProvider",
    "ChunkReader",
    "ChunkWriter",
    "Chunker",
    "Clock",
    "ConceptExtractor",
    "ConceptGraphLike",
    "ConceptStore",
    "DocumentReader",
    "EmbedderLike",
    "EmbeddingProvider",
    "Endpoint",
    "Executor",
    "ExtractContext",
    "Extractor",
    "Fetched",
    "Fetcher",
    "FleetLike",
    "IndexedDocument",
    "Launch",
    "Launcher",
    "Ledger",
    "LibraryConcepts",
    "ModelRouter",
    "OcrEngine",
    "OcrPage",
    "Owed",
    "ProcessHandle",
    "QueryAnalyzer",
    "Renderer",
    "RerankProvider",
    "RerankerLike",
    "Revalidating",
    "SearchContext",
    "SearchStage",
    "SearcherLike",
    "StagedDocument",
    "StateStore",
    "StoreLike",
    "StreamingChunker",
    "TokenCounter",
    "TokenEmbedder",
    "Upkeep",
    "VisionProvider",
    "WikiBuilderLike",
]
