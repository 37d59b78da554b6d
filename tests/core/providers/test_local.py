"""Which models the servers on this machine have (R085, R087, R088)."""

from __future__ import annotations

from pathlib import Path

from lilbee_core.models import Hub, ModelFolder, Models
from lilbee_core.providers import local_models
from lilbee_core.testing.fakes import ManualClock
from tests.support.openai_fake import FakeOpenAI

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
