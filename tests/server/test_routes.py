"""The routes over an in-process client."""

from __future__ import annotations

from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee

Client = TestClient[Litestar]


def without_scores(hit: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in hit.items() if name not in {"score", "scores"}}


def test_search_says_what_the_library_says(client: Client, library: Lilbee) -> None:
    answer = client.get("/api/search", params={"query": "queen eggs", "top_k": 2})
    expected: Any = library.search("queen eggs", top_k=2).to_dict()
    got: dict[str, Any] = answer.json()
    assert answer.status_code == 200
    assert [without_scores(hit) for hit in got["hits"]] == [without_scores(hit) for hit in expected["hits"]]
    # The first search of a process reads vectors from disk, later ones from memory: equal up to rounding.
    assert [hit["score"] for hit in got["hits"]] == pytest.approx([hit["score"] for hit in expected["hits"]], abs=1e-5)
    assert got["found"] is True
    assert "trace" not in got


def test_search_can_be_narrowed_and_explained(client: Client) -> None:
    answer = client.get("/api/search", params={"query": "the", "path": ["boats.md"], "explain": "true"}).json()
    assert {hit["path"] for hit in answer["hits"]} == {"boats.md"}
    assert answer["trace"][0]["name"] == "parse"


def test_status_is_that_of_the_library(client: Client, library: Lilbee) -> None:
    assert client.get("/api/status").json()["documents"] == library.status().to_dict()["documents"]


def test_health_needs_no_token(client: Client) -> None:
    del client.headers["Authorization"]
    assert client.get("/api/health").json()["status"] == "ok"


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer wrong", "Basic s3cret-token", "Bearer s3cret-token2"])
@pytest.mark.parametrize("path", ["/api/search?query=queen", "/api/status", "/schema/openapi.json"])
def test_everything_else_needs_the_token(client: Client, header: str, path: str) -> None:
    client.headers["Authorization"] = header
    answer = client.get(path)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "server.unauthorized"
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:7421"},
        {"Host": ""},
        {"Host": "["},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
)
def test_other_sites_are_refused_even_with_the_token(client: Client, headers: dict[str, str]) -> None:
    answer = client.get("/api/search", params={"query": "queen"}, headers=headers)
    assert answer.status_code == 403
    assert answer.json()["error"]["code"].startswith("server.forbidden")
    assert "access-control-allow-origin" not in answer.headers


def test_an_origin_of_our_own_is_let_in(client: Client) -> None:
    headers = {"Origin": "http://testserver.local:7421"}
    assert client.get("/api/status", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("params", "code"),
    [({"query": "  "}, "search.empty_query"), ({"query": "queen", "profile": "deflaut"}, "argument.invalid")],
)
def test_errors_carry_the_code_of_the_core(client: Client, params: dict[str, str], code: str) -> None:
    answer = client.get("/api/search", params=params)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("params", [{}, {"query": "x", "top_k": "0"}, {"query": "x", "top_k": "many"}])
def test_bad_parameters_are_named(client: Client, params: dict[str, str]) -> None:
    answer = client.get("/api/search", params=params)
    assert answer.status_code == 400
    assert "Traceback" not in answer.text
