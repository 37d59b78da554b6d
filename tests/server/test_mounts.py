"""Applications of plugins beside the server's own routes: found, guarded, and none can spoil the others."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pluggy
import pytest
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_server import mounts
from lilbee_server.app import create_app
from lilbee_server.hookspecs import GROUP, Host, Mount
from tests.server.conftest import TOKEN

hookimpl = pluggy.HookimplMarker(GROUP)


@dataclass
class Echo:
    """Says who asks; remembers when it lived."""

    path: str = "/echo"
    lived: list[str] = field(default_factory=list[str])

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        grant = scope["state"]["grant"]
        body = f"{grant.name} {grant.read_only} {scope['method']}".encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": body})

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        self.lived.append("up")
        yield
        self.lived.append("down")


class Plugin:
    """Mounts one application."""

    def __init__(self, echo: Echo) -> None:
        self.echo = echo

    @hookimpl
    def lilbee_mounts(self, host: Host) -> Sequence[Mount]:
        assert host.library.root is not None
        return [self.echo]


class Broken:
    """Fails when it is asked."""

    @hookimpl
    def lilbee_mounts(self, host: Host) -> Sequence[Mount]:
        raise OSError("no such luck")


class Misspelled:
    """Has a hook that nobody knows."""

    @hookimpl
    def lilbee_mount(self, host: Host) -> Sequence[Mount]:
        return []


def test_a_mount_is_guarded_and_a_bad_plugin_costs_only_itself(
    library: Lilbee, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    echo = Echo()
    plugins: dict[str, Any] = {
        "b_broken": Broken(), "c_good": Plugin(echo), "a_misspelled": Misspelled(), "d_same": Plugin(Echo()),
    }  # fmt: skip

    def points(group: str) -> Iterable[Any]:
        assert group == GROUP
        return [SimpleNamespace(name=name, load=lambda one=one: one) for name, one in plugins.items()]

    monkeypatch.setattr(mounts, "entry_points", points)
    reader = library.tokens.create("reader", read_only=True).secret
    with caplog.at_level(logging.ERROR):
        app = create_app(library, token=TOKEN, hosts=("testserver.local",), mounts=mounts.find_mounts)
    assert [one.args for one in caplog.records] == [("a_misspelled",), ("b_broken",), ("d_same", "/echo")]
    with TestClient(app, base_url="http://testserver.local") as client:
        assert client.get("/echo").status_code == 401
        assert client.post("/echo/deep/er", headers={"Authorization": f"Bearer {reader}"}).text == "reader True POST"
        owner = {"Authorization": f"Bearer {TOKEN}"}
        assert client.get("/echo", headers=owner).text == "owner False GET"
        assert client.get("/echo", headers={**owner, "Origin": "http://evil.example"}).status_code == 403
        assert client.get("/api/status", headers=owner).status_code == 200
    assert echo.lived == ["up", "down"]
