"""`Lilbee`: a folder of documents, indexed in place, searched and asked. Wires, owns and closes; no algorithm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.arguments import checked, each
from lilbee_core.errors import InvalidArgument
from lilbee_core.events import EventSink
from lilbee_core.library._addresses import addressed
from lilbee_core.library._asked import asked
from lilbee_core.library._collections import Collections
from lilbee_core.library._config import Config
from lilbee_core.library._home import Home
from lilbee_core.library._interrupts import interruptible
from lilbee_core.library._narrowing import check_collections
from lilbee_core.library._nouns import ModelNouns
from lilbee_core.library._parts import Parts
from lilbee_core.library._status import library_status
from lilbee_core.library._texts import Place, find, passage, require, trace_of
from lilbee_core.protocols import CancelToken, ChatProvider, Clock, EmbedderLike
from lilbee_core.settings import Settings
from lilbee_core.types import (
    WIKI,
    Answer,
    Delta,
    Document,
    DocumentRow,
    DocumentState,
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
    from lilbee_core.conversations import Conversations
    from lilbee_core.doctor import Doctor
    from lilbee_core.evaluation import Evaluation
    from lilbee_core.jobs import Job, Jobs
    from lilbee_core.library._concepts import Concepts
    from lilbee_core.library._web import Web
    from lilbee_core.library._wiki import Wiki
    from lilbee_core.plugins.specs import PluginReport


@checked
class Lilbee(ModelNouns):
    """A library: documents in folders, their index, and what can be asked of it.

    ``Lilbee("./docs")`` is the folder ``./docs`` as collection ``docs``, indexed in place, with its data
    in ``./docs/.lilbee/``. Constructing it touches no disk; use it as a context manager, or call `close`.
    Threads may share it.

    Args:
        path: The folder of the documents; None is the user's own library without a folder.
        settings: Complete settings. Without them they are merged from files and environment on first use.
        data_dir: Where index and state lie, if not in the folder itself.
        plugins: Plugin objects to use beside the installed ones; their search stages are active.
        events: Called with each event of long work.
        embedder: An embedder to use instead of the configured one.
        chat: A chat model to use instead of the configured one.
        clock: Time, for tests.
        overrides: Single settings by flat name, on top of all layers.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        settings: Settings | None = None,
        *,
        data_dir: str | Path | None = None,
        plugins: Sequence[object] = (),
        events: EventSink | None = None,
        embedder: EmbedderLike | None = None,
        chat: ChatProvider | None = None,
        clock: Clock | None = None,
        overrides: dict[str, object] | None = None,
    ) -> None:
        self._parts = Parts(
            Home.of(path, data_dir), settings, env=None, overrides=overrides, plugins=plugins, events=events,
            embedder=embedder, chat=chat, clock=clock,
        )  # fmt: skip

    # ------------------------------------------------------------------ life

    def __enter__(self) -> Lilbee:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the index and everything that was started. Using the library afterwards raises `LibraryError`."""
        self._parts.close()

    def __repr__(self) -> str:
        home = self._parts.home
        return f"Lilbee({str(home.root or home.data_dir)!r})"

    @property
    def root(self) -> Path | None:
        """The library's folder."""
        return self._parts.home.root

    @property
    def data_dir(self) -> Path:
        """Where index and state lie."""
        return self._parts.home.data_dir

    @property
    def settings(self) -> Settings:
        """The merged settings."""
        return self._parts.settings

    # ------------------------------------------------------------------ writing

    def init(self) -> str:
        """Create the data folder, record the library as the user's own, and return its id."""
        return self._parts.home.claim()

    def trust(self) -> str:
        """Let a library that was copied, moved or downloaded use its gated settings."""
        library_id = self._parts.home.claim()
        self._parts.reconfigure()
        return library_id

    def sync(
        self,
        *,
        prune: bool = False,
        dry_run: bool = False,
        retry: bool = False,
        collections: Sequence[str] = (),
        cancel: CancelToken | None = None,
    ) -> SyncReport:
        """Make the index equal to the folders: read what is new or changed, drop what is gone.

        Args:
            prune: Also drop the documents of a folder that is suddenly empty.
            dry_run: Only say what would be done.
            retry: Try files again that failed before.
            collections: Sync only these.
            cancel: Ends the sync at a batch edge; the report then says ``cancelled``.

        Raises:
            SourceUnavailable: If no folder at all can be read.
            EmbedderMismatch: If another embedder built the index.
            StoreLocked: If another process writes for too long.
        """
        from lilbee_core.library._syncing import SyncRequest, run_sync

        request = SyncRequest(prune=prune, dry_run=dry_run, retry=retry, collections=tuple(collections))
        with interruptible(cancel) as token:
            return run_sync(self._parts, request, token)

    def watch(self, *, collections: Sequence[str] = ()) -> Job:
        """Keep the index equal to the folders from now on: a job that syncs now, and then whatever changes.

        It returns at once, and watches until it is cancelled (``job.cancel()``) or the library is closed. One that
        watches the same already is returned instead.

        Raises:
            NotFound: If there is no such collection.
        """
        from lilbee_core.library._watching import start_watch

        return start_watch(self.jobs, self._parts, collections)

    def add(self, *paths: str | Path, cancel: CancelToken | None = None) -> SyncReport:
        """Index files and folders where they are, and pages of the web (``https://…``). No file is copied.

        A path inside a collection is synced (and taken back if it was removed); a folder outside becomes
        a collection, a file outside a collection of one file. A page is kept in the library's own folder ``web/``.

        Raises:
            NotFound: If a path does not exist.
            CrawlError: If a page cannot be had; then nothing was indexed.
        """
        if not paths:
            raise InvalidArgument("nothing to add", hint="Name files, folders or pages of the web.")
        from lilbee_core.library._crawling import run_add_all

        with interruptible(cancel) as token:
            return run_add_all(self._parts, paths, token)

    def add_documents(self, documents: Iterable[Document], *, cancel: CancelToken | None = None) -> SyncReport:
        """Index documents from memory. The iterable is streamed; equal collection and path replace.

        A `Document` needs a `path` (its name) and a `text`.
        """
        from lilbee_core.library._syncing import run_add_documents

        with interruptible(cancel) as token:
            return run_add_documents(self._parts, each(documents, Document, "documents"), token)

    def remove(self, *refs: str) -> tuple[str, ...]:
        """Take documents out of the index and keep them out until `add` brings them back.

        Each ref is a document id, ``collection/path``, a unique path, or a folder. Files on disk stay. New files in a
        folder that was removed stay out too; of a whole collection only the documents of now are removed.

        Raises:
            NotFound: If a ref names nothing; then nothing was removed.
        """
        from lilbee_core.library._syncing import run_remove

        return run_remove(self._parts, refs)

    def rebuild(self, *, cancel: CancelToken | None = None) -> SyncReport:
        """Build the index anew with the present settings. Conversations, notes and settings stay.

        Raises:
            SourceUnavailable: If no folder can be read; then nothing was deleted.
        """
        from lilbee_core.library._syncing import run_rebuild

        with interruptible(cancel) as token:
            return run_rebuild(self._parts, token)

    def optimize(self) -> tuple[str, ...]:
        """Compact the index and rebuild its word index now; return what was done."""
        with self._parts.store.writing():
            return self._parts.store.maintain(force=True)

    def index(self) -> VectorIndexReport:
        """Build the index for approximate vector search now, however few the chunks are; searches use it from then on.

        A sync builds it by itself from `ann_index_threshold` chunks on. Searches go on meanwhile.

        Raises:
            InvalidArgument: If there are no vectors, or the threshold is 0.
        """
        return self._parts.store.build_vector_index()

    # ------------------------------------------------------------------ reading

    def search(
        self,
        query: str | Query,
        *,
        top_k: int | None = None,
        profile: str | None = None,
        filters: Filter | None = None,
        scope: Scope | str = Scope.RAW,
        diversify: bool = True,
    ) -> SearchResult:
        """Find passages by words and by meaning, best first, each verbatim with its place.

        The text may carry filters (``path:notes/ type:pdf after:2025-01-01``), days (``last week``), a mode (``term:``,
        ``vec:``, ``hyde:``) and ``"quoted phrases"``. `profile` names a list of stages: ``default``, ``full`` (asks a
        chat model for other wordings), ``keyword``, ``semantic``, ``hyde``, ``memory``. Without
        `diversify` hits come by relevance alone, however like each other they are and of whatever document.

        Raises:
            EmptyQuery: If there is nothing to search for.
            InvalidFilter: If a filter is unknown.
            InvalidArgument: If there is no such profile.
            NotFound: If a filter names a collection that does not exist.
            SearchError: If the profile needs a model that is not there.
            EmbedderMismatch: If another embedder built the index.
        """
        from lilbee_core.library._searching import run_search

        return run_search(self._parts, self._query(query, top_k, profile, filters, scope, diversify=diversify))

    def ask(
        self,
        question: str,
        *,
        top_k: int | None = None,
        profile: str | None = None,
        filters: Filter | None = None,
        scope: Scope | str = Scope.RAW,
    ) -> Answer:
        """Answer a question from the documents, every statement cited. Without a chat model: extractive.

        Raises:
            EmptyQuery: If there is no question.
            ProviderError: If the chat model fails before it said anything.
        """
        from lilbee_core.library._searching import run_ask

        return run_ask(self._parts, self._query(question, top_k, profile or "full", filters, scope))

    def ask_stream(
        self,
        question: str,
        *,
        top_k: int | None = None,
        profile: str | None = None,
        filters: Filter | None = None,
        scope: Scope | str = Scope.RAW,
    ) -> Iterator[Delta]:
        """Like `ask`, piece by piece. The last delta has kind ``done`` and carries the whole `Answer`."""
        from lilbee_core.library._searching import run_ask_stream

        return run_ask_stream(self._parts, self._query(question, top_k, profile or "full", filters, scope))

    def documents(self, *, collection: str | None = None, state: str | None = None) -> Iterator[DocumentRow]:
        """Yield the ledger's rows, ordered by collection and path.

        Raises:
            InvalidArgument: If `state` is no state.
            NotFound: If there is no such collection.
        """
        states = [str(one) for one in DocumentState]
        if state is not None and state not in states:
            raise InvalidArgument(f"{state!r} is no state", hint=f"Choose one of {', '.join(states)}.")
        self._parts.store.require_index()
        check_collections(self._parts, [collection] if collection is not None else [])
        for row in self._parts.store.rows(collection=collection, states=(state,) if state else ()):
            if row.collection != WIKI or collection == WIKI:
                yield row

    def get_text(self, ref: str, place: Place = None, *, around: int = 0) -> Passage:
        """Return the extracted text of a document, or a part of it.

        Args:
            ref: A document id, ``collection/path``, or a path that is unique; with a place behind ``#`` if none is
                given beside it (``"box.zip#notes/a.md"``, ``"report.pdf#page=3"``).
            place: Lines (``"10-20"``), a page (``"p3"``), a place by its name (``"slide 3"``, ``"Fees!A1:C20"``,
                a member), a `Hit`, a `Citation`, a `Location` or a `Span`.
            around: How many lines of text before and after the place to return with it.

        Raises:
            NotFound: If there is no such document, or more than one.
            InvalidArgument: If the place lies outside the text.
        """
        store = self._parts.store
        store.require_index()
        row, where = addressed(store, ref, place)
        return passage(store, row, where, around=around)

    def document(self, ref: str) -> DocumentRow:
        """Return the ledger's row of a document: a document id, ``collection/path``, or a path that is unique.

        Raises:
            NotFound: If there is no such document, or more than one.
        """
        self._parts.store.require_index()
        return require(self._parts.store, ref)

    def get_picture(self, ref: str, page: int = 1, *, dpi: int = 110) -> PagePicture:
        """Return a page of a PDF as it looks, or an image as it is, for people to see.

        It is drawn from the document's file, by a process of its own within limits of time, memory and size.

        Raises:
            NotFound: If there is no such document, or its file is gone.
            InvalidArgument: If there is no such page, or `dpi` is not from 36 to 300.
            UnsupportedFormat: If its format has no pages that can be drawn.
            ExtractError: If it cannot be drawn.
        """
        from lilbee_core.library._picturing import picture_of

        return picture_of(self._parts, self.document(ref), page, dpi)

    def status(self) -> LibraryStatus:
        """Return counts per state, the embedder, sizes on disk, and known problems."""
        return library_status(self._parts, self.collections)

    def explain_path(self, path: str | Path) -> PathReport:
        """Say why a path is, or is not, in the index, with the rule that decided."""
        from lilbee_core.library._explaining import path_report

        return path_report(self._parts, path)

    def explain_document(
        self,
        ref: str,
        query: str | Query,
        *,
        top_k: int | None = None,
        profile: str | None = None,
        filters: Filter | None = None,
        scope: Scope | str = Scope.RAW,
    ) -> DocumentTrace:
        """Say why a document is, or is not, among the hits of a search: where it stood, and what left it out.

        The arguments are those of `search`. `ref` is a document id, ``collection/path``, or a path that is unique; a
        file that the library does not know is explained as `explain_path` does.

        Raises:
            NotFound: If `ref` names more than one document.
            EmptyQuery: If there is nothing to search for.
        """
        from lilbee_core.library._searching import trace_in_search

        asked = self._query(query, top_k, profile, filters, scope)
        self._parts.store.require_index()
        if not find(self._parts.store, ref):
            return trace_of(self.explain_path(ref), asked)
        return trace_in_search(self._parts, asked, require(self._parts.store, ref))

    # ------------------------------------------------------------------ nouns

    @property
    def collections(self) -> Collections:
        """The named folders of the library."""
        return Collections(self._parts)

    @property
    def web(self) -> Web:
        """The pages of the web that the library keeps: ``bee.web.crawl("https://…")``."""
        from lilbee_core.library._web import Web

        return Web(self._parts)

    @property
    def config(self) -> Config:
        """The library's settings, readable and writable."""
        return Config(self._parts)

    @property
    def concepts(self) -> Concepts:
        """What the documents talk about: ``bee.concepts.topics()``, ``bee.concepts.related("honey")``."""
        from lilbee_core.library._concepts import Concepts

        return Concepts(self._parts)

    @property
    def wiki(self) -> Wiki:
        """Pages about what many documents say, every sentence quoted: ``bee.wiki.build()``."""
        from lilbee_core.library._wiki import Wiki

        return Wiki(self._parts)

    @property
    def plugins(self) -> tuple[PluginReport, ...]:
        """What plugins were found, what they offer, and what is wrong with them."""
        return tuple(self._parts.host.reports)

    @property
    def doctor(self) -> Doctor:
        """Checks of the installation and the index."""
        from lilbee_core.library._checking import doctor_of

        return doctor_of(self._parts, collections=self.collections.list)

    @property
    def jobs(self) -> Jobs:
        """Long work in the background: ``bee.jobs.start("sync")`` returns at once."""
        from lilbee_core.library._jobs import build_jobs

        return self._parts.once("jobs", partial(build_jobs, self._parts))

    @property
    def evaluation(self) -> Evaluation:
        """Measures how well this library finds what is known to be relevant."""
        from lilbee_core.library._checking import evaluation_of

        return evaluation_of(self._parts, search=self.search)

    @property
    def conversations(self) -> Conversations:
        """Conversations over the documents: ``bee.conversations.create().send("…")``."""
        from lilbee_core.library._talking import conversations_of

        return conversations_of(self._parts)

    # ------------------------------------------------------------------ inside

    def _query(
        self,
        query: str | Query,
        top_k: int | None,
        profile: str | None,
        filters: Filter | None,
        scope: Scope | str,
        *,
        diversify: bool = True,
    ) -> Query:
        options = self._parts.settings.search
        return asked(query, options, top_k=top_k, profile=profile, filters=filters, scope=scope, diversify=diversify)
