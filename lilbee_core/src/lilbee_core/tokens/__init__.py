"""Tokens for programs that reach a library over a network: what each may see and do."""

from lilbee_core.tokens._access import LOOPBACK, Access, host_of
from lilbee_core.tokens._confinement import confined
from lilbee_core.tokens._grants import OWNER, DocumentLister, Grant
from lilbee_core.tokens._session import ServerSession, read_session, write_session
from lilbee_core.tokens._tokens import NewToken, TokenInfo, Tokens

__all__ = [
    "LOOPBACK",
    "OWNER",
    "Access",
    "DocumentLister",
    "Grant",
    "NewToken",
    "ServerSession",
    "TokenInfo",
    "Tokens",
    "confined",
    "host_of",
    "read_session",
    "write_session",
]
