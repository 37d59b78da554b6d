"""Models over HTTP: listed, looked for, fetched as a job with its progress, deleted, given to roles (R252)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_server.app import create_app
from tests.server.conftest import TOKEN
from tests.support.gguf_files import llama
from tests.support.model_hub import FakeHub

Client = TestClient[Litestar]
REPO = "org/tiny-GGUF"
REF = f"{REPO}/tiny-Q4_K_M.gguf"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    content = llama(tmp_path / "made" / "tiny.gguf", width=128, vocabulary=2000).read_bytes()
    with FakeHub({REPO: {"tiny-Q4_K_M.gguf": content}}) as server:
        monkeypatch.setenv("LILBEE_HUB_URL", server.url)
        monkeypatch.setenv("LILBEE_MODELS_DIR", str(tmp_path / "models"))
        monkeypatch.setenv("LILBEE_OLLAMA_BASE_URL", "http://127.0.0.1:9")
        monkeypatch.setenv("LILBEE_LM_STUDIO_BASE_URL", "http://127.0.0.1:9/v1")
        yield server


@pytest.fixture
def bee(hub: FakeHub, tmp_path: Path) -> Iterator[Lilbee]:
    (tmp_path / "notes").mkdir()
    with Lilbee(tmp_path / "notes", embedder=HashEmbedder()) as bee:
        yield bee


@pytest.fixture
def api(bee: Lilbee) -> Iterator[Client]:
    app = create_app(bee, token=TOKEN, hosts=("testserver.local",))
    with TestClient(app, base_url="http://testserver.local") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        yield client


def fetched(api: Client, model: str = REPO) -> list[tuple[str, dict[str, Any]]]:
    """Fetch a model and return what its job told."""
    started = api.post("/api/models/pull", json={"model": model})
    assert started.status_code == 202
    job = started.json()
    assert (job["kind"], job["options"]) == ("pull", {"model": model})
    stream = api.get(f"/api/jobs/{job['id']}/events").text.replace("\r\n", "\n")
    blocks = [dict(line.split(": ", 1) for line in one.split("\n") if ": " in line) for one in stream.split("\n\n")]
    return [(one["event"], json.loads(one["data"])) for one in blocks if "event" in one]


def test_a_model_from_the_catalog_to_its_end(api: Client, tmp_path: Path) -> None:
    (found,) = api.get("/api/models/catalog", params={"query": "tiny"}).json()["models"]
    assert (found["ref"], found["installed"]) == (REPO, False)
    assert [one["name"] for one in api.get(f"/api/models/{REPO}").json()["files"]] == ["tiny-Q4_K_M.gguf"]
    told = fetched(api)
    assert [data["phase"] for name, data in told if name == "Progress"][-1:] == ["downloading"]
    assert (told[-1][0], told[-1][1]["state"]) == ("JobFinished", "done")
    assert told[-1][1]["result"]["ref"] == REF
    assert api.get(f"/api/models/{REF}").json()["facts"]["architecture"] == "llama"
    assert REF in [one["ref"] for one in api.get("/api/models/installed", params={"task": "chat"}).json()["models"]]
    assert REF in [one["ref"] for one in api.get("/api/models").json()["installed"]]
    given = api.put("/api/models/chat", json={"model": REF})
    assert given.json() == {"role": "chat", "setting": "chat_model", "model": REF}
    removed = api.delete(f"/api/models/{REF}").json()
    assert (removed["removed"]["in_use"], removed["freed_bytes"] > 0) == (["chat"], True)
    assert not list((tmp_path / "models").rglob("*.gguf"))
    assert api.put("/api/models/chat", json={"model": None}).json()["model"] == "auto"


def test_a_download_ends_on_request_and_goes_on_where_it_was(api: Client, hub: FakeHub, bee: Lilbee) -> None:
    def cancel(sent: int) -> None:
        for job in bee.jobs.list():
            bee.jobs.require(job.id).cancel()

    hub.on_piece = cancel
    told = fetched(api)
    assert told[-1][1]["state"] == "cancelled"
    hub.on_piece = None
    assert fetched(api)[-1][1]["state"] == "done"


def test_a_sync_does_not_wait_for_a_download(api: Client, hub: FakeHub, bee: Lilbee) -> None:
    states: list[str] = []

    def sync_meanwhile(sent: int) -> None:
        if not states:
            states.append("")
            states[0] = str(bee.jobs.start("sync").wait(20).state)

    hub.on_piece = sync_meanwhile
    assert fetched(api)[-1][1]["state"] == "done"
    assert states == ["done"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/api/models/org/nothing", None, 404, "provider.model_not_found"),
        ("DELETE", "/api/models/org/none/x.gguf", None, 404, "provider.model_not_found"),
        ("DELETE", "/api/models/builtin/all-MiniLM-L6-v2", None, 400, "argument.invalid"),
        ("GET", "/api/models/ollama/qwen3", None, 400, "argument.invalid"),
        ("GET", "/api/models/..%2F..%2Fetc%2Fx.gguf", None, 400, "argument.invalid"),
        ("POST", "/api/models/pull", {"model": "~/x.gguf"}, 400, "argument.invalid"),
        ("POST", "/api/models/pull", {}, 400, "argument.invalid"),
        ("GET", "/api/models/installed?task=speech", None, 400, "argument.invalid"),
        ("PUT", "/api/models/chat", {"model": "builtin/all-MiniLM-L6-v2"}, 400, "settings.invalid"),
        ("PUT", "/api/models/reranker", {"model": "ollama/x"}, 400, "settings.invalid"),
        ("PUT", "/api/models/speech", {"model": "x"}, 405, "server.no_method"),
    ],
)
def test_what_goes_wrong_is_a_typed_problem(
    api: Client, method: str, path: str, body: dict[str, Any] | None, status: int, code: str
) -> None:
    answer = api.request(method, path, json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["error"]["hint"]


def test_a_job_that_fails_says_why(api: Client, hub: FakeHub) -> None:
    hub.lie_about["tiny-Q4_K_M.gguf"] = b"else"
    record = fetched(api)[-1][1]
    assert record["state"] == "failed"
    assert record["error"]["code"] == "provider.checksum"


def test_what_a_token_allows(api: Client, bee: Lilbee) -> None:
    reads = {"Authorization": f"Bearer {bee.tokens.create('reads', read_only=True).secret}"}
    one = {"Authorization": f"Bearer {bee.tokens.create('one', collections=['notes']).secret}"}
    assert api.get("/api/models/installed", headers=reads).status_code == 200
    assert api.get("/api/models/installed", headers=one).status_code == 403
    for method, path, body in (
        ("POST", "/api/models/pull", {"model": REPO}),
        ("PUT", "/api/models/chat", {"model": "none"}),
        ("DELETE", f"/api/models/{REF}", None),
    ):
        assert api.request(method, path, json=body, headers=reads).status_code == 403
        assert api.request(method, path, json=body, headers={"Authorization": "Bearer x"}).status_code == 401
