"""Who is let in: by a token, under a name that is ours."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from lilbee_core.tokens._grants import OWNER, Grant
from lilbee_core.tokens._tokens import TokenInfo

_LONGEST_TOKEN = 512
LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")
"""The names of this machine itself."""


class Access:
    """Tells who asks, by what a request carries. It knows nothing of HTTP beyond two headers; threads may share it.

    Args:
        token: The owner's; None lets everybody in.
        hosts: Host names that requests may name, so that no web page can reach in under a name that it controls.
        check: Says what another token allows, if there is such a one.
    """

    def __init__(
        self, *, token: str | None, check: Callable[[str], TokenInfo | None], hosts: Iterable[str] = LOOPBACK
    ) -> None:
        self._token = token.encode() if token is not None else None
        self._check = check
        self._hosts = frozenset(host.lower() for host in hosts)

    def is_ours(self, address: bytes) -> bool:
        """Whether a Host (``host:port``) or an Origin (``http://host:port``) names this server."""
        return host_of(address) in self._hosts

    def is_owner(self, authorization: bytes) -> bool:
        """Whether an ``Authorization: Bearer`` header carries the owner's token. Reads no file."""
        return self._token is None or hmac.compare_digest(_bearer(authorization), self._token)

    def grant(self, authorization: bytes) -> Grant | None:
        """Return what such a header allows; None where that is nothing. May read the library's state."""
        if self.is_owner(authorization):
            return OWNER
        given, known = _bearer(authorization), None
        if given.startswith(b"lb_") and len(given) <= _LONGEST_TOKEN:
            known = self._check(given.decode("latin-1"))
        if known is None:
            return None
        only = frozenset(known.collections) if known.collections else None
        return Grant(name=known.name, read_only=known.read_only, collections=only)


def _bearer(authorization: bytes) -> bytes:
    kind, _, rest = authorization.partition(b" ")
    return rest.strip() if kind.lower() == b"bearer" else b""


def host_of(address: bytes) -> str:
    """Return the host name in a Host or an Origin header."""
    text = address.decode("latin-1")
    try:
        return (urlsplit(text if "//" in text else f"//{text}").hostname or "").lower()
    except ValueError:
        return ""
