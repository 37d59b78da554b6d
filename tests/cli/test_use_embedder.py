"""`lilbee use-embedder`: adopt the embedder of an index, or embed its passages anew (R205, R240)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.support.openai_fake import FakeOpenAI


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAI]:
    with FakeOpenAI(models=("words", "same")) as one:
        monkeypatch.setenv("LILBEE_OPENAI_BASE_URL", one.url)
        yield one


@pytest.fixture
def built(synced: Run, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "openai/words")
    assert synced("sync").code == 0
    monkeypatch.delenv("LILBEE_EMBEDDING_MODEL")
    return synced


def test_the_refusal_names_the_command_that_adopts(built: Run) -> None:
    refused = built("search", "queen")
    assert refused.code == 1
    assert "lilbee use-embedder" in refused.err
    done = built("use-embedder")
    assert (done.code, done.out) == (0, "openai/words is used from now on; the vectors are kept\n")
    assert built("search", "vec: queen").code == 0


def test_another_name_of_the_model_is_told_with_its_likeness(built: Run) -> None:
    done = built("use-embedder", "openai/same", "--json")
    change = json.loads(done.out)
    assert (change["action"], change["embedder"], change["was"]) == ("adopted", "openai/same", "openai/words")
    assert change["likeness"] == pytest.approx(1.0, abs=0.001)


def test_embedding_anew_with_the_built_in_model(built: Run) -> None:
    refused = built("use-embedder", "auto")
    assert refused.code == 1
    assert "have 8" in refused.err
    done = built("use-embedder", "auto", "--anew")
    assert done.code == 1
    assert "lilbee rebuild" in done.err  # its passages are longer than what the built-in model reads


def test_anew_needs_a_model(built: Run) -> None:
    assert built("use-embedder", "--anew").code == 2
    done = built("use-embedder", "openai/same", "--anew")
    assert done.code == 0
    assert "passages embedded with openai/same (8 numbers" in done.out


def test_without_a_library_it_says_so(lilbee: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    assert lilbee("use-embedder").code == 4
