"""Errors of the core as messages, hints and exit codes."""

from __future__ import annotations

import json

import click

from lilbee_cli.codes import FAILED, NOT_FOUND, USAGE


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
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx is not None else "lilbee"
        _tell(error.format_message(), f"Run `{command} --help`.", "usage", as_json=as_json)
        return USAGE
    _tell(error.format_message(), "", "failed", as_json=as_json)
    return FAILED


def _tell(message: str, hint: str, code: str, *, as_json: bool) -> None:
    from lilbee_cli.render.text import clean

    if as_json:
        click.echo(json.dumps({"error": {"code": code, "message": message, "hint": hint}}, ensure_ascii=False))
        return
    click.echo(f"error: {clean(message)}", err=True)
    if hint:
        click.echo(f"  {clean(hint)}", err=True)
