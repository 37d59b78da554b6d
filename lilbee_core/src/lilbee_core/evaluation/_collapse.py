"""From hits to documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from lilbee_core.types import Hit


@dataclass(slots=True)
class DocumentScores:
    """Documents by id, each with the score of its best chunk.

    `take` may be called with the hits of wider and wider searches: what an earlier one found stays where it is, and
    what is new comes behind it.
    """

    scores: dict[str, float] = field(default_factory=dict[str, float])

    def __len__(self) -> int:
        return len(self.scores)

    def take(self, hits: Iterable[Hit]) -> None:
        """Add the documents of hits that come best first, those that hold the same text with them."""
        last = min(self.scores.values(), default=None)
        drop: float | None = None
        for hit in hits:
            for document_id in (hit.document_id, *(place.document_id for place in hit.also_at)):
                if document_id not in self.scores:
                    if drop is None:
                        drop = 0.0 if last is None else max(0.0, hit.score - last)
                    self.scores[document_id] = hit.score - drop
