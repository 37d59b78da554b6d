"""Flags to a library to a server on stdin and stdout."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from lilbee_core import Lilbee, LilbeeError
from lilbee_core.settings import find_library
from lilbee_core.text import visible_line


def main(argv: Sequence[str] | None = None) -> None:
    """Serve MCP on standard input and output until the client closes it."""
    parser = argparse.ArgumentParser(prog="lilbee-mcp", description="Serve a library to agents over MCP (stdio).")
    parser.add_argument("--library", metavar="PATH", help="the library's folder")
    parser.add_argument("--data-dir", metavar="PATH", help="where index and state lie, if not in the folder")
    parser.add_argument(
        "--enable", action="append", default=[], metavar="TOOLS", help="also offer these tools: crawl (may be repeated)"
    )
    flags = parser.parse_args(argv)
    try:
        serve(library=flags.library, data_dir=flags.data_dir, enable=flags.enable)
    except LilbeeError as error:
        sys.stderr.write(f"error: {visible_line(error.message)}\n  {visible_line(error.hint)}\n")
        sys.exit(4 if error.code.endswith("not_found") else 1)


def serve(*, library: str | None, data_dir: str | None, enable: Sequence[str] = ()) -> None:
    """Open the library and speak MCP. Nothing but the protocol reaches stdout."""
    from lilbee_mcp.server import build_server

    with Lilbee(find_library(library), data_dir=data_dir) as bee:
        # The SDK moves the protocol to a private descriptor, so that nothing printed by a library lands in it.
        build_server(bee, enable=enable).run("stdio")


if __name__ == "__main__":
    main()
