"""What the chat model is given: rules, passages as fenced data, and the question, within its context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Protocol

from lilbee_core.answer._not_found import NOT_FOUND
from lilbee_core.errors import InputTooLong
from lilbee_core.text import defuse, fence_for, fenced, fill, fold_space, tokens_at_most
from lilbee_core.types import Attachment, Background, Hit, Message

_RESERVE = 64  # for what a chat template adds around the messages
_MESSAGE = 8
_SHORTEST = 200  # characters of an attachment; less says nothing


class Wording(Protocol):
    """Gives a prompt by its name, its gaps filled with these values."""

    def __call__(self, name: str, /, **values: str) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Messages for the model, the hits given as passages 1 to n, and what did not fit."""

    messages: tuple[Message, ...]
    given: tuple[Hit, ...]
    max_tokens: int
    warnings: tuple[str, ...] = ()


def default_wording(name: str, /, **values: str) -> str:
    """Return a prompt that comes with lilbee, its gaps filled."""
    return fill(_template(name), **values)


def build_prompt(
    question: str,
    hits: Sequence[Hit],
    *,
    background: Background = Background(),
    wording: Wording = default_wording,
    context_tokens: int | None = None,
    max_tokens: int = 800,
) -> Prompt:
    """Return the prompt. Where the context is small, passages are left out from the end, rules and question never.

    Earlier turns get half of the room at most; what they leave is for passages.

    Raises:
        InputTooLong: If rules and question leave no room for any passage.
    """
    if context_tokens is not None:
        max_tokens = min(max_tokens, context_tokens // 2)
    fence = fence_for((question, *_parts(hits), *(one.text for one in background.attachments)))
    asked = defuse(question)
    rules = wording("answer.rules" if hits else "answer.conversation.rules", not_found=NOT_FOUND)
    system = "\n\n".join(part.strip() for part in (wording("answer.system"), background.memory, rules) if part.strip())
    given, warnings, attached = tuple(hits), tuple[str, ...](), _attached(background.attachments, fence, None)[0]
    if context_tokens is not None:
        room = context_tokens - max_tokens - _RESERVE - tokens_at_most(system) - _history(background, pinned=True)
        attached, warnings = _attached(background.attachments, fence, room // 2)
        bare = wording("answer.question", fence=fence, passages="", question=asked, attached=attached)
        room -= tokens_at_most(bare)
        given, left_out = _fit(hits, fence, room - min(_history(background, pinned=False), max(0, room) // 2))
        warnings += left_out
    passages = "\n\n".join(_passage(number, hit, fence) for number, hit in enumerate(given, start=1))
    name = "answer.question" if given else "answer.conversation"
    user = wording(name, fence=fence, passages=passages, question=asked, attached=attached)
    messages = (
        Message(role="system", content=system),
        *background.history,
        Message(role="user", content=user.strip(), images=background.images),
    )
    return Prompt(messages=messages, given=given, max_tokens=max_tokens, warnings=warnings)


def _parts(hits: Sequence[Hit]) -> list[str]:
    return [part for hit in hits for part in (hit.chunk.text, hit.path, *hit.chunk.context)]


def _history(background: Background, *, pinned: bool) -> int:
    return sum(tokens_at_most(one.content) + _MESSAGE for one in background.history if one.pinned is pinned)


def _passage(number: int, hit: Hit, fence: str) -> str:
    place = ", ".join(part for part in (hit.path, str(hit.chunk.location), hit.heading or "") if part)
    return fenced(fence, f"[{number}]", _label(place, fence), defuse(hit.chunk.text))


def _label(text: str, fence: str) -> str:
    return defuse(fold_space(text).replace(fence, ""))[:200]


def _attached(attachments: Sequence[Attachment], fence: str, room: int | None) -> tuple[str, tuple[str, ...]]:
    """Return what was handed over as fenced data, cut where there is no room for all of it."""
    told, warnings = "", list[str]()
    for at, one in enumerate(attachments):
        text = defuse(one.text)
        if room is not None:
            chars = max(_SHORTEST, 3 * room // (len(attachments) - at))
            if tokens_at_most(text) * 3 > chars:
                kept = int(chars * len(text) / (tokens_at_most(text) * 3))
                warnings.append(f"Of the attachment {one.name} only the first {kept} of {len(text)} characters fit.")
                text = text[:kept]
            room -= tokens_at_most(text)
        told += f"{fenced(fence, 'attached', _label(one.name, fence), text)}\n\n"
    return told, tuple(warnings)


def _fit(hits: Sequence[Hit], fence: str, room: int) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    given: list[Hit] = []
    for hit in hits:
        cost = tokens_at_most(_passage(len(given) + 1, hit, fence)) + 1
        if cost > room:
            break
        given.append(hit)
        room -= cost
    if hits and not given:
        raise InputTooLong(
            "The rules and the question leave no room for a passage in the context of the chat model.",
            hint="Ask a shorter question, or set num_ctx to what the model really reads.",
        )
    left = hits[len(given) :]
    if not left:
        return tuple(given), ()
    names = ", ".join(dict.fromkeys(hit.path for hit in left))
    return tuple(given), (f"{len(left)} of {len(hits)} passages did not fit the chat model's context: {names}",)


@cache
def _template(name: str) -> str:
    return files("lilbee_core.answer").joinpath("prompts", f"{name}.txt").read_text("utf-8").strip()
