"""Concepts and wiki of `AsyncLilbee`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.aio._threads import Threads
from lilbee_core.types import (
    Chunk,
    Citation,
    Community,
    Concept,
    Relation,
    WikiDiff,
    WikiPage,
    WikiPlan,
    WikiProblem,
    WikiReport,
)

if TYPE_CHECKING:
    from networkx import Graph

    from lilbee_core.library import Concepts, Drafts, Wiki
    from lilbee_core.protocols import CancelToken


class AsyncConcepts:
    """Mirrors `Concepts`."""

    def __init__(self, concepts: Concepts, threads: Threads) -> None:
        self._inner = concepts
        self._threads = threads

    async def topics(self, query: str | None = None, *, limit: int = 20) -> tuple[Community, ...]:
        """See `Concepts.topics`."""
        return await self._threads.run(lambda: self._inner.topics(query, limit=limit))

    async def communities(self) -> tuple[Community, ...]:
        """See `Concepts.communities`."""
        return await self._threads.run(self._inner.communities)

    async def list(self) -> tuple[Concept, ...]:
        """See `Concepts.list`."""
        return await self._threads.run(self._inner.list)

    async def get(self, name: str) -> Concept | None:
        """See `Concepts.get`."""
        return await self._threads.run(lambda: self._inner.get(name))

    async def related(self, concept: str, *, limit: int = 10) -> tuple[Relation, ...]:
        """See `Concepts.related`."""
        return await self._threads.run(lambda: self._inner.related(concept, limit=limit))

    async def chunks(self, concept: str, *, limit: int = 10) -> tuple[Chunk, ...]:
        """See `Concepts.chunks`."""
        return await self._threads.run(lambda: self._inner.chunks(concept, limit=limit))

    async def merge(self, alias: str, concept: str) -> None:
        """See `Concepts.merge`."""
        await self._threads.run(lambda: self._inner.merge(alias, concept))

    async def forbid(self, concept: str) -> None:
        """See `Concepts.forbid`."""
        await self._threads.run(lambda: self._inner.forbid(concept))

    async def restore(self, concept: str) -> None:
        """See `Concepts.restore`."""
        await self._threads.run(lambda: self._inner.restore(concept))

    async def decisions(self) -> Mapping[str, str | None]:
        """See `Concepts.decisions`."""
        return await self._threads.run(self._inner.decisions)

    async def export(
        self,
        path: str | Path | None = None,
        *,
        format: str | None = None,  # noqa: A002 - what it is
        limit: int | None = None,
    ) -> str:
        """See `Concepts.export`."""
        return await self._threads.run(lambda: self._inner.export(path, format=format, limit=limit))

    async def to_networkx(self) -> Graph[str]:
        """See `Concepts.to_networkx`."""
        return await self._threads.run(self._inner.to_networkx)


class AsyncWiki:
    """Mirrors `Wiki`."""

    def __init__(self, wiki: Wiki, threads: Threads) -> None:
        self._inner = wiki
        self._threads = threads

    @property
    def folder(self) -> Path:
        """See `Wiki.folder`."""
        return self._inner.folder

    @property
    def drafts(self) -> AsyncDrafts:
        """See `Wiki.drafts`."""
        return AsyncDrafts(self._inner.drafts, self._threads)

    async def plan(self, *, topics: bool = False, retry: bool = False, most_calls: int | None = None) -> WikiPlan:
        """See `Wiki.plan`."""
        return await self._threads.run(lambda: self._inner.plan(topics=topics, retry=retry, most_calls=most_calls))

    async def build(
        self, *, retry: bool = False, most_calls: int | None = None, cancel: CancelToken | None = None
    ) -> WikiReport:
        """See `Wiki.build`."""
        return await self._threads.run_cancellable(
            lambda token: self._inner.build(retry=retry, most_calls=most_calls, cancel=token), cancel
        )

    async def synthesize(
        self, *, retry: bool = False, most_calls: int | None = None, cancel: CancelToken | None = None
    ) -> WikiReport:
        """See `Wiki.synthesize`."""
        return await self._threads.run_cancellable(
            lambda token: self._inner.synthesize(retry=retry, most_calls=most_calls, cancel=token), cancel
        )

    async def prune(self) -> WikiReport:
        """See `Wiki.prune`."""
        return await self._threads.run(self._inner.prune)

    async def lint(self) -> tuple[WikiProblem, ...]:
        """See `Wiki.lint`."""
        return await self._threads.run(self._inner.lint)

    async def pages(self) -> tuple[WikiPage, ...]:
        """See `Wiki.pages`."""
        return await self._threads.run(self._inner.pages)

    async def get(self, slug: str) -> WikiPage | None:
        """See `Wiki.get`."""
        return await self._threads.run(lambda: self._inner.get(slug))

    async def require(self, slug: str) -> WikiPage:
        """See `Wiki.require`."""
        return await self._threads.run(lambda: self._inner.require(slug))

    async def citations(
        self, slug: str, *, line_start: int | None = None, line_end: int | None = None
    ) -> tuple[Citation, ...]:
        """See `Wiki.citations`."""
        return await self._threads.run(lambda: self._inner.citations(slug, line_start=line_start, line_end=line_end))

    async def links(self) -> Mapping[str, tuple[str, ...]]:
        """See `Wiki.links`."""
        return await self._threads.run(self._inner.links)

    async def backlinks(self) -> Mapping[str, tuple[str, ...]]:
        """See `Wiki.backlinks`."""
        return await self._threads.run(self._inner.backlinks)


class AsyncDrafts:
    """Mirrors `Drafts`."""

    def __init__(self, drafts: Drafts, threads: Threads) -> None:
        self._inner = drafts
        self._threads = threads

    async def list(self) -> tuple[WikiPage, ...]:
        """See `Drafts.list`."""
        return await self._threads.run(self._inner.list)

    async def get(self, slug: str) -> WikiPage | None:
        """See `Drafts.get`."""
        return await self._threads.run(lambda: self._inner.get(slug))

    async def require(self, slug: str) -> WikiPage:
        """See `Drafts.require`."""
        return await self._threads.run(lambda: self._inner.require(slug))

    async def diff(self, slug: str) -> WikiDiff:
        """See `Drafts.diff`."""
        return await self._threads.run(lambda: self._inner.diff(slug))

    async def accept(self, slug: str) -> WikiPage:
        """See `Drafts.accept`."""
        return await self._threads.run(lambda: self._inner.accept(slug))

    async def reject(self, slug: str) -> None:
        """See `Drafts.reject`."""
        await self._threads.run(lambda: self._inner.reject(slug))

    async def edit(self, slug: str, body: str) -> WikiPage:
        """See `Drafts.edit`."""
        return await self._threads.run(lambda: self._inner.edit(slug, body))
