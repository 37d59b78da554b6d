"""One question, asked in Python, on the command line, over HTTP, through OpenAI's interface and over MCP (R276)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from litestar import Litestar
from litestar.testing import TestClient
from mcp import Client

from lilbee_cli.main import run
from lilbee_core import Filter, Lilbee, LilbeeError
from lilbee_mcp.server import build_server
from lilbee_server.app import create_app

FILES = {
    "bees.md": "# Bees\n\n## Swarms\n\nThe queen leaves with the swarm in May.\n\n## Winter\n\nBees eat honey.\n",
    "boats.md": "# Boats\n\nThe ferry leaves at noon, and the swarm of boats at night.\n",
    "notes/honey.txt": "Honey keeps for years.\nA swarm in May is worth a load of hay.\n",
}
QUESTIONS = ("When does the queen leave with the swarm?", "What is a swarm in May worth?", "What do xylophones eat?")
CITED = ("marker", "path", "line_start", "line_end", "quote", "verdict")
Told = dict[str, Any]
Ask = Callable[[str, tuple[str, ...]], Told]


@pytest.fixture
def bee(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lilbee]:
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "none")
    root = tmp_path / "papers"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    with Lilbee(root) as library:
        library.sync()
        yield library


@pytest.fixture
def client(bee: Lilbee) -> Iterator[TestClient[Litestar]]:
    app = create_app(bee, token=None, hosts=("testserver.local",))
    with TestClient(app, base_url="http://testserver.local") as client:
        yield client


@pytest.fixture
def surfaces(bee: Lilbee, client: TestClient[Litestar], capsys: pytest.CaptureFixture[str]) -> dict[str, Ask]:
    """Each way to ask, by name."""

    def python(question: str, paths: tuple[str, ...]) -> Told:
        try:
            return bee.ask(question, filters=Filter(paths=paths)).to_dict()
        except LilbeeError as error:
            return {"error": error.to_dict()}

    def command_line(question: str, paths: tuple[str, ...]) -> Told:
        capsys.readouterr()
        flags = [part for path in paths for part in ("--path", path)]
        run(["ask", question, "--json", "--library", str(bee.root), *flags])
        told: Told = json.loads(capsys.readouterr().out)
        return told

    def http(question: str, paths: tuple[str, ...]) -> Told:
        told: Told = client.post("/api/ask", json={"question": question, "paths": paths}).json()
        return told

    def mcp(question: str, paths: tuple[str, ...]) -> Told:
        async def call() -> Any:
            async with Client(build_server(bee)) as inner:
                return await inner.call_tool("ask", {"question": question, "paths": list(paths)})

        answer = anyio.run(call)
        if answer.is_error:
            return {"error": {"code": answer.content[0].text.rpartition("tool ask: ")[2].partition(":")[0]}}
        told: Told = answer.structured_content
        return told

    return {"python": python, "command line": command_line, "http": http, "mcp": mcp}


def essence(told: Told) -> Told:
    citations = [{name: one.get(name) for name in CITED} for one in told["citations"]]
    return {"answer": told["answer"], "found": told["found"], "citations": citations}


@pytest.mark.slow
@pytest.mark.parametrize("paths", [(), ("notes/",)])
def test_the_same_question_has_the_same_answer(surfaces: dict[str, Ask], paths: tuple[str, ...]) -> None:
    cited = 0
    for question in QUESTIONS:
        expected = essence(surfaces["python"](question, paths))
        cited += len(expected["citations"])
        for name, ask in surfaces.items():
            assert essence(ask(question, paths)) == expected, (name, question)
    assert cited


@pytest.mark.slow
def test_clients_of_openai_get_that_answer_too(bee: Lilbee, client: TestClient[Litestar]) -> None:
    for question in QUESTIONS:
        body = {"model": "lilbee", "messages": [{"role": "user", "content": question}]}
        told = client.post("/v1/chat/completions", json=body).json()
        expected: Any = bee.ask(question).to_dict()
        assert told["choices"][0]["message"]["content"] == expected["answer"]
        assert told["lilbee"]["found"] == expected["found"]
        assert told["lilbee"]["citations"] == expected["citations"]


def test_the_same_error_has_the_same_code(surfaces: dict[str, Ask], client: TestClient[Litestar]) -> None:
    codes = {name: ask("  ", ())["error"]["code"] for name, ask in surfaces.items()}
    assert codes == dict.fromkeys(surfaces, "search.empty_query")
    # OpenAI's clients know codes of their own.
    body = {"model": "lilbee", "messages": [{"role": "user", "content": "  "}]}
    refused = client.post("/v1/chat/completions", json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_request")
