"""The page over a small library, as a browser that is signed in sees it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_server.app import create_app
from lilbee_server.mounts import mounts_of
from lilbee_server.web import plugin

HOST = "testserver.local"
ORIGIN = f"http://{HOST}"
TOKEN = "s3cret-token"
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
def library(tmp_path: Path) -> Iterator[Lilbee]:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    (root / "boats.md").write_text("# Boats\n\nThe ferry leaves at noon.\n", encoding="utf-8")
    with Lilbee(root, embedder=HashEmbedder()) as bee:
        bee.sync()
        yield bee


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
