"""Vectors of the wordings of a query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lilbee_core.errors import ProviderError
from lilbee_core.protocols import EmbedderLike
from lilbee_core.types import Variant

if TYPE_CHECKING:
    from lilbee_core.types import Vector

HYDE = "hyde"
"""The kind of a variant that is written as a document would be, and embedded as one."""


def embedded(variants: Sequence[Variant], embedder: EmbedderLike) -> tuple[Variant, ...]:
    """Return the variants with a vector each, those that lack one embedded in one call.

    Raises:
        ProviderError: If the embedder fails, or gives vectors that cannot be used.
    """
    asked = [one for one in variants if one.vector is None and one.kind != HYDE]
    found = _embed([one.text for one in asked], embedder)
    if len(found) != len(asked):
        raise ProviderError(
            f"{embedder.model} gave {len(found)} vectors for {len(asked)} wordings of the query",
            hint="Check that the model's server serves the model that built the index.",
        )
    known = {id(one): vector for one, vector in zip(asked, found, strict=True)}
    return tuple(
        one if one.vector is not None else replace(one, vector=usable(_vector(one, known, embedder), embedder))
        for one in variants
    )


def _embed(texts: Sequence[str], embedder: EmbedderLike) -> Sequence[Vector]:
    if len(texts) == 1:
        return [embedder.embed_query(texts[0])]
    return list(embedder.embed_query_batch(texts)) if texts else []


def _vector(variant: Variant, known: Mapping[int, Vector], embedder: EmbedderLike) -> Vector:
    return embedder.embed(variant.text) if variant.kind == HYDE else known[id(variant)]


def usable(vector: Vector, embedder: EmbedderLike) -> Vector:
    """Return the vector if it can be compared with those of the index.

    Raises:
        ProviderError: If it has another size, or numbers that are none.
    """
    import numpy as np

    if vector.shape != (embedder.dimension,):
        raise ProviderError(
            f"{embedder.model} gave a vector of shape {vector.shape} for the query, expected ({embedder.dimension},)",
            hint="Check that the model's server serves the model that built the index.",
        )
    if not np.isfinite(vector).all():
        raise ProviderError(
            f"{embedder.model} gave a vector with values that are no numbers for the query",
            hint="Restart the model's server, or choose another embedding model.",
        )
    return vector
