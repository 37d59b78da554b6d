"""Tokens over HTTP: who reads, who changes, who sees what; what is written down of it (R261, R263, R265)."""

from __future__ import annotations

import hmac
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_server import audit
from lilbee_server.app import create_app
from lilbee_server.guard import OPEN_PATHS
from tests.server.conftest import TOKEN

Client = TestClient[Litestar]
SECRET = "The vault opens with the word marzipan."
READ_ONLY, OPEN_ONLY = "reader", "guest"


@pytest.fixture
def bee(tmp_path: Path) -> Iterator[Lilbee]:
    for name, text in (("open", "The queen lays eggs in spring."), ("closed", SECRET)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.md").write_text(f"# Page\n\n{text}\n", encoding="utf-8")
    (tmp_path / "closed" / "vault.md").write_text(f"# Vault\n\n{SECRET}\n", encoding="utf-8")
    (tmp_path / "lib").mkdir()
    with Lilbee(tmp_path / "lib", embedder=HashEmbedder()) as library:
        library.add(tmp_path / "open", tmp_path / "closed")
        yield library


@pytest.fixture
def owner(bee: Lilbee) -> Iterator[Client]:
    with TestClient(
        create_app(bee, token=TOKEN, hosts=("testserver.local",)), base_url="http://testserver.local"
    ) as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        yield client


def use(client: Client, secret: str) -> Client:
    client.headers["Authorization"] = f"Bearer {secret}"
    return client


@pytest.fixture
def guest(bee: Lilbee, owner: Client) -> Client:
    """Sees the collection `open` alone."""
    return use(owner, bee.tokens.create(OPEN_ONLY, collections=["open"]).secret)


def addresses(client: Client) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield method, path and options of every route."""
    for route in client.app.routes:
        for handler in getattr(route, "route_handlers", ()):
            path = "/".join("1" if part.startswith("{") else part for part in route.path_format.split("/"))
            for method in sorted(handler.http_methods - {"OPTIONS"}):
                yield method, path, handler.opt


def test_no_route_is_open_but_health(owner: Client) -> None:
    del owner.headers["Authorization"]
    seen = 0
    for method, path, _ in addresses(owner):
        answer = owner.request(method, path)
        assert answer.status_code == (200 if path in OPEN_PATHS else 401), (method, path)
        seen += 1
    assert seen > 40


def test_a_token_that_only_reads_changes_nothing(bee: Lilbee, owner: Client) -> None:
    reader = use(owner, bee.tokens.create(READ_ONLY, read_only=True).secret)
    refused = 0
    for method, path, options in addresses(reader):
        if method not in ("GET", "HEAD") and not options.get("reads"):
            answer = reader.request(method, path)
            assert answer.status_code == 403, (method, path)
            assert "only reads" in answer.json()["error"]["message"]
            refused += 1
    assert refused > 15
    assert reader.get("/api/search", params={"query": "queen"}).json()["hits"]
    assert reader.post("/api/ask", json={"question": "When does the queen lay eggs?"}).status_code == 200


def test_routes_that_read_change_nothing_in_fact(owner: Client) -> None:
    reading = {(method, path) for method, path, options in addresses(owner) if options.get("reads")}
    assert reading == {
        ("POST", "/api/ask"),
        ("POST", "/api/ask/stream"),
        ("POST", "/api/placement/preview"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/rerank"),
    }


def test_a_token_of_a_collection_gets_into_no_other_route(guest: Client) -> None:
    refused = 0
    for method, path, options in addresses(guest):
        if path not in OPEN_PATHS and not options.get("scoped"):
            assert guest.request(method, path).status_code == 403, (method, path)
            refused += 1
    assert refused > 25
    assert guest.get("/schema/openapi.json").status_code == 403


def test_what_may_be_seen_is_seen(guest: Client) -> None:
    assert guest.get("/api/search", params={"query": "queen eggs"}).json()["hits"][0]["collection"] == "open"
    assert [one["path"] for one in guest.get("/api/documents").json()["documents"]] == ["page.md"]
    assert [one["name"] for one in guest.get("/api/collections").json()["collections"]] == ["open"]
    # Both collections have a `page.md`: for this token the bare path is unique.
    for ref in ("page.md", "open/page.md"):
        assert "queen" in guest.get("/api/source", params={"document": ref}).json()["text"]
        told = guest.get("/api/explain", params={"document": ref, "query": "queen eggs"}).json()
        assert told["collection"] == "open"
    job = guest.post("/api/sync", json={})
    assert job.status_code == 202
    assert job.json()["options"]["collections"] == ["open"]
    assert [one["id"] for one in guest.get("/api/jobs").json()["jobs"]] == [job.json()["id"]]


def test_nothing_of_the_rest_is_seen(bee: Lilbee, owner: Client) -> None:
    vault = next(row for row in bee.documents(collection="closed") if row.path == "vault.md")
    everything = owner.post("/api/sync", json={}).json()["id"]
    others = owner.post("/api/sync", json={"collections": ["closed"]}).json()["id"]
    guest = use(owner, bee.tokens.create(OPEN_ONLY, collections=["open"]).secret)
    question = "vault marzipan"
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/api/search", {"params": {"query": question, "explain": "true"}}),
        ("GET", "/api/search", {"params": {"query": f"collection:closed {question}", "explain": "true"}}),
        ("GET", "/api/search", {"params": {"query": question, "collection": ["closed"]}}),
        ("GET", "/api/search", {"params": {"query": question, "collection": ["open", "closed"]}}),
        ("GET", "/api/search", {"params": {"query": f"{question} type:xyz"}}),
        ("POST", "/api/ask", {"json": {"question": question}}),
        ("POST", "/api/ask", {"json": {"question": question, "collections": ["closed"]}}),
        ("POST", "/api/ask/stream", {"json": {"question": f"collection:closed {question}"}}),
        ("GET", "/api/documents", {}),
        ("GET", "/api/documents", {"params": {"collection": "closed"}}),
        ("POST", "/api/sync", {"json": {"collections": ["closed"]}}),
        ("POST", "/v1/chat/completions", {"json": _chat("lilbee", question)}),
        ("POST", "/v1/chat/completions", {"json": _chat("lilbee:closed", question)}),
        ("GET", "/v1/models", {}),
        ("GET", "/api/jobs", {}),
        ("GET", f"/api/jobs/{everything}", {}),
        ("GET", f"/api/jobs/{others}/events", {}),
        ("DELETE", f"/api/jobs/{others}", {}),
    ]
    for ref in (vault.id, "vault.md", "closed/vault.md", "closed/page.md", "closed/none.md"):
        asked.append(("GET", "/api/source", {"params": {"document": ref}}))
        asked.append(("GET", "/api/explain", {"params": {"document": ref, "query": question}}))
        asked.append(("POST", "/api/documents/remove", {"json": {"documents": [ref]}}))
    for method, path, given in asked:
        text = guest.request(method, path, **given).text
        # What the request itself said may come back; nothing else may.
        said = json.dumps(given)
        for word in ("vault opens", "marzipan.", "vault.md", vault.id, "closed", everything, others):
            assert word not in text or word in said or word in path, (method, path, given, word)
    assert [row.state.value for row in bee.documents(collection="closed")] == ["indexed", "indexed"]


def test_warnings_about_the_library_are_not_for_guests(bee: Lilbee, owner: Client) -> None:
    def warned() -> list[str]:
        asked = owner.post("/api/ask", json={"question": "queen eggs"}).json()
        talked = owner.post("/v1/chat/completions", json=_chat("lilbee", "queen eggs")).json()["lilbee"]
        assert talked["warnings"] == asked["warnings"]
        assert talked["citations"]
        return list(talked["warnings"])

    assert warned()
    use(owner, bee.tokens.create(OPEN_ONLY, collections=["open"]).secret)
    assert warned() == []


def test_what_is_not_there_and_what_is_not_seen_are_told_alike(guest: Client) -> None:
    for there, not_there in (("closed/vault.md", "closed/vaults.md"), ("vault.md", "vaults.md")):
        answers = [guest.get("/api/source", params={"document": ref}) for ref in (there, not_there)]
        assert [one.status_code for one in answers] == [404, 404]
        assert answers[0].text.replace(there, "") == answers[1].text.replace(not_there, "")
    answers = [guest.get("/api/search", params={"query": "x", "collection": [name]}) for name in ("closed", "cloned")]
    assert answers[0].text.replace("closed", "") == answers[1].text.replace("cloned", "")


def test_a_token_counts_no_longer_once_it_is_revoked(bee: Lilbee, guest: Client) -> None:
    assert guest.get("/api/collections").status_code == 200
    bee.tokens.revoke(OPEN_ONLY)
    assert guest.get("/api/collections").status_code == 401


@pytest.mark.parametrize("given", ["lb_", "lb_00000000_x", "lb_" + "x" * 600, "lb_\xff\xfe_x"])
def test_what_looks_like_a_token_is_none(owner: Client, given: str) -> None:
    answer = owner.get("/api/status", headers=[(b"Authorization", b"Bearer " + given.encode("latin-1"))])
    assert answer.status_code == 401


def test_tokens_are_compared_in_constant_time(owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[object, object]] = []
    real = hmac.compare_digest

    def noted(one: Any, other: Any) -> bool:
        compared.append((one, other))
        return real(one, other)

    monkeypatch.setattr(hmac, "compare_digest", noted)
    use(owner, "lb_00000000_wrong").get("/api/status")
    assert (b"lb_00000000_wrong", TOKEN.encode()) in compared
    assert any(isinstance(one, str) and len(one) == 64 for one, _ in compared)


# ---------------------------------------------------------------------- what is written down, and sent along


def test_changes_are_written_down(bee: Lilbee, owner: Client) -> None:
    owner.get("/api/search", params={"query": "queen"})
    owner.post("/api/ask", json={"question": "queen"})
    owner.post("/api/sync", json={"collections": ["open"]})
    reader = use(owner, bee.tokens.create(READ_ONLY, read_only=True).secret)
    reader.post("/api/documents/remove", json={"documents": ["page.md"]})
    use(reader, "wrong").post("/api/sync", json={})
    file = bee.data_dir / "audit.log"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [(one["who"], one["method"], one["path"], one["status"]) for one in lines] == [
        ("owner", "POST", "/api/sync", 202),
        (READ_ONLY, "POST", "/api/documents/remove", 403),
    ]
    assert "page.md" not in file.read_text(encoding="utf-8")
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_log_of_changes_does_not_grow_for_ever(bee: Lilbee, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MOST_BYTES", 200)
    log = audit.Audit(bee.data_dir)
    for number in range(20):
        log.write(who="x", method="POST", path=f"/{number}", status=200)
    files = sorted(bee.data_dir.glob("audit.log*"))
    assert [file.name for file in files] == ["audit.log", "audit.log.1"]
    assert all(file.stat().st_size < 400 for file in files)
    assert '"/19"' in files[0].read_text(encoding="utf-8")


def test_a_log_that_cannot_be_written_stops_nothing(bee: Lilbee, owner: Client) -> None:
    (bee.data_dir / "audit.log").mkdir()
    assert owner.post("/api/sync", json={}).status_code == 202


@pytest.mark.parametrize(
    "path", ["/api/health", "/api/status", "/api/nothing", "/api/source?document=x", "/v1/models/x"]
)
def test_answers_are_not_to_be_run_framed_guessed_at_or_kept(owner: Client, path: str) -> None:
    headers = owner.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cache-control"] == "no-store"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"


def _chat(model: str, question: str) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": question}]}
