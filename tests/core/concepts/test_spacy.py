"""Noun phrases and entities by spaCy where a model is installed, rules for everything else (R209)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

from lilbee_core.concepts import RuleExtractor, SpacyExtractor, build_extractor, installed_models
from lilbee_core.errors import ExtraMissing, InvalidArgument
from lilbee_core.testing.builders import a_chunk

STOPS = {"the", "a", "its", "of"}


@dataclass
class Token:
    text: str
    pos_: str = "NOUN"
    ent_type_: str = ""

    @property
    def is_stop(self) -> bool:
        return self.text.lower() in STOPS

    @property
    def is_punct(self) -> bool:
        return not self.text[0].isalnum()


@dataclass
class Span:
    tokens: list[Token]
    label_: str = ""

    @property
    def root(self) -> Token:
        return self.tokens[-1]

    def __iter__(self) -> Iterator[Token]:
        return iter(self.tokens)


@dataclass
class Doc:
    noun_chunks: list[Span] = field(default_factory=list)
    ents: list[Span] = field(default_factory=list)


class Pipeline:
    """Says of every text what it was told."""

    lang = "en"

    def __init__(self, document: Doc) -> None:
        self.document = document
        self.read: list[str] = []

    def pipe(self, texts: Iterable[str], *, batch_size: int) -> Iterator[Doc]:
        for text in texts:
            self.read.append(text)
            yield self.document


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    geneva = [Token("Geneva", "PROPN", "GPE")]
    seen = Pipeline(
        Doc(
            noun_chunks=[
                Span([Token("The"), Token("honey"), Token("bees")]),
                Span([Token("Rome", "PROPN"), Token("'s", "PART"), Token("hives")]),
                Span([Token("it", "PRON")]),
                Span(geneva),
                Span([Token("thing")]),
                *(
                    Span([Token("hive"), Token(word)])
                    for word in ["top", "lid", "floor", "stand", "box", "frame", "roof"]
                ),
                Span([Token("hive"), Token("tool")]),
            ],
            ents=[Span(geneva, "GPE"), Span([Token("Tuesday")], "DATE"), Span([Token("the"), Token("UN")], "ORG")],
        )
    )
    module = ModuleType("en_told_sm")
    module.load = lambda *, exclude: seen  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "en_told_sm", module)
    return seen


def test_phrases_and_entities_lose_what_is_no_part_of_them(model: Pipeline) -> None:
    found = SpacyExtractor({"en": "en_told_sm"}).extract([a_chunk("A text.", language="en", title=None)])[0]
    kinds = {one.concept: (one.surface, one.kind, one.count) for one in found}

    assert kinds.items() >= {
        ("honey bee", ("honey bees", "phrase", 1)),
        ("geneva", ("Geneva", "entity", 1)),
        ("un", ("UN", "entity", 1)),
    }
    assert not {"it", "thing", "tuesday", "rome's hive"} & set(kinds)
    assert len(found) == 10


def test_code_and_other_languages_go_to_the_rules(model: Pipeline) -> None:
    extractor = SpacyExtractor({"en": "en_told_sm"})
    chunks = [
        a_chunk("In Berlin und in Berlin steht ein Turm.", language="de", title=None),
        a_chunk("weigh_hive(x)", symbol="weigh_hive", media_type="text/x-python", language="en"),
        a_chunk("English words.", language="en", title=None),
    ]
    found = extractor.extract(chunks)

    assert model.read == ["English words."]
    assert found[:2] == RuleExtractor().extract(chunks[:2])
    assert found[2][0].concept == "geneva"


def test_the_fingerprint_names_models_and_rules(model: Pipeline) -> None:
    assert SpacyExtractor({"en": "en_told_sm"}).fingerprint != SpacyExtractor({}).fingerprint
    assert RuleExtractor().fingerprint in SpacyExtractor({"en": "en_told_sm"}).fingerprint


def test_what_is_chosen() -> None:
    assert isinstance(build_extractor("rules"), RuleExtractor)
    assert isinstance(build_extractor("auto"), SpacyExtractor if installed_models() else RuleExtractor)


@pytest.mark.parametrize("name", ["en_no_such_model", "os", "a b", ""])
def test_a_model_that_is_not_there_is_a_clear_error(name: str) -> None:
    with pytest.raises((InvalidArgument, ExtraMissing)) as caught:
        build_extractor(name)
    assert caught.value.hint


@pytest.mark.skipif("en" not in installed_models(), reason="no spaCy model for English is installed")
@pytest.mark.slow
def test_a_real_model(tmp_path: Path) -> None:
    chunk = a_chunk("The World Health Organization met beekeepers in Geneva.", language="en", title=None)
    concepts: Sequence[str] = [one.concept for one in build_extractor("auto").extract([chunk])[0]]

    assert {"world health organization", "geneva", "beekeeper"} <= set(concepts)
