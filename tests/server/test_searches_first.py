"""What somebody waits for at the server goes before a sync of its process, until the answer begins (H5)."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from litestar import Litestar, get, post
from litestar.response import Stream

from lilbee_core import Lilbee
from lilbee_core.background import background, give_way
from lilbee_server.audit import Audit
from lilbee_server.guard import Guard
from lilbee_server.limits import Limit, Limits
from tests.server.conftest import serving

BRIEF_S, LONG_S = 0.1, 30.0


class Sync:
    """A piece of work in the background; `waited` says whether it had to wait."""

    waited = False

    def look(self) -> None:
        thread = threading.Thread(target=background()(give_way), daemon=True)
        thread.start()
        thread.join(BRIEF_S)
        self.waited = thread.is_alive()


@pytest.fixture
def sync() -> Sync:
    return Sync()


@pytest.fixture
def address(library: Lilbee, sync: Sync) -> Iterator[str]:
    @get("/found", sync_to_thread=True)
    def found() -> str:
        sync.look()
        return "found"

    @post("/written", sync_to_thread=True, status_code=200)
    def written() -> str:
        sync.look()
        return "written"

    @get("/followed")
    async def followed() -> Stream:
        async def events() -> AsyncIterator[str]:
            yield "first"
            sync.look()
            yield "second"

        return Stream(events())

    guard = Guard(
        token=None,
        hosts=("127.0.0.1",),
        check=lambda _: None,
        audit=Audit(library.data_dir),
        limits=Limits(requests=Limit(0), arrival_s=LONG_S),
    )
    with serving(Litestar([found, written, followed], middleware=[guard])) as url:
        yield url


def test_a_sync_waits_for_an_answer_that_somebody_waits_for(address: str, sync: Sync) -> None:
    assert httpx.get(f"{address}/found").text == "found"
    assert sync.waited


def test_a_sync_waits_for_no_change_and_no_stream(address: str, sync: Sync) -> None:
    assert httpx.post(f"{address}/written").text == "written"
    assert not sync.waited
    assert httpx.get(f"{address}/followed").text == "firstsecond"
    assert not sync.waited
