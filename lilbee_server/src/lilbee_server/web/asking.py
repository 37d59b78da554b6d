"""Answers to single questions: the latest are kept for as long as somebody may come back for them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from litestar.datastructures import State

from lilbee_core.errors import NotFound
from lilbee_core.types import Delta
from lilbee_server.generation import Generation
from lilbee_server.turns import Turns

_KEPT = 50


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, where, and the answer as far as it has come."""

    text: str
    collections: tuple[str, ...]
    generation: Generation


class Asked:
    """The latest questions. Used from one event loop."""

    def __init__(self) -> None:
        self._known: dict[str, Question] = {}

    async def ask(
        self, turns: Turns, text: str, collections: tuple[str, ...], start: Callable[[], Iterator[Delta]]
    ) -> str:
        """Have a question answered when its turn comes, and return its name.

        Raises:
            Busy: If the turn does not come in time.
        """
        name = secrets.token_urlsafe(9)
        self._known[name] = Question(text, collections, await turns.generate(start))
        for old in [name for name, one in self._known.items() if one.generation.is_over][:-_KEPT]:
            del self._known[old]
        return name

    def get(self, name: str) -> Question | None:
        """Return a question, None where it is gone."""
        return self._known.get(name)

    def require(self, name: str) -> Question:
        """Return a question.

        Raises:
            NotFound: If it is gone.
        """
        found = self._known.get(name)
        if found is None:
            raise NotFound("this answer is no longer here", hint="Ask again.")
        return found


def asked_of(state: State) -> Asked:
    """Return the questions that an application knows."""
    asked: Asked = state["asked"]
    return asked
