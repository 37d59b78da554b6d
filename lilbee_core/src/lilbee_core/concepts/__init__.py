"""Concepts: what documents talk about, which of it occurs together, and the communities that make."""

from lilbee_core.concepts._communities import can_cluster
from lilbee_core.concepts._export import Format
from lilbee_core.concepts._extractor import build_extractor
from lilbee_core.concepts._graph import ConceptGraph
from lilbee_core.concepts._memory import MemoryConcepts
from lilbee_core.concepts._rules import RuleExtractor
from lilbee_core.concepts._spacy import SpacyExtractor, installed_models

__all__ = [
    "ConceptGraph",
    "Format",
    "MemoryConcepts",
    "RuleExtractor",
    "SpacyExtractor",
    "build_extractor",
    "can_cluster",
    "installed_models",
]
