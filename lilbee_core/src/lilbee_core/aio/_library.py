"""`AsyncLilbee`, verb by verb."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lilbee_core.aio._concepts import AsyncConcepts, AsyncWiki
from lilbee_core.aio._fleet import AsyncFleet
from lilbee_core.aio._inference import AsyncInference
from lilbee_core.aio._models import AsyncEmbedding, AsyncModels, AsyncPlacing
from lilbee_core.aio._nouns import (
    AsyncCollections,
    AsyncConfig,
    AsyncDoctor,
    AsyncEvaluation,
    AsyncJob,
    AsyncJobs,
    AsyncWeb,
)
from lilbee_core.aio._talk import AsyncConversations, AsyncPrompts, AsyncShelf
from lilbee_core.aio._threads import Threads
from lilbee_core.aio._tokens import AsyncTokens
from lilbee_core.arguments import checked
from lilbee_core.library import Lilbee
from lilbee_core.types import (
    Answer,
    Delta,
    Document,
    DocumentRow,
    DocumentTrace,
    Filter,
    LibraryStatus,
    PagePicture,
    Passage,
    PathReport,
    Query,
    Scope,
    SearchResult,
    SyncReport,
    VectorIndexReport,
)

if TYPE_CHECKING:
    from lilbee_core.library import Place
    from lilbee_core.plugins.specs import PluginReport
    from lilbee_core.protocols import CancelToken
    from lilbee_core.settings import Settings


@checked
class AsyncLilbee:
    """Mirrors `Lilbee` on both levels: verbs are coroutines, iterators are async, nouns are mirrored too.

    Every call runs in a worker thread under the library's own limiter, so it works in notebooks and
    servers alike. Cancelling a `sync`, `add` or `rebuild` ends it at a batch edge.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        settings: Settings | None = None,
        *,
        threads: int = 8,
        **options: Any,
    ) -> None:
        self._bee = Lilbee(path, settings, **options)
        self._threads = Threads(threads)

    async def __aenter__(self) -> AsyncLilbee:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def root(self) -> Path | None:
        """See `Lilbee.root`."""
        return self._bee.root

    @property
    def data_dir(self) -> Path:
        """See `Lilbee.data_dir`."""
        return self._bee.data_dir

    @property
    def settings(self) -> Settings:
        """See `Lilbee.settings`."""
        return self._bee.settings

    @property
    def collections(self) -> AsyncCollections:
        """See `Lilbee.collections`."""
        return AsyncCollections(self._bee.collections, self._threads)

    @property
    def web(self) -> AsyncWeb:
        """See `Lilbee.web`."""
        return AsyncWeb(self._bee.web, self._threads)

    @property
    def config(self) -> AsyncConfig:
        """See `Lilbee.config`."""
        return AsyncConfig(self._bee.config, self._threads)

    @property
    def doctor(self) -> AsyncDoctor:
        """See `Lilbee.doctor`."""
        return AsyncDoctor(self._bee, self._threads)

    @property
    def models(self) -> AsyncModels:
        """See `Lilbee.models`."""
        return AsyncModels(self._bee.models, self._threads)

    @property
    def embedding(self) -> AsyncEmbedding:
        """See `Lilbee.embedding`."""
        return AsyncEmbedding(self._bee.embedding, self._threads)

    @property
    def placement(self) -> AsyncPlacing:
        """See `Lilbee.placement`."""
        return AsyncPlacing(self._bee.placement, self._threads)

    @property
    def tokens(self) -> AsyncTokens:
        """See `Lilbee.tokens`."""
        return AsyncTokens(self._bee.tokens, self._threads)

    @property
    def inference(self) -> AsyncInference:
        """See `Lilbee.inference`."""
        return AsyncInference(self._bee.inference, self._threads)

    @property
    def fleet(self) -> AsyncFleet:
        """See `Lilbee.fleet`."""
        return AsyncFleet(self._bee.fleet, self._threads)

    @property
    def concepts(self) -> AsyncConcepts:
        """See `Lilbee.concepts`."""
        return AsyncConcepts(self._bee.concepts, self._threads)

    @property
    def wiki(self) -> AsyncWiki:
        """See `Lilbee.wiki`."""
        return AsyncWiki(self._bee.wiki, self._threads)

    @property
    def jobs(self) -> AsyncJobs:
        """See `Lilbee.jobs`."""
        return AsyncJobs(lambda: self._bee.jobs, self._threads)

    @property
    def evaluation(self) -> AsyncEvaluation:
        """See `Lilbee.evaluation`."""
        return AsyncEvaluation(self._bee, self._threads)

    @property
    def conversations(self) -> AsyncConversations:
        """See `Lilbee.conversations`."""
        return AsyncConversations(self._bee, self._threads)

    @property
    def prompts(self) -> AsyncPrompts:
        """See `Lilbee.prompts`."""
        return AsyncPrompts(self._bee.prompts, self._threads)

    @property
    def notes(self) -> AsyncShelf:
        """See `Lilbee.notes`."""
        return AsyncShelf(self._bee.notes, self._threads)

    @property
    def facts(self) -> AsyncShelf:
        """See `Lilbee.facts`."""
        return AsyncShelf(self._bee.facts, self._threads)

    @property
    def skills(self) -> AsyncShelf:
        """See `Lilbee.skills`."""
        return AsyncShelf(self._bee.skills, self._threads)

    @property
    def plugins(self) -> tuple[PluginReport, ...]:
        """See `Lilbee.plugins`."""
        return self._bee.plugins

    async def close(self) -> None:
        """See `Lilbee.close`."""
        await self._threads.run(self._bee.close)

    async def init(self) -> str:
        """See `Lilbee.init`."""
        return await self._threads.run(self._bee.init)

    async def trust(self) -> str:
        """See `Lilbee.trust`."""
        return await self._threads.run(self._bee.trust)

    async def sync(
        self,
        *,
        prune: bool = False,
        dry_run: bool = False,
        retry: bool = False,
        collections: Sequence[str] = (),
        cancel: CancelToken | None = None,
    ) -> SyncReport:
        """See `Lilbee.sync`."""

        def work(token: CancelToken) -> SyncReport:
            return self._bee.sync(prune=prune, dry_run=dry_run, retry=retry, collections=collections, cancel=token)

        return await self._threads.run_cancellable(work, cancel)

    async def watch(self, *, collections: Sequence[str] = ()) -> AsyncJob:
        """See `Lilbee.watch`."""
        return AsyncJob(await self._threads.run(lambda: self._bee.watch(collections=collections)), self._threads)

    async def add(self, *paths: str | Path, cancel: CancelToken | None = None) -> SyncReport:
        """See `Lilbee.add`."""
        return await self._threads.run_cancellable(lambda token: self._bee.add(*paths, cancel=token), cancel)

    async def add_documents(self, documents: Iterable[Document], *, cancel: CancelToken | None = None) -> SyncReport:
        """See `Lilbee.add_documents`."""

        def work(token: CancelToken) -> SyncReport:
            return self._bee.add_documents(documents, cancel=token)

        return await self._threads.run_cancellable(work, cancel)

    async def remove(self, *refs: str) -> tuple[str, ...]:
        """See `Lilbee.remove`."""
        return await self._threads.run(lambda: self._bee.remove(*refs))

    async def rebuild(self, *, cancel: CancelToken | None = None) -> SyncReport:
        """See `Lilbee.rebuild`."""
        return await self._threads.run_cancellable(lambda token: self._bee.rebuild(cancel=token), cancel)

    async def optimize(self) -> tuple[str, ...]:
        """See `Lilbee.optimize`."""
        return await self._threads.run(self._bee.optimize)

    async def index(self) -> VectorIndexReport:
        """See `Lilbee.index`."""
        return await self._threads.run(self._bee.index)

    async def search(
        self,
        query: str | Query,
        *,
        top_k: int | None = None,
        profile: str | None = None,
        filters: Filter | None = None,
        scope: Scope | str = Scope.RAW,
        diversify: bool = True,
    ) -> SearchResult:
        """See `Lilbee.search`."""
        return await self._threads.run(
            lambda: self._bee.search(
                query, top_k=top_k, profile=profile, filters=filters, scope=scope, diversify=diversify
            )
        )

    async def ask(
        self,
        question: str,
        *,
        top_k: int | None = None,
        profile: str | None = None,
        filters: Filter | None = None,
        scope: Scope | str = Scope.RAW,
    ) -> Answer:
        """See `Lilbee.ask`."""
        return await self._threads.run(
            lambda: self._bee.ask(question, top_k=top_k, profile=profile, filters=filters, scope=scope)
        )

    def ask_stream(
        self,
        question: str,
        *,
        top_k: int | None = None,
        profile: str | None = None,
        filters: Filter | None = None,
        scope: Scope | str = Scope.RAW,
    ) -> AsyncIterator[Delta]:
        """See `Lilbee.ask_stream`."""
        return self._threads.iterate(
            lambda: self._bee.ask_stream(question, top_k=top_k, profile=profile, filters=filters, scope=scope)
        )

    def documents(self, *, collection: str | None = None, state: str | None = None) -> AsyncIterator[DocumentRow]:
        """See `Lilbee.documents`."""
        return self._threads.iterate(lambda: self._bee.documents(collection=collection, state=state))

    async def document(self, ref: str) -> DocumentRow:
        """See `Lilbee.document`."""
        return await self._threads.run(lambda: self._bee.document(ref))

    async def get_picture(self, ref: str, page: int = 1, *, dpi: int = 110) -> PagePicture:
        """See `Lilbee.get_picture`."""
        return await self._threads.run(lambda: self._bee.get_picture(ref, page, dpi=dpi))

    async def get_text(self, ref: str, place: Place = None, *, around: int = 0) -> Passage:
        """See `Lilbee.get_text`."""
        return await self._threads.run(lambda: self._bee.get_text(ref, place, around=around))

    async def status(self) -> LibraryStatus:
        """See `Lilbee.status`."""
        return await self._threads.run(self._bee.status)

    async def explain_path(self, path: str | Path) -> PathReport:
        """See `Lilbee.explain_path`."""
        return await self._threads.run(lambda: self._bee.explain_path(path))

    async def explain_document(
        self,
        ref: str,
        query: str | Query,
        *,
        top_k: int | None = None,
        profile: str | None = None,
        filters: Filter | None = None,
        scope: Scope | str = Scope.RAW,
    ) -> DocumentTrace:
        """See `Lilbee.explain_document`."""
        return await self._threads.run(
            lambda: self._bee.explain_document(ref, query, top_k=top_k, profile=profile, filters=filters, scope=scope)
        )
