"""Where a server listens, alone on its library, and what it does with connections on which nothing comes."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest
from litestar import Litestar

from lilbee_core import Lilbee
from lilbee_core.tokens import ServerSession, write_session
from lilbee_server.app import create_app
from lilbee_server.heads import protocol_with_patience
from lilbee_server.main import main
from lilbee_server.place import CannotServe, Place, check_alone
from tests.server.conftest import serving

HEAD = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.org"])
def test_other_machines_get_in_only_if_that_was_said(host: str) -> None:
    with pytest.raises(CannotServe) as refused:
        Place(host=host, port=0).check()
    assert "--allow-remote" in refused.value.hint
    place = Place(host=host, port=0, allow_remote=True, names=("lib.example",))
    place.check()
    assert {host, "lib.example"} <= set(place.hosts)


def test_the_command_refuses_other_machines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--library", str(tmp_path), "--host", "0.0.0.0"])
    assert ended.value.code == 1
    assert "--allow-remote" in capsys.readouterr().err


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "::1", "localhost"])
def test_this_machine_needs_no_permission(host: str) -> None:
    place = Place(host=host, port=0)
    place.check()
    assert place.hosts == ()


def test_a_port_in_use_is_named() -> None:
    with Place(port=0).listen() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CannotServe) as refused:
            Place(port=port).listen()
        assert str(port) in refused.value.message
        assert Place(port=0).address(taken) == f"http://127.0.0.1:{port}"
    with pytest.raises(CannotServe):
        Place(port=70_000).check()


def test_a_library_is_served_once(library: Lilbee) -> None:
    check_alone(library.data_dir)
    with serving(create_app(library, token="t")) as address:
        write_session(library.data_dir, ServerSession(url=address, token="t", pid=os.getpid()))
        with pytest.raises(CannotServe) as refused:
            check_alone(library.data_dir)
        assert address in refused.value.message
    # It is gone, and its process number is somebody else's.
    check_alone(library.data_dir)


@pytest.fixture
def app(library: Lilbee) -> Litestar:
    return create_app(library, token="t")


def connected(address: str) -> socket.socket:
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=20)


def answered(link: socket.socket) -> None:
    link.sendall(HEAD + b"\r\n")
    got = b""
    while not got.endswith(b"}"):
        piece = link.recv(4000)
        assert piece, got
        got += piece
    assert b"200 OK" in got


@pytest.mark.parametrize("sent", [b"", b"G", HEAD])
def test_a_head_that_does_not_arrive_is_given_up(app: Litestar, sent: bytes) -> None:
    with serving(app, http=protocol_with_patience(0.2)) as address, connected(address) as link:
        link.sendall(sent)
        before = time.monotonic()
        assert link.recv(1000) == b""
        assert time.monotonic() - before < 10


def test_a_head_that_stops_after_a_whole_request_is_given_up_too(app: Litestar) -> None:
    with serving(app, http=protocol_with_patience(0.2)) as address, connected(address) as link:
        for _ in range(2):
            answered(link)
        link.sendall(HEAD)
        assert link.recv(4000) == b""


def test_between_two_requests_nothing_is_given_up(app: Litestar) -> None:
    with serving(app, http=protocol_with_patience(0.05)) as address, connected(address) as link:
        for _ in range(3):
            answered(link)
            time.sleep(0.15)


def test_an_answer_waits_for_no_confirmation(app: Litestar) -> None:
    with serving(app, http=protocol_with_patience(20)) as address, connected(address) as link:
        took: list[float] = []
        for _ in range(10):
            before = time.monotonic()
            answered(link)
            took.append(time.monotonic() - before)
    assert min(took) < 0.03  # a client confirms the first half of an answer after 40 ms
