"""Frozen values that the parts of lilbee exchange. Standard library only."""

from lilbee_core.types._answers import (
    Answer,
    ChatOptions,
    Citation,
    Delta,
    Message,
    ModelDescription,
    ModelRef,
    Tool,
    ToolCall,
    Usage,
    Verdict,
    closable,
)
from lilbee_core.types._conversations import (
    AssembledRequest,
    Attachment,
    Background,
    Compaction,
    ConversationInfo,
    ConversationMessage,
    ReplyState,
)
from lilbee_core.types._documents import (
    Box,
    Chunk,
    ChunkId,
    Document,
    DocumentId,
    DocumentRow,
    DocumentState,
    FileStamp,
    Heading,
    Location,
    Passage,
    Segment,
    Source,
    Span,
    StoredText,
    Symbol,
    chunk_id,
    document_id,
)
from lilbee_core.types._fleet import (
    FLEET_ROLES,
    Device,
    FleetPlan,
    GgufFacts,
    MachineSnapshot,
    ModelFootprint,
    PlacedServer,
    Placement,
    PlanChange,
    Refusal,
    RolePlacement,
    ServerGroup,
)
from lilbee_core.types._knowledge import Community, Concept, PlannedPage, Relation, WikiPage, WikiPlan
from lilbee_core.types._metadata import Metadata, MetaValue
from lilbee_core.types._reports import (
    CollectionInfo,
    CrawlReport,
    FileProblem,
    IndexMeta,
    LibraryStatus,
    PageProblem,
    PathReport,
    StoreStats,
    SyncReport,
    VectorIndexReport,
    WebPage,
)
from lilbee_core.types._search import (
    Dropped,
    Filter,
    Hit,
    Part,
    Place,
    Query,
    Ranking,
    Scope,
    Scored,
    SearchResult,
    SearchState,
    StageReport,
    StateKey,
    Variant,
)
from lilbee_core.types._trace import DocumentTrace, Standing
from lilbee_core.types._vectors import Vector, Vectors

__all__ = [
    "FLEET_ROLES", "Answer", "AssembledRequest", "Attachment", "Background", "Box", "ChatOptions", "Chunk", "ChunkId",
    "Citation", "CollectionInfo", "Community", "Compaction", "Concept", "ConversationInfo", "ConversationMessage",
    "CrawlReport", "Delta", "Device", "Document", "DocumentId", "DocumentRow", "DocumentState", "DocumentTrace",
    "Dropped", "FileProblem", "FileStamp", "Filter", "FleetPlan", "GgufFacts", "Heading", "Hit", "IndexMeta",
    "LibraryStatus", "Location", "MachineSnapshot", "Message", "MetaValue", "Metadata", "ModelDescription",
    "ModelFootprint", "ModelRef", "PageProblem", "Part", "Passage", "PathReport", "Place", "PlacedServer",
    "Placement", "PlanChange", "PlannedPage", "Query", "Ranking", "Refusal", "Relation", "ReplyState",
    "RolePlacement", "Scope", "Scored", "SearchResult", "SearchState", "Segment", "ServerGroup", "Source", "Span",
    "StageReport", "Standing", "StateKey", "StoreStats", "StoredText", "Symbol", "SyncReport", "Tool", "ToolCall",
    "Usage", "Variant", "Vector", "VectorIndexReport", "Vectors", "Verdict", "WebPage", "WikiPage", "WikiPlan",
    "chunk_id", "closable", "document_id",
]  # fmt: skip
