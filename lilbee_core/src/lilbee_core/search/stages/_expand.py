"""Other wordings of a query, by a chat model, and what keeps them from drifting."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from lilbee_core.errors import EmptyReply
from lilbee_core.protocols import ChatProvider, EmbedderLike, SearchContext
from lilbee_core.search._asking import LONGEST_QUERY, ask, is_askable, template
from lilbee_core.search._keys import LANGUAGE
from lilbee_core.search._vectors import embedded
from lilbee_core.search.stages._parse import unquoted
from lilbee_core.types import Part, SearchState, Variant

if TYPE_CHECKING:
    from lilbee_core.types import Vector

EXPANSION = "expansion"
"""The kind of variants that a chat model wrote."""

_TOKENS = 200
_LONGEST = 400
_FENCE = re.compile(r"^\s*```\w*\s*$", re.MULTILINE)
_BRACKETS = re.compile(r"\[.*\]|\{.*\}", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•–]+|\(?\d{1,2}[.):]|\(?[a-z][.)])\s+")
_LABEL = re.compile(
    r"^(?:alternative|rewording|rephrasing|variant|variation|version|query|option|wording)s?\s*(?:\d+|[a-c])?\s*[:.)-]\s*",
    re.IGNORECASE,
)
_EDGES = " \t\"'“”„«»`*_,;[]{}"


@dataclass(frozen=True, slots=True)
class Expand:
    """Have a chat model reword the query: one request, up to `count` wordings, which together weigh `weight`.

    What the query itself finds counts 1: where wordings drift, it must have the last word. A query longer than a
    thousand characters is not reworded.

    Raises:
        ProviderError: If the model fails, is late, or writes nothing that can be used.
    """

    chat: ChatProvider
    count: int = 3
    weight: float = 0.5
    timeout_s: float = 20.0
    name: str = "expand"
    reads: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        if not is_askable(state) or not self.count:
            return replace(state, note="nothing to reword")
        text = state.variants[0].text
        if len(text) > LONGEST_QUERY:
            return replace(state, note="the query is long enough")
        prompt = template("expand").format(count=self.count, query=text)
        said = ask(self.chat, prompt, context, max_tokens=_TOKENS, timeout_s=self.timeout_s, what="rewordings")
        wordings = read_wordings(said, text)[: self.count]
        if not wordings:
            raise EmptyReply("the chat model wrote no other wording", hint="Choose another chat model.")
        share = self.weight / len(wordings)
        more = tuple(Variant(text=wording, kind=EXPANSION, weight=share) for wording in wordings)
        return replace(state, variants=(*state.variants, *more), note=" | ".join(wordings))


@dataclass(frozen=True, slots=True)
class Embed:
    """Turn every wording that has no vector yet into one, all in one call.

    Nothing is embedded for a query in a language that the model does not read.

    Raises:
        ProviderError: If the embedder fails, or gives vectors that cannot be used.
    """

    embedder: EmbedderLike
    name: str = "embed"
    reads: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        language, reads = state.get(LANGUAGE), self.embedder.languages
        if reads and language is not None and language not in reads:
            return replace(state, note=f"{self.embedder.model} does not read {language}")
        if not any(letter.isalnum() for letter in state.query.text):
            return replace(state, note="the query has no words")
        return replace(state, variants=embedded(state.variants, self.embedder))


@dataclass(frozen=True, slots=True)
class Guard:
    """Leave out wordings of a chat model that drifted: their cosine with the query is below `least`.

    It compares the vectors that the search needs anyway. Wordings of other kinds, and those without a vector, stay.
    """

    least: float = 0.5
    name: str = "guard"
    reads: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        original = next((one.vector for one in state.variants if one.kind == "original"), None)
        written = [one for one in state.variants if one.kind == EXPANSION]
        if original is None or not written:
            return replace(state, note="nothing to compare")
        kept = tuple(one for one in state.variants if one.kind != EXPANSION or self._is_near(one.vector, original))
        if len(kept) == len(state.variants):
            return replace(state, note="all are near the query")
        gone = [one for one in written if one not in kept]
        return replace(state, variants=kept, note="drifted: " + " | ".join(_told(one, original) for one in gone))

    def _is_near(self, vector: Vector | None, original: Vector) -> bool:
        return vector is None or cosine(vector, original) >= self.least


def has_vectors(state: SearchState) -> bool:
    """Say whether embedding the wordings did not fail before, so that it is no use to try at once again."""
    return not any(report.name == "embed" and report.status == "failed" for report in state.reports)


def cosine(one: Vector, other: Vector) -> float:
    """Return the cosine of two vectors, 0 where one of them has no length."""
    lengths = (float(one @ one) * float(other @ other)) ** 0.5
    return float(one @ other) / lengths if lengths > 0 else 0.0


def read_wordings(said: str, query: str) -> tuple[str, ...]:
    """Return the wordings in a reply, however the model wrote them: lines, numbered or not, or JSON.

    What repeats the query or another wording, introduces the list, or is no wording at all is left out.
    """
    lines = _from_json(said)
    if lines is None:
        lines = [line for line in _FENCE.sub("", said).splitlines() if not line.rstrip().endswith(":")]
    seen = {_key(query)}
    wordings: list[str] = []
    for line in lines:
        wording = _bare(line)
        if wording and len(wording) <= _LONGEST and _key(wording) not in seen:
            seen.add(_key(wording))
            wordings.append(wording)
    return tuple(wordings)


def _from_json(said: str) -> list[str] | None:
    match = _BRACKETS.search(said)
    if match is None:
        return None
    try:
        found: object = json.loads(match.group())
    except (ValueError, RecursionError):
        return None
    return list(_strings(found)) or None


def _strings(value: object) -> Iterator[str]:
    """Yield the texts of a JSON value; of an object its values, not its keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in cast("list[object]", value):
            yield from _strings(one)
    elif isinstance(value, dict):
        for one in cast("dict[str, object]", value).values():
            yield from _strings(one)


def _bare(line: str) -> str:
    """Return a line without bullets, labels, quotes and control characters; nothing if it has no letter."""
    plain = "".join(sign if sign.isprintable() else " " for sign in line)
    plain = _LABEL.sub("", _BULLET.sub("", plain.strip()).strip(_EDGES)).strip(_EDGES)
    plain = unquoted(plain).strip(_EDGES)
    return plain if any(sign.isalnum() for sign in plain) else ""


def _key(text: str) -> str:
    return "".join(sign for sign in text.casefold() if sign.isalnum())


def _told(variant: Variant, original: Vector) -> str:
    near = 0.0 if variant.vector is None else cosine(variant.vector, original)
    return f"{variant.text} ({near:.2f})"
