"""`lilbee launch`."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lilbee_cli.agents import CLIENTS, NAME, TOKEN, Client, ClientError, Way, mcp_command, shown
from lilbee_cli.options import Common, common
from lilbee_cli.skill import write_skill

if TYPE_CHECKING:
    from lilbee_core.tokens import ServerSession

_START_S = 60.0
_STEP_S = 0.1
_END_S = 10.0


@click.command("launch", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@common
def command(told: Common, client: str, arguments: tuple[str, ...]) -> int:
    """Start a CLIENT (opencode, claude, litellm, generic) that knows this library, and how to work with it, for now.

    ARGUMENTS are the client's own; of `generic` they are the program to start. A server is started for clients that
    need one, unless one runs. Nothing is written to the client's configuration.
    """
    from lilbee_core import __version__
    from lilbee_core.settings import environment

    chosen = CLIENTS[client]
    program, rest = _program(chosen, arguments)
    with told.open(there=True) as bee:
        data_dir, root = bee.data_dir, bee.root
    with _server(chosen, told, data_dir, root) as session, tempfile.TemporaryDirectory(prefix="lilbee-") as folder:
        skills = Path(folder) / "plugin"
        way = Way(command=mcp_command(root, told.data_dir), skill=write_skill(skills, version=__version__))
        env = dict(environment())
        if session is not None:
            way = replace(way, url=session.url)
            env[TOKEN] = session.token
            if chosen.program is None:
                env |= {"OPENAI_BASE_URL": f"{session.url}/v1", "OPENAI_API_KEY": session.token}
        file = Path(folder) / chosen.file
        file.write_text(shown(chosen, chosen.entries(way)), encoding="utf-8")
        extra, variables = chosen.tell(file, skills)
        return _run([program, *extra, *rest], {**env, **variables})


def _program(client: Client, arguments: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the program to start, and its arguments.

    Raises:
        NotFound: If it is not installed.
    """
    from lilbee_core.errors import NotFound

    if client.program is None and not arguments:
        raise click.UsageError("name the program to start: lilbee launch generic PROGRAM ARGUMENTS")
    name, rest = (client.program, arguments) if client.program is not None else (arguments[0], arguments[1:])
    if client.program is None and name.startswith("-"):
        raise click.UsageError(f"options stand before the client: lilbee launch {name} … {client.name} PROGRAM")
    found = shutil.which(name)
    if found is None:
        raise NotFound(
            f"there is no program {name!r} on the PATH",
            hint=f"Install it, or see what it is to be told with `lilbee agent-config {client.name}`.",
            code="client.not_found",
        )
    return found, rest


@contextmanager
def _server(client: Client, told: Common, data_dir: Path, root: Path | None) -> Generator[ServerSession | None]:
    """Give the server that runs, or one that runs as long as this; None where the client needs none."""
    from lilbee_core.tokens import read_session

    running = read_session(data_dir)
    if running is not None or not client.needs_server:
        yield running
        return
    where = ["--library", str(root)] if root is not None else []
    data = ["--data-dir", str(data_dir)] if told.data_dir is not None else []
    command = [sys.executable, "-m", "lilbee_cli.main", "serve", "--port", "0", *where, *data]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
        try:
            yield _awaited(process, data_dir, said.fileno())
        finally:
            process.terminate()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _awaited(process: subprocess.Popen[bytes], data_dir: Path, said: int) -> ServerSession:
    from lilbee_core.tokens import read_session

    end = time.monotonic() + _START_S
    while time.monotonic() < end:
        session = read_session(data_dir)
        if session is not None:
            return session
        if process.poll() is not None:
            break
        time.sleep(_STEP_S)
    reason = os.pread(said, 2_000, 0).decode("utf-8", "replace").strip() if hasattr(os, "pread") else ""
    raise ClientError(
        f"the server did not start: {reason or 'it gave no reason'}", hint=f"Run `{NAME} serve` to see why."
    )


def _run(command: Sequence[str], env: Mapping[str, str]) -> int:
    """Run the client in this terminal and return its exit code. Ctrl-C is its own to handle."""
    with subprocess.Popen(list(command), env=dict(env)) as process, _ended_by_signal():
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue
            except SystemExit:
                process.terminate()
                raise


@contextmanager
def _ended_by_signal() -> Generator[None]:
    """Clean up when we are told to end, as after the client ended by itself."""

    def leave(number: int, frame: object) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
