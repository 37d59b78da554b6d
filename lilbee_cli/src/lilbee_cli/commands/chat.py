"""`lilbee chat`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lilbee_cli.codes import FAILED, OK
from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.progress import ProgressSink

if TYPE_CHECKING:
    from lilbee_cli.session import Session
    from lilbee_core import Lilbee
    from lilbee_core.conversations import Conversation

_HISTORY = "chat_history"
_KEPT_LINES = 1000


@click.command("chat")
@click.argument("message", nargs=-1)
@click.option("--conversation", "-r", "ref", help="Go on with this one: its id or title.")
@click.option("--continue", "-C", "latest", is_flag=True, help="Go on with the latest one.")
@click.option("--title", default="", help="What to call a new one.")
@click.option("--collection", "-c", "collections", multiple=True, metavar="NAME", help="Search only these collections.")
@click.option("--scope", type=click.Choice(["raw", "wiki", "both", "none"]), help="What to search.")
@click.option("--attach", multiple=True, metavar="PATH", help="Hand a file or a document over with the first message.")
@common
def command(
    told: Common,
    message: tuple[str, ...],
    *,
    ref: str | None,
    latest: bool,
    title: str,
    collections: tuple[str, ...],
    scope: str | None,
    attach: tuple[str, ...],
) -> int:
    """Talk with your documents. Every message is kept; /help lists what can be done in a conversation.

    With MESSAGE, or lines on standard input, the replies are printed and that is all. Without a chat model they are
    made of quoted sentences.
    """
    from lilbee_cli.session import Session

    with ProgressSink(quiet=told.quiet or told.as_json, verbose=0) as sink, told.open(sink, there=True) as bee:
        conversation = _conversation(bee, ref, title, latest=latest)
        if collections or scope:
            conversation.set_scope(collections=collections or None, scope=scope)
        session = Session(bee, conversation, shows_usage=told.verbose > 0)
        session.attached += attach
        if told.as_json:
            return _as_json(session, _lines(message))
        if message or not sys.stdin.isatty():
            return _piped(session, _lines(message))
        return _interactive(session)


def _conversation(bee: Lilbee, ref: str | None, title: str, *, latest: bool) -> Conversation:
    if ref is not None:
        return bee.conversations.require(ref)
    found = bee.conversations.latest() if latest else None
    return found if found is not None else bee.conversations.create(title)


def _lines(message: tuple[str, ...]) -> Iterator[str]:
    """Yield what was given as arguments, else lines of standard input; a backslash at a line's end joins the next."""
    if message:
        yield " ".join(message)
        return
    held = ""
    for read in sys.stdin:
        line = held + read.rstrip("\r\n")
        if line.endswith("\\"):
            held = line[:-1] + "\n"
            continue
        held = ""
        yield line
    if held.strip():
        yield held


def _as_json(session: Session, lines: Iterator[str]) -> int:
    """Answer every line, and print one document with all of it."""
    from lilbee_core import LilbeeError

    replies: list[object] = []
    failed = False
    for line in lines:
        if not line.strip():
            continue
        try:
            attached, session.attached = session.attached, []
            reply = session.conversation.send(line, attachments=attached)
            failed = failed or str(reply.state) == "partial"
            replies.append(reply.to_dict())
        except LilbeeError as error:
            failed = True
            replies.append({"error": error.to_dict()})
    emit({"conversation": session.conversation.info.to_dict(), "replies": replies})
    return FAILED if failed else OK


def _piped(session: Session, lines: Iterator[str]) -> int:
    code = OK
    for line in lines:
        code = max(code, _taken(session, line))
        if session.over:
            break
    return code


def _interactive(session: Session) -> int:
    click.echo("Ask about your documents. /help lists commands, Ctrl-D ends.", err=True)
    history = session.bee.data_dir / _HISTORY
    _read_history(history)
    held = ""
    while not session.over:
        try:
            line = held + input("… " if held else "> ")
        except KeyboardInterrupt:
            held = ""
            click.echo("\n(Ctrl-D or /quit ends)", err=True)
            continue
        except EOFError:
            click.echo(err=True)
            break
        if line.endswith("\\"):
            held = line[:-1] + "\n"
            continue
        held = ""
        _taken(session, line)
    _write_history(history)
    return OK


def _taken(session: Session, line: str) -> int:
    """Take a line; what goes wrong is told, and the next line is taken all the same."""
    from lilbee_cli.failures import exit_code, fail, fail_usage
    from lilbee_core import LilbeeError

    try:
        session.take(line)
    except click.ClickException as error:
        return fail_usage(error, as_json=False)
    except LilbeeError as error:
        return fail(error, exit_code(error) or FAILED, as_json=False)
    except BrokenPipeError:
        raise  # who reads the output is gone
    except OSError as error:
        return fail_usage(click.ClickException(str(error)), as_json=False)
    return OK if session.is_whole else FAILED


def _read_history(file: Path) -> None:
    """Let the arrow keys find earlier messages, where the system can."""
    try:
        import readline
    except ImportError:
        return
    try:
        readline.read_history_file(file)
    except OSError:
        return


def _write_history(file: Path) -> None:
    try:
        import readline
    except ImportError:
        return
    readline.set_history_length(_KEPT_LINES)
    try:
        if file.parent.is_dir():
            readline.write_history_file(file)
            file.chmod(0o600)
    except OSError:
        return
