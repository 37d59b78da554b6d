"""Conversations, notes and wordings for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from lilbee_cli.render import text
from lilbee_cli.render.text import clean
from lilbee_cli.render.text import line as one_line

if TYPE_CHECKING:
    from lilbee_core.chat import PromptText
    from lilbee_core.conversations import Conversation
    from lilbee_core.types import (
        AssembledRequest,
        Compaction,
        ConversationInfo,
        ConversationMessage,
        Delta,
        Note,
        Usage,
    )

_LINE = 76


def conversations(found: Sequence[ConversationInfo]) -> None:
    """Print conversations, one a line."""
    if not found:
        click.echo("There are no conversations yet. Begin one: lilbee chat")
    for one in found:
        when = one.updated_at[:16].replace("T", " ")
        click.echo(click.style(one_line(one.id), bold=True) + one_line(f"  {when:16}  {one.messages:>4}  {one.title}"))
        if one.problem:
            text.warn(f"{one.id}: {one.problem}")


def transcript(conversation: Conversation, *, last: int | None = None) -> None:
    """Print the messages of a conversation, with a rule behind those that are summarized."""
    info, messages, summarized = conversation.info, conversation.messages, conversation.summarized
    if info.problem:
        text.warn(info.problem)
    first = max(0, len(messages) - last) if last else 0
    for at, one in enumerate(messages):
        if at >= first:
            if at == summarized and at:
                click.echo(click.style("──── what stands above is sent as a summary ────", dim=True))
            message(one)


def attachments(found: Sequence[Mapping[str, object]]) -> None:
    """Print what was attached, one a line, with the file it was written to."""
    if not found:
        click.echo("Nothing is attached.")
    for one in found:
        told = f"{one['message']}  {one['number']}  {one['name']}  {one['media_type']}, {one['size']:,} bytes"
        click.echo(one_line(f"{told}  → {one['file']}" if "file" in one else told))


def message(one: ConversationMessage) -> None:
    """Print a message and its sources."""
    speaker = "you" if one.role == "user" else "lilbee"
    click.echo(click.style(f"{speaker}:", bold=True, fg="cyan" if one.role == "user" else "green"))
    for attachment in one.attachments:
        click.echo(click.style(one_line(f"  [attached: {attachment.name}]"), dim=True))
    click.echo(clean(one.content))
    if one.role == "assistant":
        if str(one.state) == "partial":
            click.echo(click.style("(cut off)", dim=True))
        sources(one)
    click.echo()


def sources(one: ConversationMessage) -> None:
    """Print what a reply cites, and its warnings to stderr."""
    for citation in one.citations:
        click.echo(click.style(f"[{citation.marker}] {text.place(citation)}", bold=True))
        click.echo(f'    "{one_line(" ".join(citation.quote.split()))}"')
        text.behind(citation)
    for warning in one.warnings:
        note_to_reader(warning)


def note_to_reader(line: str) -> None:
    """Write a note to stderr."""
    click.echo(click.style(f"note: {one_line(line)}", dim=True), err=True)


def delta(one: Delta, *, thinking: bool = False) -> bool:
    """Print a piece of a reply as it arrives; return whether it was reasoning."""
    if one.kind == "reasoning":
        click.echo(click.style(clean(one.text), dim=True), nl=False, err=True)
        return True
    if thinking:
        click.echo(err=True)
    if one.kind == "text":
        click.echo(clean(one.text), nl=False)
    elif one.kind == "status":
        click.echo(click.style(clean(one.text), dim=True), err=True)
    elif one.tool_call is not None:
        call = one.tool_call
        click.echo(click.style(one_line(f"({call.name} {call.arguments})"), dim=True), err=True)
    elif one.answer is not None:
        click.echo()
        text.citations(one.answer)
    return False


def usage(value: Usage | None, context_tokens: int | None) -> None:
    """Print what a reply took, with ~ before what is estimated."""
    if value is None:
        return
    about = "~" if value.estimated else ""
    line = f"{about}{value.prompt_tokens} + {about}{value.completion_tokens} tokens"
    if context_tokens:
        line += f", {about}{100 * (value.prompt_tokens + value.completion_tokens) // context_tokens} % of the context"
    click.echo(click.style(line, dim=True), err=True)


def compaction(done: Compaction | None, summarized: int) -> None:
    """Print a summary, or that there is nothing to sum up."""
    if done is None:
        click.echo("There is nothing new to sum up.")
        return
    click.echo(f"{summarized} messages are summarized for the chat model; they stay as they are:")
    click.echo(clean(done.summary))


def request(value: AssembledRequest | None) -> None:
    """Print what a chat model is sent, message by message."""
    if value is None:
        click.echo("No chat model would be asked.")
        return
    for one in value.messages:
        click.echo(click.style(f"── {one.role} ──", bold=True))
        click.echo(clean(one.content))
        for call in one.tool_calls:
            click.echo(click.style(one_line(f"({call.name} {call.arguments})"), dim=True))
    if value.options.tools:
        click.echo(click.style("── tools ──", bold=True))
        click.echo(one_line(", ".join(tool.name for tool in value.options.tools)))
    click.echo(
        click.style(
            f"about {value.tokens} tokens of {value.budget} that fit, in a context of {value.context_tokens}; "
            f"{len(value.dropped)} old messages left out",
            dim=True,
        ),
        err=True,
    )


def notes(found: Sequence[Note]) -> None:
    """Print notes, one a line."""
    if not found:
        click.echo("There are none.")
    for one in found:
        about = one.description or " ".join(one.text.split())
        line = f"{one.name}: {about}" if one.name and one.kind != "note" else one.name or about
        by = f"  (by {one.author.model})" if one.author.is_model else ""
        click.echo(click.style(one_line(one.id), bold=True) + one_line(f"  {_cut(line)}{by}"))


def note(one: Note) -> None:
    """Print a note as a whole."""
    by = one.author.model or "you"
    head = f"{one.id}  revision {one.revision} by {by}, {one.updated_at[:16].replace('T', ' ')}"
    click.echo(click.style(one_line(head), bold=True))
    for line in (one.name, one.description):
        if line:
            click.echo(click.style(one_line(line), fg="cyan"))
    click.echo(clean(one.text))


def prompts(found: Sequence[PromptText]) -> None:
    """Print wordings, one a line, with where they come from."""
    for one in found:
        layer = f"{one.layer} {one.model}" if one.layer == "model" else one.layer
        click.echo(
            click.style(f"{one.name:<28}", bold=True) + one_line(f"{layer:<14}  {_cut(' '.join(one.text.split()), 60)}")
        )


def _cut(line: str, longest: int = _LINE) -> str:
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
