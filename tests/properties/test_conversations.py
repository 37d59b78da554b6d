"""Random conversations: whatever is done to them, nothing is lost and every request can be read (R342-R346)."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from lilbee_core.conversations import Conversation
from lilbee_core.errors import EmptyReply, LilbeeError, ProviderUnavailable
from lilbee_core.testing import ScriptedChat
from lilbee_core.types import ConversationMessage, Message
from tests.core.conversations._world import World, check_alternation, is_summary_request

_STEPS = 9


class Run:
    """One random conversation, with what must be true of it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.chat = ScriptedChat(self.say)  # type: ignore[arg-type]
        self.world = World(
            self.chat,
            context=self.random.choice([None, 1200, 2000, 8000]),
            percent=self.random.choice([0, 10, 40]),
            keep_turns=self.random.randrange(3),
            found=self.random.random() < 0.9,
        )
        self.conversation: Conversation = self.world.create()
        self.expected: list[tuple[str, str]] = []
        self.asked = 0
        self.writes_anew = False

    def say(self, messages: Sequence[Message]) -> str:
        if is_summary_request(messages):
            self.check_summary_request(messages[0].content)
            if self.random.random() < 0.1:
                raise EmptyReply("nothing", hint="")
            return f"SUMMARY {self.random.randrange(10**6)}"
        check_alternation(messages)
        if self.random.random() < 0.1:
            raise ProviderUnavailable("down", hint="")
        return f"Reply {self.random.randrange(10**6)}. " + "word " * self.random.randrange(60) + "[1]"

    def check_summary_request(self, asked: str) -> None:
        """Only what is new is read, with the summary before it."""
        messages, start = self.conversation.messages, self.conversation.summarized
        if self.writes_anew and start == len(messages):
            return  # the summary ends with the reply that is written anew, so it stands for nothing now
        compaction = self.conversation.info.compaction
        for message in messages[:start]:
            if message.role == "user":
                assert message.content.split()[0] not in asked, "what was summarized is read again"
        if start and compaction is not None and "SUMMARY" not in asked:
            raise AssertionError("the summary before is not given")

    def step(self) -> None:
        random_ = self.random
        choice = random_.random()
        try:
            if choice < 0.62 or not self.expected:
                self.send()
            elif choice < 0.74:
                self.conversation.compact()
            elif choice < 0.86:
                self.rewind()
            elif choice < 0.93:
                self.regenerate()
            else:
                self.stop()
        except LilbeeError:
            pass
        self.check()

    def send(self) -> None:
        self.asked += 1
        text = f"ask{self.asked}x what was built? " + "text " * self.random.choice([0, 5, 80, 400])
        self.expected.append(("user", text))
        self.heard(list(self.conversation.stream(text)))

    def heard(self, deltas: Sequence[object]) -> None:
        answer = deltas[-1].answer  # type: ignore[attr-defined]
        self.expected.append(("assistant", answer.text))

    def rewind(self) -> None:
        own = [at for at, (role, _) in enumerate(self.expected) if role == "user"]
        back = self.random.randrange(len(own)) + 1
        self.conversation.rewind(back)
        del self.expected[own[-back] :]

    def regenerate(self) -> None:
        self.writes_anew = True
        try:
            deltas = list(self.conversation.regenerate_stream())
        finally:
            self.writes_anew = False
        if self.expected[-1][0] == "assistant":
            del self.expected[-1]
        self.heard(deltas)

    def stop(self) -> None:
        self.asked += 1
        text = f"ask{self.asked}x stop"
        self.expected.append(("user", text))
        stream = self.conversation.stream(text)
        told = ""
        for delta in stream:
            told += delta.text if delta.kind == "text" else ""
            if told:
                break
        stream.close()  # type: ignore[attr-defined]
        if told.strip():
            self.expected.append(("assistant", told))

    def check(self) -> None:
        messages = self.conversation.messages
        assert [(one.role, one.content) for one in messages] == self.expected, "something was lost"
        self.check_end(messages)

    def check_end(self, messages: Sequence[ConversationMessage]) -> None:
        compaction, end = self.conversation.info.compaction, self.conversation.summarized
        if compaction is not None:
            assert end, "a summary outlived what it stands for"
            assert messages[end - 1].id == compaction.through_id
            assert messages[end - 1].role == "assistant"
            assert end == len(messages) or messages[end].role == "user"
        else:
            assert end == 0


def run(first: int, count: int) -> int:
    summaries = 0
    for seed in range(first, first + count):
        one = Run(seed)
        for _ in range(one.random.randrange(1, _STEPS)):
            one.step()
        summaries += sum(is_summary_request(request.messages) for request in one.chat.requests)
    return summaries


@pytest.mark.slow
def test_a_thousand_random_conversations() -> None:
    """`nox -s bench` runs ten thousand."""
    assert run(0, 1_000) > 100
