"""What the contracts try parts on, for authors who want to try more: documents, services, states of a search."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from lilbee_core.plugins.specs import StageServices
from lilbee_core.testing._memory import MemoryStore
from lilbee_core.testing._models import HashEmbedder, ScriptedReranker, hash_vector
from lilbee_core.testing.builders import an_indexed_document
from lilbee_core.types import Hit, Query, Ranking, Scored, SearchState, Variant

if TYPE_CHECKING:
    from lilbee_core.protocols import IndexedDocument

__all__ = ["QUESTION", "empty_state", "sample_documents", "sample_services", "sample_states"]

_NOTES = {
    "notes/bees.md": ("Bees find home by the sun.", "A bee dances to tell where flowers are.", "Bees."),
    "notes/honey.md": ("Honey keeps for years when it is dry.", "Honey is made of nectar."),
    "notes/hive.md": ("The hive is warm in winter: 35 degrees.", "Bees find home by the sun."),
    "log/2026.txt": ("Hive seven swarmed on 3 May. " * 20, "ok"),
    "notes/bienen.md": ("Bienen finden heim, weil sie die Sonne sehen.", "ミツバチは太陽で家に帰る。"),
}
QUESTION = "how do bees find home?"


def sample_documents() -> list[IndexedDocument]:
    """Return five small documents with vectors, a chunk per passage."""
    import numpy as np

    return [
        an_indexed_document(
            *texts,
            path=path,
            vectors=np.stack([hash_vector(text) for text in texts]),
            language="de" if "bienen" in path else "en",
            date=f"2026-0{at}-01",
        )
        for at, (path, texts) in enumerate(_NOTES.items(), start=1)
    ]


def sample_services() -> StageServices:
    """Return what a stage may be built from, over the sample documents."""
    reader = MemoryStore(*sample_documents())
    return StageServices(reader=reader, embedder=HashEmbedder(), reranker=ScriptedReranker())


def empty_state() -> SearchState:
    """Return a state in which nothing has been found yet."""
    return SearchState(query=Query(text=QUESTION))


def sample_states() -> list[SearchState]:
    """Return states as they occur: before and after retrieval, with many hits, one, equal scores, odd texts."""
    reader = MemoryStore(*sample_documents())
    vector = hash_vector(QUESTION)
    near = reader.dense(vector, limit=50)
    variants = (
        Variant(text=QUESTION, vector=vector),
        Variant(text="bee navigation", kind="expansion", weight=0.5, vector=hash_vector("bee navigation")),
    )
    rankings = (
        Ranking(name="dense", entries=near),
        Ranking(name="lexical", entries=tuple(Scored(one.chunk_id, 9.0 - at) for at, one in enumerate(near[::-2]))),
        Ranking(name="lexical", entries=(), variant="expansion"),
    )
    hits = tuple(
        Hit(chunk=chunk, score=1.0 / at, scores=(("dense", 1.0 / at),))
        for at, chunk in enumerate(reader.get([one.chunk_id for one in near]), start=1)
    )
    start = empty_state()
    return [
        replace(start, variants=variants),
        replace(start, variants=variants, rankings=rankings),
        replace(start, variants=variants, rankings=rankings, hits=hits),
        replace(
            start, query=Query(text="mitö 🐝", top_k=1), variants=variants[:1], rankings=rankings[:1], hits=hits[:1]
        ),
        replace(start, variants=variants, rankings=rankings, hits=tuple(replace(hit, score=0.5) for hit in hits)),
        replace(start, variants=variants, hits=tuple(replace(hit, score=hit.score - 0.4) for hit in hits)),
    ]
