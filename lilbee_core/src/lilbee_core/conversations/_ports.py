"""What a conversation needs of the rest of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from lilbee_core.types import (
    AssembledRequest,
    AttachedFile,
    Attachment,
    Background,
    Compaction,
    ConversationInfo,
    ConversationMessage,
    Delta,
    GivenFile,
    Message,
    SearchResult,
)

Record = Callable[[AssembledRequest], None]
Attached = str | Path | GivenFile | Attachment
"""A file, a document of the library, what is in a file of elsewhere, or something that was read already."""


class Asked(Protocol):
    """What to search for a message."""

    @property
    def query(self) -> str: ...

    @property
    def about_itself(self) -> bool: ...


class Engine(Protocol):
    """The library as one conversation uses it: with its own wordings, and within its scope."""

    @property
    def model(self) -> str | None:
        """The chat model; None where answers are made of quoted sentences."""
        ...

    @property
    def context_tokens(self) -> int | None:
        """What the chat model reads, where that is known."""
        ...

    @property
    def shows_reasoning(self) -> bool: ...

    def rewrite(self, question: str, earlier: Sequence[tuple[str, str]]) -> Asked:
        """Return what to search for a message that follows others."""
        ...

    def search(self, query: str) -> SearchResult: ...

    def nothing(self, question: str) -> SearchResult:
        """Return the result of no search."""
        ...

    def memory(self) -> str:
        """Return what is remembered, for the chat model."""
        ...

    def image(self, attachment: Attachment) -> bytes | None:
        """Return an attached image, if the chat model can see it."""
        ...

    def answer(
        self, question: str, result: SearchResult, background: Background, record: Record
    ) -> Iterator[Delta]: ...

    def preview(self, question: str, result: SearchResult, background: Background) -> AssembledRequest | None:
        """Return what the chat model would be sent; None if it would not be asked."""
        ...

    def summary(self, text: str) -> tuple[Message, Message]:
        """Return the turns that a summary is sent as."""
        ...

    def cutoff(self, messages: Sequence[ConversationMessage], compaction: Compaction | None) -> int:
        """Return how many messages a summary stands for."""
        ...

    def is_due(
        self, messages: Sequence[ConversationMessage], compaction: Compaction | None, *, new_tokens: int
    ) -> bool:
        """Say whether earlier turns are to be summarized before the next request."""
        ...

    def compact(
        self, messages: Sequence[ConversationMessage], compaction: Compaction | None, *, now: str
    ) -> Compaction | None:
        """Return a new summary, None if there is nothing to sum up."""
        ...

    def title(self, question: str, reply: str) -> str | None:
        """Return a name for a conversation that begins so, None to leave it."""
        ...

    def attach(self, source: Attached) -> Attachment:
        """Return a copy of a file or a document."""
        ...

    def file_of(self, attachment: Attachment) -> AttachedFile:
        """Return what was attached.

        Raises:
            NotFound: If its bytes are gone.
        """
        ...


class Engines(Protocol):
    """Gives each conversation what it needs."""

    def of(self, info: ConversationInfo) -> Engine: ...

    def check(self, info: ConversationInfo) -> None:
        """Refuse a scope or wordings that cannot be.

        Raises:
            NotFound: If there is no such collection or prompt.
            InvalidArgument: If there is no such scope.
        """
        ...

    def forget(self, conversation: str) -> None:
        """Delete what is kept of a conversation beside its messages."""
        ...
