"""Which extractor a library uses."""

from __future__ import annotations

from lilbee_core.concepts._rules import RuleExtractor
from lilbee_core.concepts._spacy import SpacyExtractor, installed_models, named_model
from lilbee_core.protocols import ConceptExtractor


def build_extractor(model: str = "auto") -> ConceptExtractor:
    """Return what finds concepts: ``auto`` is spaCy for the languages that a model is installed for, rules for others.

    ``rules`` uses no model at all; any other name is that of an installed spaCy model. No model is loaded yet.

    Raises:
        ExtraMissing: If a model is named and spaCy is not installed.
        InvalidArgument: If the model is not installed.
    """
    if model == "rules":
        return RuleExtractor()
    models = installed_models() if model == "auto" else named_model(model)
    return SpacyExtractor(models) if models else RuleExtractor()
