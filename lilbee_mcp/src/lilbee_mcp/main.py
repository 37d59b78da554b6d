"""Flags to a library to a server on standard input and output, or on a port."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lilbee_core.allocator import give_memory_back
from lilbee_core.errors import LilbeeError

if TYPE_CHECKING:
    from lilbee_core import Lilbee

PORT = 7422


def main(argv: Sequence[str] | None = None) -> None:
    """Serve MCP until the client closes its end, or, on a port, until it is stopped."""
    flags = _parser().parse_args(argv)
    try:
        code = serve(
            library=flags.library,
            data_dir=flags.data_dir,
            enable=flags.enable,
            http=flags.http,
            port=flags.port,
        )
    except LilbeeError as error:
        from lilbee_core.text import visible_line

        sys.stderr.write(f"error: {visible_line(error.message)}\n  {visible_line(error.hint)}\n")
        code = 4 if error.code.endswith("not_found") else 1
    except KeyboardInterrupt:
        code = 130
    if code:
        sys.exit(code)


def _parser() -> argparse.ArgumentParser:
    from lilbee_mcp.server import GROUPS

    parser = argparse.ArgumentParser(prog="lilbee-mcp", description="Serve a library to agents over MCP.")
    parser.add_argument("--library", metavar="PATH", help="the library's folder")
    parser.add_argument("--data-dir", metavar="PATH", help="where index and state lie, if not in the folder")
    parser.add_argument(
        "--enable", action="append", default=[], metavar="TOOLS",
        help=f"also offer these tools: {', '.join(GROUPS)} (may be repeated)",
    )  # fmt: skip
    parser.add_argument("--http", action="store_true", help="listen on a port of this machine, not on standard input")
    parser.add_argument("--port", type=int, default=PORT, help=f"port on 127.0.0.1; 0 takes a free one ({PORT})")
    return parser


def serve(
    *,
    library: str | None,
    data_dir: str | None,
    enable: Sequence[str] = (),
    http: bool = False,
    port: int = PORT,
) -> int:
    """Speak MCP over the library and return the exit code. Nothing but the protocol reaches stdout.

    Raises:
        LilbeeError: If there is no such library, or no such group of tools.
    """
    give_memory_back()
    opener = Opener(library, data_dir)
    try:
        if http:
            from lilbee_mcp.http import serve_http

            return serve_http(opener(), enable=enable, port=port)
        import anyio

        from lilbee_mcp.server import build_server
        from lilbee_mcp.stdio import serve_stdio

        opener.check()
        anyio.run(serve_stdio, build_server(opener, enable=enable))
        return 0
    finally:
        opener.close()


class Opener:
    """Opens a library when it is asked for, since loading what that takes would keep a client waiting at the start."""

    def __init__(self, library: str | None, data_dir: str | None) -> None:
        self._path, self._data_dir = library, data_dir
        self._bee: Lilbee | None = None

    def __call__(self) -> Lilbee:
        """Return the library."""
        if self._bee is None:
            from lilbee_core import Lilbee
            from lilbee_core.settings import find_library

            self._bee = Lilbee(find_library(self._path), data_dir=self._data_dir)
        return self._bee

    def check(self) -> None:
        """Fail now for a folder that is not there: whoever starts the server sees that, an agent could only report it.

        Raises:
            LilbeeError: What is wrong with it.
        """
        if self._path is not None and self._data_dir is None and not os.path.isdir(os.path.expanduser(self._path)):
            self().status()

    def close(self) -> None:
        """Close it, if it was opened."""
        if self._bee is not None:
            self._bee.close()


if __name__ == "__main__":
    main()
