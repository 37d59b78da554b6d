"""`lilbee open` at a server that runs; and requests as no well-behaved client sends them."""

from __future__ import annotations

import http.client
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
from click.testing import CliRunner

from lilbee_core import Lilbee
from lilbee_core.tokens import ServerSession, write_session
from lilbee_server.cli_plugin import open_page
from lilbee_server.opening import NotServed, sign_in_url
from tests.server.conftest import TOKEN, serving
from tests.server.web.conftest import page_app


@pytest.fixture
def url(library: Lilbee) -> Iterator[str]:
    with serving(page_app(library, hosts=("127.0.0.1",))) as address:
        write_session(library.data_dir, ServerSession(url=address, token=TOKEN, pid=os.getpid()))
        yield address


@dataclass(frozen=True, slots=True)
class Answered:
    status: int
    text: str
    cookie: str


def ask(url: str, path: str, **headers: str) -> Answered:
    """Send a request with a path as it is: other clients take `..` out."""
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=20)) as connection:
        connection.request("GET", path, headers={"Connection": "close", **headers})
        answer = connection.getresponse()
        return Answered(answer.status, answer.read().decode(), answer.getheader("set-cookie") or "")


def test_the_page_is_opened_signed_in(library: Lilbee, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(click, "launch", lambda address: opened.append(address) or 0)
    shown = CliRunner().invoke(open_page, ["--library", str(library.root)], catch_exceptions=False)
    assert shown.output == ""
    printed = CliRunner().invoke(open_page, ["--library", str(library.root), "--print"], catch_exceptions=False)
    monkeypatch.setattr(click, "launch", lambda _: 3)
    none = CliRunner().invoke(open_page, ["--library", str(library.root)], catch_exceptions=False)
    addresses = [*opened, printed.output.strip(), none.output.strip()]
    assert len(set(addresses)) == 3
    for one in addresses:
        assert one.startswith(f"{url}/sign-in?code=")
        answer = ask(url, one.removeprefix(url))
        assert answer.status == 200
        assert "HttpOnly" in answer.cookie


def test_where_no_server_runs_it_says_how_to_start_one(library: Lilbee) -> None:
    with pytest.raises(NotServed, match="no server runs") as caught:
        sign_in_url(library.data_dir)
    assert "lilbee serve" in caught.value.hint
    write_session(library.data_dir, ServerSession(url="http://127.0.0.1:9", token=TOKEN, pid=os.getpid()))
    with pytest.raises(NotServed, match="does not answer"):
        sign_in_url(library.data_dir)


def test_a_server_that_refuses_is_told(library: Lilbee, url: str) -> None:
    write_session(library.data_dir, ServerSession(url=url, token="of another run", pid=os.getpid()))
    with pytest.raises(NotServed, match="status 401"):
        sign_in_url(library.data_dir)


ODD = (
    "/static/../search?q=queen", "/static/%2e%2e/search?q=queen", "/static/..%2fsearch", "//search", "/static//../",
    "/sign-in/../search", "/sign-in/", "/SIGN-IN", "/./", "/static/%00", "/static/\\..\\search",
    "/api/health/../../search?q=queen", "http://evil.example/", "/static/../api/status",
)  # fmt: skip


def test_no_odd_path_gets_past_the_sign_in(url: str) -> None:
    for path in ODD:
        answer = ask(url, path)
        assert answer.status in (303, 400, 403, 404) or (path, answer.status) == ("/sign-in/", 200), (path, answer)
        assert "lays eggs" not in answer.text
        assert 'id="q"' not in answer.text
        assert "documents" not in answer.text.lower() or "There is no such page" in answer.text, path


def test_a_host_that_is_not_ours_gets_no_page(url: str) -> None:
    for path in ("/", "/sign-in", "/static/lilbee.css"):
        assert ask(url, path, Host="evil.example").status == 403


def test_the_file_of_a_code_is_none(library: Lilbee, url: str) -> None:
    """Codes and sessions are in memory alone."""
    code = sign_in_url(library.data_dir).partition("code=")[2]
    secret = ask(url, f"/sign-in?code={code}").cookie.partition("=")[2].partition(";")[0]
    kept = b"".join(file.read_bytes() for file in Path(library.data_dir).rglob("*") if file.is_file())
    assert len(secret) > 30
    assert code.encode() not in kept
    assert secret.encode() not in kept
