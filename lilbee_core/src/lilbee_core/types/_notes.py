"""What is remembered of the work: notes, facts, skills."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who wrote something: a person, or a chat model in a conversation."""

    model: str | None = None
    conversation: str | None = None

    @property
    def is_model(self) -> bool:
        return self.model is not None

    def to_dict(self) -> dict[str, object]:
        return {"by": "model" if self.is_model else "user", "model": self.model, "conversation": self.conversation}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note, a fact or a skill, at one of its revisions. `kind` says which; facts have no name.

    Of a skill, `name` and `description` are told to the chat model, `text` only when it asks for it.
    """

    id: str
    kind: str
    text: str
    name: str = ""
    description: str = ""
    revision: int = 1
    author: Author = Author()
    created_at: str = ""
    updated_at: str = ""

    def to_dict(self) -> dict[str, object]:
        return {
            "id": self.id,
            "kind": self.kind,
            "name": self.name,
            "description": self.description,
            "text": self.text,
            "revision": self.revision,
            "author": self.author.to_dict(),
            "created_at": self.created_at,
            "updated_at": self.updated_at,
        }
