"""The library as conversations use it: wires search, answers, wordings, memory and tools. No algorithm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.errors import InvalidArgument
from lilbee_core.library._attaching import attach, file_of, forget, image_of
from lilbee_core.library._chat_tools import tools_for
from lilbee_core.library._parts import Parts
from lilbee_core.library._prompting import prompts_of
from lilbee_core.library._remembered import facts_of, skills_of
from lilbee_core.protocols import ANALYZED
from lilbee_core.types import (
    AssembledRequest,
    AttachedFile,
    Attachment,
    Background,
    ChatOptions,
    Compaction,
    ConversationInfo,
    ConversationMessage,
    Delta,
    Filter,
    GivenFile,
    Message,
    Query,
    Scope,
    SearchResult,
)

if TYPE_CHECKING:
    from lilbee_core.answer import GeneratedAnswerer
    from lilbee_core.chat import Compactor, Rewritten, ToolBox, WindowedChat
    from lilbee_core.conversations import Conversations, Record
    from lilbee_core.protocols import ChatProvider

_MARKS = re.compile(r"\s*\[\^?\d{1,4}\]")
_TITLE_TOKENS, _LONGEST_TITLE, _TITLE_CHARS = 40, 80, 1_500
_SCOPES = (*(str(one) for one in Scope), "none")


def conversations_of(parts: Parts) -> Conversations:
    """Return the conversations of a library."""
    from lilbee_core.conversations import Conversations, Journal

    journal = Journal(lambda: parts.state, parts.clock, prepare=parts.home.prepare)
    return Conversations(journal, Talks(parts), parts.clock)


class Talks:
    """Gives each conversation the library within its scope."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def of(self, info: ConversationInfo) -> Talk:
        """Return what a conversation needs, as it is now."""
        return Talk(self._parts, info)

    def check(self, info: ConversationInfo) -> None:
        """Refuse a scope or wordings that cannot be."""
        if info.scope not in _SCOPES:
            raise InvalidArgument(f"{info.scope!r} is no scope", hint=f"Choose one of {', '.join(_SCOPES)}.")
        if info.collections:
            from lilbee_core.library._collections import Collections

            Collections(self._parts).filter(*info.collections)
        for name, text in info.prompts:
            prompts_of(self._parts).check(name, text)

    def forget(self, conversation: str) -> None:
        """Delete the files that were attached."""
        forget(self._parts, conversation)


class Talk:
    """One conversation's view of the library, with the settings of this moment."""

    def __init__(self, parts: Parts, info: ConversationInfo) -> None:
        self._parts = parts
        self._info = info
        self._own = dict(info.prompts)

    # ------------------------------------------------------------------ models

    @cached_property
    def _chat(self) -> WindowedChat | None:
        from lilbee_core.library._searching import answering_chat

        return answering_chat(self._parts)

    @property
    def model(self) -> str | None:
        """The chat model's name, None where there is none."""
        return None if self._chat is None else self._parts.chat_model

    @property
    def context_tokens(self) -> int | None:
        """What the chat model reads, where that is known."""
        return None if self._chat is None else self._parts.served_context()

    @property
    def shows_reasoning(self) -> bool:
        """Whether readers of a stream see what the model thinks."""
        return self._parts.settings.answer.show_reasoning

    def _require_chat(self) -> WindowedChat:
        if self._chat is None:
            raise InvalidArgument("there is no chat model", hint="Set chat_model.")
        return self._chat

    def prompt(self, name: str, /, **values: str) -> str:
        """Return a wording as it is in this conversation."""
        return prompts_of(self._parts).text_within(self._own, name, **values)

    # ------------------------------------------------------------------ finding

    def rewrite(self, question: str, earlier: Sequence[tuple[str, str]]) -> Rewritten:
        """Return what to search for a message that follows others."""
        from lilbee_core.chat import FollowUps, Rewritten

        how = self._parts.settings.chat.chat_rewrite
        if how == "off":
            return Rewritten(query=question)
        follow_ups = FollowUps(
            self._parts.analyzer, languages=lambda: tuple(self._parts.store.languages()), prompt=self.prompt
        )
        return follow_ups.rewrite(question, earlier, self._chat if how == "auto" else None)

    def search(self, query: str) -> SearchResult:
        """Return what the library holds about it, within the conversation's scope."""
        from lilbee_core.library._searching import search_for_answer

        options = self._parts.settings.search
        only = Filter(collections=self._info.collections)
        asked = Query(text=query, filters=only, scope=Scope(self._info.scope), top_k=options.top_k, profile="full")
        return search_for_answer(self._parts, asked)

    def nothing(self, question: str) -> SearchResult:
        """Return the result of no search."""
        return SearchResult(query=Query(text=question), hits=(), found=False)

    # ------------------------------------------------------------------ answering

    def memory(self) -> str:
        """Return facts and skills, as many as the budget allows."""
        from lilbee_core.text import tokens_at_most

        budget = self._parts.settings.chat.memory_tokens
        if not budget:
            return ""
        facts = facts_of(self._parts).brief(budget)
        skills = ""
        if self._parts.settings.chat.chat_tools != "off":
            skills = skills_of(self._parts).brief(budget - (tokens_at_most(facts) if facts else 0))
        told = [self.prompt("memory.facts", facts=facts) if facts else ""]
        told += [self.prompt("memory.skills", skills=skills) if skills else ""]
        return "\n\n".join(one.strip() for one in told if one.strip())

    def image(self, attachment: Attachment) -> bytes | None:
        """Return an attached image, if the chat model can see it."""
        return image_of(self._parts, attachment) if self._parts.settings.chat.chat_images else None

    def answer(self, question: str, result: SearchResult, background: Background, record: Record) -> Iterator[Delta]:
        """Yield the answer piece by piece; `record` is given each request to the chat model."""
        from lilbee_core.library._searching import answerer_for
        from lilbee_core.library._wiki_through import ThroughWiki

        if self._chat is None:
            return answerer_for(self._parts).stream(question, self._in_words_of(question, result), background)
        answerer = ThroughWiki(self._answerer(self._chat.recording(record)), self._parts)
        return answerer.stream(question, result, background)

    def _in_words_of(self, question: str, result: SearchResult) -> SearchResult:
        """Return a result whose sentences are chosen by what was asked just now.

        What a follow-up was searched with, the subject of before, says where to look, not what to tell.
        """
        asked = self._parts.analyzer.query(question, languages=tuple(self._parts.store.languages()))
        others = tuple((name, value) for name, value in result.private if name != ANALYZED.name)
        return replace(result, private=(*others, (ANALYZED.name, asked)))

    def preview(self, question: str, result: SearchResult, background: Background) -> AssembledRequest | None:
        """Return what the chat model would be sent first."""
        chat = self._require_chat()
        prompt = self._answerer(chat).prompt(question, result, background)
        if prompt is None:
            return None
        options = ChatOptions(max_tokens=prompt.max_tokens, usage=True, tools=self._tools.tools)
        return chat.window().fit(prompt.messages, options)

    @cached_property
    def _tools(self) -> ToolBox:
        return tools_for(self._parts, self._info, self.search)

    def _answerer(self, chat: WindowedChat) -> GeneratedAnswerer:
        from lilbee_core.answer import GeneratedAnswerer
        from lilbee_core.chat import ToolLoop
        from lilbee_core.library._waiting import embedder_if_usable

        options = self._parts.settings.answer
        talker: ChatProvider = chat
        if self._tools.tools:
            talker = ToolLoop(chat, self._tools, rounds=self._parts.settings.chat.chat_tool_rounds)
        return GeneratedAnswerer(
            talker,
            model=self._parts.chat_model,
            wording=self.prompt,
            show_reasoning=True,
            usage=True,
            max_context_sources=options.max_context_sources,
            max_tokens=options.answer_max_tokens,
            context_tokens=chat.window().context_tokens,
            embedder=embedder_if_usable(self._parts)[0],
        )

    # ------------------------------------------------------------------ summaries and titles

    @property
    def _compactor(self) -> Compactor:
        from lilbee_core.chat import Compactor

        options = self._parts.settings.chat
        return Compactor(prompt=self.prompt, keep_turns=options.compact_keep_turns, percent=options.compact_at_percent)

    def summary(self, text: str) -> tuple[Message, Message]:
        """Return the turns that a summary is sent as."""
        from lilbee_core.chat import summary_turns

        return summary_turns(text, self.prompt)

    def cutoff(self, messages: Sequence[ConversationMessage], compaction: Compaction | None) -> int:
        """Return how many messages a summary stands for."""
        from lilbee_core.chat import cutoff

        return cutoff(messages, compaction.through_id if compaction is not None else None)

    def is_due(
        self, messages: Sequence[ConversationMessage], compaction: Compaction | None, *, new_tokens: int
    ) -> bool:
        """Say whether earlier turns are to be summarized before the next request."""
        context = self.context_tokens
        return self._compactor.is_due(messages, compaction, new_tokens=new_tokens, context_tokens=context)

    def compact(
        self, messages: Sequence[ConversationMessage], compaction: Compaction | None, *, now: str
    ) -> Compaction | None:
        """Return a new summary, None if there is nothing to sum up."""
        compactor, chat = self._compactor, self._require_chat()
        if not compactor.is_on:
            raise InvalidArgument(
                "compaction is switched off: its prompt is blank", hint="Run `lilbee prompt unset task.compact`."
            )
        return compactor.compact(
            messages, compaction, chat, window=chat.window(), model=self._parts.chat_model, now=now
        )

    def title(self, question: str, reply: str) -> str | None:
        """Return a name for a conversation that begins so, None to leave it."""
        from lilbee_core.chat import said_by
        from lilbee_core.text import defuse, fence_for, fold_space

        if self._chat is None or not self._parts.settings.chat.chat_titles:
            return None
        told = defuse(f"user: {question[:_TITLE_CHARS]}\nassistant: {reply[:_TITLE_CHARS]}")
        request = self.prompt("task.title", fence=fence_for((told,)), messages=told)
        if not request.strip():
            return None
        said = said_by(self._chat, Message(role="user", content=request), max_tokens=_TITLE_TOKENS)
        line = next((fold_space(one) for one in said.splitlines() if one.strip()), "")
        line = _MARKS.sub("", line).strip("\"'“”«»*#` ").rstrip(".")
        return line if 0 < len(line) <= _LONGEST_TITLE else None

    def attach(self, source: str | Path | GivenFile | Attachment) -> Attachment:
        """Return a copy of a file or a document."""
        return attach(self._parts, source, to=self._info.id)

    def file_of(self, attachment: Attachment) -> AttachedFile:
        """Return what was attached."""
        return file_of(self._parts, attachment)
