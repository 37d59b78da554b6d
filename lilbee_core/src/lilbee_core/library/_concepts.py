"""`bee.concepts`: what the documents of a library talk about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.arguments import checked
from lilbee_core.display import bundle, joined, table_html, text_html
from lilbee_core.errors import ExtraMissing, InvalidArgument, LilbeeError, NotFound, SettingsError
from lilbee_core.library._graphing import graph_of, is_mapped
from lilbee_core.library._parts import Parts
from lilbee_core.types import Chunk, Community, Concept, Query, Relation

if TYPE_CHECKING:
    from networkx import Graph

    from lilbee_core.concepts import ConceptGraph

_HITS, _TOPICS = 10, 20


@checked
class Concepts:
    """The concepts of a library, what goes with what, and the communities they make. Syncs keep it up to date.

    Every method raises `ExtraMissing` without the extra ``graph``, and `NotFound` before the first sync with it.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    # ------------------------------------------------------------------ reading

    def topics(self, query: str | None = None, *, limit: int = 20) -> tuple[Community, ...]:
        """Return the communities of concepts, largest first; with a query, those that it and its hits belong to."""
        graph = self._graph()
        if query is None:
            return graph.topics(limit=limit)
        from lilbee_core.library._searching import run_search

        hits = run_search(self._parts, Query(text=query, top_k=_HITS, profile="keyword"))
        return graph.topics(query, hits=[hit.chunk.id for hit in hits], limit=limit)

    def communities(self) -> tuple[Community, ...]:
        """Return all communities, largest first."""
        return self._graph().communities()

    def list(self) -> tuple[Concept, ...]:
        """Return all concepts, the most frequent first."""
        return self._graph().concepts()

    def get(self, name: str) -> Concept | None:
        """Return the concept of this id, label or alias."""
        return self._graph().get(name)

    def related(self, concept: str, *, limit: int = 10) -> tuple[Relation, ...]:
        """Return what goes most with a concept, the most certain first.

        Raises:
            NotFound: If there is no such concept.
        """
        return self._graph().related(concept, limit=limit)

    def chunks(self, concept: str, *, limit: int = 10) -> tuple[Chunk, ...]:
        """Return the chunks that speak most of a concept.

        Raises:
            NotFound: If there is no such concept.
        """
        return self._parts.store.get(self._graph().chunks_of(concept, limit=limit))

    # ------------------------------------------------------------------ deciding

    def merge(self, alias: str, concept: str) -> None:
        """Let `alias` count as `concept` from now on, also after a rebuild.

        Raises:
            InvalidArgument: If both are the same concept already.
        """
        with self._parts.store.writing():
            graph = self._graph()
            graph.merge(alias, concept)
            graph.refresh()

    def forbid(self, concept: str) -> None:
        """Leave a concept out of the graph from now on, also after a rebuild."""
        with self._parts.store.writing():
            graph = self._graph()
            graph.forbid(concept)
            graph.refresh()

    def restore(self, concept: str) -> None:
        """Take back what `merge` or `forbid` decided about a concept.

        Raises:
            NotFound: If nothing was decided about it.
        """
        with self._parts.store.writing():
            graph = self._graph()
            graph.restore(concept)
            graph.refresh()

    def decisions(self) -> Mapping[str, str | None]:
        """Return what was decided by hand: the concept that each name counts as, None for those left out."""
        return self._graph().decisions()

    # ------------------------------------------------------------------ outside

    def export(
        self,
        path: str | Path | None = None,
        *,
        format: str | None = None,  # noqa: A002 - what it is
        limit: int | None = None,
    ) -> str:
        """Return the graph as ``json``, ``graphml`` or ``html`` (a page to look at), and write it to `path` if given.

        Without `format` the ending of `path` decides; otherwise it is ``json``. `limit` keeps the most frequent
        concepts.

        Raises:
            InvalidArgument: If there is no such format, or `path` cannot be written.
        """
        target = Path(path).expanduser() if path is not None else None
        chosen = format or (target.suffix.removeprefix(".").lower() if target is not None else "") or "json"
        text = self._graph().export(chosen, limit=limit)
        if target is not None:
            try:
                target.write_text(text, encoding="utf-8")
            except (OSError, ValueError) as error:
                raise InvalidArgument(
                    f"{target} cannot be written: {error}", hint="Name a file in a folder that can be written to."
                ) from error
        return text

    def to_networkx(self) -> Graph[str]:
        """Return a networkx graph."""
        return self._graph().to_networkx()

    # ------------------------------------------------------------------ in a notebook

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        try:
            graph = self._graph()
            topics, count = graph.topics(limit=_TOPICS), len(graph.concepts())
        except LilbeeError as error:
            # What a cell shows without having been asked to must not fail.
            told = f"{error.message}. {error.hint}"
            return bundle(f"<p>{text_html(told)}</p>", joined([told]))
        rows = [(one.label, str(len(one.concepts)), str(one.chunks)) for one in topics]
        title = f"{count} concepts, the largest topics"
        plain = joined(
            [title, *(f"{label}  ({concepts} concepts, {chunks} chunks)" for label, concepts, chunks in rows)]
        )
        head = ("topic", "concepts", "chunks")
        return bundle(table_html(title, head, ([text_html(cell) for cell in row] for row in rows)), plain)

    # ------------------------------------------------------------------ inside

    def _graph(self) -> ConceptGraph:
        return graph_for(self._parts)


def graph_for(parts: Parts) -> ConceptGraph:
    """Return the graph of a library that has one.

    Raises:
        ExtraMissing: Without the extra ``graph``.
        SettingsError: If it is switched off.
        NotFound: Before the first sync with it.
    """
    from lilbee_core.concepts import can_cluster

    if not can_cluster():
        raise ExtraMissing(
            "the graph of concepts needs the extra graph, which is not installed",
            hint="Run: pip install 'lilbee-core[graph]', then lilbee sync",
        )
    if not is_mapped(parts):
        raise SettingsError(
            "the setting concepts is off, so this library has no graph of concepts",
            hint="Run: lilbee config set concepts true, then lilbee sync",
        )
    parts.store.require_index()
    if parts.store.concepts.extractor() is None:
        raise NotFound("this library has no graph of concepts yet", hint="Run `lilbee sync`.")
    return graph_of(parts)
