"""Models of other servers behind a library: embedding, chat, and what happens when they are down (R073, R089, R203)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import EmbedderMismatch, EmptyReply, ModelNotFound, ProviderUnavailable, SettingsError
from lilbee_core.settings import Settings
from tests.support.openai_fake import FakeOpenAI

MODELS = ("words", "other", "talk")
TEXTS = {"bees.md": "# Bees\n\nThe queen lays eggs in spring.\n", "boats.md": "# Boats\n\nThe ferry leaves at noon.\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    for name, text in TEXTS.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


def settings(server: FakeOpenAI | str, **more: Any) -> Settings:
    url = server if isinstance(server, str) else server.url
    quick = {"openai_base_url": url, "request_retries": 0, "connect_timeout_s": 1.0}
    values = {**quick, "query_expansion_count": 0, **more}  # a question alone is asked of the chat model
    return Settings().changed(values)


def test_embedding_goes_to_the_server_once_per_batch_across_files(folder: Path) -> None:
    with FakeOpenAI(models=MODELS) as server, Lilbee(folder, settings(server, embedding_model="openai/words")) as bee:
        report = bee.sync()
        assert (report.added, report.embedded, report.owed) == (2, 2, 0)
        assert bee.search("vec: queen eggs spring")[0].path == "bees.md"
        assert bee.status().embedder == "openai/words"
        before = len(server.requests)
        assert bee.sync().embedded == 0
        (folder / "bees.md").rename(folder / "moved.md")
        assert (bee.sync().moved, len(server.requests)) == (1, before)


def test_chunks_are_as_long_as_the_model_may_read(folder: Path) -> None:
    (folder / "long.md").write_text("A sentence about the queen of the bees. " * 200, encoding="utf-8")
    sizes: list[int] = []
    with FakeOpenAI(models=MODELS) as server:
        for limit in (512, 2048):
            values = {"embedding_model": "openai/words", "embedding_max_tokens": limit, "chunk_size": 1000}
            data = folder.parent / f"data-{limit}"
            with Lilbee(folder, settings(server, **values), data_dir=data) as bee:
                bee.sync()
                sizes.append(max(len(hit.chunk.text) for hit in bee.search("term: queen sentence", top_k=50)))
    assert sizes[0] <= 462 * 4 < sizes[1] <= 1000 * 4


def test_a_server_that_is_down_leaves_words_searchable_and_vectors_owed(folder: Path) -> None:
    with FakeOpenAI(models=MODELS) as server:
        url = server.url
    with Lilbee(folder, settings(url, embedding_model="openai/words")) as bee:
        report = bee.sync()
        assert (report.added, report.embedded) == (2, 0)
        assert any("words are searchable" in warning for warning in report.warnings)
        result = bee.search("queen")
        assert result[0].path == "bees.md"
        assert result.warnings


def test_owed_vectors_are_paid_by_the_next_sync(folder: Path) -> None:
    with FakeOpenAI(models=MODELS) as server:
        server.fail(503, "loading", times=99)
        with Lilbee(folder, settings(server, embedding_model="openai/words")) as bee:
            assert bee.sync().embedded == 0
    with FakeOpenAI(models=MODELS) as server, Lilbee(folder, settings(server, embedding_model="openai/words")) as bee:
        report = bee.sync()
        assert (report.added, report.unchanged, report.embedded, report.owed) == (0, 2, 2, 0)
        assert bee.search("vec: queen eggs spring")[0].path == "bees.md"


def test_another_model_is_refused_with_the_way_out(folder: Path) -> None:
    with FakeOpenAI(models=MODELS) as server:
        with Lilbee(folder, settings(server, embedding_model="openai/words")) as bee:
            bee.sync()
        with Lilbee(folder, settings(server, embedding_model="openai/other")) as bee:
            for act in (bee.sync, lambda: bee.search("queen"), lambda: bee.search("vec: queen")):
                with pytest.raises(EmbedderMismatch) as caught:
                    act()
                assert "lilbee rebuild" in caught.value.hint
                assert "openai/words" in caught.value.hint
            assert bee.search("term: queen")[0].path == "bees.md"
            assert bee.rebuild().embedded == 2
            assert bee.search("vec: queen eggs spring")[0].path == "bees.md"


def test_vectors_can_be_added_to_an_index_of_words(folder: Path) -> None:
    with Lilbee(folder, settings("http://127.0.0.1:9", embedding_model="none")) as bee:
        assert bee.sync().added == 2
        assert bee.search("queen")[0].path == "bees.md"
    with FakeOpenAI(models=MODELS) as server, Lilbee(folder, settings(server, embedding_model="openai/words")) as bee:
        report = bee.sync()
        assert (report.added, report.updated, report.unchanged, report.embedded) == (0, 0, 2, 2)
        assert bee.search("vec: queen eggs spring")[0].path == "bees.md"


def test_a_chat_model_answers_and_its_marks_are_resolved(folder: Path) -> None:
    with FakeOpenAI(models=MODELS) as server:
        server.reply("The queen lays eggs ", "in spring [1]", ", says nobody [7].")
        with Lilbee(folder, settings(server, embedding_model="none", chat_model="openai/talk")) as bee:
            bee.sync()
            answer = bee.ask("When does the queen lay eggs?")
        assert answer.model == "openai/talk"
        assert [one.path for one in answer.citations] == ["bees.md"]
        assert "[7]" not in answer.text
        prompt = str(server.requests[-1].body)
        assert "lays eggs" in prompt


def test_an_answer_streams_and_ends_with_the_whole(folder: Path) -> None:
    with FakeOpenAI(models=MODELS) as server:
        server.reply("In ", "spring ", "[1].")
        with Lilbee(folder, settings(server, embedding_model="none", chat_model="openai/talk")) as bee:
            bee.sync()
            deltas = list(bee.ask_stream("When does the queen lay eggs?"))
        assert "".join(one.text for one in deltas if one.kind == "text").startswith("In spring")
        assert deltas[-1].kind == "done"
        assert deltas[-1].answer is not None
        assert deltas[-1].answer.citations


def test_a_chat_server_that_is_down_or_silent_is_an_error(folder: Path) -> None:
    with FakeOpenAI(models=MODELS) as server:
        url = server.url
    with Lilbee(folder, settings(url, embedding_model="none", chat_model="openai/talk")) as bee:
        bee.sync()
        with pytest.raises(ProviderUnavailable) as caught:
            bee.ask("When does the queen lay eggs?")
        assert caught.value.hint
    with FakeOpenAI(models=MODELS) as server:
        server.reply("")
        with (
            Lilbee(folder, settings(server, embedding_model="none", chat_model="openai/talk")) as bee,
            pytest.raises(EmptyReply),
        ):
            bee.ask("When does the queen lay eggs?")


@pytest.mark.parametrize("name", ["nobody/model", "justaname", "openai/"])
def test_a_reference_that_leads_nowhere_is_named(folder: Path, name: str) -> None:
    with Lilbee(folder, settings("http://127.0.0.1:9", embedding_model=name)) as bee:
        with pytest.raises((SettingsError, ModelNotFound)) as caught:
            bee.sync()
        assert name.split("/", maxsplit=1)[0] in str(caught.value)
        assert caught.value.hint
