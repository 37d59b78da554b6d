"""One conversation: asks the library with what was said before, and keeps every message."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from lilbee_core.arguments import checked
from lilbee_core.conversations._export import as_json, as_markdown
from lilbee_core.conversations._history import attached, exchanges, history_of
from lilbee_core.conversations._journal import Journal, deleted
from lilbee_core.conversations._ports import Attached, Engine, Engines
from lilbee_core.conversations._reply import Reply
from lilbee_core.errors import EmptyQuery, EmptyReply, InvalidArgument, LibraryError, LilbeeError, NotFound
from lilbee_core.protocols import Clock
from lilbee_core.text import fold_space, tokens_at_most
from lilbee_core.types import (
    AssembledRequest,
    AttachedFile,
    Background,
    Compaction,
    ConversationInfo,
    ConversationMessage,
    Delta,
    SearchResult,
    closable,
)

log = logging.getLogger(__name__)

SUMMARIZING = "Summarising earlier messages…"
SEARCHES_NOTHING = "none"
_LONGEST = 1_000_000
_FORMATS = ("markdown", "json")


@checked
class Conversation:
    """A conversation over the library's documents. Threads and processes may share one.

    It is kept from its first message on; every message stays until `rewind` takes it back. A reply is kept while it is
    written: stopped, or killed in its midst, it stays as far as it came.
    """

    def __init__(self, info: ConversationInfo, journal: Journal, engines: Engines, clock: Clock) -> None:
        self._info = info
        self._journal = journal
        self._engines = engines
        self._clock = clock
        self.requests: tuple[AssembledRequest, ...] = ()
        """Exactly what the chat model was sent for the last reply, request by request."""
        self._stopped = threading.Event()

    def __repr__(self) -> str:
        return f"Conversation({self.id!r}, {self.info.title!r})"

    @property
    def id(self) -> str:
        """Names the conversation."""
        return self._info.id

    @property
    def info(self) -> ConversationInfo:
        """What is known of it, its messages apart."""
        return self._journal.info(self.id) or self._info

    @property
    def messages(self) -> tuple[ConversationMessage, ...]:
        """All messages, each reply behind what it answers."""
        return self._journal.messages(self.id)

    @property
    def summarized(self) -> int:
        """How many messages, from the first on, the chat model gets as a summary."""
        return self._summarized(self.info, self.messages)

    def to_dict(self) -> dict[str, object]:
        """Return the conversation with its messages, as front ends show it."""
        info, messages = self.info, self.messages
        return {
            **info.to_dict(),
            "summarized": self._summarized(info, messages),
            "unreadable": self._journal.unreadable(self.id),
            "turns": [one.to_dict() for one in messages],
        }

    def export(self, format: str = "markdown") -> str:  # noqa: A002 - what users call it
        """Return a transcript as ``markdown`` or ``json``.

        Raises:
            InvalidArgument: If there is no such format.
        """
        if format not in _FORMATS:
            raise InvalidArgument(f"there is no format {format!r}", hint=f"Choose {' or '.join(_FORMATS)}.")
        info, messages = self.info, self.messages
        if format == "json":
            return as_json(info, messages)
        return as_markdown(info, messages, summarized=self._summarized(info, messages))

    def attachment(self, message_id: str, number: int = 1) -> AttachedFile:
        """Return what was attached to a message, the first thing or another one.

        Raises:
            NotFound: If there is no such message, it has not so many, or the file is gone.
        """
        message = self._journal.message(self.id, message_id)
        count = len(message.attachments)
        if not 1 <= number <= count:
            raise NotFound(
                f"the message {message_id!r} has {count} attachments, so there is no number {number}",
                hint="Show the conversation to see what was attached.",
            )
        return self._engines.of(self.info).file_of(message.attachments[number - 1])

    # ------------------------------------------------------------------ talking

    def send(self, text: str, *, attachments: Sequence[Attached] = ()) -> ConversationMessage:
        """Send a message and return the reply.

        Raises:
            InvalidArgument: If there is nothing to send.
            NotFound: If an attachment does not exist.
            ProviderError: If the chat model fails, or `stop` ends it, before it said anything; the message is kept,
                see `regenerate`.
        """
        posted = self.post(text, attachments=attachments)
        return self._reply_to(posted, self.run(posted))

    def stream(self, text: str, *, attachments: Sequence[Attached] = ()) -> Iterator[Delta]:
        """Send a message and yield the reply piece by piece; the last delta is ``done`` with the `Answer`.

        The message is kept at once, and the reply while it arrives. Closing the iterator stops the reply.
        """
        return self.run(self.post(text, attachments=attachments))

    def post(self, text: str, *, attachments: Sequence[Attached] = ()) -> ConversationMessage:
        """Keep a message and return at once; `run` has it answered.

        What is attached is copied: a file, a document of the library, a `GivenFile`, or an `Attachment`.

        Raises:
            InvalidArgument: If there is nothing to send, or far too much.
            NotFound: If an attachment does not exist, or the conversation was deleted.
        """
        _check_message(text, attachments)
        engine = self._engines.of(self.info)
        copies = tuple(engine.attach(one) for one in attachments)
        message = ConversationMessage(id="", role="user", content=text, created_at="", attachments=copies)
        posted = self._journal.post(self._info, message)
        self._info = self._journal.info(self.id) or self._info
        return posted

    def run(self, message: ConversationMessage | None = None) -> Iterator[Delta]:
        """Answer a message that was posted, or the last one; yields as `stream` does.

        Earlier turns are summarized first where the request would not fit otherwise.

        Raises:
            InvalidArgument: If there is no message to answer.
        """
        asked = message or _last_of_user(self.messages)
        if asked is None:
            raise InvalidArgument("there is no message to answer", hint="Send one first.")
        return self._run(asked)

    def stop(self) -> None:
        """End the reply that this object has written in another thread, with the next word of the model.

        What arrived stays. Closing the iterator does the same where the reply is read.
        """
        self._stopped.set()

    def regenerate(self) -> ConversationMessage:
        """Have the last message answered anew; the old reply leaves when the new one begins."""
        asked, old = self._to_answer_anew()
        return self._reply_to(asked, self._run(asked, replaces=old))

    def regenerate_stream(self) -> Iterator[Delta]:
        """As `regenerate`, piece by piece."""
        asked, old = self._to_answer_anew()
        return self._run(asked, replaces=old)

    def rewind(self, to: str | int = 1) -> tuple[ConversationMessage, ...]:
        """Take messages back: the last `to` messages of the user with all that followed, or from a message's id on.

        The conversation goes on from there. A summary that stood for what is taken back goes with it.

        Raises:
            NotFound: If there is no such message.
            InvalidArgument: If there are not so many.
        """
        if isinstance(to, str):
            return self._journal.truncate(self.id, to)
        own = [one.id for one in self.messages if one.role == "user"]
        if not 1 <= to <= len(own):
            raise InvalidArgument(
                f"cannot take back {to} messages of {len(own)}", hint="Take back at least one, and not more than all."
            )
        return self._journal.truncate(self.id, own[-to])

    def edit(self, message_id: str, text: str) -> ConversationMessage:
        """Write a message anew and go on from there: what followed is taken back. Returns the reply."""
        posted = self.post_again(message_id, text)
        return self._reply_to(posted, self.run(posted))

    def post_again(self, message_id: str, text: str, *, attachments: Sequence[Attached] = ()) -> ConversationMessage:
        """Write a message anew, and return at once; `run` has it answered. What followed is taken back.

        What was attached to it stays, beside more `attachments`. Nothing is taken back where it cannot be sent.

        Raises:
            NotFound: If there is no such message, or an attachment does not exist.
            InvalidArgument: If there is nothing to send, or far too much.
        """
        old = next((one for one in self.messages if one.id == message_id), None)
        known = old.attachments if old is not None else ()
        _check_message(text, (*known, *attachments))
        engine = self._engines.of(self.info)
        copies = tuple(engine.attach(one) for one in attachments)
        self.rewind(message_id)
        return self.post(text, attachments=(*known, *copies))

    def preview(self, text: str) -> AssembledRequest | None:
        """Return exactly what the chat model would be sent for a message, without asking it.

        None means that it would not be asked: there is none, or the library holds nothing about it.
        """
        info, messages = self.info, self.messages
        engine = self._engines.of(info)
        if engine.model is None:
            return None
        message = ConversationMessage(id="", role="user", content=text, created_at="")
        result, background, _ = self._prepared(engine, info, messages, message)
        return engine.preview(text, result, background)

    # ------------------------------------------------------------------ changing

    def rename(self, title: str) -> ConversationInfo:
        """Give the conversation another title.

        Raises:
            InvalidArgument: If it is blank.
        """
        line = fold_space(title)
        if not line:
            raise InvalidArgument("a title needs at least one character", hint="Write a title.")
        return self._change(lambda info: replace(info, title=line[:200], titled_by="user"))

    def set_scope(self, *, collections: Sequence[str] | None = None, scope: str | None = None) -> ConversationInfo:
        """Choose what it searches: ``raw``, ``wiki``, ``both`` or ``none``, and in which collections (none is all).

        Raises:
            NotFound: If there is no such collection.
            InvalidArgument: If there is no such scope.
        """
        return self._change(
            lambda info: replace(
                info,
                collections=info.collections if collections is None else tuple(collections),
                scope=info.scope if scope is None else scope,
            )
        )

    def set_prompt(self, name: str, text: str | None) -> ConversationInfo:
        """Use another wording in this conversation alone; None goes back to what holds otherwise.

        Raises:
            NotFound: If there is no such prompt.
        """

        def change(info: ConversationInfo) -> ConversationInfo:
            own = {**dict(info.prompts), name: text or ""}
            if text is None:
                del own[name]
            return replace(info, prompts=tuple(sorted(own.items())))

        return self._change(change)

    def compact(self) -> Compaction | None:
        """Summarize earlier turns now; None if there is nothing to sum up. The messages stay.

        Raises:
            InvalidArgument: If there is no chat model, or compaction is switched off.
            ProviderError: If the chat model fails.
        """
        info, messages = self.info, self.messages
        engine = self._engines.of(info)
        if engine.model is None:
            raise InvalidArgument("there is no chat model to write a summary", hint="Set chat_model.")
        compaction = engine.compact(messages, info.compaction, now=self._journal.now())
        if compaction is not None:
            self._keep_summary(compaction)
        return compaction

    # ------------------------------------------------------------------ inside

    def _summarized(self, info: ConversationInfo, messages: Sequence[ConversationMessage]) -> int:
        return self._engines.of(info).cutoff(messages, info.compaction)

    def _to_answer_anew(self) -> tuple[ConversationMessage, list[str]]:
        """Return the last message of the user, and the ids of its replies."""
        messages = self.messages
        asked = _last_of_user(messages)
        if asked is None:
            raise InvalidArgument("there is no reply to write anew", hint="Send a message first.")
        return asked, [one.id for one in messages if one.reply_to == asked.id]

    def _reply_to(self, asked: ConversationMessage, deltas: Iterator[Delta]) -> ConversationMessage:
        """Have the reply written to its end, and return it."""
        for _ in deltas:
            pass
        reply = next((one for one in reversed(self.messages) if one.reply_to == asked.id), None)
        if reply is None:
            raise EmptyReply("the reply was stopped before it said anything", hint="Have the message answered again.")
        return reply

    def _run(self, asked: ConversationMessage, replaces: Collection[str] = ()) -> Iterator[Delta]:
        self._stopped.clear()
        messages = self.messages
        at = next((at for at, one in enumerate(messages) if one.id == asked.id), None)
        if at is None:
            raise deleted(self.id)
        before = messages[:at]
        engine = self._engines.of(self.info)
        if engine.model is not None and self._is_due(engine, before, asked):
            yield Delta(kind="status", text=SUMMARIZING)
            self._compact_quietly(engine, before)
        result, background, query = self._prepared(engine, self.info, before, asked)
        if query and query != asked.content:
            yield Delta(kind="status", text=f"Searching: {query}")
        reply = Reply(
            journal=self._journal,
            clock=self._clock,
            conversation=self.id,
            question=asked,
            model=engine.model,
            query=query,
            context_tokens=engine.context_tokens,
            replaces=replaces,
        )
        yield from self._written(engine, reply, result, background)
        self._name(engine, before, asked, reply)

    def _written(self, engine: Engine, reply: Reply, result: SearchResult, background: Background) -> Iterator[Delta]:
        """Yield the reply and keep it; whatever ends it, what arrived stays."""
        finished = False
        shown = {"text", "citation", "tool_call", *(("reasoning",) if engine.shows_reasoning else ())}
        try:
            deltas = engine.answer(reply.question.content, result, background, reply.requests.append)
            with closing(closable(deltas)) as pieces:
                for delta in pieces:
                    if delta.answer is not None:
                        kept = reply.finish(delta.answer)
                        finished = True
                        if kept.usage is not None:
                            yield Delta(kind="usage", usage=kept.usage)
                    else:
                        reply.take(delta)
                        self.requests = tuple(reply.requests)
                    if delta.kind in shown or delta.answer is not None:
                        yield delta
                    if self._stopped.is_set():
                        break
        finally:
            self.requests = tuple(reply.requests)
            if not finished:
                self._break_off(reply)

    def _break_off(self, reply: Reply) -> None:
        try:
            reply.break_off()
        except LibraryError as error:
            # The question is gone: somebody took it back, and this reply with it.
            log.info("a reply was given up: %s", error.message)

    def _prepared(
        self,
        engine: Engine,
        info: ConversationInfo,
        before: Sequence[ConversationMessage],
        asked: ConversationMessage,
    ) -> tuple[SearchResult, Background, str]:
        """Return what was found for a message, what comes with it, and what was searched."""
        query, result = self._found(engine, info, before, asked)
        start = engine.cutoff(before, info.compaction)
        summary = engine.summary(info.compaction.summary) if info.compaction is not None and start else ()
        images = (engine.image(one) for one in asked.attachments)
        background = Background(
            history=(*summary, *history_of(before[start:])) if engine.model is not None else (),
            memory=engine.memory() if engine.model is not None else "",
            attachments=tuple(one for one in asked.attachments if one.text),
            images=tuple(one for one in images if one is not None),
            about_itself=not query,
        )
        return result, background, query

    def _found(
        self,
        engine: Engine,
        info: ConversationInfo,
        before: Sequence[ConversationMessage],
        asked: ConversationMessage,
    ) -> tuple[str, SearchResult]:
        if info.scope == SEARCHES_NOTHING or not asked.content.strip():
            return "", engine.nothing(asked.content)
        rewritten = engine.rewrite(asked.content, exchanges(before))
        if rewritten.about_itself:
            return "", engine.nothing(asked.content)
        try:
            return rewritten.query, engine.search(rewritten.query)
        except EmptyQuery:
            if engine.model is None:
                raise
            return "", engine.nothing(asked.content)

    def _is_due(self, engine: Engine, before: Sequence[ConversationMessage], asked: ConversationMessage) -> bool:
        new_tokens = tokens_at_most(asked.content) + tokens_at_most(attached(asked.attachments))
        try:
            return engine.is_due(before, self.info.compaction, new_tokens=new_tokens)
        except LilbeeError as error:
            log.warning("nobody knows whether to summarize: %s", error.message)
            return False

    def _compact_quietly(self, engine: Engine, before: Sequence[ConversationMessage]) -> None:
        """Summarize if that can be done. A request goes out all the same, with what was there before."""
        try:
            compaction = engine.compact(before, self.info.compaction, now=self._journal.now())
            if compaction is not None:
                self._keep_summary(compaction)
        except Exception as error:  # whatever is wrong with a summary must not cost the reply
            known = isinstance(error, LilbeeError)
            log.warning("earlier messages could not be summarized: %s", error, exc_info=None if known else error)

    def _keep_summary(self, compaction: Compaction) -> None:
        if not any(one.id == compaction.through_id for one in self.messages):
            return  # taken back meanwhile
        self._change(lambda info: replace(info, compaction=compaction))

    def _name(
        self, engine: Engine, before: Sequence[ConversationMessage], asked: ConversationMessage, reply: Reply
    ) -> None:
        """Have a new conversation named; its question names it otherwise."""
        if before or reply.kept is None or self.info.titled_by != "question":
            return
        try:
            title = engine.title(asked.content, reply.kept.content)
            if title:
                self._journal.change(
                    self.id,
                    lambda info: (
                        replace(info, title=title, titled_by="model") if info.titled_by == "question" else info
                    ),
                )
        except LilbeeError as error:
            log.warning("the conversation keeps its question as title: %s", error.message)

    def _change(self, change: Callable[[ConversationInfo], ConversationInfo]) -> ConversationInfo:
        """Change what is kept beside the messages; before the first message it is kept here."""

        def checked(info: ConversationInfo) -> ConversationInfo:
            changed = change(info)
            self._engines.check(changed)
            return changed

        if self._journal.info(self.id) is None and not self._info.created_at:
            self._info = checked(self._info)
        else:
            self._info = self._journal.change(self.id, checked)
        return self._info


def _check_message(text: str, attachments: Sequence[Attached]) -> None:
    if not text.strip() and not attachments:
        raise InvalidArgument("there is nothing to send", hint="Write a message.")
    if len(text) > _LONGEST:
        raise InvalidArgument(
            f"the message has {len(text):,} characters, more than {_LONGEST:,}",
            hint="Add the text to the library, and ask about it.",
        )


def _last_of_user(messages: Sequence[ConversationMessage]) -> ConversationMessage | None:
    return next((one for one in reversed(messages) if one.role == "user"), None)
