"""The routes over an in-process client (R206, R250, R255, R257, R261, R264)."""

from __future__ import annotations

from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_server.app import create_app

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


def test_relevance_alone_can_be_asked_for(client: Client) -> None:
    params = {"query": "queen eggs", "explain": "true", "diversify": "false"}
    notes = {one["name"]: one["note"] for one in client.get("/api/search", params=params).json()["trace"]}
    assert notes["cap"] == "relevance alone"


def test_why_a_document_is_not_here(client: Client) -> None:
    params: dict[str, Any] = {"document": "boats.md", "query": "queen eggs", "path": ["bees.md"]}
    answer = client.get("/api/explain", params=params)
    assert answer.status_code == 200
    assert answer.json()["verdict"] == "filtered"
    assert client.get("/api/explain", params={"query": "queen"}).json()["error"]["code"] == "argument.invalid"
    empty = client.get("/api/explain", params={"document": "boats.md", "query": " "})
    assert (empty.status_code, empty.json()["error"]["code"]) == (400, "search.empty_query")


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
    error = answer.json()["error"]
    assert error["code"] == "argument.invalid"
    assert ("top_k" if params else "query") in error["message"]
    assert error["hint"]


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [("GET", "/api/nothing", 404, "server.no_route"), ("POST", "/api/search", 405, "server.no_method")],
)
def test_addresses_that_are_not_there_are_told_in_the_same_form(
    client: Client, method: str, path: str, status: int, code: str
) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code
    assert path in answer.json()["error"]["message"]


def test_a_bug_is_told_without_its_traceback(library: Lilbee, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Lilbee) -> None:
        raise TypeError("the bee is upside down")

    monkeypatch.setattr(Lilbee, "status", broken)
    app = create_app(library, token=None, hosts=("testserver.local",))
    with TestClient(app, base_url="http://testserver.local", raise_server_exceptions=False) as client:
        answer = client.get("/api/status")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "upside down" not in answer.text


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("/api/search?query=bees&top_k=abc", "top_k must be a whole number, got 'abc'"),
        ("/api/search?query=bees&top_k=nan", "top_k must be a whole number, got 'nan'"),
        ("/api/search?query=bees&top_k=0", "top_k must be a whole number of at least 1, got '0'"),
        ("/api/search?query=bees&diversify=maybe", "diversify must be true or false, got 'maybe'"),
        ("/api/search", "query is missing"),
        ("/api/explain?query=bees", "document is missing"),
    ],
)
def test_wrong_parameters_are_told_in_our_words(client: TestClient[Litestar], address: str, message: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert (error["code"], error["message"]) == ("argument.invalid", message)
    assert error["hint"]


@pytest.mark.parametrize(
    ("address", "message", "hint"),
    [
        ("/api/search?query=bees&topk=3", "there is no parameter 'topk'", "Did you mean top_k?"),
        ("/api/search?query=bees&q=x", "there is no parameter 'q'", "Parameters of this address: collection,"),
        ("/api/status?deep=1", "there is no parameter 'deep'", "Parameters of this address: none."),
        ("/api/search?query=bees&top_k=null", "top_k cannot be 'null'", "Leave it out where there is none."),
        ("/api/search?query=bees&explain=null", "explain cannot be 'null'", "Leave it out where there is none."),
    ],
)
def test_parameters_that_no_route_knows_are_refused(client: Client, address: str, message: str, hint: str) -> None:
    answer = client.get(address)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "argument.invalid")
    assert answer.json()["error"]["message"] == message
    assert answer.json()["error"]["hint"].startswith(hint)


def test_clients_of_openai_may_send_parameters_of_others(client: Client) -> None:
    assert client.get("/v1/models?api-version=2026-01-01").status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/api/ask", {"question": "x", "topk": 3}, "there is no field 'topk'"),
        ("/api/ask", {}, "question is missing"),
        ("/api/documents", {"documents": [{"path": "x"}]}, "documents[0].text is missing"),
        ("/api/documents", {"documents": [{"path": "x", "text": "y", "titel": "z"}]}, "there is no field 'titel'"),
        ("/api/sync", {"collections": "notes"}, "collections must be a list"),
    ],
)
def test_bodies_say_what_is_wrong_with_them(client: Client, path: str, body: dict[str, Any], message: str) -> None:
    answer = client.post(path, json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "argument.invalid")
    assert answer.json()["error"]["message"] == message


def test_an_index_of_another_embedder_is_a_conflict(library: Lilbee) -> None:
    with Lilbee(library.root, embedder=HashEmbedder(dimension=32)) as bee:
        app = create_app(bee, token=None, hosts=("testserver.local",))
        with TestClient(app, base_url="http://testserver.local") as client:
            answer = client.get("/api/search", params={"query": "queen eggs"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "store.embedder_mismatch")
    assert answer.json()["error"]["hint"]
