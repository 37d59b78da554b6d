"""Answers of a chat model, with every mark checked before it is shown."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing

from lilbee_core.answer._not_found import NOT_FOUND, not_found
from lilbee_core.answer._prompt import Prompt, Wording, build_prompt, default_wording
from lilbee_core.answer._reply import Reply, says_not_found
from lilbee_core.errors import EmptyReply, ExtraMissing, ProviderError
from lilbee_core.protocols import ChatProvider, EmbedderLike
from lilbee_core.text import Nearness, fill, without_output
from lilbee_core.types import Answer, Background, ChatOptions, Delta, SearchResult, Verdict, closable

log = logging.getLogger(__name__)

_LONGEST_TOKEN = 12  # characters: no reply of so many tokens is longer


class GeneratedAnswerer:
    """Has a chat model answer from the best hits, as numbered passages. Threads may share it.

    What reaches the user is checked: a mark that names no passage, or a passage that does not bear out the statement
    before it (in numbers, names, negations and words, quotations verbatim), is left out and reported; an answer of
    which nothing is borne out is not found. Images, links, HTML that loads something and addresses that no passage
    holds are left out too. When nothing near enough was found, the model is not asked.

    Args:
        chat: Who answers.
        model: Its name, told with the answer.
        system_prompt: Replaces the built-in manner of speaking; the rules stay.
        wording: Gives the prompts, where others than the built-in ones are wanted.
        max_context_sources: Most passages given.
        max_tokens: Longest reply.
        context_tokens: What the model reads, if known; passages that do not fit are left out, with a warning.
        show_reasoning: Whether a stream carries what the model thinks. It is never part of the answer.
        embedder: Says how near in meaning a statement is to its passage, where their words differ much.
        max_seconds: A reply that takes longer is cut off; so is one that is far longer than `max_tokens`.
        usage: Whether the server is asked to count tokens; a stream then carries what it says.
    """

    def __init__(
        self,
        chat: ChatProvider,
        *,
        model: str,
        system_prompt: str | None = None,
        wording: Wording = default_wording,
        max_context_sources: int = 5,
        max_tokens: int = 800,
        context_tokens: int | None = None,
        show_reasoning: bool = False,
        usage: bool = False,
        embedder: EmbedderLike | None = None,
        max_seconds: float = 900.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._chat = chat
        self._model = model
        self._wording = wording if system_prompt is None else _with_system(wording, system_prompt)
        self._max_context_sources = max_context_sources
        self._max_tokens = max_tokens
        self._context_tokens = context_tokens
        self._shown = {"tool_call", "usage", *(("reasoning",) if show_reasoning else ())}
        self._usage = usage
        self._near = None if embedder is None else nearness(embedder)
        self._max_seconds = max_seconds
        self._clock = clock

    def answer(self, question: str, result: SearchResult) -> Answer:
        """Return the checked answer.

        Raises:
            EmptyReply: If the model says nothing.
            ProviderError: If the model fails before it has said anything.
        """
        for delta in self.stream(question, result):
            if delta.answer is not None:
                return delta.answer
        raise AssertionError("a stream ends with `done`")

    def stream(self, question: str, result: SearchResult, background: Background = Background()) -> Iterator[Delta]:
        """Yield ``text`` and ``citation`` deltas as they come, and ``done`` with the answer at the end.

        Closing the iterator ends the request. Where the model broke off, what it had told is kept, and the answer's
        `broken_off` says why.

        Raises:
            EmptyReply: If the model says nothing.
            ProviderError: If the model fails before it has said anything.
        """
        prompt = self.prompt(question, result, background)
        if prompt is None:
            nothing = not_found(question, result, model=self._model)
            yield Delta(kind="text", text=nothing.text)
            yield Delta(kind="done", answer=nothing)
            return
        known = (question, *(hit.text for hit in prompt.given), *(one.text for one in background.attachments))
        reply = Reply(given=prompt.given, known=known, near=self._near)
        yield from self._listen(prompt, reply)
        if not reply.text.strip():
            raise EmptyReply(
                f"The chat model {self._model} answered nothing.",
                hint="Ask again, raise answer_max_tokens, or choose another chat model.",
            )
        yield Delta(kind="done", answer=self._finished(question, result, prompt, reply))

    def prompt(self, question: str, result: SearchResult, background: Background = Background()) -> Prompt | None:
        """Return what the model would be given; None if it is not asked, since nothing near enough was found."""
        hits = result.hits[: self._max_context_sources] if result.found else ()
        if not hits and not (background.about_itself or background.attachments or background.images):
            return None
        return build_prompt(
            question,
            () if background.about_itself else hits,
            background=background,
            wording=self._wording,
            context_tokens=self._context_tokens,
            max_tokens=self._max_tokens,
        )

    def _listen(self, prompt: Prompt, reply: Reply) -> Generator[Delta]:
        """Read the model's reply into `reply`, yielding what may be shown."""
        options = ChatOptions(max_tokens=prompt.max_tokens, usage=self._usage)
        room, until = prompt.max_tokens * _LONGEST_TOKEN, self._clock() + self._max_seconds
        try:
            with closing(closable(self._chat.chat(prompt.messages, options))) as deltas:
                for delta in deltas:
                    room -= len(delta.text)
                    if room < 0 or self._clock() > until:
                        reply.warnings.append("The chat model wrote without end, and the answer was cut off.")
                        break
                    if delta.kind == "text":
                        yield from reply.take(delta.text)
                    elif delta.kind in self._shown:
                        yield delta
        except ProviderError as error:
            if not reply.has_text:
                raise
            log.warning("the chat model broke off: %s", error.message)
            reply.broken_off = " ".join(
                (f"The answer is not whole: {without_output(error.message)}.", error.hint)
            ).strip()
        yield from reply.end()

    def _finished(self, question: str, result: SearchResult, prompt: Prompt, reply: Reply) -> Answer:
        text = reply.text.rstrip()
        unchecked = any(one.citation.verdict is Verdict.UNCHECKED for one in reply.rejected)
        nothing_holds = bool(prompt.given and (reply.rejected or reply.unknown) and not unchecked)
        found = bool(reply.citations) or not (nothing_holds or says_not_found(text, NOT_FOUND))
        if found and not reply.citations and not unchecked and prompt.given and reply.broken_off is None:
            reply.warnings.append("The reply cites no passage, so nothing in it is checked.")
        return Answer(
            question=question,
            text=text,
            citations=tuple(reply.citations),
            found=found,
            model=self._model,
            rejected=tuple(one.citation for one in reply.rejected),
            warnings=(*result.warnings, *prompt.warnings, *reply.report()),
            trace=result,
            broken_off=reply.broken_off,
        )


def _with_system(wording: Wording, system_prompt: str) -> Wording:
    def replaced(name: str, /, **values: str) -> str:
        return fill(system_prompt, **values) if name == "answer.system" else wording(name, **values)

    return replaced


def nearness(embedder: EmbedderLike) -> Nearness:
    """Return how near two texts are in meaning; not at all where the embedder fails."""

    def near(one: str, other: str) -> float:
        try:
            first, second = embedder.embed_batch([one, other])
        except (ProviderError, ExtraMissing) as error:
            log.warning("a statement is checked by its words alone: %s", error.message)
            return 0.0
        return float(first @ second)

    return near
