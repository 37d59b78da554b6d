"""Roles over the fleet: texts cut to fit, failures told in our words, requests that find another server (R077, R094,
R095, R140, R141)."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from lilbee_core.errors import ProviderError, ProviderUnavailable
from lilbee_core.fleet import Fleet, FleetChat, FleetEmbedding, FleetOptions, FleetRerank, FleetVision
from lilbee_core.fleet._cutting import cut, cut_pairs, may_be_too_long
from lilbee_core.library._fleet import fleet_model
from lilbee_core.protocols import Endpoint
from lilbee_core.settings import Settings
from lilbee_core.types import Delta, Message, ModelRef
from tests.core.fleet.test_fleet import World, alive, pids, wait_until
from tests.support.fleets import ScriptedProbe
from tests.support.llama_server import vector_of

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script"),
    pytest.mark.slow,
]
SETTINGS = Settings().changed({"request_timeout_s": 10.0, "connect_timeout_s": 2.0})
FAST = FleetOptions(idle_ttl_s=0)


MADE: list[object] = []
"""The models of the present test, to be closed with it."""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    while MADE:
        MADE.pop().close()  # type: ignore[attr-defined]
    world.close()


def made(fleet: Fleet, role: str, model: str) -> object:
    MADE.append(fleet_model(lambda: fleet, role, ModelRef("gguf", model), SETTINGS))
    return MADE[-1]


def embedding(fleet: Fleet, model: str = "embed.gguf") -> FleetEmbedding:
    found = made(fleet, "embed", model)
    assert isinstance(found, FleetEmbedding)
    return found


def reranking(fleet: Fleet, model: str = "rerank.gguf") -> FleetRerank:
    found = made(fleet, "rerank", model)
    assert isinstance(found, FleetRerank)
    return found


def chatting(fleet: Fleet, model: str = "chat.gguf") -> FleetChat:
    found = made(fleet, "chat", model)
    assert isinstance(found, FleetChat)
    return found


def said(deltas: Iterator[Delta]) -> str:
    return "".join(delta.text for delta in deltas)


def user(text: str) -> list[Message]:
    return [Message(role="user", content=text)]


class TestEmbedding:
    def test_vectors_come_raw_and_in_order(self, world: World) -> None:
        model = embedding(world.fleet(world.server("embed")))
        rows = model.embed(["one", "two", "three"])
        assert np.allclose(rows, [vector_of(text) for text in ("one", "two", "three")], atol=1e-5)
        assert model.embed([]).shape[0] == 0

    def test_a_long_text_is_cut_and_its_neighbors_are_not(self, world: World) -> None:
        model = embedding(world.fleet(world.server("embed", context_tokens=32, ubatch_tokens=32)))
        long = " ".join(f"w{number}" for number in range(400))
        dense = " ".join("abcdefghij"[number % 10] for number in range(60))  # short in characters, long in tokens
        rows = model.embed(["short", long, dense])
        assert np.allclose(rows[0], vector_of("short"), atol=1e-5)
        assert not np.allclose(rows[1], vector_of(long), atol=1e-5)
        assert any(np.allclose(rows[1], vector_of(" ".join(long.split()[:kept])), atol=1e-5) for kept in range(10, 31))

    def test_a_batch_is_shared_among_the_servers(self, world: World) -> None:
        file = world.model("embed.gguf", slow_s=0.05)
        fleet = world.fleet(*(world.server("embed", file, replica=number) for number in range(3)), options=FAST)
        model = embedding(fleet)
        texts = [f"text {number}" for number in range(50)]
        for _ in range(3):
            rows = model.embed(texts)
            wait_until(lambda: all(one.state != "starting" for one in fleet.status()))
        assert np.allclose(rows, [vector_of(text) for text in texts], atol=1e-5)
        assert [one.state for one in fleet.status()] == ["ready"] * 3

    def test_another_model_than_the_fleets_is_refused(self, world: World) -> None:
        model = embedding(world.fleet(world.server("embed")), "other.gguf")
        with pytest.raises(ProviderError, match=r"this fleet serves embed\.gguf") as caught:
            model.embed(["x"])
        assert caught.value.code == "fleet.wrong_model"

    def test_a_server_that_does_not_start_is_an_error_of_the_model(self, world: World) -> None:
        model = embedding(world.fleet(world.server("embed", world.model("embed.gguf", die="out of memory"))))
        with pytest.raises(ProviderError, match="out of memory") as caught:
            model.embed(["x"])
        assert caught.value.code == "fleet.out_of_memory"
        assert caught.value.hint

    def test_a_text_that_crashes_the_server_fails_alone(self, world: World) -> None:
        model = embedding(world.fleet(world.server("embed", world.model("embed.gguf", crash_on="poison"))))
        with pytest.raises(ProviderUnavailable, match="GGML_ASSERT") as caught:
            model.embed(["poison"])
        assert caught.value.code == "fleet.died"
        assert len(model.embed(["fine"])) == 1

    @pytest.mark.parametrize("replicas", [1, 2])
    def test_requests_recover_when_a_server_is_killed_under_traffic(self, world: World, replicas: int) -> None:
        file = world.model("embed.gguf", slow_s=0.01)
        servers = [world.server("embed", file, replica=number) for number in range(replicas)]
        fleet = world.fleet(*servers, options=FAST, watch=True)
        model = embedding(fleet)
        model.embed(["warm"])
        failures: list[BaseException] = []
        done = threading.Event()

        def traffic() -> None:
            while not done.is_set():
                try:
                    assert np.allclose(model.embed(["a", "b"]), [vector_of("a"), vector_of("b")], atol=1e-5)
                except BaseException as error:  # noqa: BLE001 - the test shows it
                    failures.append(error)
                    return

        threads = [threading.Thread(target=traffic) for _ in range(8)]
        for thread in threads:
            thread.start()
        killed = [pids(fleet)["embed-0"]]
        os.kill(killed[0], signal.SIGKILL)
        wait_until(lambda: pids(fleet).get("embed-0") not in (None, killed[0]))
        done.set()
        for thread in threads:
            thread.join()
        assert failures == []
        fleet.close()
        assert world.left() == []

    def test_fifty_threads_on_two_replicas(self, world: World) -> None:
        file = world.model("embed.gguf", slow_s=0.01)
        fleet = world.fleet(*(world.server("embed", file, replica=number) for number in range(2)), options=FAST)
        model = embedding(fleet)
        wrong: list[str] = []

        def work(number: int) -> None:
            text = f"text {number}"
            right = [np.allclose(model.embed([text])[0], vector_of(text), atol=1e-5) for _ in range(4)]
            wrong.extend([] if all(right) else [text])

        threads = [threading.Thread(target=work, args=(number,)) for number in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert [one.in_flight for one in fleet.status()] == [0, 0]
        wait_until(lambda: [one.state for one in fleet.status()] == ["ready", "ready"])


class TestReranking:
    def test_scores_are_probabilities_in_the_order_of_the_texts(self, world: World) -> None:
        model = reranking(world.fleet(world.server("rerank")))
        scores = model.rank("bees in may", ["boats", "bees in may swarm", "bees"])
        assert [round(score, 4) for score in scores] == [0.2689, 0.8808, 0.5]
        assert model.rank("x", []) == ()

    def test_what_is_too_long_is_cut_to_what_fits_with_the_query(self, world: World) -> None:
        model = reranking(world.fleet(world.server("rerank", context_tokens=32, ubatch_tokens=32)))
        long = "bees " + " ".join(f"w{number}" for number in range(300))
        assert model.rank("bees", [long, "boats"])[0] == pytest.approx(0.5)
        dense = "bees " + " ".join("abcdefghij"[number % 10] for number in range(60))
        assert model.rank("bees", [dense])[0] == pytest.approx(0.5)
        assert len(model.rank(" ".join(f"q{number}" for number in range(100)), ["bees"])) == 1


class TestChat:
    def test_a_reply_comes_piece_by_piece(self, world: World) -> None:
        model = chatting(world.fleet(world.server("chat")))
        assert said(model.chat(user("good morning bees"))) == "You said: good morning bees"
        assert model.context_tokens == 512

    def test_a_reply_nobody_wants_frees_the_server(self, world: World) -> None:
        fleet = world.fleet(world.server("chat", world.model("chat.gguf", slow_s=0.01)))
        with closing(chatting(fleet).chat(user("one two three four"))) as reply:
            next(reply)
            assert fleet.status()[0].in_flight == 1
        assert fleet.status()[0].in_flight == 0

    def test_a_server_that_dies_in_the_middle_ends_the_reply_with_an_error(self, world: World) -> None:
        model = chatting(world.fleet(world.server("chat", world.model("chat.gguf", die_on="three"))))
        heard: list[str] = []
        with pytest.raises(ProviderUnavailable, match="ended") as caught:
            heard.extend(delta.text for delta in model.chat(user("one two three four")))
        assert caught.value.hint
        assert said(model.chat(user("fine"))) == "You said: fine"

    def test_a_server_that_died_before_is_asked_again(self, world: World) -> None:
        fleet = world.fleet(world.server("chat"))
        model = chatting(fleet)
        said(model.chat(user("x")))
        pid = pids(fleet)["chat-0"]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not alive(pid))
        assert said(model.chat(user("hello"))) == "You said: hello"
        assert fleet.status()[0].starts == 2

    def test_waiting_for_a_model_that_does_not_load(self, world: World) -> None:
        model = chatting(world.fleet(world.server("chat", world.model("chat.gguf", die="bad magic"))))
        with pytest.raises(ProviderError, match="bad magic"):
            model.wait_ready()
        assert chatting(world.fleet(world.server("embed"))).context_tokens is None


class TestVision:
    def test_a_page_is_read(self, world: World) -> None:
        fleet = world.fleet(world.server("vision"))
        model = made(fleet, "vision", "vision.gguf")
        assert isinstance(model, FleetVision)
        assert model.read(b"\x89PNG", prompt="what?").startswith("You said:")
        model.close()


class Tokens(ScriptedProbe):
    """One token for each character."""

    def tokens(self, endpoint: Endpoint, text: str) -> int:
        return len(text) + 2


class Deaf(ScriptedProbe):
    def tokens(self, endpoint: Endpoint, text: str) -> int:
        raise OSError("HTTP 404")


HERE = Endpoint(base_url="http://127.0.0.1:1/v1", context_tokens=100)


class TestCutting:
    @pytest.mark.parametrize("make", [ScriptedProbe, Tokens])
    @pytest.mark.parametrize("text", ["", "word", "word " * 500, "x" * 10_000, "é" * 1000, " " * 500])
    def test_what_is_left_fits_and_is_the_beginning(self, make: Callable[[], ScriptedProbe], text: str) -> None:
        probe = make()
        kept = cut(text, HERE, probe)
        assert text.startswith(kept)
        assert probe.tokens(HERE, kept) <= 100
        if probe.tokens(HERE, text) <= 100 and len(text) < 1000:
            assert kept == text

    @pytest.mark.parametrize("query", ["q", "q " * 30, "q " * 400])
    def test_pairs_fit_together(self, query: str) -> None:
        probe = ScriptedProbe()
        kept, texts = cut_pairs(query, ["short", "word " * 500], HERE, probe)
        assert query.startswith(kept)
        assert all(probe.tokens(HERE, kept) + probe.tokens(HERE, text) <= 100 for text in texts)

    def test_only_long_texts_are_counted_beforehand(self) -> None:
        assert not may_be_too_long("x" * 300, HERE)
        assert may_be_too_long("x" * 400, HERE)

    def test_a_server_that_does_not_count_is_an_error(self) -> None:
        with pytest.raises(ProviderUnavailable, match="HTTP 404"):
            cut("word " * 500, HERE, Deaf())
