"""Errors of the core as messages, hints and exit codes."""

from __future__ import annotations

from collections.abc import Sequence

import click

from lilbee_cli.codes import FAILED, NOT_FOUND, USAGE

# Click before 8.2 prints the help by itself.
_NO_ARGUMENTS: tuple[type[click.ClickException], ...] = tuple(
    filter(None, [getattr(click.exceptions, "NoArgsIsHelpError", None)])
)


def exit_code(error: Exception) -> int | None:
    """Return the exit code of an error of the core; None for anything else (a bug)."""
    from lilbee_core import errors

    if not isinstance(error, errors.LilbeeError):
        return None
    if isinstance(error, errors.NotFound | errors.ModelNotFound):
        return NOT_FOUND
    if isinstance(error, errors.InvalidArgument | errors.InvalidFilter | errors.EmptyQuery | errors.SettingsError):
        return USAGE
    return FAILED


def fail(error: Exception, code: int, *, as_json: bool) -> int:
    """Tell the user what went wrong and what to do next; return `code`."""
    from lilbee_core.errors import LilbeeError

    assert isinstance(error, LilbeeError)
    _tell(error.message, error.hint, error.code, as_json=as_json)
    return code


def fail_usage(error: click.ClickException, *, as_json: bool) -> int:
    """Tell the user that the command line is wrong."""
    if isinstance(error, _NO_ARGUMENTS):
        click.echo(error.format_message(), err=True)  # a group alone: its help is the message
        return USAGE
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx is not None else "lilbee"
        _tell(error.format_message(), f"Run `{command} --help`.", "usage", as_json=as_json)
        return USAGE
    _tell(error.format_message(), "", "failed", as_json=as_json)
    return FAILED


def fail_bug(error: Exception, arguments: Sequence[str], *, as_json: bool) -> int:
    """Say that this is lilbee's own fault; the traceback is shown to those who ask for detail."""
    if "-vv" in arguments or arguments.count("-v") > 1 or arguments.count("--verbose") > 1:
        import traceback

        from lilbee_cli.render.text import clean

        click.echo(clean("".join(traceback.format_exception(error))), err=True)
    message = f"something went wrong inside lilbee: {type(error).__name__}: {error}"
    _tell(message, "Please report it, with what `-vv` prints.", "internal", as_json=as_json)
    return FAILED


def _tell(message: str, hint: str, code: str, *, as_json: bool) -> None:
    from lilbee_cli.render.json import emit_line
    from lilbee_cli.render.text import line, with_output

    if as_json:
        emit_line({"error": {"code": code, "message": message, "hint": hint}})
        return
    click.echo(f"error: {with_output(message)}", err=True)
    if hint:
        click.echo(f"  {line(hint)}", err=True)
