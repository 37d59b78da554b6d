"""Answers of a chat model, with every mark checked before it is shown."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field

from lilbee_core.answer._evidence import resolve
from lilbee_core.answer._marks import Mark, ReplyReader
from lilbee_core.answer._not_found import NOT_FOUND, not_found
from lilbee_core.answer._prompt import Prompt, Wording, build_prompt, default_wording
from lilbee_core.errors import EmptyReply, ProviderError
from lilbee_core.protocols import ChatProvider
from lilbee_core.text import fill
from lilbee_core.types import Answer, Background, ChatOptions, Citation, Delta, Hit, SearchResult, closable

log = logging.getLogger(__name__)


class GeneratedAnswerer:
    """Has a chat model answer from the best hits, as numbered passages. Threads may share it.

    What reaches the user is checked: a mark that names no passage, or stands behind a quotation that is in none of the
    passages it names, is left out and reported. Images, links and HTML that loads something are left out too. When
    nothing near enough was found, the model is not asked.

    Args:
        chat: Who answers.
        model: Its name, told with the answer.
        system_prompt: Replaces the built-in manner of speaking; the rules stay.
        wording: Gives the prompts, where others than the built-in ones are wanted.
        max_context_sources: Most passages given.
        max_tokens: Longest reply.
        context_tokens: What the model reads, if known; passages that do not fit are left out, with a warning.
        show_reasoning: Whether a stream carries what the model thinks. It is never part of the answer.
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
    ) -> None:
        self._chat = chat
        self._model = model
        self._wording = wording if system_prompt is None else _with_system(wording, system_prompt)
        self._max_context_sources = max_context_sources
        self._max_tokens = max_tokens
        self._context_tokens = context_tokens
        self._shown = {"tool_call", "usage", *(("reasoning",) if show_reasoning else ())}
        self._usage = usage

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

        Closing the iterator ends the request. What was told before the model broke off is kept, with a warning.

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
        reply = _Reply(given=prompt.given)
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

    def _listen(self, prompt: Prompt, reply: _Reply) -> Generator[Delta]:
        """Read the model's reply into `reply`, yielding what may be shown."""
        options = ChatOptions(max_tokens=prompt.max_tokens, usage=self._usage)
        try:
            with closing(closable(self._chat.chat(prompt.messages, options))) as deltas:
                for delta in deltas:
                    if delta.kind == "text":
                        yield from reply.take(delta.text)
                    elif delta.kind in self._shown:
                        yield delta
        except ProviderError as error:
            if not reply.has_text:
                raise
            log.warning("the chat model broke off: %s", error.message)
            reply.warnings.append(f"The chat model broke off, and the answer is not whole: {error.message}")
        yield from reply.end()

    def _finished(self, question: str, result: SearchResult, prompt: Prompt, reply: _Reply) -> Answer:
        text = reply.text.rstrip()
        found = bool(reply.citations) or not _says_not_found(text)
        if found and not reply.citations and prompt.given:
            reply.warnings.append("The reply cites no passage, so nothing in it is checked.")
        return Answer(
            question=question,
            text=text,
            citations=tuple(reply.citations),
            found=found,
            model=self._model,
            rejected=tuple(reply.rejected),
            warnings=(*result.warnings, *prompt.warnings, *reply.report()),
            trace=result,
        )


@dataclass(slots=True)
class _Reply:
    """The reply as far as it has been told."""

    given: tuple[Hit, ...]
    text: str = ""
    citations: list[Citation] = field(default_factory=list[Citation])
    rejected: list[Citation] = field(default_factory=list[Citation])
    unknown: list[int] = field(default_factory=list[int])
    warnings: list[str] = field(default_factory=list[str])
    reader: ReplyReader = field(default_factory=ReplyReader)
    has_text: bool = False

    def take(self, text: str) -> Iterator[Delta]:
        self.has_text = self.has_text or bool(text.strip())
        yield from self._tell(self.reader.feed(text))

    def end(self) -> Iterator[Delta]:
        yield from self._tell(self.reader.close())

    def _tell(self, pieces: Iterator[str | Mark]) -> Iterator[Delta]:
        for piece in pieces:
            if isinstance(piece, Mark):
                yield from self._cite(piece)
            elif shown := piece if self.text else piece.lstrip():
                yield self._say(shown)

    def _say(self, text: str) -> Delta:
        self.text += text
        return Delta(kind="text", text=text)

    def _cite(self, mark: Mark) -> Iterator[Delta]:
        resolved = resolve(mark.numbers, self.text, self.given)
        self.unknown += resolved.unknown
        self.rejected += resolved.rejected
        if resolved.shown:
            marks = "".join(f"[{citation.marker}]" for citation in resolved.shown)
            yield self._say(f"{mark.lead}{marks}" if self.text else marks)
        for citation in resolved.shown:
            if citation not in self.citations:
                self.citations.append(citation)
                yield Delta(kind="citation", citation=citation)

    def report(self) -> list[str]:
        """Return what was left out of the reply, as warnings."""
        warnings = list(self.warnings)
        if self.unknown:
            marks = ", ".join(f"[{number}]" for number in dict.fromkeys(self.unknown))
            warnings.append(f"Marks that stand for no passage were left out of the reply: {marks}")
        warnings += [
            f"A quotation in the reply is {citation.verdict}: {citation.path} does not hold it"
            for citation in self.rejected
        ]
        if self.reader.removed:
            warnings.append("Links, images or HTML were left out of the reply.")
        return warnings


def _with_system(wording: Wording, system_prompt: str) -> Wording:
    def replaced(name: str, /, **values: str) -> str:
        return fill(system_prompt, **values) if name == "answer.system" else wording(name, **values)

    return replaced


def _says_not_found(text: str) -> bool:
    return text.strip(" .\"'“”*_").casefold() == NOT_FOUND.rstrip(".").casefold()
