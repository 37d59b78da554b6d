"""What is known of the cosines of models that were measured. A cosine means nothing without its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredModel:
    """The cosines of one embedding model, as docs/explanation/retrieval.md tells how they were found."""

    usual_cosine: float
    """The best cosine for a query that is like most."""
    floor: float
    """What the cosine and half the share of words must reach together for a hit that answers."""


MEASURED: Mapping[str, MeasuredModel] = MappingProxyType(
    {"builtin/all-MiniLM-L6-v2": MeasuredModel(usual_cosine=0.63, floor=0.63)}
)
"""By model reference."""
