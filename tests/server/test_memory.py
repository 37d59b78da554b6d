"""The memory server: its addresses, its configuration, what it does without its models (R304-R310, R314-R321)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee, LilbeeError
from lilbee_server.main import main
from lilbee_server.memory.app import create_memory_app
from lilbee_server.memory.config import EMBEDDING_MODEL, PORT, load_config
from lilbee_server.memory.main import open_library
from lilbee_server.memory.server import Indexing, MemoryServer
from tests.support.openai_fake import FakeOpenAI

WAIT_S = 60.0
FILES_MORE = 400
FILES = {
    "MEMORY.md": "---\ntitle: Memory\n---\n# Memory\n\nGithub issues are read on Mondays.\n\nA long line "
    + "about the harbor and its ferries. " * 120
    + "\n\nThe last line speaks of lighthouses.\n",
    "memory/one.md": "# Day one\r\n\r\nThe ferry leaves at noon.\r\n\r\n- pack the lamp\r\n- feed the bees\r\n",
    "memory/deep/two.md": "# Day two\n\nBees swarm in May, and the queen leaves.\n",
    "sub/MEMORY.md": "# Not this one\n\nGithub issues lie elsewhere.\n",
    "other.md": "Github issues of another kind.\n",
}
CONFIG: dict[str, Any] = {
    "collections": [{"name": "memory", "path": "workspace", "pattern": ["MEMORY.md", "memory/**/*.md"]}]
}


@dataclass
class Running:
    """A memory server, its library, and a client of it."""

    client: TestClient[Litestar]
    server: MemoryServer
    folder: Path
    models: FakeOpenAI

    @property
    def bee(self) -> Lilbee:
        return self.server.library

    def search(self, query: str, **more: Any) -> dict[str, Any]:
        answer = self.client.post("/search", json={"query": query, **more})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def until(self, done: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + WAIT_S
        while not done():
            assert time.monotonic() < deadline, (what, self.client.get("/status").json())
            time.sleep(0.05)

    def indexed(self) -> bool:
        told = self.client.get("/status").json()
        return told["chunks"] > 0 and told["embedded"] == told["chunks"] and not told["indexing"]["active"]


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, folder in {"LILBEE_CONFIG_DIR": "config", "LILBEE_DATA_DIR": "data"}.items():
        monkeypatch.setenv(name, str(tmp_path / folder))
    for name in ("PORT", "LMSTUDIO_URL", "EMBEDDING_MODEL", "RERANKER_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LILBEE_REQUEST_RETRIES", "0")
    monkeypatch.setenv("LILBEE_WATCH_DEBOUNCE_S", "0.1")


@pytest.fixture
def models() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(models=("words",)) as running:
        yield running


def write(folder: Path, config: dict[str, Any] | str) -> Path:
    for name, text in FILES.items():
        file = folder / "workspace" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    file = folder / "config.json"
    file.write_text(config if isinstance(config, str) else json.dumps(config), encoding="utf-8")
    return file


@contextmanager
def running(folder: Path, lmstudio: FakeOpenAI, **more: Any) -> Iterator[Running]:
    named = {"baseUrl": lmstudio.url, "embeddingModel": "words"}
    file = write(folder, {**CONFIG, "lmstudio": named, **more}) if not (folder / "config.json").exists() else None
    config, indexing = load_config(file or folder / "config.json"), Indexing()
    with open_library(config, indexing) as bee:
        server = MemoryServer(bee, config, indexing)
        app = create_memory_app(server, hosts=("testserver.local",))
        with TestClient(app, base_url="http://testserver.local") as client:
            yield Running(client, server, folder / "workspace", lmstudio)


@pytest.fixture
def memory(tmp_path: Path, models: FakeOpenAI) -> Iterator[Running]:
    with running(tmp_path, models) as found:
        found.until(found.indexed, "indexing")
        yield found


# ------------------------------------------------------------------ the configuration (R305, R306)


def test_the_file_and_the_variables_say_what_is_served(tmp_path: Path) -> None:
    file = write(tmp_path, CONFIG)
    config = load_config(file, {})
    assert (config.port, config.token, config.embedding, config.reranker) == (PORT, None, "", "")
    assert [(one.name, one.path, one.include) for one in config.collections] == [
        ("memory", str(tmp_path / "workspace"), ("/MEMORY.md", "/memory/**/*.md"))
    ]
    settings = config.settings()
    assert settings.models.embedding_model == f"lmstudio/{EMBEDDING_MODEL}"
    assert settings.models.lm_studio_base_url == "http://localhost:1234/v1"
    assert settings.fleet.engine_idle_ttl_minutes == 0, "models stay loaded"
    env = {
        "PORT": "8123",
        "LMSTUDIO_URL": "http://127.0.0.1:9/v1",
        "EMBEDDING_MODEL": "other/name",
        "RERANKER_MODEL": "~/models/r.gguf",
    }
    config = load_config(file, env)
    assert (config.port, config.lm_studio_url, config.embedding) == (8123, "http://127.0.0.1:9/v1", "other/name")
    assert config.reranker == str(Path.home() / "models" / "r.gguf")
    assert config.settings().models.embedding_model == "lmstudio/other/name"
    whole = {**CONFIG, "port": 1, "token": "t", "lmstudio": {"embeddingModel": "builtin/all-MiniLM-L6-v2"}}
    config = load_config(write(tmp_path, {**whole, "models": {"reranker": "openai/r"}}), {"PORT": "2"})
    assert (config.port, config.token, config.missing_reranker) == (2, "t", None), "a variable counts more"
    assert config.settings().models.embedding_model == "builtin/all-MiniLM-L6-v2"
    assert config.settings().models.reranker_model == "openai/r"
    one = {"collections": [{"name": "all", "path": "~", "pattern": "./**/*.md"}, {"name": "b", "path": "/x"}]}
    found = load_config(write(tmp_path, one), {}).collections
    assert [(item.path, item.include) for item in found] == [(str(Path.home()), ("/**/*.md",)), ("/x", ())]


def test_what_the_user_set_holds_where_the_configuration_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "none")
    assert load_config(write(tmp_path, CONFIG), {}).settings().models.embedding_model == "none"
    named = {**CONFIG, "lmstudio": {"embeddingModel": "words"}}
    assert load_config(write(tmp_path, named), {}).settings().models.embedding_model == "lmstudio/words"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "holds no JSON object"),
        ("{}", "collections"),
        ({"collections": []}, "names no collection"),
        ({**CONFIG, "prot": 1}, "prot"),
        ({**CONFIG, "port": "many"}, "port"),
        ({**CONFIG, "port": 70000}, "70000"),
        ({**CONFIG, "lmstudio": 3}, "lmstudio"),
        ({**CONFIG, "lmstudio": {"url": "x"}}, "url"),
        ({"collections": [{"name": "a/b", "path": "."}]}, "a/b"),
        ({"collections": [{"name": "a"}]}, "path"),
        ({"collections": [{"name": "a", "path": ".", "pattern": ["../x"]}]}, "../x"),
        ({"collections": [{"name": "a", "path": "."}, {"name": "a", "path": "b"}]}, "one name"),
    ],
)
def test_what_is_not_allowed_is_said(tmp_path: Path, content: dict[str, Any] | str, told: str) -> None:
    with pytest.raises(LilbeeError) as raised:
        load_config(write(tmp_path, content), {"EMBEDDING_MODEL": "x"})
    assert told in raised.value.message
    assert raised.value.hint
    assert raised.value.code.startswith("settings.")


# ------------------------------------------------------------------ the addresses (R307-R310, R314)


@pytest.mark.slow
def test_a_search_gives_what_is_documented_and_nothing_else(memory: Running) -> None:
    found = memory.search("github issues", maxResults=5)
    assert set(found) == {"results", "query", "timings"}
    assert found["query"] == "github issues"
    assert set(found["timings"]) == {"totalMs", "bm25Ms", "vectorMs", "rerankMs"}
    total = found["timings"].pop("totalMs")
    assert all(0 <= part <= total for part in found["timings"].values())
    assert found["timings"]["bm25Ms"] > 0
    assert found["timings"]["vectorMs"] > 0
    seen: set[str] = set()
    for query in ("github issues", "harbor ferries", "lighthouses", "lamp", "when do bees swarm?"):
        results = memory.search(query)["results"]
        assert results, query
        assert [one["score"] for one in results] == sorted((one["score"] for one in results), reverse=True)
        for one in results:
            assert set(one) == {"path", "startLine", "endLine", "score", "snippet", "source", "citation"}
            assert one["source"] == "memory"
            assert one["citation"] == f"{one['path']}:{one['startLine']}-{one['endLine']}"
            lines = Path(one["path"]).read_text(encoding="utf-8").split("\n")
            assert one["snippet"] == "\n".join(lines[one["startLine"] - 1 : one["endLine"]]), query
            seen.add(str(Path(one["path"]).relative_to(memory.folder)))
    assert seen == {"MEMORY.md", "memory/one.md", "memory/deep/two.md"}, "what the patterns name, and no more"
    assert len(memory.search("ferry", maxResults=1)["results"]) == 1


@pytest.mark.slow
def test_health_status_and_index(memory: Running) -> None:
    assert memory.client.get("/health").json()["status"] == "ok"
    told = memory.client.get("/status").json()
    assert (told["status"], told["watching"], told["warnings"]) == ("ready", True, [])
    assert told["documents"]["indexed"] == 3
    assert told["models"] == {"embedding": "lmstudio/words", "reranker": None}
    assert told["collections"] == [
        {
            "name": "memory",
            "path": str(memory.folder),
            "pattern": ["MEMORY.md", "memory/**/*.md"],
            "documents": 3,
            "available": True,
        }
    ]
    answer = memory.client.post("/index")
    assert answer.status_code == 202
    assert answer.json()["status"] in {"started", "running"}
    assert str(memory.bee.jobs.require(answer.json()["job"]).wait(WAIT_S).state) == "done"


@pytest.mark.slow
def test_files_are_watched_and_no_text_is_embedded_twice(memory: Running) -> None:
    before = len(memory.models.requests)
    memory.search("ferry")
    memory.search("bees")
    assert len(memory.models.requests) == before + 2, "the queries"
    (memory.folder / "memory" / "one.md").rename(memory.folder / "memory" / "three.md")
    (memory.folder / "memory" / "new.md").write_text("# New\n\nThe lynx sleeps.\n", encoding="utf-8")
    (memory.folder / "not.md").write_text("A lynx that is not asked for.\n", encoding="utf-8")

    def paths(query: str) -> list[str]:
        return [str(Path(one["path"]).relative_to(memory.folder)) for one in memory.search(query)["results"]]

    memory.until(lambda: paths("lynx")[:1] == ["memory/new.md"], "a new file")
    memory.until(lambda: "memory/three.md" in paths("ferry noon"), "a renamed file")
    embedded = [text for one in memory.models.requests[before:] for text in one.body["input"]]
    assert [text for text in embedded if "noon" in text and "leaves" in text] == [], "it only moved"
    (memory.folder / "memory" / "new.md").unlink()
    memory.until(lambda: "memory/new.md" not in paths("lynx"), "a file that goes")


BAD: tuple[tuple[Any, int, str], ...] = (
    ({"query": " "}, 400, "search.empty_query"),
    ({"query": "x", "maxResults": 0}, 400, "argument.invalid"),
    ({"query": "x", "maxResults": 1001}, 400, "argument.invalid"),
    ({"query": "x", "maxResults": "many"}, 400, "argument.invalid"),
    ({"query": 3}, 400, "argument.invalid"),
    ({}, 400, "argument.invalid"),
    ({"query": "x", "max_results": 3}, 400, "argument.invalid"),
    (b"{", 400, "server.refused"),
    (b"[" * 100_000, 400, "argument.invalid"),
    (b'{"query": "' + b"x" * 1_100_000 + b'"}', 413, "server.refused"),
)


@pytest.mark.slow
def test_bad_requests_get_typed_answers(memory: Running) -> None:
    for body, status, code in BAD:
        sent: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body}
        answer = memory.client.post("/search", **sent, headers={"Content-Type": "application/json"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), (answer.text, str(body)[:40])
        assert "Traceback" not in answer.text
    assert memory.client.get("/search").status_code == 405
    assert memory.client.get("/nowhere").json()["error"]["code"] == "server.no_route"


@pytest.mark.slow
def test_other_web_pages_are_kept_out_and_a_token_counts_if_there_is_one(tmp_path: Path, models: FakeOpenAI) -> None:
    with running(tmp_path, models, token="s3cret") as found:
        assert found.client.get("/health").status_code == 200
        assert found.client.get("/status").status_code == 401
        assert found.client.post("/search", json={"query": "x"}).json()["error"]["code"] == "server.unauthorized"
        found.client.headers["Authorization"] = "Bearer s3cret"
        assert found.client.get("/status").status_code == 200
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            assert found.client.get("/status", headers=headers).status_code == 403
        assert found.client.get("/api/status").status_code == 404, "nothing but the four addresses"


# ------------------------------------------------------------------ models that are not there (R315, R316, R320)


@pytest.mark.slow
def test_an_embedder_that_goes_away_leaves_the_words(memory: Running) -> None:
    assert "warnings" not in memory.search("github issues")
    memory.models.fail(503, "gone", times=1000)
    found = memory.search("github issues monday")
    assert found["results"][0]["path"] == str(memory.folder / "MEMORY.md")
    assert len(found["warnings"]) == 1
    assert found["warnings"][0] in memory.client.get("/status").json()["warnings"]
    assert memory.search("\0")["warnings"] == ["the query has no words to look for"]
    assert memory.client.get("/status").json()["warnings"] == found["warnings"], (
        "what one searched is nothing wrong here"
    )
    (memory.folder / "memory" / "late.md").write_text("# Late\n\nAn ocelot.\n", encoding="utf-8")
    memory.until(lambda: len(memory.search("ocelot")["results"]) > 0, "words without vectors")


@pytest.mark.slow
def test_an_embedder_that_never_was_there_leaves_the_words(tmp_path: Path) -> None:
    with FakeOpenAI() as gone:
        pass
    with running(tmp_path, gone) as found:
        found.until(lambda: found.client.get("/status").json()["chunks"] > 0, "indexing by words")
        told = found.search("github issues")
        assert told["results"][0]["path"] == str(found.folder / "MEMORY.md")
        assert told["warnings"]


@pytest.mark.slow
def test_another_embedder_than_that_of_the_index_leaves_the_words(tmp_path: Path) -> None:
    with FakeOpenAI(models=("words", "more")) as models:
        with running(tmp_path, models) as found:
            found.until(found.indexed, "indexing")
        config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
        config["lmstudio"]["embeddingModel"] = "more"
        write(tmp_path, config)
        with running(tmp_path, models) as found:
            told = found.search("github issues")
            assert told["results"][0]["path"] == str(found.folder / "MEMORY.md")
            assert "searched by words alone" in told["warnings"][0]


@pytest.mark.slow
def test_a_reranker_that_is_not_there_is_said_and_models_stay_loaded(
    tmp_path: Path, models: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "reranker.gguf"
    with running(tmp_path, models, models={"reranker": str(file)}) as found:
        found.until(found.indexed, "indexing")
        told = found.search("github issues")
        assert told["results"]
        assert f"there is no reranker {file}" in told["warnings"][0]
        assert any(str(file) in one for one in found.client.get("/status").json()["warnings"])
        assert found.client.get("/status").json()["models"]["reranker"] is None
    monkeypatch.setenv("LILBEE_OPENAI_BASE_URL", models.url)
    monkeypatch.setenv("RERANKER_MODEL", "openai/words")
    with running(tmp_path, models) as found:
        loaded = (found.bee._parts.embedder, found.bee._parts.reranker)
        answers = [found.search(query) for query in ("github issues", "ferry at noon", "bees")]
        assert all("warnings" not in one for one in answers), answers
        assert all(one["timings"]["rerankMs"] > 0 for one in answers)
        found.bee.jobs.require(found.client.post("/index").json()["job"]).wait(WAIT_S)
        again = (found.bee._parts.embedder, found.bee._parts.reranker)
        assert all(one is other for one, other in zip(loaded, again, strict=True)), "loaded once for all requests"
        assert found.server.config.settings().fleet.engine_idle_ttl_minutes == 0, "and not unloaded when idle"


# ------------------------------------------------------------------ the process (R304, R319, R321)


@contextmanager
def process(file: Path, *flags: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    command = [sys.executable, "-m", "lilbee_server.main", "--memory", str(file), "--port", "0", *flags]
    with subprocess.Popen(command, env=os.environ.copy(), stderr=subprocess.PIPE, text=True) as started:
        try:
            assert started.stderr is not None
            line = started.stderr.readline()
            assert " on http://127.0.0.1:" in line, line + started.stderr.read()
            yield line.rpartition(" ")[2].strip(), started
        finally:
            started.send_signal(signal.SIGTERM)
            started.communicate(timeout=60)


def get(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url, timeout=30) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


@pytest.mark.slow
def test_it_answers_at_once_while_it_indexes_and_reads_nothing_the_second_time(
    tmp_path: Path, models: FakeOpenAI
) -> None:
    file = write(tmp_path, {**CONFIG, "lmstudio": {"baseUrl": models.url, "embeddingModel": "words"}})
    for number in range(FILES_MORE):
        path = tmp_path / "workspace" / "memory" / f"{number % 20}" / f"{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"# Note {number}\n\nSomething about {number} bees.\n", encoding="utf-8")
    every = FILES_MORE + 3

    def embedded() -> int:
        return sum(len(one.body.get("input", [])) for one in models.requests)

    waits, seen = list[float](), set[bool]()
    with process(file) as (url, _):
        while True:
            before = time.monotonic()
            assert get(f"{url}/health")["status"] == "ok"
            waits.append(time.monotonic() - before)
            told = get(f"{url}/status")
            seen.add(told["indexing"]["active"])
            if told["documents"]["indexed"] == every and not told["indexing"]["active"]:
                break
            time.sleep(0.1)
    assert seen == {True, False}
    assert sorted(waits)[len(waits) // 2] < 1.0, waits
    before_that = embedded()
    with process(file) as (url, _):
        with urllib.request.urlopen(urllib.request.Request(f"{url}/index", method="POST"), timeout=30) as answer:
            assert json.load(answer)["status"] == "started"
        while get(f"{url}/status")["documents"]["indexed"] != every or get(f"{url}/status")["indexing"]["active"]:
            time.sleep(0.1)
    assert embedded() - before_that <= 1, "a query, which loads the model"


def test_what_cannot_be_served_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for flags, told in (
        (["--memory", str(tmp_path / "nope.json")], "there is no file"),
        (["--memory", "x.json", "--library", "y"], "no --library beside it"),
        (["--memory", str(write(tmp_path, CONFIG)), "--host", "0.0.0.0"], "is not an address of this machine alone"),
        (["--memory", str(write(tmp_path, CONFIG)), "--host", "0.0.0.0", "--allow-remote"], "names no token"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(flags)
        assert ended.value.code in {1, 4}
        assert told in capsys.readouterr().err
