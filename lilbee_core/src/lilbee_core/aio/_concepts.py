"""Concepts and wiki of `AsyncLilbee`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.aio._threads import Threads
from lilbee_core.types import Chunk, Community, Concept, Relation, WikiPage, WikiPlan

if TYPE_CHECKING:
    from networkx import Graph

    from lilbee_core.library import Concepts, Wiki


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

    async def plan(self) -> WikiPlan:
        """See `Wiki.plan`."""
        return await self._threads.run(self._inner.plan)

    async def build(self) -> WikiPlan:
        """See `Wiki.build`."""
        return await self._threads.run(self._inner.build)

    async def pages(self) -> tuple[WikiPage, ...]:
        """See `Wiki.pages`."""
        return await self._threads.run(self._inner.pages)

    async def drafts(self) -> tuple[WikiPage, ...]:
        """See `Wiki.drafts`."""
        return await self._threads.run(self._inner.drafts)

    async def get(self, slug: str) -> WikiPage | None:
        """See `Wiki.get`."""
        return await self._threads.run(lambda: self._inner.get(slug))

    async def require(self, slug: str) -> WikiPage:
        """See `Wiki.require`."""
        return await self._threads.run(lambda: self._inner.require(slug))
