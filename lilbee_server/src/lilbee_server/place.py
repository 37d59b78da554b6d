"""Where a server listens: on this machine, unless it is told twice."""

from __future__ import annotations

import ipaddress
import json
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lilbee_core.errors import LilbeeError

HOST = "127.0.0.1"
_ANSWERS_WITHIN_S = 2.0
_MOST_FILES = 16_384


class CannotServe(LilbeeError):
    """A library cannot be served here, or is served already."""

    default_code = "server.cannot_serve"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An address and a port. Another address than this machine's own needs `allow_remote` too.

    `names` are the host names under which other machines reach it.
    """

    host: str = HOST
    port: int
    allow_remote: bool = False
    names: tuple[str, ...] = ()

    @property
    def is_local(self) -> bool:
        """Whether nobody but this machine can connect."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def hosts(self) -> tuple[str, ...]:
        """Host names that requests may name, beside those of this machine."""
        return () if self.is_local else (self.host, socket.gethostname(), *self.names)

    def check(self) -> None:
        """Make sure that the place was meant.

        Raises:
            CannotServe: If other machines could connect, and nobody said that they may.
        """
        if not self.is_local and not self.allow_remote:
            raise CannotServe(
                f"{self.host} is not an address of this machine alone",
                hint="Leave --host out, or add --allow-remote: what is sent is not encrypted.",
            )
        if not 0 <= self.port <= 65535:
            raise CannotServe(f"there is no port {self.port}", hint="Choose one from 1 to 65535, or 0 for a free one.")

    def listen(self) -> socket.socket:
        """Return a socket that listens there.

        Raises:
            CannotServe: If it cannot, as when something else does.
        """
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family, backlog=1024)
        except OSError as error:
            said = os.strerror(error.errno) if error.errno else str(error)
            told = f"port {self.port} of {self.host} cannot be used: {said}"
            raise CannotServe(told, hint="Choose another one with --port.") from error

    def address(self, listener: socket.socket) -> str:
        """Return where a client of this machine reaches it."""
        host = HOST if self.host == "0.0.0.0" else "::1" if self.host == "::" else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


def check_alone(data_dir: Path) -> None:
    """Make sure that no other server serves a library: two would write each other's session, and answer by turns.

    Raises:
        CannotServe: If one does.
    """
    from lilbee_core.tokens import read_session

    session = read_session(data_dir)
    if session is None:
        return
    import urllib.request

    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{session.url}/api/health", timeout=_ANSWERS_WITHIN_S) as answer:
            is_there = json.load(answer).get("status") == "ok"
    except (OSError, ValueError, AttributeError):
        return  # its process number is another program's by now
    if is_there:
        raise CannotServe(
            f"the library is served already, at {session.url} by process {session.pid}",
            hint="Use that one, or stop it first.",
        )


def allow_many_connections() -> None:
    """Use as many open files as the system lets this process have: each connection is one, and 1,024 are soon gone."""
    try:
        import resource
    except ImportError:  # not on Windows, which has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
