"""Short questions to a chat model in the midst of a search: read with a time limit, taken as models write."""

from __future__ import annotations

import re
from contextlib import closing
from functools import cache
from importlib.resources import files

from lilbee_core.errors import EmptyReply, ProviderUnavailable
from lilbee_core.protocols import ChatProvider, SearchContext
from lilbee_core.types import ChatOptions, Message, SearchState, closable

LONGEST_QUERY = 1_000
"""Characters of a query that a chat model is asked to reword. A longer one has words enough."""
_LONGEST_REPLY = 20_000
_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_REST_OF_THOUGHT = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)>", re.IGNORECASE | re.DOTALL)


def is_askable(state: SearchState) -> bool:
    """Say whether a query has words that a chat model could do something with."""
    return bool(state.variants) and any(sign.isalnum() for sign in state.variants[0].text)


def ask(
    chat: ChatProvider, prompt: str, context: SearchContext, *, max_tokens: int, timeout_s: float, what: str
) -> str:
    """Return what the model says, without its reasoning.

    Raises:
        ProviderUnavailable: If it has not finished in time.
        EmptyReply: If it says nothing.
        ProviderError: If it fails.
        Cancelled: If the caller gives up meanwhile.
    """
    started = context.clock.monotonic()
    pieces: list[str] = []
    length = 0
    deltas = chat.chat((Message(role="user", content=prompt),), ChatOptions(max_tokens=max_tokens))
    with closing(closable(deltas)) as reply:
        for delta in reply:
            context.check()
            if context.clock.monotonic() - started > timeout_s:
                raise ProviderUnavailable(
                    f"the chat model did not finish {what} within {timeout_s:g} s",
                    hint="Choose a faster chat model, or set query_expansion_count to 0.",
                )
            if delta.kind == "text":
                pieces.append(delta.text)
                length += len(delta.text)
            if length > _LONGEST_REPLY:
                break
    text = without_thoughts("".join(pieces)).strip()
    if not text:
        raise EmptyReply(f"the chat model gave no {what}", hint="Choose another chat model.")
    return text


def without_thoughts(text: str) -> str:
    """Return the text without think blocks; one that is never closed goes to the end, one never opened to its close."""
    return _REST_OF_THOUGHT.sub("", _THOUGHT.sub("", text))


@cache
def template(name: str) -> str:
    """Return a prompt with its gaps."""
    return files("lilbee_core.search").joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8").strip()
