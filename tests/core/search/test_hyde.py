"""A hypothetical answer to search with (R164, R173)."""

from __future__ import annotations

import pytest

from lilbee_core.errors import EmptyReply, ProviderUnavailable, SearchError
from lilbee_core.search import Hyde, ProfileSearcher
from lilbee_core.testing import HashEmbedder, ScriptedChat, StageContext, a_state
from lilbee_core.types import Query, SearchResult
from tests.core.search.fakes import parts_of, store_of

QUESTION = "how do bees find home?"
PASSAGE = "Navigation of insects relies on polarized light."
FILES = {
    "bees.md": "Bees find home by the sun.",
    "light.md": PASSAGE,
    "honey.md": "Honey keeps for years.",
}


def search(text: str, chat: ScriptedChat | None, *, embedder: HashEmbedder | None = None, **options) -> SearchResult:
    parts = parts_of(store_of(FILES), embedder=embedder, chat=lambda: chat, options=options)
    return ProfileSearcher(parts).search(Query(text=text))


def status(result: SearchResult) -> dict[str, str]:
    return {report.name: report.status for report in result.reports}


def test_a_passage_is_asked_for_and_searched_beside_the_query():
    chat = ScriptedChat(f"<think>Bees.</think>\n{PASSAGE}\n")
    state = Hyde(chat).run(a_state(text=QUESTION), StageContext())

    assert [(one.text, one.kind, one.weight) for one in state.variants] == [
        (QUESTION, "original", 1.0),
        (PASSAGE, "hyde", 0.7),
    ]
    assert state.note == PASSAGE
    request = chat.requests[0].messages[-1].content
    assert QUESTION in request
    assert "50 to 100 words" in request


def test_a_passage_that_does_not_end_is_cut():
    state = Hyde(ScriptedChat("bee " * 4_000)).run(a_state(text=QUESTION), StageContext())

    assert len(state.variants[1].text.split()) == 150


def test_nobody_is_asked_without_words():
    chat = ScriptedChat(PASSAGE)
    for state in (a_state(text="?!"), a_state(variants=()), a_state(text="bees " * 1_000)):
        assert Hyde(chat).run(state, StageContext()).variants == state.variants
    assert chat.requests == []


def test_the_prefix_searches_with_the_passage_by_meaning_alone():
    embedder = HashEmbedder()
    result = search(f"hyde: {QUESTION}", ScriptedChat(PASSAGE), embedder=embedder)

    assert result.query.profile == "hyde"
    assert result.query.text == f"hyde: {QUESTION}"
    assert {hit.path for hit in result} >= {"bees.md", "light.md"}
    scores = {hit.path: dict(hit.scores) for hit in result}
    assert "dense:hyde" in scores["light.md"]
    assert not any("lexical:hyde" in named for named in scores.values())
    assert (embedder.queries, embedder.texts) == ([QUESTION], [PASSAGE])
    assert {report.name: report.note for report in result.reports}["fuse"].endswith("x 0.7")


@pytest.mark.parametrize(
    ("chat", "embedder", "missing"),
    [(None, HashEmbedder(), "chat model"), (ScriptedChat(PASSAGE), None, "embedding model")],
)
def test_without_a_model_the_prefix_is_a_clear_error(chat, embedder, missing):
    with pytest.raises(SearchError, match=missing) as caught:
        search(f"hyde: {QUESTION}", chat, embedder=embedder)
    assert "hyde:" in caught.value.hint


@pytest.mark.parametrize("reply", [ProviderUnavailable("no answer from 127.0.0.1"), "", "<think>hm"])
def test_a_model_that_fails_leaves_the_search_as_it_is(reply):
    result = search(f"hyde: {QUESTION}", ScriptedChat(reply), embedder=HashEmbedder())

    assert status(result)["hyde"] == "failed"
    assert result.warnings[0].startswith("Searched without a hypothetical answer: ")
    assert result[0].path == "bees.md"


def test_an_empty_passage_is_told():
    with pytest.raises(EmptyReply):
        Hyde(ScriptedChat("")).run(a_state(text=QUESTION), StageContext())
