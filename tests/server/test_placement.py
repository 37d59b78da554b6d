"""Which card runs what, over HTTP: read by everybody, changed where that is allowed (R116, R117, R256)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_server.app import create_app
from tests.support.gguf_files import llama

Client = TestClient[Litestar]
ENGINE = """#!{python}
import sys
if "--version" in sys.argv:
    print("version: 1 (test)")
elif "--help" in sys.argv:
    print("-m,    --model FNAME          model path")
    print("--port PORT                   port to listen on")
else:
    print("Available devices:")
    print("  CUDA0: RTX 4090 (24576 MiB, 24000 MiB free)")
"""
SPEC = {"placement": {"chat": {"devices": [0]}}}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")


@pytest.fixture
def connect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bool], Client]]:
    program = tmp_path / "llama-server"
    program.write_text(ENGINE.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("LILBEE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LILBEE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("LILBEE_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("LILBEE_LLAMA_SERVER_PATH", str(program))
    monkeypatch.setenv("LILBEE_CHAT_MODEL", "writes.gguf")
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "none")
    llama(tmp_path / "models" / "writes.gguf")
    (tmp_path / "notes").mkdir()
    with ExitStack() as stack:

        def client(allowed: bool) -> Client:
            monkeypatch.setenv("LILBEE_ALLOW_HTTP_PLACEMENT", str(allowed).lower())
            bee = stack.enter_context(Lilbee(tmp_path / "notes"))
            app = create_app(bee, token=None, hosts=("testserver.local",))
            return stack.enter_context(TestClient(app, base_url="http://testserver.local"))

        yield client


def test_reading_and_trying_is_always_served(connect: Callable[[bool], Client]) -> None:
    client = connect(False)
    (card,) = client.get("/api/gpus").json()["devices"]
    assert (card["label"], card["name"], card["free_bytes"]) == ("CUDA0", "RTX 4090", 24_000 << 20)
    shown = client.get("/api/placement").json()
    assert shown["placement"] is None
    assert shown["manual"] is False
    assert [one["id"] for one in shown["servers"]] == ["chat-0"]
    tried = client.post("/api/placement/preview", json=SPEC)
    assert tried.status_code == 200
    assert tried.json()["manual"] is True
    assert client.post("/api/placement/preview", json={}).json()["manual"] is False
    assert client.get("/api/placement").json()["manual"] is False


def test_changing_is_refused_unless_it_is_allowed(connect: Callable[[bool], Client]) -> None:
    client = connect(False)
    for answer in (client.put("/api/placement", json=SPEC), client.delete("/api/placement")):
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "server.forbidden"
        assert "allow_http_placement" in answer.json()["error"]["hint"]
    assert client.get("/api/placement").json()["placement"] is None


def test_where_it_is_allowed_it_is_used_at_once(connect: Callable[[bool], Client]) -> None:
    client = connect(True)
    assert client.put("/api/placement", json=SPEC).status_code == 200
    assert client.get("/api/placement").json()["placement"] == SPEC["placement"]
    assert client.get("/api/placement").json()["manual"] is True
    assert client.delete("/api/placement").json() == {"placement": None}
    assert client.get("/api/placement").json()["manual"] is False


def test_what_makes_no_sense_or_does_not_fit_is_told(connect: Callable[[bool], Client]) -> None:
    client = connect(True)
    gone = client.put("/api/placement", json={"placement": {"chat": {"devices": [5]}}})
    assert gone.status_code == 400
    assert "card 5, which this machine does not have" in gone.json()["error"]["message"]
    bodies: list[dict[str, object]] = [{"placement": {"talk": {}}}, {"placement": {}}, {}]
    for body in bodies:
        wrong = client.put("/api/placement", json=body)
        assert wrong.status_code == 400
        assert wrong.json()["error"]["code"] == "fleet.placement"
