"""Where one document stood in a search, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass

from lilbee_core.display import joined
from lilbee_core.types._documents import ChunkId

_PLAIN = {"lexical": "by words", "dense": "by meaning", "fused": "together"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The best chunk of a document in one ranking.

    Without a `rank` it is not in the ranking, which took the best `taken` chunks, the last of them with the score
    `last`. Without a `score` nothing of the document matches at all. Ranks beyond `taken` are those it would have had.
    """

    ranking: str
    rank: int | None
    score: float | None
    taken: int
    last: float | None = None
    chunk_id: ChunkId | None = None

    def __str__(self) -> str:
        name = _PLAIN.get(self.ranking, self.ranking)
        if self.score is None:
            return f"{name}: no match"
        place = f"rank {self.rank}" if self.rank is not None else "far behind"
        beyond = self.rank is None or self.rank > self.taken
        edge = f", the {self.taken} that were taken end at {self.last:.4f}" if beyond and self.last is not None else ""
        return f"{name}: {place}, score {self.score:.4f}{edge}"

    def to_dict(self) -> dict[str, object]:
        return {
            "ranking": self.ranking,
            "rank": self.rank,
            "score": self.score,
            "taken": self.taken,
            "last": self.last,
            "chunk_id": self.chunk_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentTrace:
    """Why a document is, or is not, among the hits of a search.

    `verdict` is ``found``, ``folded`` (its text is listed under another document's hit), ``dropped`` (by `stage`),
    ``not_ranked`` (no ranking took it), ``filtered``, ``out_of_scope`` or ``not_indexed``.
    """

    path: str
    query: str
    profile: str
    verdict: str
    reason: str
    hint: str | None = None
    collection: str | None = None
    document_id: str | None = None
    rank: int | None = None
    stage: str | None = None
    needed: float | None = None
    standings: tuple[Standing, ...] = ()
    warnings: tuple[str, ...] = ()

    def explain(self) -> str:
        """Return it as text."""
        lines = [f"{self.path}: {self.reason}"]
        lines += [f"  {standing}" for standing in self.standings]
        return joined([*lines, f"  {self.hint}"] if self.hint else lines)

    def to_dict(self) -> dict[str, object]:
        return {
            "path": self.path,
            "collection": self.collection,
            "document_id": self.document_id,
            "query": self.query,
            "profile": self.profile,
            "verdict": self.verdict,
            "reason": self.reason,
            "hint": self.hint,
            "rank": self.rank,
            "stage": self.stage,
            "needed": self.needed,
            "standings": [standing.to_dict() for standing in self.standings],
            "warnings": list(self.warnings),
        }
