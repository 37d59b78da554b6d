"""A conversation on a terminal, line by line: messages, and commands that begin with a slash."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lilbee_cli import slashes
from lilbee_cli.render import talk
from lilbee_cli.render.text import line

if TYPE_CHECKING:
    from lilbee_core import Lilbee
    from lilbee_core.conversations import Conversation
    from lilbee_core.types import ConversationMessage, Delta

COMMANDS = slashes.at(slashes.LINE)


class Session:
    """Talks in one conversation after the other. It knows nothing of terminals: lines go in, `talk` prints."""

    def __init__(self, bee: Lilbee, conversation: Conversation, *, shows_usage: bool = False) -> None:
        self.bee = bee
        self.conversation = conversation
        self.over = False
        self.attached: list[str] = []
        self.is_whole = True
        """Whether the last reply came to its end."""
        self._shows_usage = shows_usage

    def take(self, line: str) -> None:
        """Take a line: a command, or a message that is answered.

        Raises:
            LilbeeError: If that fails; the session goes on.
        """
        if line.startswith("/"):
            self._command(line)
        elif line.strip():
            attached, self.attached = self.attached, []
            self.answer(self.conversation.stream(line, attachments=attached))

    def answer(self, deltas: Iterator[Delta]) -> None:
        """Print a reply as it arrives. Ctrl-C stops it, and keeps what there is."""
        from lilbee_core.errors import LilbeeError

        thinking = within_line = False
        self.is_whole = True
        try:
            for delta in deltas:
                thinking = talk.delta(delta, thinking=thinking)
                within_line = delta.kind == "text" and not delta.text.endswith("\n")
                if delta.answer is not None:
                    self.is_whole = delta.answer.broken_off is None
        except LilbeeError:
            if within_line:
                click.echo()
            raise
        except KeyboardInterrupt:
            _close(deltas)
            click.echo()
            talk.note_to_reader("stopped; what there is of the reply is kept")
            return
        last = self._last_reply()
        if self._shows_usage and last is not None:
            talk.usage(last.usage, last.context_tokens)

    def _command(self, line: str) -> None:
        name, _, rest = line[1:].partition(" ")
        if name not in COMMANDS:
            raise click.UsageError(slashes.nearest(name, slashes.LINE))
        getattr(self, name)(slashes.words(rest))

    def _last_reply(self) -> ConversationMessage | None:
        messages = self.conversation.messages
        return next((one for one in reversed(messages) if one.role == "assistant"), None)

    # ------------------------------------------------------------------ commands

    def help(self, _: list[str]) -> None:
        for slash in COMMANDS.values():
            click.echo(slash.usage.ljust(34) + slash.does)

    def quit(self, _: list[str]) -> None:
        self.over = True

    def new(self, words: list[str]) -> None:
        self.conversation = self.bee.conversations.create(" ".join(words))
        click.echo("A new conversation begins with your next message.")

    def open(self, words: list[str]) -> None:
        if not words:
            talk.conversations(self.bee.conversations.list()[:20])
            return
        self.conversation = self.bee.conversations.require(" ".join(words))
        talk.transcript(self.conversation, last=4)

    def history(self, words: list[str]) -> None:
        talk.transcript(self.conversation, last=_number(words, "history"))

    def sources(self, words: list[str]) -> None:
        replies = [one for one in self.conversation.messages if one.role == "assistant"]
        back = _number(words, "sources") or 1
        if back > len(replies):
            raise click.UsageError(f"there are {len(replies)} replies")
        talk.sources(replies[-back])
        if not replies[-back].citations:
            click.echo("That reply cites nothing.")

    def scope(self, words: list[str]) -> None:
        if words:
            wanted = slashes.ScopeChange.read(words)
            self.conversation.set_scope(scope=wanted.scope, collections=wanted.collections)
        info = self.conversation.info
        click.echo(line(slashes.searched(info.scope, info.collections)))

    def set(self, words: list[str]) -> None:
        if words[1:]:
            self.bee.config.set(words[0], " ".join(words[1:]))
        sought = words[0] if words else ""
        for name, value, origin in self.bee.config.items():
            if name == sought or (sought in name and not words[1:]):
                click.echo(line(f"{name} = {value}  ({origin})"))

    def compact(self, _: list[str]) -> None:
        done = self.conversation.compact()
        talk.compaction(done, self.conversation.summarized)

    def rewind(self, words: list[str]) -> None:
        gone = self.conversation.rewind(_number(words, "rewind") or 1)
        click.echo(line(f"Taken back: {len(gone)} messages. Your message was: {gone[0].content}"))

    def regenerate(self, _: list[str]) -> None:
        self.answer(self.conversation.regenerate_stream())

    def title(self, words: list[str]) -> None:
        click.echo(line(self.conversation.rename(" ".join(words)).title if words else self.conversation.info.title))

    def attach(self, words: list[str]) -> None:
        for word in words:
            if not Path(word).expanduser().is_file():
                self.bee.document(word)  # says what is missing now, not when the message is written
        self.attached += words
        click.echo(line(f"Goes with your next message: {', '.join(self.attached) or 'nothing'}"))

    def request(self, words: list[str]) -> None:
        if words:
            talk.request(self.conversation.preview(" ".join(words)))
        elif not self.conversation.requests:
            click.echo("The chat model was not asked yet.")
        for one in () if words else self.conversation.requests:
            talk.request(one)

    def save(self, words: list[str]) -> None:
        if not words:
            raise click.UsageError("name the file to write")
        file = Path(words[0]).expanduser()
        file.write_text(self.conversation.export("json" if file.suffix == ".json" else "markdown"), encoding="utf-8")
        click.echo(line(f"Written: {file}"))

    def remember(self, words: list[str]) -> None:
        fact = self.bee.facts.add(" ".join(words))
        click.echo(line(f"Remembered: {fact.text}"))


def _number(words: list[str], name: str) -> int | None:
    try:
        return slashes.number(words, name)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _close(deltas: Iterator[Delta]) -> None:
    close = getattr(deltas, "close", None)
    if close is not None:
        close()
