"""`bee.inference`: the library's models, for programs that speak to models rather than to documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lilbee_core.arguments import checked
from lilbee_core.errors import InvalidArgument, ModelNotFound
from lilbee_core.library._fleet import ROLE_SETTINGS
from lilbee_core.types import (
    Background,
    ChatOptions,
    Delta,
    Filter,
    Message,
    Query,
    SearchResult,
    Vectors,
)

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts

ANSWERING = "lilbee"
"""The model that answers from the documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InferenceModel:
    """A model that can be asked, by the name that requests give. `role` is ``chat``, ``embed`` or ``rerank``."""

    id: str
    role: str
    from_documents: bool = False

    def to_dict(self) -> dict[str, object]:
        return {"id": self.id, "role": self.role, "from_documents": self.from_documents}


@checked
class Inference:
    """Chat, vectors and relevance from the models that the settings name; ``lilbee`` answers from the documents."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def models(self) -> tuple[InferenceModel, ...]:
        """Return the models that can be asked. None of them is loaded or called for that."""
        parts, named = self._parts, self._parts.settings.models
        found = [InferenceModel(id=ANSWERING, role="chat", from_documents=True)]
        if parts.is_given("chat") or named.chat_model not in _OFF:
            found.append(InferenceModel(id=parts.chat_model, role="chat"))
        embedder = self._embedder_name()
        if embedder is not None:
            found.append(InferenceModel(id=embedder, role="embed"))
        if named.reranker_model not in _OFF:
            found.append(InferenceModel(id=named.reranker_model, role="rerank"))
        return tuple(found)

    def chat(
        self, messages: Sequence[Message], options: ChatOptions | None = None, *, model: str | None = None
    ) -> Iterator[Delta]:
        """Have the chat model itself go on with a conversation, piece by piece; the documents have no part in it.

        Raises:
            ModelNotFound: If there is no chat model, or `model` is another one.
            ProviderError: If it fails, or the messages do not fit it (``provider.context_overflow``).
        """
        from lilbee_core.library._searching import answering_chat

        self._require("chat", model)
        chat = answering_chat(self._parts)
        if chat is None:
            raise _unset("chat")
        return chat.chat(messages, options or ChatOptions())

    def answer(self, messages: Sequence[Message], *, filters: Filter | None = None) -> Iterator[Delta]:
        """Answer the last message from the documents, with the messages before it in mind, piece by piece.

        A follow-up is searched with what it leaves out. What system messages say reaches the chat model. The last delta
        is ``done`` and carries the whole `Answer`; a ``usage`` comes before it where the chat model counts.

        Raises:
            InvalidArgument: If the last message is not one of the user's.
            EmptyQuery: If it says nothing.
            NotFound: If `filters` names a collection that does not exist.
            ProviderError: If the chat model fails before it said anything.
        """
        turns = [one for one in messages if one.role in ("user", "assistant") and one.content.strip()]
        if not messages or messages[-1].role != "user":
            raise InvalidArgument("the last message is not one of the user's", hint="End with what the user asks.")
        question, before = messages[-1].content, turns[:-1] if turns and turns[-1] is messages[-1] else turns
        result, about_itself = self._found(question, before, filters or Filter())
        told = "\n\n".join(one.content for one in messages if one.role == "system")
        background = Background(
            history=_alternating(before), memory=told, images=messages[-1].images, about_itself=about_itself
        )
        from lilbee_core.library._searching import answerer_for

        return answerer_for(self._parts, usage=True).stream(question, result, background)

    def embed(self, texts: Sequence[str], *, model: str | None = None, queries: bool = False) -> Vectors:
        """Return a unit vector for each text, as the index would hold it; as a search would use it for `queries`.

        Raises:
            ModelNotFound: If there is no embedder, or `model` is another one.
            ProviderError: If it fails.
        """
        self._require("embed", model)
        embedder = self._parts.embedder
        if embedder is None:
            raise _unset("embed")
        return embedder.embed_query_batch(texts) if queries else embedder.embed_batch(texts)

    def count_tokens(self, text: str) -> int:
        """Return how many tokens a text has for the embedder."""
        embedder = self._parts.embedder
        if embedder is None:
            raise _unset("embed")
        return embedder.count_tokens(text)

    def rerank(self, query: str, texts: Sequence[str], *, model: str | None = None) -> tuple[float, ...]:
        """Return how relevant each text is to a query, from 0 to 1.

        Raises:
            ModelNotFound: If there is no reranker, or `model` is another one.
            ProviderError: If it fails.
        """
        from lilbee_core.library._waiting import query_reranker

        self._require("rerank", model)
        reranker = query_reranker(self._parts)
        if reranker is None:
            raise _unset("rerank")
        return reranker.score(query, texts)

    # ------------------------------------------------------------------ inside

    def _embedder_name(self) -> str | None:
        if self._parts.is_given("embedder"):
            return self._parts.embedder.model if self._parts.embedder is not None else None
        named = self._parts.settings.models.embedding_model
        if named == "auto":
            from lilbee_core.library._models import BUILTIN

            return BUILTIN
        return None if named in _OFF else named

    def _require(self, role: str, model: str | None) -> None:
        known = [one.id for one in self.models() if one.role == role and not one.from_documents]
        if not known:
            raise _unset(role)
        if model is not None and model not in known:
            raise ModelNotFound(
                f"the model {model!r} is not there for {_ROLES[role]}", hint=f"Use {', '.join(known)}, or leave it out."
            )

    def _found(self, question: str, before: Sequence[Message], filters: Filter) -> tuple[SearchResult, bool]:
        """Return what the library holds about the last message, and whether it asks nothing of the library."""
        from lilbee_core.chat import FollowUps
        from lilbee_core.library._prompting import prompts_of
        from lilbee_core.library._searching import answering_chat, search_for_answer

        parts = self._parts
        how = parts.settings.chat.chat_rewrite
        text = question
        if how != "off" and before:
            follow_ups = FollowUps(
                parts.analyzer, languages=lambda: tuple(parts.store.languages()), prompt=prompts_of(parts).text
            )
            rewritten = follow_ups.rewrite(
                question, _exchanges(before), answering_chat(parts) if how == "auto" else None
            )
            if rewritten.about_itself:
                return SearchResult(query=Query(text=question), hits=(), found=False), True
            text = rewritten.query
        query = Query(text=text, filters=filters, top_k=parts.settings.search.top_k, profile="full")
        return search_for_answer(parts, query), False


_OFF = ("none", "auto", "")
_ROLES = {"chat": "chat", "embed": "embedding", "rerank": "reranking"}


def _unset(role: str) -> ModelNotFound:
    return ModelNotFound(f"there is no model for {_ROLES[role]}", hint=f"Set {ROLE_SETTINGS[role]}.")


def _exchanges(turns: Sequence[Message]) -> list[tuple[str, str]]:
    """Return questions with their replies, oldest first."""
    found: list[tuple[str, str]] = []
    for turn in turns:
        if turn.role == "user":
            found.append((turn.content, ""))
        elif found:
            question, reply = found[-1]
            found[-1] = (question, f"{reply}\n{turn.content}".strip())
    return found


def _alternating(turns: Sequence[Message]) -> tuple[Message, ...]:
    """Return turns as chat templates want them: the user first, the assistant last, never two of one role in a row."""
    return tuple(
        Message(role=role, content=text or "(This message was not answered.)")
        for question, reply in _exchanges(turns)
        for role, text in (("user", question), ("assistant", reply))
    )
