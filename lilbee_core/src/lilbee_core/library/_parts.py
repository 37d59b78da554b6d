"""Builds each part of a library on first use, from its settings. The one place where features meet."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from lilbee_core.errors import EmbedderMismatch, LibraryError, ProviderError, SettingsError
from lilbee_core.events import EventSink, SafeSink
from lilbee_core.library._clock import SystemClock
from lilbee_core.library._home import Home
from lilbee_core.protocols import Chunker, Clock, EmbedderLike, StoreLike
from lilbee_core.settings import Settings, new_library_id
from lilbee_core.types import IndexMeta

if TYPE_CHECKING:
    from lilbee_core.analysis import Analyzer
    from lilbee_core.ingest import Ingestor, WalkOptions
    from lilbee_core.library._reading import Reader
    from lilbee_core.plugins import PluginHost
    from lilbee_core.protocols import ChatProvider, ModelRouter, RerankerLike
    from lilbee_core.store import Store

log = logging.getLogger(__name__)
T = TypeVar("T")
WORDS_ONLY_TOKENS = 256
"""What a chunk is cut for when there is no embedder yet, so that one can be added without cutting anew."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who makes the vectors; `fingerprint` is None while that is unknown."""

    model: str | None
    fingerprint: str | None
    dimension: int | None


class Parts:
    """Lazily built parts, owned and closed here. Threads may share it."""

    def __init__(
        self,
        home: Home,
        settings: Settings | None,
        *,
        env: Mapping[str, str] | None,
        overrides: Mapping[str, object] | None,
        plugins: Sequence[object],
        events: EventSink | None,
        embedder: EmbedderLike | None,
        chat: ChatProvider | None,
        clock: Clock | None,
    ) -> None:
        self.home = home
        self.clock: Clock = clock or SystemClock()
        self.events = SafeSink(events, self._emit)
        self._given_settings = settings
        self._env = env
        self._overrides = overrides
        self._plugins = plugins
        self._given_embedder = embedder
        self._given_chat = chat
        self._lock = threading.RLock()
        self._locks: dict[str, threading.RLock] = {}
        self._stack = ExitStack()
        self._built: dict[str, object] = {}
        self._closed = False

    # ------------------------------------------------------------------ life

    def close(self) -> None:
        """Close everything that was opened."""
        with self._lock:
            self._closed = True
            self._built.clear()
            self._stack.close()

    def reconfigure(self, settings: Settings | None = None) -> None:
        """Forget what depends on settings; the store stays open."""
        with self._lock:
            kept = {name: self._built[name] for name in ("store",) if name in self._built}
            self._built.clear()
            self._built.update(kept)
            if settings is not None:
                self._given_settings = settings

    def has(self, name: str) -> bool:
        """Whether a part was built already."""
        return name in self._built

    def once(self, name: str, build: Callable[[], T]) -> T:
        """Return the part called `name`, built now if it is new.

        Raises:
            LibraryError: If the library is closed.
        """
        # A lock per part, so that two parts can be built side by side.
        with self._lock:
            if self._closed:
                raise LibraryError(
                    "this library is closed", hint="Open it again with Lilbee(...).", code="library.closed"
                )
            if name in self._built:
                return cast("T", self._built[name])
            lock = self._locks.setdefault(name, threading.RLock())
        with lock:
            if name not in self._built:
                self._built[name] = build()
            return cast("T", self._built[name])

    def _emit(self, event: object) -> None:
        host = self._built.get("host")
        if host is not None:
            cast("PluginHost", host).emit(event)  # type: ignore[arg-type]

    # ------------------------------------------------------------------ parts

    @property
    def settings(self) -> Settings:
        """The merged settings."""
        return self.once("settings", self._load_settings)

    def _load_settings(self) -> Settings:
        if self._given_settings is not None:
            return self._given_settings
        return self.home.settings(self._env, self._overrides)

    @property
    def host(self) -> PluginHost:
        """The plugins: built-in, installed, given."""

        def build() -> PluginHost:
            from lilbee_core.builtins import plugin_host

            settings = self.settings
            return plugin_host(
                plugins=self._plugins,
                disabled=settings.plugins.plugins_disabled,
                strict=settings.plugins.plugins_strict,
                options=settings.plugin_options,
            )

        return self.once("host", build)

    @property
    def store(self) -> StoreLike:
        """The index."""

        def build() -> Store:
            from lilbee_core.store import Store

            self.home.check()
            options = self.settings.store
            return self._stack.enter_context(
                Store.open(
                    self.home.data_dir,
                    lock_timeout_s=options.lock_timeout_s,
                    vector_cache_mb=options.vector_cache_mb,
                    ann_index_threshold=options.ann_index_threshold,
                )
            )

        return self.once("store", build)

    @property
    def analyzer(self) -> Analyzer:
        """Turns text and queries into words."""

        def build() -> Analyzer:
            from lilbee_core.analysis import Analyzer

            return Analyzer()

        return self.once("analyzer", build)

    @property
    def router(self) -> ModelRouter:
        """Finds the provider of each role."""

        def build() -> ModelRouter:
            from lilbee_core.library._models import build_router

            router = build_router(self.settings, self.host, self.store.meta)
            self._stack.callback(router.close)
            return router

        return self.once("router", build)

    @property
    def embedder(self) -> EmbedderLike | None:
        """The embedder, or None for words only."""

        def build() -> EmbedderLike | None:
            if self._given_embedder is not None:
                return self._given_embedder
            return self.router.embedding()

        return self.once("embedder", build)

    @property
    def chat(self) -> ChatProvider | None:
        """The chat model, or None."""
        return self._given_chat if self._given_chat is not None else self.router.chat()

    @property
    def chat_model(self) -> str:
        """The name of the chat model, for answers to say who wrote them."""
        return "given" if self._given_chat is not None else self.settings.models.chat_model

    @property
    def reranker(self) -> RerankerLike | None:
        """The reranker, or None."""
        return self.router.reranker()

    @property
    def chunker(self) -> Chunker:
        """Cuts documents."""

        def build() -> Chunker:
            from lilbee_core.chunking import TokenChunker
            from lilbee_core.text import EstimatedTokens

            embedder, options = self.embedder, self.settings.chunks
            counter = embedder if embedder is not None else EstimatedTokens()
            limit = embedder.max_tokens if embedder is not None else WORDS_ONLY_TOKENS
            return TokenChunker(counter, chunk_size=options.chunk_size, overlap=options.chunk_overlap, max_tokens=limit)

        return self.once("chunker", build)

    @property
    def reader(self) -> Reader:
        """Reads files."""

        def build() -> Reader:
            from lilbee_core.library._reading import build_reader

            reader = build_reader(self.settings, self.host, self.cache_dir())
            self._stack.callback(reader.close)
            return reader

        return self.once("reader", build)

    @property
    def walk_options(self) -> WalkOptions:
        """What is left out of every collection."""
        from lilbee_core.ingest import WalkOptions

        options = self.settings.ingest
        return WalkOptions(
            default_ignores=options.default_ignores,
            use_gitignore=options.use_gitignore,
            ignore=options.ignore,
            max_bytes=options.max_file_mb * 1_000_000,
        )

    @property
    def ingestor(self) -> Ingestor:
        """Writes the index."""

        def build() -> Ingestor:
            from lilbee_core.chunking import embedding_input
            from lilbee_core.ingest import BatchLimits, Ingestor
            from lilbee_core.text import EstimatedTokens

            options = self.settings.ingest
            counter = self.embedder or EstimatedTokens()
            return Ingestor(
                self.store,
                self.reader,
                self.chunker,
                self.analyzer,
                self.embedder,
                embed_text=lambda chunk: embedding_input(chunk, counter),
                events=self.events,
                clock=self.clock,
                walk=self.walk_options,
                limits=BatchLimits(documents=options.batch_documents, seconds=options.batch_seconds),
                embed_batch_size=max(options.embed_batch_size, 256),
            )

        return self.once("ingestor", build)

    # ------------------------------------------------------------------ identity of the index

    def expected_meta(self, old: IndexMeta | None) -> IndexMeta:
        """Return what an index written with the present settings says of itself."""
        from lilbee_core import __version__
        from lilbee_core.store import SCHEMA

        options, identity = self.settings.chunks, self.identity(old)
        return IndexMeta(
            schema=SCHEMA,
            embedder=identity.model,
            fingerprint=identity.fingerprint,
            dimension=identity.dimension,
            chunk_size=options.chunk_size,
            chunk_overlap=options.chunk_overlap,
            chunking=self.chunker.fingerprint,
            analyzer=self.analyzer.version,
            library_id=old.library_id if old is not None else new_library_id(),
            created_at=old.created_at
            if old is not None
            else self.clock.now().astimezone(UTC).isoformat(timespec="seconds"),
            lilbee_version=__version__,
        )

    def identity(self, old: IndexMeta | None) -> Identity:
        """Return who makes the vectors. A server that is down now is taken to be the one the index knows."""
        embedder = self.embedder
        if embedder is None:
            return Identity(None, None, None)
        try:
            return Identity(embedder.model, embedder.fingerprint, embedder.dimension)
        except ProviderError as error:
            log.warning("the embedder cannot say who it is: %s", error)
            if old is not None and old.embedder == embedder.model:
                return Identity(old.embedder, old.fingerprint, old.dimension)
            return Identity(embedder.model, None, None)

    def check_embedder(self, meta: IndexMeta | None) -> None:
        """Refuse to mix the vectors of two models.

        Raises:
            EmbedderMismatch: If the configured embedder did not build this index.
        """
        if meta is None or meta.fingerprint is None or self.embedder is None:
            return
        now = self.identity(meta)
        if now.fingerprint == meta.fingerprint:
            return
        size = f" ({now.dimension} numbers)" if now.dimension else ""
        raise EmbedderMismatch(
            f"this index was built with {meta.embedder} ({meta.dimension} numbers), "
            f"but {now.model}{size} is configured",
            hint=(
                f"Go back with LILBEE_EMBEDDING_MODEL={meta.embedder}, or embed everything anew with `lilbee rebuild`. "
                "Word search works meanwhile: `lilbee search 'term: WORDS'`."
            ),
        )

    def check_chunking(self, meta: IndexMeta | None) -> None:
        """Refuse to mix two ways of cutting.

        Raises:
            SettingsError: If chunk size or overlap are not those of the index.
        """
        options = self.settings.chunks
        if meta is None or (meta.chunk_size, meta.chunk_overlap) == (options.chunk_size, options.chunk_overlap):
            return
        raise SettingsError(
            f"this index was cut with chunk_size {meta.chunk_size} and chunk_overlap {meta.chunk_overlap}, "
            f"but {options.chunk_size} and {options.chunk_overlap} are set",
            hint="Run `lilbee rebuild` to cut everything anew, or set the old values.",
            code="store.chunking_mismatch",
        )

    def cache_dir(self) -> Path:
        """The library's folder for things that can be made again."""
        return self.home.data_dir / "cache"
