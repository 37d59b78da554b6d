"""What the chat model is given: rules, passages as fenced data, and the question, within its context."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from lilbee_core.answer._not_found import NOT_FOUND
from lilbee_core.errors import InputTooLong
from lilbee_core.text import fold_space
from lilbee_core.types import Hit, Message

_RESERVE = 64  # for what a chat template adds around the messages
_FEWEST_TOKENS = 48  # a passage cut shorter says nothing

# Marks by which chat templates tell who speaks; a document must not speak for anybody.
_CONTROL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?s>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|<[|｜][^<>\n]{1,40}[|｜]>"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Messages for the model, the hits given as passages 1 to n, and what did not fit."""

    messages: tuple[Message, ...]
    given: tuple[Hit, ...]
    max_tokens: int
    warnings: tuple[str, ...] = ()


def build_prompt(
    question: str,
    hits: Sequence[Hit],
    *,
    system_prompt: str | None = None,
    context_tokens: int | None = None,
    max_tokens: int = 800,
) -> Prompt:
    """Return the prompt. Where the context is small, passages are left out from the end, rules and question never.

    Raises:
        InputTooLong: If rules and question leave no room for any passage.
    """
    fence = _fence(question, hits)
    system = f"{(system_prompt or _template('system')).strip()}\n\n{_template('rules').format(not_found=NOT_FOUND)}"
    given, warnings = tuple(hits), tuple[str, ...]()
    if context_tokens is not None:
        max_tokens = min(max_tokens, context_tokens // 2)
        bare = _template("question").format(fence=fence, passages="", question=defuse(question))
        room = context_tokens - max_tokens - _RESERVE - count(system) - count(bare)
        given, warnings = _fit(hits, fence, room)
    passages = "\n\n".join(_passage(number, hit, fence) for number, hit in enumerate(given, start=1))
    user = _template("question").format(fence=fence, passages=passages, question=defuse(question))
    messages = (Message(role="system", content=system.strip()), Message(role="user", content=user.strip()))
    return Prompt(messages=messages, given=given, max_tokens=max_tokens, warnings=warnings)


def count(text: str) -> int:
    """Return at most how many tokens a model reads for `text`; rather too many than too few."""
    ascii_only = sum(letter.isascii() for letter in text)
    dense = sum(letter >= "\u2e80" for letter in text)
    return int(ascii_only / 3 + (len(text) - ascii_only - dense) * 0.8 + dense * 1.3) + 1


def defuse(text: str) -> str:
    """Return `text` with a blank inside every mark of chat templates, so that it is read as plain text."""
    return _CONTROL.sub(lambda match: f"{match.group()[0]} {match.group()[1:]}", text)


def _fence(question: str, hits: Sequence[Hit]) -> str:
    """Return a line head that no passage holds: it depends on all of their text, so none can foresee it."""
    digest = hashlib.blake2b(digest_size=6)
    for text in (question, *(part for hit in hits for part in (hit.chunk.text, hit.path, hit.chunk.context))):
        digest.update(f"{text}\0".encode("utf-8", "surrogatepass"))
    fence = f"#####{digest.hexdigest()}"
    while any(fence in hit.chunk.text for hit in hits):
        digest.update(b"again")
        fence = f"#####{digest.hexdigest()}"
    return fence


def _passage(number: int, hit: Hit, fence: str) -> str:
    place = ", ".join(part for part in (hit.path, str(hit.chunk.location), hit.heading or "") if part)
    label = defuse(fold_space(place).replace(fence, ""))[:200]
    return f"{fence} begin [{number}] {label}\n{defuse(hit.chunk.text)}\n{fence} end [{number}]"


def _fit(hits: Sequence[Hit], fence: str, room: int) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    given: list[Hit] = []
    for hit in hits:
        cost = count(_passage(len(given) + 1, hit, fence)) + 1
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
    return files("lilbee_core.answer").joinpath("prompts", f"{name}.txt").read_text("utf-8")
