"""What plugins return from their hooks: frozen records that know how to build a thing.

Registration touches no network, disk, thread or model; `build` does, when the thing is first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lilbee_core.protocols import (
    Chunker,
    ChunkReader,
    ConceptReader,
    EmbedderLike,
    Extractor,
    Fetcher,
    ModelRouter,
    OcrEngine,
    RerankerLike,
    SearchStage,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

HOOK_API = "1"
"""The version of the hooks; a plugin that asks for another one is refused with a report."""

Options = Mapping[str, Any]
"""Options of a plugin as read from ``[plugins.<name>]``, validated by its options model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSpec:
    """Who a plugin is. Its parts carry names that start with `name` and a hyphen."""

    name: str
    version: str
    api: str = HOOK_API
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLimits:
    """How many files one archive or mail may hold, how much they and each may unpack to, and how deep they may lie."""

    members: int = 5_000
    unpacked_bytes: int = 400_000_000
    member_bytes: int = 128_000_000
    depth: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractServices:
    """What an extractor may use while it is built. It runs in a worker process."""

    cache_dir: str | None = None
    limits: MemberLimits = MemberLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class StageServices:
    """What a search stage may use: narrow protocols, never the library itself."""

    reader: ChunkReader
    embedder: EmbedderLike | None = None
    reranker: RerankerLike | None = None
    router: ModelRouter | None = None
    concepts: ConceptReader | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderServices:
    """What a provider may use: where its server is, its key, how long to wait, and its plugin's options."""

    base_url: str = ""
    api_key: str = ""
    request_timeout_s: float = 120.0
    connect_timeout_s: float = 5.0
    retries: int = 2
    options: Options = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractorSpec:
    """An extractor for media types (``text/*`` patterns allowed) and file name endings (``.xyz``).

    The best match wins: exact type before pattern, then higher `priority`, then name.
    """

    name: str
    media_types: tuple[str, ...]
    build: Callable[[Options, ExtractServices], Extractor]
    suffixes: tuple[str, ...] = ()
    priority: int = 0
    options: type[BaseModel] | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkerSpec:
    """A chunker for media types."""

    name: str
    media_types: tuple[str, ...]
    build: Callable[[Options], Chunker]
    priority: int = 0
    options: type[BaseModel] | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSpec:
    """A provider of models. `prefix` is what its references start with (``ollama`` in ``ollama/qwen3``).

    `build` gets the model's name, the role and the services, and returns an `EmbeddingProvider`,
    `RerankProvider`, `ChatProvider` or `VisionProvider`. Where its models run `in_process`, a search waits for them as
    long as they take; a server gets the time that the settings allow.
    """

    name: str
    prefix: str
    roles: frozenset[str]
    build: Callable[[str, str, ProviderServices], object]
    options: type[BaseModel] | None = None
    summary: str = ""
    in_process: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlace:
    """Where a stage belongs: ``before``, ``after`` or ``replaces`` a named stage."""

    relation: str
    stage: str


def before(stage: str) -> StagePlace:
    """Place a stage right before the named one."""
    return StagePlace(relation="before", stage=stage)


def after(stage: str) -> StagePlace:
    """Place a stage right after the named one."""
    return StagePlace(relation="after", stage=stage)


def replaces(stage: str) -> StagePlace:
    """Put a stage in the place of the named one."""
    return StagePlace(relation="replaces", stage=stage)


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSpec:
    """A search stage. It runs once ``search_stages`` names it, or its plugin is passed to `Lilbee`."""

    name: str
    place: StagePlace
    build: Callable[[Options, StageServices], SearchStage]
    options: type[BaseModel] | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetcherSpec:
    """A fetcher of web pages."""

    name: str
    build: Callable[[Options], Fetcher]
    priority: int = 0
    options: type[BaseModel] | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OcrSpec:
    """An engine that recognizes text on page images."""

    name: str
    build: Callable[[Options], OcrEngine]
    priority: int = 0
    options: type[BaseModel] | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginFailure:
    """Why a plugin, or a part of it, is not in use."""

    plugin: str
    message: str
    hint: str = ""
    part: str = ""

    def to_dict(self) -> dict[str, object]:
        return {"plugin": self.plugin, "part": self.part, "message": self.message, "hint": self.hint}


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginReport:
    """A plugin that was found: what it offers, and what is wrong with it."""

    name: str
    version: str
    summary: str = ""
    parts: tuple[str, ...] = ()
    enabled: bool = True
    builtin: bool = False
    failures: tuple[PluginFailure, ...] = field(default=())

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "version": self.version,
            "summary": self.summary,
            "parts": list(self.parts),
            "enabled": self.enabled,
            "builtin": self.builtin,
            "failures": [one.to_dict() for one in self.failures],
        }
