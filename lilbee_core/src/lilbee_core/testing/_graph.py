"""A graph of concepts that a test writes down."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from lilbee_core.types import Chunk, ChunkId, Community, Concept, DocumentId, Relation


class MemoryGraph:
    """A `ConceptGraphLike` with given concepts and relations; a text has the concepts whose names stand in it.

    Args:
        concepts: The names that are known. Those in relations are known as well.
        relations: Pairs of names with their weight.
    """

    def __init__(self, *concepts: str, relations: Iterable[tuple[str, str, float]] = ()) -> None:
        self._relations = [Relation(source=one, target=other, weight=weight) for one, other, weight in relations]
        named = (name for one in self._relations for name in (one.source, one.target))
        self._aliases = {name.casefold(): name for name in (*concepts, *named)}
        self._chunks: dict[ChunkId, tuple[DocumentId, tuple[str, ...]]] = {}

    def update(self, chunks: Sequence[Chunk]) -> None:
        for chunk in chunks:
            self._chunks[chunk.id] = (chunk.document_id, self.entities(chunk.text))

    def remove(self, ids: Sequence[DocumentId]) -> None:
        self._chunks = {key: value for key, value in self._chunks.items() if value[0] not in ids}

    def concepts_of(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, tuple[Concept, ...]]:
        found = {id_: self._chunks[id_][1] for id_ in ids if id_ in self._chunks}
        return {id_: tuple(map(self._concept, names)) for id_, names in found.items() if names}

    def neighbors(self, concept: str, *, limit: int = 10) -> tuple[Relation, ...]:
        name = self._aliases.get(concept.casefold())
        found = [
            Relation(source=one, target=other, weight=relation.weight, count=relation.count)
            for relation in self._relations
            for one, other in ((relation.source, relation.target), (relation.target, relation.source))
            if one == name
        ]
        return tuple(sorted(found, key=lambda one: (-one.weight, one.target))[:limit])

    def communities(self) -> tuple[Community, ...]:
        names = sorted(set(self._aliases.values()))
        return (Community(id=0, label=names[0], concepts=tuple(names), chunks=len(self._chunks)),) if names else ()

    def entities(self, text: str) -> tuple[str, ...]:
        folded = text.casefold()
        found = (name for alias, name in self._aliases.items() if re.search(rf"\b{re.escape(alias)}\b", folded))
        return tuple(dict.fromkeys(found))

    def merge(self, alias: str, concept: str) -> None:
        self._aliases[alias.casefold()] = concept

    def forbid(self, concept: str) -> None:
        self._aliases = {alias: name for alias, name in self._aliases.items() if name != concept}

    def _concept(self, name: str) -> Concept:
        aliases = tuple(alias for alias, of in self._aliases.items() if of == name and alias != name.casefold())
        return Concept(id=name.casefold(), label=name, aliases=aliases)
