"""Settings over HTTP: shown masked, changed where that runs and leaks nothing (R254, R277)."""

from __future__ import annotations

from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.settings import GATED, Settings
from lilbee_core.testing import HashEmbedder
from lilbee_server.app import create_app

Client = TestClient[Litestar]


def settings(client: Client) -> dict[str, dict[str, Any]]:
    told: dict[str, dict[str, Any]] = client.get("/api/config").json()["settings"]
    return told


def change(client: Client, **values: Any) -> Any:
    return client.patch("/api/config", json={"settings": values})


def test_every_setting_is_told_with_its_origin(client: Client, library: Lilbee) -> None:
    told = settings(client)
    assert list(told) == list(library.settings.names())
    assert told["top_k"] == {"value": library.settings.search.top_k, "origin": "default", "changeable": True}
    assert client.get("/api/config/defaults").json() == {"defaults": Settings().to_dict()}
    assert {name for name, one in told.items() if not one["changeable"]} == set(GATED)


def test_secrets_are_never_told(library: Lilbee) -> None:
    assert library.root is not None
    overrides: dict[str, object] = {"openai_api_key": "sk-do-not-tell"}
    with Lilbee(library.root, embedder=HashEmbedder(), overrides=overrides) as bee:
        app = create_app(bee, token=None, hosts=("testserver.local",))
        with TestClient(app, base_url="http://testserver.local") as client:
            answer = client.get("/api/config")
    assert answer.json()["settings"]["openai_api_key"]["origin"] == "argument"
    assert "do-not-tell" not in answer.text


def test_a_change_holds_at_once_and_can_be_taken_back(client: Client, library: Lilbee) -> None:
    answer = change(client, top_k=3, mmr_lambda="0.7")
    assert answer.json() == {
        "settings": {
            "top_k": {"value": 3, "origin": "library", "changeable": True},
            "mmr_lambda": {"value": 0.7, "origin": "library", "changeable": True},
        }
    }
    assert library.settings.search.top_k == 3
    assert "top_k" in library.config.file.read_text(encoding="utf-8")
    assert change(client, top_k=None).json()["settings"]["top_k"]["origin"] == "default"


@pytest.mark.parametrize(
    ("values", "status", "code"),
    [
        ({"top_k": 3, "tpo_k": 1}, 400, "settings.unknown"),
        ({"top_k": 3, "mmr_lambda": 7}, 400, "settings.invalid"),
        ({"top_k": 3, "mmr_lambda": {"a": 1}}, 400, "settings.invalid"),
        ({"top_k": 3, "openai_base_url": "http://10.0.0.1"}, 403, "server.forbidden"),
        ({"top_k": 3, "llama_server_path": "/bin/sh"}, 403, "server.forbidden"),
        ({"top_k": 3, "requests_per_minute": 0}, 403, "server.forbidden"),
        ({}, 400, "argument.invalid"),
    ],
)
def test_all_changes_hold_or_none(client: Client, values: dict[str, Any], status: int, code: str) -> None:
    before = settings(client)
    answer = change(client, **values)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert settings(client) == before
