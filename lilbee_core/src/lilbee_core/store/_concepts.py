"""What documents talk about: mentions, which are written with a document, and the graph that is counted from them.

The table of mentions is the truth. Concepts and edges are counted from it at the end of a sync and written whole; a
mark says at which state of the mentions that was. Killed anywhere, the next sync finds the mark missing or old, and
counts again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from lilbee_core.protocols import IndexedDocument
from lilbee_core.store._columns import part_rows, rows_of, strings
from lilbee_core.store._engine import overwrite, upsert
from lilbee_core.store._filters import is_in, quote
from lilbee_core.store._ledger import parts_of
from lilbee_core.store._marks import Mark
from lilbee_core.store._rows import dump, load_list, load_object
from lilbee_core.store._schema import CHUNK_CONCEPTS, CONCEPTS, EDGES, META
from lilbee_core.store._tables import Tables
from lilbee_core.types import (
    ChunkId,
    Coded,
    Community,
    Concept,
    DocumentId,
    GraphTable,
    Integers,
    Mention,
    MentionTable,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

_GRAPH, _EXTRACTOR = "graph", "concepts"
_DOING = "read the concepts"
_ROW = ("concept", "surface", "kind", "count", "stands_for")
_NODE = ("id", "label", "kind", "aliases", "chunks", "community", "keys", "rank")


@dataclass(frozen=True, slots=True)
class _Row:
    """A mention with the chunk that it is of."""

    document_id: DocumentId
    chunk_id: ChunkId
    mention: Mention
    revision: str | None = None


def mention_rows(documents: Iterable[IndexedDocument], revisions: Mapping[DocumentId, str]) -> pa.Table:
    """Return the mentions of documents as rows."""
    found = (
        _Row(one.row.id, chunk.id, mention, revisions[one.row.id])
        for one in documents
        if one.mentions
        for chunk, mentions in zip(one.chunks, one.mentions, strict=True)
        for mention in mentions
    )
    return _table(found)


def put_mentions(tables: Tables, rows: pa.Table, replaced: Sequence[DocumentId]) -> None:
    """Replace all mentions of these documents in one commit; where there are none and none come, nothing is written."""
    if not replaced:
        append_mentions(tables, rows)
        return
    table = tables.require(CHUNK_CONCEPTS)
    condition = is_in("document_id", replaced)
    with tables.engine("write the concepts", CHUNK_CONCEPTS):
        if rows.num_rows or (table.count_rows() and table.count_rows(condition)):
            upsert(table, rows, on=["chunk_id", "concept"], replaced=condition)


def append_mentions(tables: Tables, rows: pa.Table) -> None:
    """Write mentions beside those that their documents have."""
    if rows.num_rows:
        table = tables.require(CHUNK_CONCEPTS)
        with tables.engine("write the concepts", CHUNK_CONCEPTS):
            table.add(rows)


def _table(rows: Iterable[_Row]) -> pa.Table:
    once = {(row.chunk_id, row.mention.concept): row for row in rows}.values()
    return part_rows(
        {
            "chunk_id": [row.chunk_id for row in once],
            "document_id": [row.document_id for row in once],
            "concept": [row.mention.concept for row in once],
            "count": [row.mention.count for row in once],
            "surface": [row.mention.surface for row in once],
            "kind": [row.mention.kind for row in once],
            "stands_for": [row.mention.stands_for for row in once],
            "revision": [row.revision for row in once],
        },
        CHUNK_CONCEPTS,
    )


class ConceptTables:
    """The concepts of a library. Threads may share it; writes take the writer lock."""

    def __init__(self, tables: Tables, writing: Callable[[], AbstractContextManager[None]]) -> None:
        self._tables = tables
        self._writing = writing
        self._counted = Mark(tables, "graph", (CHUNK_CONCEPTS, CONCEPTS, EDGES))

    @property
    def version(self) -> int:
        """Changes whenever another graph is saved."""
        commits = self._tables.version_of(CONCEPTS) + self._tables.version_of(EDGES)
        return (self._tables.generation << 20) + commits

    # ------------------------------------------------------------------ mentions

    def put(self, mentions: Mapping[DocumentId, Mapping[ChunkId, Sequence[Mention]]]) -> None:
        """Replace all mentions of these documents; the revisions of their texts stay unnamed."""
        found = (
            _Row(document_id, chunk_id, mention)
            for document_id, of in mentions.items()
            for chunk_id, each in of.items()
            for mention in each
        )
        rows = _table(found)
        with self._writing():
            put_mentions(self._tables, rows, list(mentions))

    def remove(self, ids: Sequence[DocumentId]) -> None:
        """Delete the mentions of these documents."""
        if ids and self._tables.find(CHUNK_CONCEPTS) is not None:
            with self._writing():
                for part in parts_of(ids):
                    put_mentions(self._tables, _table(()), [DocumentId(id_) for id_ in part])

    def mentions(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, tuple[Mention, ...]]:
        """Return the mentions of those of the chunks that have any."""
        found: dict[ChunkId, list[Mention]] = {}
        for part in parts_of(dict.fromkeys(ids)):
            rows = self._tables.select(CHUNK_CONCEPTS, _DOING, ("chunk_id", *_ROW), is_in("chunk_id", part))
            for id_, mention in _mentions(rows):
                found.setdefault(id_, []).append(mention)
        return {id_: tuple(of) for id_, of in found.items()}

    def chunks_with(self, keys: Sequence[str]) -> Mapping[ChunkId, int]:
        """Return the chunks that mention any of these normalized forms, with how often."""
        found: dict[ChunkId, int] = {}
        for part in parts_of(dict.fromkeys(keys)):
            rows = self._tables.select(CHUNK_CONCEPTS, _DOING, ("chunk_id", "count"), is_in("concept", part))
            for id_, count in rows_of(rows, ("chunk_id", "count")):
                found[ChunkId(str(id_))] = found.get(ChunkId(str(id_)), 0) + cast("int", count)
        return found

    def table(self) -> MentionTable:
        """Return all mentions, by columns."""
        rows = self._tables.select(CHUNK_CONCEPTS, _DOING, ("chunk_id", "concept", "surface", "kind", "stands_for"))
        return MentionTable(
            chunks=_coded(rows, "chunk_id"),
            concepts=_coded(rows, "concept"),
            surfaces=_coded(rows, "surface"),
            kinds=_coded(rows, "kind"),
            stands_for=_coded(rows, "stands_for"),
        )

    def extractor(self) -> str | None:
        """Return the fingerprint of what found all mentions, None where some may be of another, or there are none."""
        value = self._meta(_EXTRACTOR).get("fingerprint")
        return None if value is None else str(value)

    def set_extractor(self, fingerprint: str | None) -> None:
        """Say what found all mentions."""
        if fingerprint != self.extractor():
            with self._writing():
                self._set_meta(_EXTRACTOR, {"fingerprint": fingerprint})

    def clear(self) -> None:
        """Delete all mentions and the graph."""
        if self._tables.find(CHUNK_CONCEPTS) is None:
            return
        with self._writing():
            self.set_extractor(None)
            for name in (CHUNK_CONCEPTS, EDGES, CONCEPTS):
                table = self._tables.require(name)
                with self._tables.engine("delete the concepts", name):
                    if table.count_rows():
                        table.delete("true")
            self._set_meta(_GRAPH, {})

    # ------------------------------------------------------------------ the graph

    def is_current(self) -> bool:
        """Whether the graph was counted from the mentions as they are."""
        return self._tables.find(CHUNK_CONCEPTS) is None or self._counted.holds()

    def load(self) -> GraphTable | None:
        """Return the graph, None where none was ever counted."""
        info = self._meta(_GRAPH)
        if not info:
            return None
        ranked = list(_concepts(self._tables.select(CONCEPTS, _DOING, _NODE)))
        concepts = tuple(one for one, _ in ranked)
        edges = self._tables.select(EDGES, _DOING, ("source", "target", "count"))
        places = {one.id: at for at, one in enumerate(concepts)}
        sources, targets = _places(_coded(edges, "source"), places), _places(_coded(edges, "target"), places)
        counts = _whole(edges, "count")
        # Edges and concepts are two tables: a reader may see one of them a moment earlier.
        whole = (sources >= 0) & (targets >= 0)
        return GraphTable(
            concepts=concepts,
            sources=sources[whole],
            targets=targets[whole],
            counts=counts[whole],
            chunks=cast("int", info["chunks"]),
            communities=tuple(_communities(info, ranked)),
            next_community=cast("int", info["next_community"]),
        )

    def save(self, graph: GraphTable) -> None:
        """Keep a graph that was counted from the mentions as they are.

        Concepts come last: as long as they are the old ones, the old communities are where the next search begins.
        """
        edges, concepts = _edge_rows(graph), _concept_rows(graph)
        info = {
            "chunks": graph.chunks,
            "next_community": graph.next_community,
            "communities": [[one.id, one.label, one.chunks] for one in graph.communities],
        }
        with self._writing():
            self._overwrite(EDGES, edges)
            self._set_meta(_GRAPH, info)
            self._overwrite(CONCEPTS, concepts)
            self._counted.set()

    def confirm(self) -> None:
        """Note that the graph is that of the mentions as they are."""
        with self._writing():
            self._counted.set()

    # ------------------------------------------------------------------ inside

    def _overwrite(self, name: str, rows: pa.Table) -> None:
        table = self._tables.require(name)
        with self._tables.engine("write the concepts", name):
            if rows.num_rows or table.count_rows():
                overwrite(table, rows)

    def _meta(self, key: str) -> dict[str, object]:
        rows = self._tables.select(META, _DOING, ("key", "value"), f"key = {quote(key)}")
        return load_object(strings(rows, "value")[0]) if rows.num_rows else {}

    def _set_meta(self, key: str, value: Mapping[str, object]) -> None:
        table = self._tables.require(META)
        with self._tables.engine("write the concepts", META):
            upsert(table, part_rows({"key": [key], "value": [dump(value)]}, META), on="key")


# ---------------------------------------------------------------------- rows


def _mentions(rows: pa.Table) -> Iterator[tuple[ChunkId, Mention]]:
    for id_, concept, surface, kind, count, stands_for in rows_of(rows, ("chunk_id", *_ROW)):
        yield (
            ChunkId(str(id_)),
            Mention(
                concept=str(concept),
                surface=str(surface),
                kind=str(kind),
                count=cast("int", count),
                stands_for=cast("str | None", stands_for),
            ),
        )


def _concepts(rows: pa.Table) -> Iterator[tuple[Concept, int]]:
    """Yield concepts in the order of their ids, with their rank in their community."""
    for id_, label, kind, aliases, chunks, community, keys, rank in sorted(
        rows_of(rows, _NODE), key=lambda row: str(row[0])
    ):
        concept = Concept(
            id=str(id_),
            label=str(label),
            kind=str(kind),
            aliases=tuple(map(str, load_list(cast("str | None", aliases)))),
            chunks=cast("int", chunks),
            community=cast("int | None", community),
            keys=tuple(map(str, load_list(cast("str | None", keys)))),
        )
        yield concept, cast("int | None", rank) or 0


def _communities(info: Mapping[str, object], ranked: Sequence[tuple[Concept, int]]) -> Iterator[Community]:
    members: dict[int, list[tuple[int, str]]] = {}
    for concept, rank in ranked:
        if concept.community is not None:
            members.setdefault(concept.community, []).append((rank, concept.id))
    for id_, label, chunks in cast("list[tuple[int, str, int]]", info["communities"]):
        ids = tuple(name for _, name in sorted(members.get(id_, ())))
        if ids:
            yield Community(id=id_, label=label, concepts=ids, chunks=chunks)


def _concept_rows(graph: GraphTable) -> pa.Table:
    rank = {name: at for one in graph.communities for at, name in enumerate(one.concepts)}
    concepts = graph.concepts
    return part_rows(
        {
            "id": [one.id for one in concepts],
            "label": [one.label for one in concepts],
            "kind": [one.kind for one in concepts],
            "aliases": [dump(one.aliases) if one.aliases else None for one in concepts],
            "chunks": [one.chunks for one in concepts],
            "community": [one.community for one in concepts],
            "keys": [dump(one.keys) if one.keys else None for one in concepts],
            "rank": [rank.get(one.id) for one in concepts],
        },
        CONCEPTS,
    )


def _edge_rows(graph: GraphTable) -> pa.Table:
    import pyarrow as pa

    names = pa.array([one.id for one in graph.concepts], pa.string())
    ends = {"source": graph.sources, "target": graph.targets}
    columns = {name: names.take(places) for name, places in ends.items()}
    return part_rows({**columns, "count": pa.array(graph.counts, pa.int64())}, EDGES)


class _Encoded(Protocol):
    """A column with each value once."""

    @property
    def indices(self) -> pa.Int64Array: ...
    @property
    def dictionary(self) -> pa.StringArray: ...


class _Encodable(Protocol):
    def dictionary_encode(self) -> _Encoded: ...


def _coded(rows: pa.Table, name: str) -> Coded:
    """Return a column of strings with each value once."""
    import numpy as np

    encoded = cast("_Encodable", rows.column(name).combine_chunks()).dictionary_encode()
    codes = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    return Coded(codes, tuple(cast("list[str]", encoded.dictionary.to_pylist())))


def _places(column: Coded, places: Mapping[str, int]) -> Integers:
    import numpy as np

    known = np.array([places.get(name, -1) for name in column.values], dtype=np.int64)
    return known[column.codes] if len(known) else np.zeros(0, np.int64)


def _whole(rows: pa.Table, name: str) -> NDArray[np.int64]:
    import numpy as np

    return np.asarray(rows.column(name).to_numpy(), dtype=np.int64)
