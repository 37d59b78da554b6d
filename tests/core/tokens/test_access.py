"""Who is let in, and where a server says it is (R261, R264)."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from lilbee_core.tokens import OWNER, Access, ServerSession, TokenInfo, host_of, read_session, write_session


def known(secret: str) -> TokenInfo | None:
    return TokenInfo(id="1", name="agent", read_only=True, collections=("notes",)) if secret == "lb_1_x" else None


@pytest.mark.parametrize(
    ("header", "name"),
    [
        (b"Bearer secret", "owner"),
        (b"bearer   secret ", "owner"),
        (b"Bearer lb_1_x", "agent"),
        (b"Bearer lb_2_x", None),
        (b"Bearer ", None),
        (b"Basic secret", None),
        (b"", None),
        (b"Bearer \xff\x00", None),
        (b"Bearer lb_" + b"1" * 600, None),
    ],
)
def test_a_header_lets_in_whom_it_names(header: bytes, name: str | None) -> None:
    access = Access(token="secret", check=known)
    grant = access.grant(header)
    assert (grant.name if grant else None) == name
    assert access.is_owner(header) == (name == "owner")
    if name == "agent":
        assert grant is not None
        assert (grant.read_only, grant.collections) == (True, frozenset({"notes"}))


def test_without_a_token_everybody_is_the_owner() -> None:
    assert Access(token=None, check=known).grant(b"") is OWNER


@pytest.mark.parametrize(
    ("address", "ours"),
    [
        (b"127.0.0.1:7421", True),
        (b"LOCALHOST", True),
        (b"[::1]:1", True),
        (b"http://localhost:9", True),
        (b"http://evil.example", False),
        (b"127.0.0.1.evil.example", False),
        (b"null", False),
        (b"", False),
        (b"http://[", False),
        (b"\xff", False),
    ],
)
def test_only_names_of_this_machine_are_ours(address: bytes, ours: bool) -> None:
    assert Access(token=None, check=known).is_ours(address) is ours


def test_a_host_is_read_from_either_header() -> None:
    assert host_of(b"Example.org:80") == host_of(b"https://example.org/") == "example.org"


def test_a_session_is_read_back_by_this_user_alone(tmp_path: Path) -> None:
    session = ServerSession(url="http://127.0.0.1:1", token="hidden", pid=os.getpid())
    file = write_session(tmp_path / "data", session)
    assert read_session(tmp_path / "data") == session
    assert "hidden" not in repr(session)
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("left", [None, "", "[]", '{"url": "x"}', '{"url": "x", "token": "t", "pid": 2147483646}'])
def test_what_a_dead_server_left_is_no_session(tmp_path: Path, left: str | None) -> None:
    if left is not None:
        (tmp_path / "server.json").write_text(left, encoding="utf-8")
    assert read_session(tmp_path) is None
