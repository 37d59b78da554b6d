"""Builds each part of a library on first use, from its settings. The one place where features meet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from lilbee_core.clock import SystemClock
from lilbee_core.errors import LibraryError, SettingsError, StoreError
from lilbee_core.events import EventSink, SafeSink
from lilbee_core.library._home import Home
from lilbee_core.protocols import Chunker, Clock, EmbedderLike, StateStore, StoreLike
from lilbee_core.settings import Settings
from lilbee_core.types import IndexMeta

if TYPE_CHECKING:
    from lilbee_core.analysis import Analyzer
    from lilbee_core.chat import WindowedChat
    from lilbee_core.chunking import TopicFinder
    from lilbee_core.crawl import Manifest
    from lilbee_core.fleet import Fleet
    from lilbee_core.ingest import Ingestor, Root, WalkOptions
    from lilbee_core.jobs import Jobs
    from lilbee_core.library._reading import Reader
    from lilbee_core.library._served import ServedContext
    from lilbee_core.plugins import PluginHost
    from lilbee_core.protocols import ChatProvider, ModelRouter, RerankerLike
    from lilbee_core.store import Store

T = TypeVar("T")


class Closes(Protocol):
    """Has something to let go of."""

    def close(self) -> None: ...


C = TypeVar("C", bound=Closes)
WORDS_ONLY_TOKENS = 256
"""What a chunk is cut for when there is no embedder yet, so that one can be added without cutting anew."""


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
        self._meta: tuple[int, IndexMeta | None] | None = None
        self._closed = False

    # ------------------------------------------------------------------ life

    def close(self) -> None:
        """Close everything that was opened; a job that runs ends at its next safe point before."""
        jobs = cast("Jobs | None", self._built.get("jobs"))
        if jobs is not None:
            jobs.close()
        with self._lock:
            self._closed = True
            self._built.clear()
            self._stack.close()

    def reconfigure(self, settings: Settings | None = None) -> None:
        """Use new settings, or those in the files as they are now; only what depends on a change is made anew.

        Raises:
            SettingsError: If they are not allowed; everything stays as it was then.
        """
        with self._lock:
            old = cast("Settings | None", self._built.get("settings"))
            if settings is not None:
                self._given_settings = settings
            new = self._load_settings()
            kept = _untouched(old, new) if old is not None else frozenset({"store", "jobs", "pages"})
            self._built = {name: part for name, part in self._built.items() if name in kept} | {"settings": new}
            fleet = cast("Fleet | None", self._built.get("fleet"))
            if fleet is not None and old is not None and (old.models, old.fleet) != (new.models, new.fleet):
                from lilbee_core.library._fleet import fleet_options, planner_of

                fleet.configure(planner_of(new, self._env), fleet_options(new))

    @property
    def given_settings(self) -> Settings | None:
        """The settings that the library was opened with; None where files and environment say."""
        return self._given_settings

    def is_given(self, part: str) -> bool:
        """Whether the ``embedder`` or the ``chat`` model came as an object of the caller's."""
        return {"embedder": self._given_embedder, "chat": self._given_chat}[part] is not None

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

    def owned(self, part: C) -> C:
        """Return the part, to be closed with the library."""
        with self._lock:
            self._stack.callback(part.close)
        return part

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
        return self._store

    @property
    def state(self) -> StateStore:
        """Small state beside the index, which no rebuild touches."""
        return self._store.state

    @property
    def _store(self) -> Store:
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

    def roots(self) -> list[Root]:
        """Return the folders to sync."""
        return self.home.roots(self.settings, "" if self.settings.collections else self.own_name)

    @property
    def own_name(self) -> str:
        """What the library's own folder is called as a collection where no settings say."""

        def build() -> str:
            from lilbee_core.library._own_folder import own_name

            return own_name(self.home, self.store, self.state)

        return self.once("own_name", build)

    def remember_own_name(self) -> None:
        """Keep what the library's own folder is called as a collection. Called under the writer lock."""
        from lilbee_core.library._own_folder import remember_own_name

        remember_own_name(self.home, self.roots(), self.state)

    def meta(self) -> IndexMeta | None:
        """Return what built the index; read once per version of the index."""
        store = self.store
        version = store.version
        known = self._meta
        if known is None or known[0] != version or version == 0:
            known = self._meta = (version, store.meta())
        return known[1]

    def known_meta(self) -> IndexMeta | None:
        """Return what built the index, None where that cannot be read."""
        try:
            return self.store.meta()
        except StoreError:
            return None

    @property
    def pages(self) -> Manifest:
        """What is known of the pages of the web that are kept."""

        def build() -> Manifest:
            from lilbee_core.crawl import Manifest

            return self.owned(Manifest(self.home.web_dir))

        return self.once("pages", build)

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

            return self.owned(build_router(self.settings, self.host, self.known_meta, fleet=lambda: self.fleet))

        return self.once("router", build)

    @property
    def fleet(self) -> Fleet:
        """The model servers that lilbee runs by itself; none is started before it is used."""

        def build() -> Fleet:
            from lilbee_core.library._fleet import build_fleet

            return self.owned(build_fleet(self.settings, events=self.events, clock=self.clock, env=self._env))

        return self.once("fleet", build)

    @property
    def embedder(self) -> EmbedderLike | None:
        """The embedder, or None for words only."""

        def build() -> EmbedderLike | None:
            if self._given_embedder is not None:
                return self._given_embedder
            return self.router.embedding()

        return self.once("embedder", build)

    @property
    def bare_chat(self) -> ChatProvider | None:
        """The chat model as its provider gives it, or None."""
        return self._given_chat if self._given_chat is not None else self.router.chat()

    @property
    def chat(self) -> ChatProvider | None:
        """The chat model, or None. Whatever it is asked fits what it reads."""
        chat = self.bare_chat
        return None if chat is None else self.windowed(chat)

    def windowed(self, chat: ChatProvider) -> WindowedChat:
        """Return a chat model that is asked no more than it reads."""
        from lilbee_core.chat import WindowedChat

        return WindowedChat(
            chat,
            context=self.served_context,
            default_context=self.served_context.default,
            reserve_tokens=self.settings.chat.chat_reserve_tokens,
        )

    @property
    def served_context(self) -> ServedContext:
        """Says how much the chat model reads."""
        from lilbee_core.library._served import ServedContext

        return self.once("served_context", lambda: ServedContext(self))

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
            return TokenChunker(
                counter,
                chunk_size=options.chunk_size,
                overlap=options.chunk_overlap,
                max_tokens=limit,
                topics=self._topics() if options.chunking == "semantic" else None,
            )

        return self.once("chunker", build)

    def _topics(self) -> TopicFinder:
        """Return what finds where topics change.

        Raises:
            SettingsError: If there is no embedder to ask.
        """
        from lilbee_core.chunking import TopicFinder

        embedder = self.embedder
        if embedder is None:
            raise SettingsError(
                "chunking is semantic, but there is no embedding model",
                hint="Set embedding_model, or chunking to tokens.",
            )
        return TopicFinder(
            embedder.embed_batch,
            model=embedder.model,
            percentile=self.settings.chunks.chunk_topic_percentile,
        )

    @property
    def reader(self) -> Reader:
        """Reads files."""

        def build() -> Reader:
            from lilbee_core.library._reading import build_reader

            return self.owned(
                build_reader(
                    self.settings,
                    self.host,
                    self.cache_dir(),
                    lambda: self.router,
                    fleet=lambda: self.fleet,
                    clock=self.clock,
                )
            )

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
            from lilbee_core.library._graphing import mentions_by
            from lilbee_core.library._waiting import reading_embedder
            from lilbee_core.text import EstimatedTokens

            options = self.settings.ingest
            counter = self.embedder or EstimatedTokens()
            return Ingestor(
                self.store,
                self.reader,
                self.chunker,
                self.analyzer,
                reading_embedder(self),
                embed_text=lambda chunk: embedding_input(chunk, counter),
                events=self.events,
                clock=self.clock,
                walk=self.walk_options,
                limits=BatchLimits(documents=options.batch_documents, seconds=options.batch_seconds),
                embed_batch_size=max(options.embed_batch_size, 256),
                mentions=mentions_by(self),
            )

        return self.once("ingestor", build)

    def cache_dir(self) -> Path:
        """The library's folder for things that can be made again."""
        return self.home.data_dir / "cache"


def _untouched(old: Settings, new: Settings) -> frozenset[str]:
    """Return the parts that do not depend on what differs."""
    kept = {"store", "analyzer", "jobs", "pages", "search_threads", "fleet"}
    if (old.plugins, old.plugin_options) == (new.plugins, new.plugin_options):
        kept.add("host")
        if (old.models.vision_model, old.ingest) == (new.models.vision_model, new.ingest):
            kept.add("reader")
        if (old.models, old.ingest) == (new.models, new.ingest):
            kept |= {"router", "embedder"}
        if "embedder" in kept and (old.chunks, old.concepts) == (new.chunks, new.concepts):
            kept |= {"chunker", "ingestor"}
    return frozenset(kept)
