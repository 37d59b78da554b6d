"""Conversations without a library: real parts of `chat` and `answer`, a scripted model, nothing on disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lilbee_core.analysis import Analyzer
from lilbee_core.answer import GeneratedAnswerer
from lilbee_core.chat import Compactor, FollowUps, Rewritten, WindowedChat, cutoff, summary_turns, texts_of
from lilbee_core.conversations import Conversation, Conversations, Journal, Record
from lilbee_core.protocols import ChatProvider
from lilbee_core.testing import ManualClock, MemoryState, a_hit
from lilbee_core.text import fill
from lilbee_core.types import (
    AssembledRequest,
    AttachedFile,
    Attachment,
    Background,
    Compaction,
    ConversationInfo,
    ConversationMessage,
    Delta,
    Message,
    Query,
    SearchResult,
)

TEXTS = {**texts_of("lilbee_core.answer"), **texts_of("lilbee_core.chat")}
HIT = a_hit("The Avocet bridge was built in 1911.\n", path="bridge.md")


@dataclass
class World:
    """What engines are made of; a test changes it in between."""

    chat: ChatProvider
    context: int | None = 4096
    percent: int = 50
    keep_turns: int = 1
    rewrites: bool = False
    titles: bool = False
    shows_reasoning: bool = False
    memory: str = ""
    wording: dict[str, str] = field(default_factory=dict[str, str])
    hits: tuple[object, ...] = (HIT,)
    found: bool = True
    searched: list[str] = field(default_factory=list[str])
    clock: ManualClock = field(default_factory=ManualClock)
    state: MemoryState = field(default_factory=MemoryState)

    @property
    def conversations(self) -> Conversations:
        return Conversations(Journal(lambda: self.state, self.clock), self, self.clock)

    def create(self) -> Conversation:
        return self.conversations.create()

    def of(self, info: ConversationInfo) -> Engine:
        return Engine(self, info)

    def check(self, info: ConversationInfo) -> None:
        return

    def forget(self, conversation: str) -> None:
        return


class Engine:
    def __init__(self, world: World, info: ConversationInfo) -> None:
        self.world = world
        self.info = info
        self.chat = WindowedChat(world.chat, context=lambda: world.context, reserve_tokens=200)
        self.model = "fake/chat"
        self.context_tokens = world.context
        self.shows_reasoning = world.shows_reasoning

    def prompt(self, name: str, /, **values: str) -> str:
        own: Mapping[str, str] = dict(self.info.prompts)
        return fill(own.get(name, self.world.wording.get(name, TEXTS[name])), **values)

    def rewrite(self, question: str, earlier: Sequence[tuple[str, str]]) -> Rewritten:
        chat = self.chat if self.world.rewrites else None
        return FollowUps(_ANALYZER, languages=lambda: ("en",), prompt=self.prompt).rewrite(question, earlier, chat)

    def search(self, query: str) -> SearchResult:
        self.world.searched.append(query)
        return SearchResult(query=Query(text=query), hits=self.world.hits, found=self.world.found)  # type: ignore[arg-type]

    def nothing(self, question: str) -> SearchResult:
        return SearchResult(query=Query(text=question), hits=(), found=False)

    def memory(self) -> str:
        return self.world.memory

    def image(self, attachment: Attachment) -> bytes | None:
        return None

    def answerer(self, chat: ChatProvider) -> GeneratedAnswerer:
        return GeneratedAnswerer(
            chat,
            model=self.model,
            wording=self.prompt,
            show_reasoning=True,
            usage=True,
            max_tokens=200,
            context_tokens=self.chat.window().context_tokens,
        )

    def answer(self, question: str, result: SearchResult, background: Background, record: Record) -> Iterator[Delta]:
        return self.answerer(self.chat.recording(record)).stream(question, result, background)

    def preview(self, question: str, result: SearchResult, background: Background) -> AssembledRequest | None:
        prompt = self.answerer(self.chat).prompt(question, result, background)
        return None if prompt is None else self.chat.window().fit(prompt.messages)

    @property
    def compactor(self) -> Compactor:
        return Compactor(prompt=self.prompt, keep_turns=self.world.keep_turns, percent=self.world.percent)

    def summary(self, text: str) -> tuple[Message, Message]:
        return summary_turns(text, self.prompt)

    def cutoff(self, messages: Sequence[ConversationMessage], compaction: Compaction | None) -> int:
        return cutoff(messages, compaction.through_id if compaction else None)

    def is_due(
        self, messages: Sequence[ConversationMessage], compaction: Compaction | None, *, new_tokens: int
    ) -> bool:
        context = self.world.context
        return self.compactor.is_due(messages, compaction, new_tokens=new_tokens, context_tokens=context)

    def compact(
        self, messages: Sequence[ConversationMessage], compaction: Compaction | None, *, now: str
    ) -> Compaction | None:
        return self.compactor.compact(
            messages, compaction, self.chat, window=self.chat.window(), model=self.model, now=now
        )

    def title(self, question: str, reply: str) -> str | None:
        return "A title" if self.world.titles else None

    def attach(self, source: object) -> Attachment:
        assert isinstance(source, Attachment)
        return source

    def file_of(self, attachment: Attachment) -> AttachedFile:
        return AttachedFile(name=attachment.name, media_type="text/plain", content=attachment.text.encode())


_ANALYZER = Analyzer()


def is_summary_request(messages: Sequence[Message]) -> bool:
    return len(messages) == 1 and messages[0].content.startswith("Sum up")


def check_alternation(messages: Sequence[Message]) -> None:
    """Demand what the strictest chat templates do: one system message, then user and assistant in turns."""
    roles = [one.role for one in messages]
    assert roles[0] == "system"
    assert roles[1:] == [("user", "assistant")[at % 2] for at in range(len(roles) - 1)], roles
    assert roles[-1] == "user"
