"""Sign-in of people at the page: one-time codes, and the sessions that they begin. Neither outlives the server."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from lilbee_core.tokens import OWNER, Grant

CODE_S = 15 * 60
"""How long a code that nobody used counts."""
IDLE_S = 12 * 3600
LONGEST_S = 7 * 24 * 3600
"""How long a session lasts without a request, and in all."""
_MOST_CODES = 32
_MOST_SESSIONS = 256
_LONGEST_SECRET = 100
PATH = "/sign-in"


@dataclass(frozen=True, slots=True)
class _Session:
    grant: Grant
    began: float
    used: float


class SignIns:
    """Codes and sessions, by their hashes. Threads may share it.

    Args:
        knows: Says whether a token of this name may still do everything; a session that it began ends with it.
        now: A clock, in seconds.
    """

    def __init__(self, *, knows: Callable[[str], bool], now: Callable[[], float] = time.monotonic) -> None:
        self._knows = knows
        self._now = now
        self._lock = threading.Lock()
        self._codes: dict[str, tuple[Grant, float]] = {}
        self._sessions: dict[str, _Session] = {}

    def new_code(self, grant: Grant = OWNER) -> str:
        """Return a code that begins one session, with the rights of who asked for it."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._forget_old()
            self._codes[_hash(code)] = (grant, self._now())
            while len(self._codes) > _MOST_CODES:
                del self._codes[next(iter(self._codes))]
        return code

    def begin(self, code: str) -> str | None:
        """Use up a code; return the secret of the session that it begins, None if it does not count (any longer)."""
        if len(code) > _LONGEST_SECRET:
            return None
        secret = secrets.token_urlsafe(32)
        with self._lock:
            self._forget_old()
            known = self._codes.pop(_hash(code), None)
            if known is None:
                return None
            now = self._now()
            self._sessions[_hash(secret)] = _Session(known[0], now, now)
            while len(self._sessions) > _MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
        return secret

    def check(self, secret: str) -> Grant | None:
        """Return what a session allows; None if there is no such session. May read the library's state."""
        if len(secret) > _LONGEST_SECRET:
            return None
        name = _hash(secret)
        with self._lock:
            self._forget_old()
            found = self._sessions.get(name)
            if found is None:
                return None
            self._sessions[name] = replace(found, used=self._now())
        if found.grant is not OWNER and not self._knows(found.grant.name):
            self.end(secret)
            return None
        return found.grant

    def end(self, secret: str) -> None:
        """End a session, if there is such a one."""
        with self._lock:
            self._sessions.pop(_hash(secret), None)

    def _forget_old(self) -> None:
        now = self._now()
        self._codes = {name: one for name, one in self._codes.items() if now - one[1] < CODE_S}
        self._sessions = {
            name: one for name, one in self._sessions.items() if now - one.used < IDLE_S and now - one.began < LONGEST_S
        }


def cookie_name(host: str) -> str:
    """Return the name of the cookie at a Host: browsers send cookies of one port to all, so servers must not share."""
    port = host.rpartition(":")[2]
    return f"lilbee_session_{port}" if port.isascii() and port.isdigit() else "lilbee_session"


def _hash(secret: str) -> str:
    # Looked up by its hash: how long that takes tells nothing of the secrets that count.
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()
