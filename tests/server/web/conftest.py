"""The page over a small library, as a browser that is signed in sees it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_server.app import create_app
from lilbee_server.mounts import mounts_of
from lilbee_server.web import plugin
from tests.server.conftest import TOKEN

HOST = "testserver.local"
ORIGIN = f"http://{HOST}"
PIECE = {"HX-Request": "true"}
"""What a request says that wants a piece of a page."""


def page_app(library: Lilbee, *, hosts: tuple[str, ...] = (HOST,)) -> Litestar:
    """Return the server with the page on it."""
    return create_app(library, token=TOKEN, hosts=hosts, mounts=lambda host: mounts_of(plugin, host))


def new_code(client: TestClient[Litestar]) -> str:
    """Return a code that signs a browser in."""
    made = client.post("/api/sign-in", headers={"Authorization": f"Bearer {TOKEN}"})
    assert made.status_code == 200
    return str(made.json()["url"]).partition("code=")[2]


@pytest.fixture
def stranger(library: Lilbee) -> Iterator[TestClient[Litestar]]:
    """A browser that is not signed in."""
    with TestClient(page_app(library), base_url=ORIGIN) as client:
        client.follow_redirects = False
        yield client


@pytest.fixture
def browser(stranger: TestClient[Litestar]) -> TestClient[Litestar]:
    """A browser that is signed in, and says where its forms come from."""
    assert stranger.get(f"/sign-in?code={new_code(stranger)}").status_code == 200
    stranger.headers["Origin"] = ORIGIN
    return stranger
