"""One library, asked in Python, on the command line, over HTTP and over MCP, says the same (R276)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from litestar.testing import TestClient
from mcp import Client

from lilbee_cli.main import run
from lilbee_core import Lilbee, LilbeeError
from lilbee_mcp.server import build_server
from lilbee_server.app import create_app
from lilbee_server.memory.app import create_memory_app
from lilbee_server.memory.config import load_config
from lilbee_server.memory.server import Indexing, MemoryServer
from tests.support.openai_fake import FakeOpenAI

FILES = {
    "bees.md": "# Bees\n\n## Swarms\n\nThe queen leaves with the swarm in May.\n\n## Winter\n\nBees eat honey.\n",
    "boats.md": "# Boats\n\nThe ferry leaves at noon, and the swarm of boats at night.\n",
    "code/hive.py": 'def weigh(hive):\n    """Weigh a hive with its honey."""\n    return hive.scale.read()\n',
    "notes/honey.txt": "Honey keeps for years.\nA swarm in May is worth a load of hay.\n",
    "notes/twin.txt": "Honey keeps for years.\nA swarm in May is worth a load of hay.\n",
}
QUERIES = (
    "swarm in May",
    "when does the queen leave?",
    "honey path:notes/",
    "term: weigh hive",
    "vec: bees in winter",
    '"load of hay"',
    "the",
    "xylophone",
)
TOP_K = 4
PLACE = ("path", "collection", "line_start", "line_end", "page_start", "page_end", "heading", "symbol", "text")


@dataclass(frozen=True, slots=True)
class Told:
    """What a surface answered: hits, or the code of an error."""

    hits: list[dict[str, Any]]
    found: bool | None = None
    code: str | None = None

    @property
    def places(self) -> list[dict[str, Any]]:
        """The hits without what is left out or rounded somewhere."""
        return [{name: hit.get(name) for name in PLACE} for hit in self.hits]

    @property
    def scores(self) -> list[float]:
        return [hit["score"] for hit in self.hits]


Ask = Callable[..., Told]


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(models=("words", "other")) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LILBEE_OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "openai/words")
    monkeypatch.setenv("LILBEE_REQUEST_RETRIES", "0")
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    root = tmp_path / "papers"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    with Lilbee(root) as bee:
        assert bee.sync().embedded > 0
    return root


@pytest.fixture
def bee(folder: Path) -> Iterator[Lilbee]:
    with Lilbee(folder) as library:
        yield library


@pytest.fixture
def surfaces(folder: Path, bee: Lilbee, capsys: pytest.CaptureFixture[str]) -> dict[str, Ask]:
    """Each way to ask, by name."""

    def python(query: str, **more: Any) -> Told:
        try:
            result = bee.search(query, **{"top_k": TOP_K, **more})
        except LilbeeError as error:
            return Told([], code=error.code)
        value: Any = result.to_dict()
        return Told(value["hits"], value["found"])

    def command_line(query: str, **more: Any) -> Told:
        options = {"top": TOP_K, **{{"top_k": "top"}.get(name, name): value for name, value in more.items()}}
        flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        capsys.readouterr()
        run(["search", query, "--json", "--library", str(folder), *flags])
        value = json.loads(capsys.readouterr().out)
        return Told(value.get("hits", []), value.get("found"), value.get("error", {}).get("code"))

    def http(query: str, **more: Any) -> Told:
        app = create_app(bee, token=None, hosts=("testserver.local",))
        with TestClient(app, base_url="http://testserver.local") as client:
            value = client.get("/api/search", params={"query": query, "top_k": TOP_K, **more}).json()
        return Told(value.get("hits", []), value.get("found"), value.get("error", {}).get("code"))

    def mcp(query: str, **more: Any) -> Told:
        async def call() -> Any:
            async with Client(build_server(bee)) as client:
                return await client.call_tool("search", {"query": query, "top_k": TOP_K, **more})

        answer = anyio.run(call)
        if answer.is_error:
            return Told([], code=answer.content[0].text.rpartition("tool search: ")[2].partition(":")[0])
        return Told(answer.structured_content["hits"], answer.structured_content["found"])

    return {"python": python, "command line": command_line, "http": http, "mcp": mcp}


@pytest.mark.slow
def test_the_same_query_gives_the_same_hits_in_the_same_order(surfaces: dict[str, Ask]) -> None:
    seen = 0
    for query in QUERIES:
        expected = surfaces["python"](query)
        seen += len(expected.hits)
        for name, ask in surfaces.items():
            told = ask(query)
            assert told.places == expected.places, (name, query)
            assert told.found == expected.found, (name, query)
            # MCP rounds, and the first search of a process reads vectors in half precision from disk.
            assert told.scores == pytest.approx(expected.scores, abs=2e-3), (name, query)
    assert seen > len(QUERIES)


@pytest.mark.parametrize(
    ("query", "more", "code"),
    [
        ("  ", {}, "search.empty_query"),
        ("path:notes/", {}, "search.empty_query"),
        ("swarm", {"top_k": 0}, "argument.invalid"),
        ("swarm", {"top_k": -3}, "argument.invalid"),
    ],
)
def test_the_same_error_has_the_same_code(
    surfaces: dict[str, Ask], query: str, more: dict[str, Any], code: str
) -> None:
    assert {name: ask(query, **more).code for name, ask in surfaces.items()} == dict.fromkeys(surfaces, code)


@pytest.mark.parametrize(
    ("document", "query", "verdict"),
    [
        ("bees.md", "queen swarm", "found"),
        ("notes/twin.txt", "load of hay", "folded"),
        ("code/hive.py", "swarm in May", "dropped"),
        ("bees.md", "honey path:notes/", "filtered"),
        ("nowhere.md", "honey", "not_indexed"),
    ],
)
def test_why_a_document_is_not_here_is_told_alike(
    folder: Path, bee: Lilbee, capsys: pytest.CaptureFixture[str], document: str, query: str, verdict: str
) -> None:
    bee.search(query)  # reads the vectors once; before that the store gives them in half precision
    expected: Any = bee.explain_document(document, query, top_k=1 if verdict == "dropped" else 3).to_dict()
    assert expected["verdict"] == verdict
    top_k = 1 if verdict == "dropped" else 3
    app = create_app(bee, token=None, hosts=("testserver.local",))
    with TestClient(app, base_url="http://testserver.local") as client:
        served = client.get("/api/explain", params={"document": document, "query": query, "top_k": top_k}).json()

    async def call() -> Any:
        async with Client(build_server(bee)) as client:
            arguments = {"query": query, "top_k": top_k, "explain": document}
            return (await client.call_tool("search", arguments)).structured_content

    told = anyio.run(call)
    capsys.readouterr()
    run(["explain", "--document", document, query, "--top", str(top_k), "--json", "--library", str(folder)])
    printed = json.loads(capsys.readouterr().out)
    assert served == told["explained"] == expected
    assert [hit["path"] for hit in told["hits"]] == [hit.path for hit in bee.search(query, top_k=top_k)]
    exact = ("path", "collection", "document_id", "query", "profile", "verdict", "rank", "stage", "hint", "warnings")
    assert {name: printed[name] for name in exact} == {name: expected[name] for name in exact}


@pytest.mark.slow
def test_the_memory_server_gives_the_hits_of_its_profile_and_the_same_codes(
    surfaces: dict[str, Ask], folder: Path, bee: Lilbee, tmp_path: Path
) -> None:
    file = tmp_path / "memory.json"
    file.write_text(json.dumps({"collections": [{"name": folder.name, "path": str(folder)}]}), encoding="utf-8")
    app = create_memory_app(MemoryServer(bee, load_config(file, {}), Indexing()), hosts=("testserver.local",))
    with TestClient(app, base_url="http://testserver.local") as client:

        def ask(query: str, most: int = TOP_K) -> dict[str, Any]:
            value: dict[str, Any] = client.post("/search", json={"query": query, "maxResults": most}).json()
            return value

        for query in QUERIES:
            told = [
                (Path(one["path"]).relative_to(folder).as_posix(), one["source"], one["startLine"], one["endLine"])
                for one in ask(query)["results"]
            ]
            for name in ("python", "command line", "http"):
                hits = surfaces[name](query, profile="memory").hits
                places = [(hit["path"], hit["collection"], hit["line_start"], hit["line_end"]) for hit in hits]
                assert told == places, (name, query)
        assert ask("  ")["error"]["code"] == "search.empty_query"
        assert ask("path:notes/")["error"]["code"] == "search.empty_query"
        assert ask("swarm", 0)["error"]["code"] == "argument.invalid"


def test_an_unknown_profile_has_the_same_code_wherever_one_can_be_named(surfaces: dict[str, Ask]) -> None:
    codes = {name: ask("swarm", profile="deflaut").code for name, ask in surfaces.items() if name != "mcp"}
    assert codes == dict.fromkeys(codes, "argument.invalid")


def test_another_embedder_is_refused_alike(
    folder: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "openai/other")
    surfaces: dict[str, Ask] = request.getfixturevalue("surfaces")
    codes = {name: ask("swarm").code for name, ask in surfaces.items()}
    assert codes == dict.fromkeys(surfaces, "store.embedder_mismatch")
    assert {name: ask("term: swarm").code for name, ask in surfaces.items()} == dict.fromkeys(surfaces)


@pytest.mark.slow
def test_the_state_of_the_library_is_told_alike(folder: Path, bee: Lilbee, capsys: pytest.CaptureFixture[str]) -> None:
    expected: Any = bee.status().to_dict()
    capsys.readouterr()
    run(["status", "--json", "--library", str(folder)])
    printed = json.loads(capsys.readouterr().out)
    app = create_app(bee, token=None, hosts=("testserver.local",))
    with TestClient(app, base_url="http://testserver.local") as client:
        served = client.get("/api/status").json()

    async def call() -> Any:
        async with Client(build_server(bee)) as client:
            return (await client.call_tool("status", {})).structured_content

    told = anyio.run(call)
    assert printed == served == expected
    assert {name: told[name] for name in ("documents", "chunks", "embedder", "last_sync")} == {
        name: expected[name] for name in ("documents", "chunks", "embedder", "last_sync")
    }
