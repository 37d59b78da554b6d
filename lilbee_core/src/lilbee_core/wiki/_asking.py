"""Asking a chat model about a source: one call, whose reply is read as far as it can be, and checked."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Protocol

from lilbee_core.analysis import fold
from lilbee_core.protocols import CancelToken, ChatProvider
from lilbee_core.text import Nearness, defuse, estimate_tokens, fence_for, fenced, fill, fold_space, tokens_at_most
from lilbee_core.types import ChatOptions, Chunk, Message, closable
from lilbee_core.wiki._checking import Checker
from lilbee_core.wiki._notes import Note, SourceNotes, Titles
from lilbee_core.wiki._quotes import names_it
from lilbee_core.wiki._reply import (
    MOST_SENTENCES,
    Section,
    says_nothing,
    sections_in,
    sentences_in,
    source_schema,
    topic_schema,
)

FEWEST_CONCEPTS, MOST_CONCEPTS = 3, 5
"""Things that a model chooses in a source, beside those that it is told."""
MOST_NAMES, _MOST_ENTITIES = 12, 8
_TOPIC = (3, 8)
_CHARS_PER_TOKEN = 8
"""A reply that is longer than its tokens has no end."""
_LONGEST_RUN = 1_200
"""Characters of a reply without a quotation mark: small models fall into saying one thing for ever."""
_PASSAGE_TOKENS = 24
"""What stands around a passage."""
_KEPT_REPLY = 2_000


class Wording(Protocol):
    """Gives a prompt by its name, its gaps filled with these values."""

    def __call__(self, name: str, /, **values: str) -> str: ...


def default_wording(name: str, /, **values: str) -> str:
    """Return a prompt that comes with lilbee, its gaps filled."""
    return fill(_template(name), **values)


@cache
def _template(name: str) -> str:
    return files("lilbee_core.wiki").joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What a source may be written about: names of pages and of entities that it mentions.

    With `only` the model writes about these and chooses nothing by itself.
    """

    names: tuple[str, ...] = ()
    only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request about passages, in the order of their numbers."""

    messages: tuple[Message, ...]
    options: ChatOptions
    passages: tuple[Chunk, ...]

    @property
    def tokens(self) -> int:
        """How many tokens it has, estimated."""
        return sum(estimate_tokens(one.content) for one in self.messages)

    @property
    def most_tokens(self) -> int:
        """How many tokens it has at most."""
        return sum(tokens_at_most(one.content) for one in self.messages)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the chat model, which is made by `take`.

    That raises `ProviderError` if the model fails, and `Cancelled` on request, in the midst of a reply too.
    """

    request: Request
    take: Callable[[CancelToken], SourceNotes]


class NoteTaker:
    """Has a chat model write notes. Threads may share it.

    A reply that is no JSON, breaks off or has no end is read as far as it goes; sentences that the passages do not
    bear out are left out and reported.

    Args:
        chat: Who writes.
        wording: Gives the prompts.
        near: Says how near in meaning a sentence is to a passage, where their words differ much.
        max_tokens: Longest reply.
        passage_tokens: Most tokens of passages in a request, estimated.
        room: Most tokens of a whole request, rather too many than too few; None for no limit.
        max_seconds: A reply that takes longer is cut off.
    """

    def __init__(
        self,
        chat: ChatProvider,
        *,
        wording: Wording = default_wording,
        near: Nearness | None = None,
        max_tokens: int = 2000,
        passage_tokens: int = 3000,
        room: int | None = None,
        max_seconds: float = 900.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._chat = chat
        self._wording = wording
        self._near = near
        self.max_tokens = max_tokens
        self._passage_tokens = passage_tokens
        self._room = room
        self._max_seconds = max_seconds
        self._clock = clock

    def source_call(self, chunks: Sequence[Chunk], names: Names) -> Call:
        """Return the call about a source."""
        most = len(names.names) if names.only else MOST_CONCEPTS + len(names.names)
        values = {
            "fewest": str(1 if names.only else FEWEST_CONCEPTS),
            "most": str(most),
            "sentences": str(MOST_SENTENCES),
            "names": "; ".join(_label(name) for name in names.names) or "-",
        }
        titles = names.names if names.only else ()
        prompt = "wiki.update" if names.only else "wiki.source"
        request = self._fitting(
            chunks,
            names.names,
            lambda given: self._request(prompt, given, values, source_schema(len(given), titles, most=most)),
        )
        return Call(request, partial(self._take_source, request, names))

    def topic_call(self, title: str, chunks: Sequence[Chunk]) -> Call:
        """Return the call for the overview of a topic."""
        values = {"title": _label(title), "fewest": str(_TOPIC[0]), "most": str(_TOPIC[1])}
        request = self._fitting(
            chunks,
            (),
            lambda given: self._request("wiki.topic", given, values, topic_schema(len(given), most=_TOPIC[1])),
        )
        return Call(request, partial(self._take_topic, request, title))

    def _take_source(self, request: Request, names: Names, cancel: CancelToken) -> SourceNotes:
        reply = self._reply(request, cancel)
        sections = _allowed(sections_in(reply), names)
        if not sections:
            if says_nothing(reply):
                return SourceNotes(named=not names.only)
            return _unreadable(reply, named=not names.only)
        checker = Checker(request.passages, near=self._near)
        return SourceNotes(notes=tuple(checker.note(one) for one in sections), named=not names.only)

    def _take_topic(self, request: Request, title: str, cancel: CancelToken) -> SourceNotes:
        reply = self._reply(request, cancel)
        said = sentences_in(reply)
        if not said:
            return _unreadable(reply, named=True)
        sentences, dropped = Checker(request.passages, near=self._near).sentences(said)
        return SourceNotes(notes=(Note(title=title, sentences=sentences, dropped=dropped),))

    def _fitting(
        self, chunks: Sequence[Chunk], names: Sequence[str], ask: Callable[[Sequence[Chunk]], Request]
    ) -> Request:
        """Return the request with as many passages as there is room for: numbers cost more than their length tells."""
        tokens = self._passage_tokens
        while True:
            given = chosen(chunks, names, tokens)
            request = ask(given)
            most = request.most_tokens
            if self._room is None or most <= self._room or len(given) <= 1:
                return request
            tokens = min(tokens - 1, sum(map(_cost, given)) * self._room // most)

    def _request(self, name: str, given: Sequence[Chunk], values: Mapping[str, str], schema: str) -> Request:
        fence = fence_for([part for chunk in given for part in (chunk.text, chunk.path, *chunk.context)])
        passages = "\n\n".join(_passage(number, chunk, fence) for number, chunk in enumerate(given, start=1))
        text = self._wording(name, fence=fence, passages=passages, **values)
        return Request(
            messages=(Message(role="user", content=text),),
            options=ChatOptions(max_tokens=self.max_tokens, json_schema=schema),
            passages=tuple(given),
        )

    def _reply(self, request: Request, cancel: CancelToken) -> str:
        room, until = self.max_tokens * _CHARS_PER_TOKEN, self._clock() + self._max_seconds
        pieces: list[str] = []
        run = 0
        with closing(closable(self._chat.chat(request.messages, request.options))) as deltas:
            for delta in deltas:
                cancel.check()
                room -= len(delta.text)
                if delta.kind == "text":
                    pieces.append(delta.text)
                    last = delta.text.rfind('"')
                    run = run + len(delta.text) if last < 0 else len(delta.text) - last
                if room < 0 or run > _LONGEST_RUN or self._clock() > until:
                    break
        return "".join(pieces)


def chosen(chunks: Sequence[Chunk], names: Sequence[str], tokens: int) -> tuple[Chunk, ...]:
    """Return as many passages as fit, in their order: those that mention the names first, the rest from everywhere."""
    costs = [_cost(chunk) for chunk in chunks]
    if sum(costs) <= tokens:
        return tuple(chunks)
    wanted = [fold(name) for name in names]
    width = max(1, (len(chunks) - 1).bit_length())

    def rank(at: int) -> tuple[bool, int]:
        text = fold(chunks[at].text)
        # Numbers read backwards spread evenly however few of them are taken.
        return not any(name in text for name in wanted), int(f"{at:0{width}b}"[::-1], 2)

    kept: list[int] = []
    for at in sorted(range(len(chunks)), key=rank):
        if costs[at] <= tokens or not kept:
            kept.append(at)
            tokens -= costs[at]
    return tuple(chunks[at] for at in sorted(kept))


def _cost(chunk: Chunk) -> int:
    return estimate_tokens(chunk.text) + _PASSAGE_TOKENS


def names_in(text: str, entities: Sequence[str], titles: Titles) -> tuple[str, ...]:
    """Return what a text may be written about: entities of it, and titles that it names (in its folded form)."""
    found = {fold(name): name for name in entities[:_MOST_ENTITIES]}
    for key, title in titles.items():
        if len(found) == MOST_NAMES:
            break
        if key not in found and names_it(text, key):
            found[key] = title
    return tuple(found.values())


def _allowed(sections: Sequence[Section], names: Names) -> list[Section]:
    """Return the sections that may be there: about each thing one, about nothing that was not asked for."""
    titles = {fold(name): name for name in names.names}
    found: dict[str, Section] = {}
    for section in sections:
        key = fold(section.title)
        if names.only and key not in titles:
            continue
        one = Section(titles.get(key, section.title), section.said)
        before = found.get(key)
        found[key] = one if before is None else Section(before.title, (*before.said, *one.said))
    return list(found.values())[: MOST_CONCEPTS + len(titles)]


def _unreadable(reply: str, *, named: bool) -> SourceNotes:
    problem = "the reply holds nothing that can be read" if reply.strip() else "the model replied nothing"
    return SourceNotes(named=named, problem=problem, reply=reply.strip()[:_KEPT_REPLY])


def _passage(number: int, chunk: Chunk, fence: str) -> str:
    place = ", ".join(part for part in (chunk.path, str(chunk.location), chunk.heading or "") if part)
    return fenced(fence, f"passage {number}:", _label(place).replace(fence, ""), defuse(chunk.text))


def _label(text: str) -> str:
    return defuse(fold_space(text))[:200]
