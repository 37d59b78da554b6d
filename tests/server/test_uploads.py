"""Files of other machines: kept, indexed, replaced, deleted, attached; and what is refused of them."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_server.app import create_app

Client = TestClient[Litestar]


def finished(library: Lilbee, job: dict[str, Any]) -> str:
    return library.jobs.require(job["id"]).wait(30).state.value


def files(library: Lilbee) -> list[str]:
    folder = library.data_dir / "uploads"
    return sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []


def test_a_file_is_kept_found_replaced_and_deleted(client: Client, library: Lilbee) -> None:
    for text in ("Wasps build of paper.", "Hornets build of paper."):
        answer = client.put("/api/uploads/Wespen über.md", content=text.encode())
        assert (answer.status_code, finished(library, answer.json())) == (202, "done")
        hit = client.get("/api/search", params={"query": text, "collection": "uploads"}).json()["hits"][0]
        assert (hit["path"], hit["text"]) == ("Wespen über.md", text)
    assert files(library) == ["Wespen über.md"]
    assert finished(library, client.delete("/api/uploads/Wespen über.md").json()) == "done"
    assert files(library) == []
    assert client.get("/api/documents", params={"collection": "uploads"}).json()["documents"] == []
    assert client.delete("/api/uploads/Wespen über.md").status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "%2e%2e",
        "..%2Fescape.md",
        "..%5Cescape.md",
        "%2Fetc%2Fpasswd",
        "a%00.md",
        ".hidden.md",
        "CON.md",
        "a%0A.md",
    ],
)
def test_no_name_leads_out_of_the_folder(client: Client, library: Lilbee, name: str) -> None:
    before = sorted(library.data_dir.rglob("*"))
    assert client.put(f"/api/uploads/{name}", content=b"text").status_code in (400, 404, 405)
    assert client.delete(f"/api/uploads/{name}").status_code in (400, 404, 405)
    assert [one for one in sorted(library.data_dir.rglob("*")) if one not in before and one.name != "audit.log"] == []


def test_what_is_refused_leaves_nothing_behind(library: Lilbee) -> None:
    settings = library.settings.changed({"upload_max_mb": 1})
    assert library.root is not None
    with Lilbee(library.root, settings, embedder=HashEmbedder()) as bee:
        app = create_app(bee, token=None, hosts=("testserver.local",))
        with TestClient(app, base_url="http://testserver.local") as client:
            for name, content, status, code in (
                ("big.md", b"x" * 1_000_001, 413, "server.too_large"),
                ("empty.md", b"", 400, "argument.invalid"),
                ("tool.exe", b"MZ\x90\x00\x03\x00\x00\x00", 415, "extract.unsupported"),
            ):
                answer = client.put(f"/api/uploads/{name}", content=content)
                assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
        assert files(bee) == []
        assert list(bee.data_dir.glob(".upload-*")) == []


# ---------------------------------------------------------------------- attachments


def attached(client: Client, *attachments: dict[str, Any]) -> Any:
    return client.post("/api/chat", json={"message": "What is this?", "attachments": attachments})


def test_files_and_documents_are_handed_over_with_a_message(client: Client) -> None:
    content = base64.b64encode(b"Ants carry leaves.\n").decode()
    answer = attached(client, {"name": "ants.md", "content": content}, {"document": "bees.md"})
    assert answer.status_code == 200
    asked = client.get(f"/api/conversations/{answer.json()['conversation']}").json()["turns"][0]
    assert [(one["name"], one["source"]) for one in asked["attachments"]] == [
        ("ants.md", "ants.md"),
        ("bees.md", "notes/bees.md"),
    ]
    assert all(one["chars"] > 10 for one in asked["attachments"])


def test_no_attachment_opens_a_path_of_this_machine(client: Client, library: Lilbee) -> None:
    assert library.root is not None
    secret = library.root.parent / "secret.md"
    secret.write_text("the secret", encoding="utf-8")
    content = base64.b64encode(b"x").decode()
    for given, status in (
        ({"document": str(secret)}, 404),
        ({"document": "../secret.md"}, 404),
        ({"name": "../secret.md", "content": content}, 400),
        ({"name": str(secret), "content": content}, 400),
        ({"name": "a.md", "content": "%"}, 400),
        ({"name": "a.md"}, 400),
        ({}, 400),
        ({"document": "bees.md", "name": "a.md", "content": content}, 400),
    ):
        answer = attached(client, given)
        assert answer.status_code == status, given
        assert "the secret" not in answer.text
