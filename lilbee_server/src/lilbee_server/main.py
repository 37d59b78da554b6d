"""Flags to a library to a server."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.allocator import give_memory_back, resting_collector
from lilbee_core.errors import InvalidArgument, LilbeeError
from lilbee_core.text import visible_line
from lilbee_server.place import HOST, Place, check_alone
from lilbee_server.running import run_app

if TYPE_CHECKING:
    from lilbee_core import Lilbee

PORT = 7421
OPEN_AFTER_S = 0.5


def main(argv: Sequence[str] | None = None) -> None:
    """Run the server until it is stopped."""
    parser = argparse.ArgumentParser(prog="lilbee-server", description="Serve a library over HTTP, on this machine.")
    parser.add_argument("--library", metavar="PATH", help="the library's folder")
    parser.add_argument("--data-dir", metavar="PATH", help="where index and state lie, if not in the folder")
    parser.add_argument("--port", type=int, help=f"port; 0 takes a free one ({PORT})")
    parser.add_argument("--host", default=HOST, metavar="ADDRESS", help=f"address to listen on ({HOST})")
    parser.add_argument("--allow-remote", action="store_true", help="let other machines in, if --host says so")
    parser.add_argument(
        "--name", action="append", default=[], help="a host name that requests of other machines may use; repeatable"
    )
    parser.add_argument("--watch", action="store_true", help="index changes of files as they happen")
    parser.add_argument("--memory", metavar="CONFIG", help="serve the memory files of this configuration instead")
    flags = parser.parse_args(argv)
    try:
        code = serve_either(
            flags.memory,
            library=flags.library,
            data_dir=flags.data_dir,
            place=Place(
                host=flags.host, port=flags.port or 0, allow_remote=flags.allow_remote, names=tuple(flags.name)
            ),
            port=flags.port,
            watch=flags.watch,
        )
    except LilbeeError as error:
        sys.stderr.write(f"error: {visible_line(error.message)}\n  {visible_line(error.hint)}\n")
        code = 4 if error.code.endswith("not_found") else 1
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        code = 130
    sys.exit(code)


def serve_either(
    memory: str | None, *, library: str | None, data_dir: str | None, place: Place, port: int | None, watch: bool
) -> int:
    """Serve a library, or memory files if a configuration of these is named; return the exit code.

    Raises:
        InvalidArgument: If both are named.
        CannotServe: If it cannot be served there, or is served already.
    """
    give_memory_back()
    with resting_collector() as started:
        if memory is None:
            there = replace(place, port=PORT if port is None else port)
            return serve(library=library, data_dir=data_dir, place=there, watch=watch, started=started)
        if library is not None:
            told = "--memory names what is served, so there is no --library beside it"
            raise InvalidArgument(told, hint="Leave out one of them.")
        from lilbee_server.memory.main import serve_memory

        return serve_memory(memory, data_dir=data_dir, place=place, port=port, started=started)


def serve(*, library: str | None, data_dir: str | None, place: Place, watch: bool, started: Callable[[], None]) -> int:
    """Open the library and serve it; return the exit code. `started` is called when everything is loaded.

    Raises:
        CannotServe: If it cannot be served there, or is served already.
    """
    from lilbee_core import Lilbee
    from lilbee_core.settings import find_library
    from lilbee_core.tokens import read_session
    from lilbee_server.app import LOOPBACK, create_app
    from lilbee_server.library import signins_of
    from lilbee_server.mounts import find_mounts
    from lilbee_server.signin import PATH

    place.check()
    with Lilbee(find_library(library), data_dir=data_dir) as bee:
        arrival_s = bee.settings.server.arrival_timeout_s
        check_alone(bee.data_dir)
        listener = place.listen()
        address, token = place.address(listener), secrets.token_urlsafe(32)
        file = write_server_file(bee.data_dir, address, token)
        sys.stderr.write(f"lilbee-server listens on {address}; the token is in {visible_line(str(file))}\n")
        try:
            app = create_app(bee, token=token, hosts=(*LOOPBACK, *place.hosts), mounts=find_mounts)
            code = signins_of(app.state).new_code()
            sys.stderr.write(f"To use it in a browser, open {address}{PATH}?code={code}\n")
            sys.stderr.write("  That works once, within 15 minutes; `lilbee open` opens it again.\n")
            started()
            with opened_soon(bee, watch=watch or bee.settings.watch.watch):
                run_app(app, listener, arrival_s=arrival_s)
        finally:
            session = read_session(bee.data_dir)
            if session is None or session.token == token:
                file.unlink(missing_ok=True)
    return 0


@contextmanager
def opened_soon(bee: Lilbee, *, watch: bool) -> Generator[None]:
    """Open the index once the server listens, so that the first search need not; say what is wrong with it."""

    def look() -> None:
        try:
            bee.status()
            if watch:
                bee.watch()
        except LilbeeError as error:
            sys.stderr.write(f"warning: {visible_line(error.message)}\n  {visible_line(error.hint)}\n")

    timer = threading.Timer(OPEN_AFTER_S, look)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def write_server_file(data_dir: Path, address: str, token: str) -> Path:
    """Tell local clients where the server is and how to get in; only the user may read it."""
    from lilbee_core.tokens import ServerSession, write_session

    return write_session(data_dir, ServerSession(url=address, token=token, pid=os.getpid()))


if __name__ == "__main__":
    main()
