"""Another embedder for an index that is there: adopted, refused, or every vector anew (R204, R205, R207, R073)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import EmbedderMismatch, InvalidArgument, ModelNotFound, ProviderUnavailable, SettingsError
from lilbee_core.events import Event, Progress
from lilbee_core.jobs import JobState
from lilbee_core.library import CancelSwitch
from lilbee_core.settings import Settings
from lilbee_core.store import Store
from lilbee_core.testing import HashEmbedder
from tests.support.gguf_files import bert
from tests.support.model_hub import FakeHub
from tests.support.openai_fake import Answer, FakeOpenAI, Request, word_vector
from tests.support.wholeness import by_place, differences, editions

ROOT = Path(__file__).parents[3]
DOCUMENTS, MANY = 8, 400
SMALL = {"chunk_size": 24, "chunk_overlap": 0}
"""So that a section is a chunk."""


class Server(FakeOpenAI):
    """Has two models of one size, ``words`` and its twin ``same``, ``other`` of that size, and ``wide``."""

    def __init__(self) -> None:
        super().__init__(models=("words", "same", "other", "wide"))
        self.gate: threading.Event | None = None
        self.after = 0

    def respond(self, request: Request) -> Answer | list[dict[str, Any]]:
        model = request.body.get("model")
        texts = request.body.get("input", ())
        if len(texts) > 1 and self.gate is not None and len(self.requests) > self.after:  # a query has one
            self.gate.wait(30)
        if model == "wide":
            return self._vectors(request, {text: word_vector(text, 12) for text in request.body["input"]})
        if model == "other":
            return self._vectors(request, {text: word_vector(text[::-1]) for text in request.body["input"]})
        return super().respond(request)

    @staticmethod
    def _vectors(request: Request, rows: Mapping[str, list[float]]) -> Answer:
        data = [{"index": at, "embedding": rows[text]} for at, text in enumerate(request.body["input"])]
        return Answer(body=json.dumps({"data": data}).encode())


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    with one:
        yield one


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    for number in range(DOCUMENTS):
        (root / f"{number:02}.md").write_text(section(number), encoding="utf-8")
    return root


def section(number: int) -> str:
    return f"# Hive {number}\n\nHive {number} swarmed in week {number % 7} near the lime trees of row {number * 3}.\n"


def write_log(root: Path) -> None:
    (root / "log.md").write_text("\n".join(map(section, range(MANY))), encoding="utf-8")


def settings(url: str, **more: object) -> Settings:
    return Settings().changed(
        {"openai_base_url": url, "request_retries": 0, "embedding_model": "openai/words", "embed_batch_size": 8, **more}
    )


def vectors(data: Path) -> dict[str, bytes]:
    with Store.open(data) as store:
        assert store.check() == ()
        found = by_place(editions(store))
    return {f"{place}:{id_}": row for place, one in found.items() for id_, row in one.vectors.items()}


def requests_for(server: Server, model: str) -> int:
    return sum(one.body.get("model") == model for one in server.requests)


# ---------------------------------------------------------------------- adopting


def test_the_embedder_of_a_foreign_index_is_adopted_and_its_vectors_are_kept(folder: Path, server: Server) -> None:
    with Lilbee(folder, settings(server.url)) as bee:
        bee.sync()
    before = vectors(folder / ".lilbee")
    with Lilbee(folder, settings(server.url, embedding_model="openai/other")) as bee:
        with pytest.raises(EmbedderMismatch) as refused:
            bee.search("hive")
        assert "lilbee use-embedder`" in refused.value.hint
        change = bee.embedding.adopt()
        assert (change.action, change.embedder, change.dimension, change.likeness) == (
            "adopted", "openai/words", 8, None,
        )  # fmt: skip
        assert bee.search("vec: hive 3 lime trees").hits
        assert bee.sync().embedded == 0
        assert bee.config.get("embedding_model") == "openai/words"
    assert vectors(folder / ".lilbee") == before
    assert 'embedding_model = "openai/words"' in (folder / ".lilbee" / "config.toml").read_text()


def test_the_same_model_by_another_name_is_known_by_its_vectors(folder: Path, server: Server) -> None:
    with Lilbee(folder, settings(server.url)) as bee:
        bee.sync()
        change = bee.embedding.adopt("openai/same")
        assert change.likeness is not None
        assert change.likeness > 0.999
        assert (change.was, change.embedder) == ("openai/words", "openai/same")
        assert bee.status().embedder == "openai/same"
        assert bee.sync().embedded == 0
        assert bee.search("vec: hive 3").hits


def test_another_model_of_the_same_size_is_refused(folder: Path, server: Server) -> None:
    with Lilbee(folder, settings(server.url)) as bee:
        bee.sync()
        with pytest.raises(EmbedderMismatch) as refused:
            bee.embedding.adopt("openai/other")
        assert "another model" in refused.value.message
        assert "--anew" in refused.value.hint
        assert bee.status().embedder == "openai/words"
        assert bee.config.get("embedding_model") == "openai/words"
        assert bee.search("vec: hive 3").hits


def test_a_model_of_another_size_is_refused_with_the_way_out(folder: Path, server: Server) -> None:
    with Lilbee(folder, settings(server.url)) as bee:
        bee.sync()
        with pytest.raises(EmbedderMismatch) as refused:
            bee.embedding.adopt("openai/wide")
        assert "12 numbers" in refused.value.message
        assert "have 8" in refused.value.message
        assert "lilbee rebuild" in refused.value.hint
        assert bee.config.get("embedding_model") == "openai/words"


def test_what_cannot_be_adopted_is_told_and_changes_nothing(folder: Path, server: Server) -> None:
    with Lilbee(folder, settings(server.url)) as bee:
        with pytest.raises(InvalidArgument, match="names no embedder"):
            bee.embedding.adopt()
        bee.sync()
        before = (folder / ".lilbee" / "config.toml").exists()
        for name, kind in (
            ("nonsense", InvalidArgument),
            ("none", InvalidArgument),
            ("openai/missing", ModelNotFound),
            ("nobody/x", SettingsError),
            ("/no/such.gguf", ModelNotFound),
        ):
            with pytest.raises(kind):
                bee.embedding.adopt(name)
            with pytest.raises(kind):
                bee.embedding.embed_anew(name)
        assert (folder / ".lilbee" / "config.toml").exists() is before
        assert bee.search("vec: hive 3").hits


def test_a_server_that_is_down_changes_nothing(folder: Path, server: Server) -> None:
    with Lilbee(folder, settings(server.url)) as bee:
        bee.sync()
    with Lilbee(folder, settings("http://127.0.0.1:9/v1", embedding_model="openai/other")) as bee:
        with pytest.raises(ProviderUnavailable):
            bee.embedding.adopt()
        with pytest.raises(ProviderUnavailable):
            bee.embedding.embed_anew("openai/other")
        assert bee.status().embedded == DOCUMENTS


def test_the_environment_that_would_overrule_is_named(
    folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LILBEE_OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "openai/words")
    with Lilbee(folder) as bee:
        bee.sync()
        with pytest.raises(SettingsError, match="LILBEE_EMBEDDING_MODEL says 'openai/words'"):
            bee.embedding.embed_anew("openai/other")
        assert bee.embedding.adopt("openai/words").action == "adopted"
    with Lilbee(folder, embedder=HashEmbedder()) as bee, pytest.raises(SettingsError, match="the caller's"):
        bee.embedding.adopt("openai/words")


def test_adopting_does_not_make_a_foreign_library_trusted(folder: Path, server: Server) -> None:
    with Lilbee(folder, settings(server.url)) as bee:
        bee.sync()
        bee.embedding.adopt()
    assert "library_id" not in (folder / ".lilbee" / "config.toml").read_text()


def test_a_model_file_that_is_missing_is_fetched(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "DATA", "CACHE"):
        monkeypatch.setenv(f"LILBEE_{name}_DIR", str(tmp_path / name.lower()))
    ref = "org/tiny/tiny.gguf"
    theirs = HashEmbedder(model=ref, max_tokens=512)
    theirs.fingerprint = f"{ref}/64/plain"
    with Lilbee(folder, embedder=theirs) as bee:
        bee.sync()
    before = vectors(folder / ".lilbee")
    content = bert(tmp_path / "made.gguf").read_bytes()
    with FakeHub(repositories={"org/tiny": {"tiny.gguf": content}}) as hub:
        options: dict[str, object] = {"hub_url": hub.url, "models_dir": str(tmp_path / "models")}
        with Lilbee(folder, overrides=options) as bee:
            change = bee.embedding.adopt()
            assert (change.fetched, change.embedder, change.dimension, change.likeness) == (True, ref, 64, None)
            assert bee.config.get("embedding_model") == ref
            assert not bee.embedding.adopt().fetched
            assert bee.search("term: hive").hits
    assert (tmp_path / "models" / ref).read_bytes() == content
    assert vectors(folder / ".lilbee") == before


# ---------------------------------------------------------------------- embedding anew


def test_embedding_anew_equals_a_fresh_index(folder: Path, tmp_path: Path, server: Server) -> None:
    events: list[Event] = []
    with Lilbee(folder, settings(server.url), events=events.append) as bee:
        bee.sync()
        (folder / "00.md").unlink()  # what is in the index is embedded, not what lies in the folder
        change = bee.embedding.embed_anew("openai/wide")
        assert change.report is not None
        assert (change.report.embedded, change.report.owed, change.cancelled) == (DOCUMENTS, 0, False)
        assert (bee.status().embedder, bee.status().dimension) == ("openai/wide", 12)
        assert bee.search("vec: hive 3").warnings == ()
        assert bee.sync().removed == 1
    told = [one for one in events if isinstance(one, Progress) and one.phase == "embedding"]
    assert told[-1].done == told[-1].total == DOCUMENTS
    with Lilbee(folder, settings(server.url, embedding_model="openai/wide"), data_dir=tmp_path / "fresh") as fresh:
        fresh.sync()
    assert vectors(folder / ".lilbee") == vectors(tmp_path / "fresh")
    with Store.open(folder / ".lilbee") as store, Store.open(tmp_path / "fresh") as other:
        assert differences(by_place(editions(store)), by_place(editions(other))) == []


def test_embedding_anew_with_the_same_model_asks_for_nothing(folder: Path, server: Server) -> None:
    with Lilbee(folder, settings(server.url)) as bee:
        bee.sync()
        asked = requests_for(server, "words")
        change = bee.embedding.embed_anew("openai/words")
        assert change.report is not None
        assert change.report.embedded == 0
        assert requests_for(server, "words") - asked <= 1  # to learn the dimension


def test_cancelled_it_keeps_what_it_has_and_searches_say_so(folder: Path, server: Server) -> None:
    write_log(folder)
    cancel = CancelSwitch()
    with Lilbee(folder, settings(server.url, **SMALL)) as bee:
        bee.sync()
        gate = server.gate = threading.Event()
        server.after = len(server.requests) + 12  # the first 64 passages are through
        worker = threading.Thread(target=lambda: bee.embedding.embed_anew("openai/wide", cancel=cancel))
        worker.start()
        while len(server.requests) <= server.after:
            worker.join(0.01)
        result = bee.search("term: hive")
        assert result.hits
        assert any("anew with openai/wide" in one for one in result.warnings)
        found = bee.search("hive 3 lime trees")
        assert found.hits
        assert all("anew with openai/wide" in one for one in found.warnings)
        cancel.cancel()
        gate.set()
        worker.join()
        server.gate = None
        assert 0 < bee.status().embedded < bee.status().chunks
        assert any("anew with openai/wide" in one for one in bee.status().warnings)
        assert bee.sync().owed == 0
        assert bee.search("hive").warnings == ()
        assert bee.status().embedded == bee.status().chunks > MANY


def test_it_runs_as_a_job(folder: Path, server: Server) -> None:
    with Lilbee(folder, settings(server.url)) as bee:
        bee.sync()
        record = bee.jobs.start("embed_anew", model="openai/wide").wait(60)
        assert record.state is JobState.DONE
        assert (record.phase, record.done, record.total, record.unit) == ("embedding", DOCUMENTS, DOCUMENTS, "chunks")
        assert record.result is not None
        assert record.result["embedder"] == "openai/wide"
        assert bee.search("vec: hive 3").hits


def test_passages_that_the_model_would_not_read_to_their_end_are_refused(folder: Path, server: Server) -> None:
    with Lilbee(folder, settings(server.url)) as bee:
        bee.sync()
    with Lilbee(folder, settings(server.url, embedding_max_tokens=128)) as bee:
        with pytest.raises(EmbedderMismatch, match="have up to 462 tokens, and openai/wide reads 78") as refused:
            bee.embedding.embed_anew("openai/wide")
        assert "lilbee rebuild" in refused.value.hint
        assert bee.status().embedded == DOCUMENTS


_WORK = """
import sys
from lilbee_core import Lilbee
from tests.core.library.test_embedding import SMALL, settings
folder, url = sys.argv[1:]
with Lilbee(folder, settings(url, **SMALL)) as bee:
    bee.embedding.embed_anew("openai/wide")
"""


@pytest.mark.slow
def test_killed_half_way_and_run_again_it_equals_a_fresh_index(folder: Path, tmp_path: Path, server: Server) -> None:
    write_log(folder)
    with Lilbee(folder, settings(server.url, **SMALL)) as bee:
        bee.sync()
    for passed in (0, 8, 14):
        server.gate, server.after = threading.Event(), len(server.requests) + passed
        command = [sys.executable, "-c", _WORK, str(folder), server.url]
        with subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
            while len(server.requests) <= server.after and process.poll() is None:
                threading.Event().wait(0.02)
            process.send_signal(signal.SIGKILL)
        server.gate.set()
        server.gate = None
        with Lilbee(folder, settings(server.url, **SMALL)) as reader:
            assert reader.search("term: hive").hits  # words are there all the time
    with Lilbee(folder, settings(server.url, **SMALL)) as bee:
        change = bee.embedding.embed_anew("openai/wide")
        assert change.report is not None
        assert change.report.owed == 0
    with Lilbee(
        folder, settings(server.url, embedding_model="openai/wide", **SMALL), data_dir=tmp_path / "fresh"
    ) as fresh:
        fresh.sync()
    with Store.open(folder / ".lilbee") as store, Store.open(tmp_path / "fresh") as other:
        assert store.check() == ()
        assert differences(by_place(editions(store)), by_place(editions(other))) == []
