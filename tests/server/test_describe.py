"""What the server says of its routes: typed answers, typed problems, a page that loads nothing (R257)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core.jobs import JobState
from lilbee_core.types import Hit, SearchResult
from lilbee_server.describe._shapes import Shapes

Client = TestClient[Litestar]


@pytest.fixture
def document(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/schema/openapi.json").json()
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield f"{method} {path}", operation


def test_every_answer_says_what_it_is_made_of(document: dict[str, Any]) -> None:
    seen = 0
    for name, operation in operations(document):
        for status, answer in operation["responses"].items():
            for media_type, content in answer["content"].items():
                schema = content["schema"]
                known = {"$ref", "properties", "allOf"} & set(schema) or media_type != "application/json"
                assert known or name.endswith("/export"), (name, status, schema)
                seen += 1
    assert seen > 300


def test_every_route_has_a_name_a_summary_and_typed_problems(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, operation in operations(document)]
    assert len(names) == len(set(names)) > 40
    for name, operation in operations(document):
        assert operation["summary"].endswith("."), name
        assert "Wrap a given callable" not in operation["summary"], name
        problem = operation["responses"]["default"]["content"]["application/json"]["schema"]["$ref"]
        assert problem.endswith("OpenAIProblem" if " /v1/" in name else "/Problem"), name
        assert {"400", "401", "403", "404", "429"} <= set(operation["responses"])
    assert document["paths"]["/api/health"]["get"]["security"] == []
    assert document["security"] == [{"token": []}]


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    def references(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            yield from [value["$ref"]] if "$ref" in value else []
            value = list(value.values())
        if isinstance(value, list):
            for one in value:
                yield from references(one)

    there = document["components"]["schemas"]
    assert {one.removeprefix("#/components/schemas/") for one in references(document)} <= set(there)


def test_answers_are_described_by_what_the_values_themselves_say(document: dict[str, Any], client: Client) -> None:
    hit = document["components"]["schemas"]["Hit"]
    told = client.get("/api/search", params={"query": "queen eggs"}).json()["hits"][0]
    assert set(hit["required"]) == set(hit["properties"]) == set(told)
    assert hit["properties"]["line_start"] == {"type": ["integer", "null"]}
    assert hit["properties"]["scores"] == {"type": "object", "additionalProperties": {"type": "number"}}
    assert hit["properties"]["also_at"]["items"] == {"$ref": "#/components/schemas/Place"}
    found = document["components"]["schemas"]["SearchResult"]
    assert "trace" in found["properties"]
    assert "trace" not in found["required"]
    assert document["components"]["schemas"]["JobRecord"]["properties"]["state"]["enum"] == [*map(str, JobState)]


@dataclass
class Nested:
    """A value that the reader has not seen before."""

    hits: tuple[Hit, ...] | None
    counts: dict[str, int]

    def to_dict(self) -> dict[str, object]:
        told: dict[str, object] = {"one": 1, "half": self.counts["x"] / 2, "odd": self.odd() and 1}
        if self.hits:
            told["hits"] = [hit.to_dict() for hit in self.hits]
        return told

    def odd(self) -> object:
        return self.counts


def test_what_is_not_understood_may_be_anything() -> None:
    shapes = Shapes()
    shapes.of(Nested)
    read = shapes.components["Nested"]
    assert read["properties"]["one"] == {"type": "integer"}
    assert read["properties"]["half"] == {"type": "number"}
    assert read["properties"]["odd"] == {}
    assert read["properties"]["hits"] == {"type": "array", "items": {"$ref": "#/components/schemas/Hit"}}
    assert read["required"] == ["one", "half", "odd"]


@pytest.mark.parametrize(
    ("form", "schema"),
    [
        (int | None, {"type": ["integer", "null"]}),
        ([str], {"type": "array", "items": {"type": "string"}}),
        (SearchResult | None, {"anyOf": [{"$ref": "#/components/schemas/SearchResult"}, {"type": "null"}]}),
        ("lilbee_core.types:Usage", {"$ref": "#/components/schemas/Usage"}),
        (
            {"a": int, "b?": str},
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
                "required": ["a"],
            },
        ),
    ],
)
def test_forms(form: Any, schema: dict[str, Any]) -> None:
    assert Shapes().of(form) == schema


@pytest.mark.parametrize("path", ["/schema/redoc", "/schema"])
def test_the_page_loads_nothing_and_runs_nothing(client: Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert "POST /api/conversations/{ref}/send" in answer.text
    assert not re.search(r"<(script|link|img|iframe|form)|\son\w+=|https?://|url\(|@import", answer.text)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy


def test_pages_that_load_from_elsewhere_are_not_served(client: Client) -> None:
    for name in ("swagger", "elements", "rapidoc", "scalar"):
        assert client.get(f"/schema/{name}").status_code == 404


def test_no_parameter_of_an_address_is_null(document: dict[str, Any]) -> None:
    told = [(name, one) for name, operation in operations(document) for one in operation.get("parameters", ())]
    assert len(told) > 50
    assert not [name for name, one in told if "null" in str(one["schema"])]
    (collection,) = [one for name, one in told if name == "get /api/explain" and one["name"] == "collection"]
    assert (collection["required"], collection["schema"]["type"]) == (False, "array")
