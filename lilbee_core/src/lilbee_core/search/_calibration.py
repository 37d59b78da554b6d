"""What the cosines of a library mean: fitted on the library itself, for any embedder.

A cosine of .6 is near for one model and far for another, and the more chunks there are, the nearer the best of them
is to any question. So the library is asked questions that it hardly answers, and sentences of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

from lilbee_core.protocols import ChunkReader, EmbedderLike
from lilbee_core.search._questions import QUESTIONS
from lilbee_core.text import sentences
from lilbee_core.types import Chunk, ChunkId

FEWEST_CHUNKS = 100
"""Chunks from which a library says enough about itself."""

_FEWEST_SENTENCES = 8
_SEPARATES = 0.88
_LEAST_SPAN = 0.02
_SENTENCE_CHARS = range(20, 301)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The best cosines of one library under one embedder.

    `unrelated` is the middle one for questions about other things, `related` for sentences of its own documents;
    `separation` is the chance that a sentence has a higher one than a question.
    """

    unrelated: float
    related: float
    separation: float

    @property
    def tells(self) -> bool:
        """Whether cosines of this embedder say what belongs to the library."""
        return self.separation >= _SEPARATES and self.related - self.unrelated >= _LEAST_SPAN

    def place(self, cosine: float) -> float:
        """Return where a cosine lies between what unrelated (0) and related texts (1) reach."""
        return (cosine - self.unrelated) / (self.related - self.unrelated)

    def to_dict(self) -> dict[str, object]:
        return {"unrelated": self.unrelated, "related": self.related, "separation": self.separation}

    @classmethod
    def from_dict(cls, stored: Mapping[str, object]) -> Calibration | None:
        """Return what `to_dict` gave, None where it is something else."""
        values = [stored.get(name) for name in cls.__slots__]
        numbers = [float(one) for one in values if isinstance(one, int | float)]
        if len(numbers) < len(values):
            return None
        return cls(**dict(zip(cls.__slots__, numbers, strict=True)))


Calibrated: TypeAlias = Callable[[], Calibration | None]
"""Returns what is known of the library's cosines at this moment."""


def uncalibrated() -> Calibration | None:
    """Say that nothing is known."""
    return None


def calibrate(reader: ChunkReader, embedder: EmbedderLike) -> Calibration | None:
    """Ask the library everyday questions and sentences of its own; None where it has too few chunks to say anything.

    Deterministic for one state of the library. It costs about 80 query vectors and as many vector searches.

    Raises:
        ProviderError: If the embedder fails.
    """
    if reader.count() < FEWEST_CHUNKS:
        return None
    questions = QUESTIONS.get(_language(reader, embedder), QUESTIONS["en"])
    unrelated, near = _best(reader, embedder, questions)
    sentences = _sentences(reader.get(near), embedder)
    if len(sentences) < _FEWEST_SENTENCES:
        return None
    related, _ = _best(reader, embedder, sentences)
    if not unrelated or not related:
        return None
    return Calibration(unrelated=median(unrelated), related=median(related), separation=_separation(related, unrelated))


def _language(reader: ChunkReader, embedder: EmbedderLike) -> str:
    """Return the language of most chunks that the embedder reads."""
    return next((code for code in reader.languages() if not embedder.languages or code in embedder.languages), "en")


def _best(reader: ChunkReader, embedder: EmbedderLike, texts: Sequence[str]) -> tuple[list[float], list[ChunkId]]:
    """Return the best cosine of each text, and the chunks that had them."""
    cosines: list[float] = []
    near: dict[ChunkId, None] = {}
    for vector in embedder.embed_query_batch(texts):
        for nearest in reader.dense(vector, limit=1):
            cosines.append(nearest.score)
            near.setdefault(nearest.chunk_id)
    return cosines, list(near)


def _sentences(chunks: Sequence[Chunk], embedder: EmbedderLike) -> list[str]:
    """Return a sentence of each chunk that the embedder reads."""
    found: list[str] = []
    for chunk in chunks:
        if embedder.languages and chunk.language and chunk.language not in embedder.languages:
            continue
        # Line by line, since a stretch of code or a table without any stop would else be the whole chunk.
        lines = (line for span in sentences(chunk.text) for line in span.cut(chunk.text).splitlines())
        fitting = [one for line in lines if len(one := line.strip()) in _SENTENCE_CHARS]
        if fitting:
            found.append(fitting[len(fitting) // 2])
    return found


def _separation(high: Sequence[float], low: Sequence[float]) -> float:
    """Return how often a value of `high` is above one of `low`."""
    pairs = [(one > other) + 0.5 * (one == other) for one in high for other in low]
    return sum(pairs) / len(pairs)
