"""Model servers that accept and never answer: a search costs a bounded time once, and says what is wrong."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import EmbedderMismatch, LilbeeError, ProviderUnavailable
from lilbee_core.providers import Breaker, Guard
from lilbee_core.settings import Settings
from lilbee_core.testing import HashEmbedder, ManualClock
from lilbee_core.types import Delta
from tests.support.openai_fake import Answer, FakeOpenAI, Request

MODELS = ("words", "talk", "judge")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    (root / "boats.md").write_text("# Boats\n\nThe ferry leaves at noon.\n", encoding="utf-8")
    return root


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes connections and says nothing: nobody ever accepts them."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


def settings(url: str, **more: Any) -> Settings:
    limits = {"query_timeout_s": 0.2, "rerank_timeout_s": 0.2, "first_token_timeout_s": 0.3}
    return Settings().changed({"openai_base_url": url, "request_retries": 0, **limits, **more})


def index(folder: Path, **more: Any) -> None:
    with FakeOpenAI(models=MODELS) as server, Lilbee(folder, settings(server.url, **more)) as bee:
        assert not bee.sync().owed


def test_a_silent_embedding_server_is_waited_for_once(folder: Path, silent: str) -> None:
    index(folder, embedding_model="openai/words")
    clock = ManualClock()
    with Lilbee(folder, settings(silent, embedding_model="openai/words"), clock=clock) as bee:
        first = bee.search("queen eggs")
        assert [hit.path for hit in first][:1] == ["bees.md"]
        (warning,) = first.warnings
        assert warning.startswith("Searched by words alone: openai/words at http://127.0.0.1:")
        assert "did not answer within 0.2 s" in warning
        assert "query_timeout_s" in warning
        clock.advance(10)
        again = bee.search("ferry noon")
        assert again[0].path == "boats.md"
        assert "it is asked again in 20 s" in again.warnings[0]
        clock.advance(20)
        assert "asked again" not in bee.search("queen").warnings[0]  # it was asked, and is left alone again
        assert "asked again in 30 s" in bee.search("queen").warnings[0]


def test_a_search_after_a_sync_whose_embedder_failed_does_not_wait_again(folder: Path) -> None:
    index(folder, embedding_model="openai/words")
    (folder / "birds.md").write_text("# Birds\n\nThe heron stands by the weir.\n", encoding="utf-8")
    clock = ManualClock()
    with FakeOpenAI(models=MODELS) as server:
        server.fail(503, "loading")
        with Lilbee(folder, settings(server.url, embedding_model="openai/words"), clock=clock) as bee:
            assert bee.sync().owed
            asked = len(server.requests)
            assert "is asked again in 30 s" in bee.search("queen eggs").warnings[0]
            assert len(server.requests) == asked
            assert not bee.sync().owed  # a sync asks all the same, and it is back
            assert bee.search("queen eggs").warnings == ()


@pytest.mark.slow
def test_a_failing_embedder_prints_nothing_where_no_logging_is_set_up(folder: Path) -> None:
    program = """
import sys
from lilbee_core import Lilbee, Settings
options = {"openai_base_url": "http://127.0.0.1:9/v1", "request_retries": 0, "embedding_model": "openai/words"}
with Lilbee(sys.argv[1], Settings().changed(options)) as bee:
    assert bee.sync().warnings
    assert bee.search("queen eggs").warnings
"""
    done = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_server_that_is_back_is_used_after_the_cool_down(folder: Path) -> None:
    index(folder, embedding_model="openai/words")
    clock = ManualClock()
    with FakeOpenAI(models=MODELS) as server:
        server.fail(503, "loading")
        with Lilbee(folder, settings(server.url, embedding_model="openai/words"), clock=clock) as bee:
            assert bee.search("queen eggs").warnings
            assert "is asked again in 30 s" in bee.search("queen eggs").warnings[0]
            assert len(server.requests) == 1
            clock.advance(30)
            assert not bee.search("queen eggs").warnings
            assert not bee.search("ferry").warnings


def test_an_answer_that_comes_late_ends_the_cool_down(folder: Path) -> None:
    index(folder, embedding_model="openai/words")
    ready = threading.Event()
    with FakeOpenAI(models=MODELS) as server:

        def late(request: Request) -> Answer:
            assert ready.wait(20)
            answer = server.respond(request)
            assert isinstance(answer, Answer)
            return answer

        server.answer(late)
        with Lilbee(folder, settings(server.url, embedding_model="openai/words"), clock=ManualClock()) as bee:
            assert "did not answer within 0.2 s" in bee.search("queen eggs").warnings[0]
            ready.set()
            for _ in range(1000):
                result = bee.search("queen eggs")
                if not result.warnings:
                    break
            assert not result.warnings


def test_a_sync_waits_for_as_long_as_it_takes(folder: Path) -> None:
    with FakeOpenAI(models=MODELS) as server:
        pause = threading.Event()

        def slow(request: Request) -> Answer:
            pause.wait(0.5)
            answer = server.respond(request)
            assert isinstance(answer, Answer)
            return answer

        server.answer(slow, slow)
        with Lilbee(folder, settings(server.url, embedding_model="openai/words")) as bee:
            assert (bee.sync().owed, bee.status().embedded) == (0, 2)


def test_a_silent_chat_model_costs_a_search_one_wait(folder: Path, silent: str) -> None:
    index(folder, embedding_model="none")
    clock = ManualClock()
    chat = {"chat_model": "openai/talk", "embedding_model": "none", "expansion_skip_threshold": 1.0}
    with Lilbee(folder, settings(silent, **chat, hyde=True), clock=clock) as bee:
        first = bee.search("which animal lays eggs", profile="full")
        assert first.hits
        assert "Searched without other wordings: openai/talk at http://127.0.0.1:" in first.warnings[0]
        assert "did not answer within 0.2 s" in first.warnings[0]
        assert "asked again in 30 s" in bee.search("which boat leaves", profile="full").warnings[0]


def test_a_silent_chat_model_costs_an_answer_a_bounded_wait(folder: Path, silent: str) -> None:
    index(folder, embedding_model="none")
    chat = {"chat_model": "openai/talk", "embedding_model": "none", "query_expansion_count": 0}
    with Lilbee(folder, settings(silent, **chat)) as bee:
        with pytest.raises(
            ProviderUnavailable, match=r"openai/talk at http://127.* did not answer within 0.3 s"
        ) as told:
            bee.ask("when are eggs laid by the queen in spring")
        assert "first_token_timeout_s" in told.value.hint
        with pytest.raises(ProviderUnavailable, match="did not answer within"):
            list(bee.ask_stream("when are eggs laid by the queen in spring"))


def test_an_answer_is_asked_for_even_after_rewordings_failed(folder: Path) -> None:
    index(folder, embedding_model="none")
    chat = {"chat_model": "openai/talk", "embedding_model": "none", "expansion_skip_threshold": 1.0}
    with FakeOpenAI(models=MODELS) as server:
        server.fail(503, "loading")
        server.reply("The queen lays eggs in spring [1].")
        with Lilbee(folder, settings(server.url, **chat), clock=ManualClock()) as bee:
            answer = bee.ask("when are eggs laid by the queen in spring")
            assert answer.citations
            assert "Searched without other wordings" in answer.warnings[0]
            assert not bee.search("which animal lays eggs", profile="full").warnings  # it answered: it is there


def test_a_silent_reranker_is_left_out_after_one_wait(folder: Path, silent: str) -> None:
    index(folder, embedding_model="none")
    with Lilbee(
        folder, settings(silent, embedding_model="none", reranker_model="openai/judge"), clock=ManualClock()
    ) as bee:
        first = bee.search("queen eggs")
        assert first.hits
        assert "Hits are not reranked: openai/judge at http://127.0.0.1:" in first.warnings[0]
        assert "rerank_timeout_s" in first.warnings[0]
        assert "asked again in 30 s" in bee.search("ferry").warnings[0]


def test_an_index_of_unknown_vectors_does_not_make_a_search_wait_for_long(folder: Path, silent: str) -> None:
    """The dimension of a model that did not build the index has to be asked for."""
    index(folder, embedding_model="openai/words")
    with Lilbee(folder, settings(silent, embedding_model="openai/other"), clock=ManualClock()) as bee:
        found = bee.search("queen")
        assert [hit.path for hit in found] == ["bees.md"]
        (warning,) = found.warnings
        assert "Searched by words alone" in warning
        assert "built with openai/words" in warning
        assert "openai/other is configured, whose server does not answer" in warning
        assert "`lilbee use-embedder openai/other --anew`" in warning
        with pytest.raises(EmbedderMismatch, match="openai/words"):
            bee.search("vec: queen")  # meaning has no other way


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("openai/words", "LILBEE_OPENAI_BASE_URL"),
        ("litellm/words", "pip install 'lilbee-core[litellm]'"),
        ("nowhere/words.gguf", "lilbee model pull"),
        ("acme/words", "install the plugin"),
        ("words", "Write provider/name"),
    ],
)
def test_words_are_searched_where_the_embedder_cannot_be_had_at_all(folder: Path, model: str, said: str) -> None:
    """No address, no package, no file, no provider, no name: each says what to do, and no search fails for it."""
    if model.startswith("litellm") and find_spec("litellm") is not None:
        pytest.skip("litellm is installed")
    index(folder, embedding_model="none")
    with Lilbee(folder, Settings().changed({"embedding_model": model})) as bee:
        for text in ("queen eggs", "term: queen"):
            found = bee.search(text)
            assert [hit.path for hit in found] == ["bees.md"]
            warned = [one for one in found.warnings if "Searched by words alone" in one]
            assert len(warned) == (0 if text.startswith("term") else 1)
            assert all(said in one for one in warned)
        answer = bee.ask("When does the queen lay eggs?")
        assert answer.citations
        assert any(said in one for one in answer.warnings)
        with pytest.raises(LilbeeError) as caught:
            bee.search("vec: queen")
        assert said in caught.value.hint


def test_the_doctor_does_not_hang_at_a_silent_server(folder: Path, silent: str) -> None:
    index(folder, embedding_model="openai/words")
    with Lilbee(folder, settings(silent, embedding_model="openai/words")) as bee:
        (check,) = [one for one in bee.doctor.run() if one.name == "embedder"]
    assert not check.ok
    assert "did not answer within 0.2 s" in check.detail


def test_a_server_of_our_own_is_given_its_time_to_load_and_no_more_to_answer() -> None:
    """The limit counts from when the model is loaded; one that cannot be loaded is left alone for a while."""
    clock, loads = ManualClock(), [0]
    broken = threading.Event()

    def load() -> None:
        loads[0] += 1
        if broken.is_set():
            raise ProviderUnavailable("the server of m.gguf ended at once", hint="See `lilbee engine logs embed`.")

    guard = Guard("m.gguf", limit_s=0.2, setting="query_timeout_s", breaker=Breaker(clock), prepare=load)
    assert guard.call(lambda: "vectors") == "vectors"
    stuck = threading.Event()
    with pytest.raises(ProviderUnavailable, match=r"did not answer within 0\.2 s"):
        guard.call(lambda: stuck.wait(20))
    stuck.set()
    clock.advance(30)
    broken.set()
    with pytest.raises(ProviderUnavailable, match="ended at once"):
        guard.call(lambda: "vectors")
    with pytest.raises(ProviderUnavailable, match="asked again in 30 s"):
        guard.call(lambda: "vectors")
    assert loads[0] == 3
    broken.clear()
    clock.advance(30)
    assert [one.text for one in guard.stream(lambda: iter([Delta(kind="text", text="hello")]))] == ["hello"]


def test_an_embedder_of_the_caller_is_called_as_it_is(folder: Path) -> None:
    from lilbee_core.library._waiting import query_embedder

    embedder = HashEmbedder()
    with Lilbee(folder, embedder=embedder) as bee:
        assert query_embedder(bee._parts) is embedder
