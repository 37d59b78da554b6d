"""Conversations from async code: the same names, arguments and results."""

from __future__ import annotations

import inspect
from pathlib import Path

import anyio
import pytest

from lilbee_core import AsyncLilbee, Settings
from lilbee_core.aio._talk import AsyncConversation, AsyncConversations, AsyncPrompts, AsyncShelf
from lilbee_core.chat import Prompts
from lilbee_core.conversations import Conversation, Conversations
from lilbee_core.notes import Shelf
from lilbee_core.testing import HashEmbedder

PAIRS = [
    (Conversation, AsyncConversation),
    (Conversations, AsyncConversations),
    (Prompts, AsyncPrompts),
    (Shelf, AsyncShelf),
]


@pytest.mark.parametrize(("plain", "mirror"), PAIRS, ids=lambda kind: kind.__name__)
def test_the_mirror_has_the_same_names_and_arguments(plain: type, mirror: type) -> None:
    def public(kind: type) -> dict[str, object]:
        return {name: member for name, member in vars(kind).items() if not name.startswith("_")}

    attributes = {"requests"} if plain is Conversation else set()
    assert set(public(mirror)) - attributes == set(public(plain)) - attributes
    for name, member in public(plain).items():
        if inspect.isfunction(member):
            mine = inspect.signature(public(mirror)[name])  # type: ignore[arg-type]
            assert list(mine.parameters.values()) == list(inspect.signature(member).parameters.values()), name


def test_a_conversation_is_held_and_kept(tmp_path: Path) -> None:
    (tmp_path / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")

    async def talk() -> None:
        async with AsyncLilbee(tmp_path, Settings(), embedder=HashEmbedder()) as bee:
            await bee.sync()
            conversation = await bee.conversations.create()
            reply = await conversation.send("When does the queen lay eggs?")
            kinds = [delta.kind async for delta in conversation.stream("And where does the queen lay them?")]
            assert "spring" in reply.content
            assert kinds[-1] == "done"
            assert len(conversation.messages) == 4
            assert [one.id for one in await bee.conversations.list()] == [conversation.id]
            assert await bee.conversations.delete(conversation.id)
            fact = await bee.facts.add("I keep bees.")
            assert [one.id for one in await bee.facts.list()] == [fact.id]
            assert (await bee.prompts.get("answer.system")).layer == "default"

    anyio.run(talk)
