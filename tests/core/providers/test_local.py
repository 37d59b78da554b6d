"""Which models the servers on this machine have (R084, R085, R087, R088)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import SettingsError
from lilbee_core.models import Hub, ModelFolder, Models
from lilbee_core.providers import local_models, local_roles
from lilbee_core.settings import Settings
from lilbee_core.testing.fakes import ManualClock
from lilbee_core.types import ModelRef
from tests.support.openai_fake import Answer, FakeOpenAI

NOBODY = "http://127.0.0.1:9"


def test_the_models_of_servers_that_run_are_told_by_reference() -> None:
    with (
        FakeOpenAI(models=("qwen3:0.6b", "nomic-embed-text:latest")) as ollama,
        FakeOpenAI(models=("gemma-3-4b",)) as lm_studio,
    ):
        root = ollama.url.removesuffix("/v1")
        found = list(local_models(ollama_base_url=root, lm_studio_base_url=lm_studio.url))
        assert ollama.requests[0].path == "/v1/models"
    assert found == ["ollama/nomic-embed-text:latest", "ollama/qwen3:0.6b", "lmstudio/gemma-3-4b"]


def test_servers_that_do_not_run_or_answer_nonsense_have_none() -> None:
    with FakeOpenAI() as broken:
        broken.fail(404, "<html>no</html>")
        assert list(local_models(ollama_base_url=broken.url, lm_studio_base_url=NOBODY)) == []


def test_they_are_listed_and_not_managed(tmp_path: Path) -> None:
    served = ("ollama/qwen3:0.6b", "ollama/nomic-embed-text:latest")
    models = Models(
        ModelFolder(tmp_path),
        Hub(NOBODY, clock=ManualClock()),
        served=lambda: served,
        in_use=lambda: {"chat": "ollama/qwen3:0.6b"},
    )
    listed = {one.ref: one for one in models.list() if one.source == "server"}
    assert {ref: one.roles for ref, one in listed.items()} == {served[0]: ("chat",), served[1]: ("embed",)}
    assert listed[served[0]].in_use == ("chat",)
    assert [one.ref for one in models.list("embedding")] == ["builtin/all-MiniLM-L6-v2", served[1]]


def ollama(*capabilities: str) -> Answer:
    return Answer(body=json.dumps({"capabilities": capabilities, "model_info": {}}).encode())


@pytest.mark.parametrize(
    ("told", "roles"),
    [
        (("embedding",), {"embed"}),
        (("completion", "tools", "thinking"), {"chat"}),
        (("completion", "vision"), {"chat", "vision"}),
        ((), set()),
    ],
)
def test_ollama_says_what_a_model_can_do(told: tuple[str, ...], roles: set[str]) -> None:
    with FakeOpenAI() as server:
        server.answer(ollama(*told))
        found = local_roles(ModelRef("ollama", "qwen3:0.6b"), ollama_base_url=server.url.removesuffix("/v1"))
        assert found == roles
        assert (server.requests[0].path, server.requests[0].body) == ("/api/show", {"model": "qwen3:0.6b"})


@pytest.mark.parametrize(
    ("kind", "roles"),
    [("embeddings", {"embed"}), ("llm", {"chat"}), ("vlm", {"chat", "vision"}), ("odd", set())],
)
def test_lm_studio_says_what_a_model_can_do(kind: str, roles: set[str]) -> None:
    with FakeOpenAI() as server:
        server.json({"data": [{"id": "other", "type": "llm"}, {"id": "this", "type": kind}, 3]})
        assert local_roles(ModelRef("lmstudio", "this"), lm_studio_base_url=server.url) == roles
        assert server.requests[0].path == "/api/v0/models"


def test_servers_that_do_not_say_are_believed() -> None:
    with FakeOpenAI() as server:
        for answer in (Answer(status=404), Answer(body=b"<html>"), Answer(body=b'{"capabilities": 3, "data": 3}')):
            server.answer(answer, answer)
            assert not local_roles(ModelRef("ollama", "x"), ollama_base_url=server.url)
            assert not local_roles(ModelRef("lmstudio", "x"), lm_studio_base_url=server.url)
        asked = len(server.requests)
        assert not local_roles(ModelRef("openai", "x"))
        assert len(server.requests) == asked
    assert not local_roles(ModelRef("ollama", "x"), ollama_base_url=NOBODY)


def test_a_model_whose_server_says_otherwise_is_refused_when_it_is_assigned(tmp_path: Path) -> None:
    with FakeOpenAI(models=("chatty",)) as server:
        settings = Settings().changed({"ollama_base_url": server.url})
        with Lilbee(tmp_path, settings) as bee:
            server.answer(ollama("completion"))
            with pytest.raises(SettingsError, match="its server says that it serves chat"):
                bee.config.set("embedding_model", "ollama/chatty")
            assert bee.config.get("embedding_model") == "auto"
            server.answer(ollama("completion"))
            bee.config.set("chat_model", "ollama/chatty")
            assert bee.config.get("chat_model") == "ollama/chatty"
