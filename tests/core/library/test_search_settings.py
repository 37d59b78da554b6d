"""Each setting of the query side reaches its stage through a whole library (R281, R285, R286, R288)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

import pytest

from lilbee_core.library import Lilbee
from lilbee_core.settings import Settings
from lilbee_core.testing import HashEmbedder, ScriptedChat, open_test_library
from lilbee_core.types import Delta, Message, SearchResult

FILES = {
    "bees.md": "---\ndate: 2024-03-05\n---\nBees find home by the sun.\n",
    "honey.md": "---\ndate: 2024-04-01\n---\nHoney keeps for years when sealed.\n",
    "wax.md": "---\ndate: 2020-01-01\n---\nWax candles smell of summer.\n",
}
QUESTION = "do bees find home"


def reply(wording: str) -> ScriptedChat:
    """Return a chat model with this one wording, which answers and writes passages as well."""

    def said(messages: Sequence[Message]) -> str:
        asked = messages[-1].content
        if "other wordings" in asked:
            return wording
        return "Wax candles smell of summer." if "50 to 100 words" in asked else "Home [1]."

    return ScriptedChat(said)


@contextmanager
def library(chat: ScriptedChat | None = None, **settings: object) -> Generator[Lilbee]:
    # So wide that words do not share a direction by chance.
    embedder = HashEmbedder(dimension=2048)
    with open_test_library(files=FILES, settings=Settings().changed(settings), embedder=embedder, chat=chat) as bee:
        yield bee


def trace(result: SearchResult) -> dict[str, str]:
    """Return the note of each stage; of one that ran twice, the second."""
    return {report.name: report.note for report in result.reports}


def full(chat: ScriptedChat, text: str = QUESTION, **settings: object) -> SearchResult:
    with library(chat, **settings) as bee:
        return bee.search(text, profile="full")


def test_adaptive_threshold():
    with library() as fixed, library(adaptive_threshold=True) as adaptive:
        assert [hit.path for hit in fixed.search("vec: bees home", top_k=2)] == ["bees.md"]
        result = adaptive.search("vec: bees home", top_k=2)
        assert len(result) == 2
        assert trace(result)["distance"] == "1.1 after 1 step"


def test_adaptive_threshold_step():
    with library(adaptive_threshold=True, adaptive_threshold_step=0.5) as bee:
        assert trace(bee.search("vec: bees home", top_k=2))["distance"] == "1.4 after 1 step"


def test_max_distance():
    with library(max_distance=1.0) as bee:
        assert len(bee.search("vec: bees home")) == 3


@pytest.mark.parametrize(("count", "asked"), [(0, 0), (2, 1)])
def test_query_expansion_count(count, asked):
    chat = reply("one way home of bees\nanother way home of bees\nthird way home of bees")
    result = full(chat, query_expansion_count=count)

    assert len(chat.requests) == asked
    assert trace(result).get("expand", "").count("|") == max(0, count - 1)
    assert all(f"{count} other wordings" in request.messages[-1].content for request in chat.requests)


def test_expansion_skip_threshold():
    chat = reply("bees home")
    assert trace(full(chat, expansion_skip_threshold=0.0, expansion_skip_gap=0.0))["probe"].startswith("sure")
    assert chat.requests == []
    assert trace(full(chat, expansion_skip_threshold=1.0, expansion_skip_gap=0.0))["probe"].startswith("not sure")
    assert len(chat.requests) == 1


def test_expansion_skip_gap():
    chat = reply("bees home")
    assert trace(full(chat, expansion_skip_threshold=0.0, expansion_skip_gap=1.0))["probe"].startswith("not sure")
    assert len(chat.requests) == 1


@pytest.mark.parametrize("guardrails", [True, False])
def test_expansion_guardrails(guardrails):
    result = full(reply("wax candles smell"), expansion_guardrails=guardrails)

    assert trace(result).get("guard", "").startswith("drifted") is guardrails
    assert any("dense:expansion" in dict(hit.scores) for hit in result) is not guardrails


@pytest.mark.parametrize(("least", "kept"), [(0.9, False), (0.2, True)])
def test_expansion_similarity_threshold(least, kept):
    result = full(reply("bees find candles"), expansion_similarity_threshold=least)

    assert trace(result)["guard"].startswith("all are near" if kept else "drifted: bees find candles (0.")
    assert any("dense:expansion" in dict(hit.scores) for hit in result) is kept


@pytest.mark.parametrize("hyde", [True, False])
def test_hyde(hyde):
    chat = reply("bees find home")
    result = full(chat, hyde=hyde)

    assert len(chat.requests) == 1 + hyde
    assert any("dense:hyde" in dict(hit.scores) for hit in result) is hyde


def test_hyde_weight():
    result = full(reply("bees find home"), hyde=True, hyde_weight=0.25, query_expansion_count=0)

    assert "x 0.25" in trace(result)["fuse"]
    assert "x 0.7" in trace(full(reply(""), hyde=True, query_expansion_count=0))["fuse"]


@pytest.mark.parametrize("on", [True, False])
def test_temporal_filtering(on):
    with library(temporal_filtering=on) as bee:
        result = bee.search("home or honey on 2024-03-05")

    assert result.query.filters.after == ("2024-03-05" if on else None)
    assert ([hit.path for hit in result] == ["bees.md"]) is on


def test_decay_half_life_days():
    with library(decay_half_life_days=0) as off, library(decay_half_life_days=10_000) as slow:
        plain, aged = (bee.search("bees find home", profile="memory") for bee in (off, slow))

    assert trace(plain)["decay"] == "switched off"
    assert trace(aged)["decay"] == "half-life 10000 days"
    assert 0 < dict(aged[0].scores)["decay"] < 1


@pytest.mark.parametrize("shown", [True, False])
def test_show_reasoning(shown):
    chat = ScriptedChat([Delta(kind="reasoning", text="Let me see."), Delta(kind="text", text="By the sun [1].")])
    with library(chat, show_reasoning=shown, query_expansion_count=0) as bee:
        kinds = [delta.kind for delta in bee.ask_stream("bees find home by the sun")]

    assert ("reasoning" in kinds) is shown
    assert kinds[-1] == "done"


def test_questions_ask_for_wordings_and_searches_never_do():
    chat, embedder = reply("home of the bees"), HashEmbedder()
    with open_test_library(files=FILES, embedder=embedder, chat=chat) as bee:
        bee.search(QUESTION)
        bee.search(QUESTION, profile="memory")
        assert chat.requests == []
        answer = bee.ask(QUESTION)

    assert answer.trace is not None
    assert answer.trace.query.profile == "full"
    assert ["other wordings" in request.messages[-1].content for request in chat.requests] == [True, False]


def test_without_a_chat_model_and_a_graph_full_is_default():
    with library(concepts=False) as bee:
        one, other = bee.search(QUESTION, profile="full"), bee.search(QUESTION)

    assert list(trace(one)) == list(trace(other))
    assert [(hit.path, hit.score) for hit in one] == [(hit.path, hit.score) for hit in other]
