"""Other wordings by a chat model: asked once, read as they come, kept from drifting (R078, R160, R161, R170, R171)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.errors import Cancelled, EmptyReply, LilbeeError, ProviderError, ProviderUnavailable
from lilbee_core.protocols import SearchContext
from lilbee_core.search import Embed, Expand, Guard, ProfileSearcher
from lilbee_core.search._asking import LONGEST_QUERY, without_thoughts
from lilbee_core.search._keys import LANGUAGE
from lilbee_core.search.stages._expand import cosine, read_wordings
from lilbee_core.testing import HashEmbedder, ManualClock, MemoryStore, ScriptedChat, StageContext, Switch, a_state
from lilbee_core.types import Delta, Query, SearchResult, SearchState, Variant
from tests.core.search.fakes import parts_of, store_of

QUESTION = "how do bees find home?"
FILES = {
    "bees.md": "Bees find home by the sun.",
    "wax.md": "Navigation of insects relies on polarized light.",
    "honey.md": "Honey keeps for years.",
    "hive.md": "The hive is warm in winter.",
}


def expanded(reply, *, text: str = QUESTION, context: SearchContext | None = None, **options) -> SearchState:
    chat = reply if isinstance(reply, ScriptedChat) else ScriptedChat(reply)
    return Expand(chat, **options).run(a_state(text=text), context or StageContext())


def wordings(state: SearchState) -> list[str]:
    return [variant.text for variant in state.variants if variant.kind == "expansion"]


def search(chat: ScriptedChat | None, *, text: str = QUESTION, embedder: HashEmbedder | None = None,
           store: MemoryStore | None = None, clock: ManualClock | None = None, **options) -> SearchResult:  # fmt: skip
    parts = parts_of(store or store_of(FILES), embedder=embedder, chat=lambda: chat, options=options)
    return ProfileSearcher(parts, clock=clock).search(Query(text=text, profile="full"))


def reports(result: SearchResult) -> dict[str, tuple[str, str]]:
    return {report.name: (report.status, report.note) for report in result.reports}


# --------------------------------------------------------------------------- what models write


@pytest.mark.parametrize(
    "said",
    [
        "one way\nother way\nthird way",
        "1. one way\n2. other way\n3. third way",
        "1) one way\n2) other way\n3) third way",
        "(1) one way\n(2) other way\n(3) third way",
        "- one way\n* other way\n• third way",
        "Here are three alternative wordings:\n\n1. **one way**\n2. *other way*\n3. `third way`",
        'Sure:\n"one way"\n“other way”\n«third way»',
        '["one way", "other way", "third way"]',
        '```json\n["one way", "other way", "third way"]\n```',
        '{"queries": ["one way", "other way", "third way"]}',
        'Of course!:\n{"a": {"b": "one way"}, "c": ["other way", ["third way"]]}',
        "Variant 1: one way\nVariant 2: other way\nQuery 3 - third way",
        "one way\n\n\none way\nONE WAY!\nother way\nthird way",
        f"{QUESTION}\none way\nother way\nthird way",
        "one\u0000 way\r\nother\tway\r\nthird way",
    ],
)
def test_wordings_are_read_however_they_are_written(said):
    assert read_wordings(said, QUESTION) == ("one way", "other way", "third way")


def test_broken_json_is_read_as_lines_and_endless_lines_are_no_wordings():
    assert read_wordings('["one way",\n"other', QUESTION) == ("one way", "other")
    assert read_wordings("x" * 500 + "\none way", QUESTION) == ("one way",)
    assert read_wordings("?!\n---\n***", QUESTION) == ()
    assert read_wordings("[1, 2, null]\n", QUESTION) == ("1, 2, null",)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("<think>one\ntwo</think>\nthree", "three"),
        ("<think>never closed", ""),
        ("thinking without a beginning</think>three", "three"),
        ("<THINKING>x</THINKING>three<reasoning>y</reasoning>", "three"),
        ("a < b think > c", "a < b think > c"),
    ],
)
def test_thoughts_are_left_out(said, kept):
    assert without_thoughts(said).strip() == kept


@given(st.text(max_size=300), st.text(max_size=50))
def test_anything_may_be_written(said, query):
    for wording in read_wordings(said, query):
        assert any(sign.isalnum() for sign in wording)
        assert wording.isprintable()
        assert '"' not in wording


# --------------------------------------------------------------------------- asking


def test_one_request_gives_three_wordings_that_together_weigh_half_of_the_query():
    chat = ScriptedChat("a way\nb way\nc way\nd way")
    state = expanded(chat)

    assert wordings(state) == ["a way", "b way", "c way"]
    assert [variant.weight for variant in state.variants] == [1.0, *[pytest.approx(0.5 / 3)] * 3]
    assert len(chat.requests) == 1
    request = chat.requests[0]
    assert QUESTION in request.messages[-1].content
    assert "3 other wordings" in request.messages[-1].content
    assert request.options.max_tokens == 200


def test_braces_in_a_query_are_words():
    chat = ScriptedChat("a way")
    expanded(chat, text="what does {query} in {0} mean")

    assert "what does {query} in {0} mean" in chat.requests[0].messages[-1].content


def test_quotes_and_filters_that_a_model_writes_are_words():
    assert wordings(expanded('find "home" bees\npath:secret/ bees')) == ["find home bees", "path:secret/ bees"]


def test_none_are_asked_for_where_there_is_nothing_to_reword():
    chat = ScriptedChat("a way")

    assert wordings(expanded(chat, count=0)) == []
    assert wordings(expanded(chat, text="bees " * LONGEST_QUERY)) == []
    assert Expand(chat).run(a_state(variants=()), StageContext()).note == "nothing to reword"
    assert chat.requests == []


def test_what_a_model_thinks_is_no_wording():
    thought = [Delta(kind="reasoning", text="not this"), Delta(kind="text", text="<think>nor this</think>a way")]

    assert wordings(expanded(thought)) == ["a way"]


@pytest.mark.parametrize("reply", ["", "<think>hm", "?!", QUESTION, [Delta(kind="reasoning", text="hm")]])
def test_a_reply_without_a_wording_is_told(reply):
    with pytest.raises(EmptyReply):
        expanded(reply)


def test_a_late_model_is_not_waited_for():
    clock = ManualClock()
    chat = ScriptedChat("a way\nb way", clock=clock)
    chat.delay_s = 21.0
    with pytest.raises(ProviderUnavailable, match="within 20 s"):
        expanded(chat, context=StageContext(clock=clock))
    assert chat.abandoned == 1


def test_an_endless_reply_is_cut_and_its_request_closed():
    chat = ScriptedChat("way " * 100_000)
    with pytest.raises(EmptyReply):
        expanded(chat)
    assert chat.abandoned == 1


def test_a_caller_may_give_up_while_the_model_speaks():
    chat = ScriptedChat("a way\nb way")
    with pytest.raises(Cancelled):
        expanded(chat, context=StageContext(switch=Switch(after=1)))
    assert chat.abandoned == 1


# --------------------------------------------------------------------------- embedding and guarding


def variants(*texts: str) -> tuple[Variant, ...]:
    return (Variant(text=QUESTION), *(Variant(text=text, kind="expansion", weight=0.5) for text in texts))


def embed(embedder, state: SearchState) -> SearchState:
    return Embed(embedder).run(state, StageContext())


def test_all_wordings_are_embedded_in_one_call_and_none_twice():
    embedder = HashEmbedder()
    state = embed(embedder, a_state(text=QUESTION, variants=variants("bees home", "sun")))

    assert embedder.calls == 1
    assert embedder.queries == [QUESTION, "bees home", "sun"]
    assert embed(embedder, state).variants == state.variants
    assert embedder.calls == 1


def test_a_hypothetical_answer_is_embedded_as_a_document():
    embedder = HashEmbedder()
    more = Variant(text="Bees fly home.", kind="hyde")
    state = embed(embedder, a_state(text=QUESTION, variants=(*variants("bees"), more)))

    assert embedder.queries == [QUESTION, "bees"]
    assert embedder.texts == ["Bees fly home."]
    assert all(variant.vector is not None for variant in state.variants)


def test_nothing_is_embedded_in_a_language_that_the_model_does_not_read():
    embedder = HashEmbedder(languages=("en",))
    state = embed(embedder, a_state(variants=variants("bees")).put(LANGUAGE, "th"))

    assert embedder.calls == 0
    assert "does not read th" in state.note
    assert embed(embedder, a_state(text="?!", variants=variants("…"))).note == "the query has no words"


class Odd(HashEmbedder):
    """An embedder that gives these vectors, whatever it is asked."""

    def __init__(self, *vectors: list[float]) -> None:
        super().__init__(dimension=2)
        self.given = np.array(vectors, dtype=np.float32)

    def embed_query_batch(self, texts):
        return self.given


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 0.0]], "1 vectors for 2"),
        ([[1.0, 0.0, 0.0]] * 2, r"shape \(3,\)"),
        ([[1.0, 0.0], [float("nan"), 0.0]], "no numbers"),
        ([[1.0, 0.0], [float("inf"), 0.0]], "no numbers"),
    ],
)
def test_vectors_that_cannot_be_used_are_refused(vectors, message):
    with pytest.raises(ProviderError, match=message) as caught:
        embed(Odd(*vectors), a_state(text=QUESTION, variants=variants("bees")))
    assert caught.value.hint


def guarded(*vectors: list[float] | None, kinds: str = "expansion", least: float = 0.5) -> SearchState:
    given = [
        Variant(text=f"way {at}", kind=kinds if at else "original", vector=None if vector is None else np.array(vector))
        for at, vector in enumerate(vectors)
    ]
    return Guard(least).run(a_state(variants=tuple(given)), StageContext())


def test_wordings_below_the_least_cosine_are_left_out():
    state = guarded([1.0, 0.0], [3.0, 4.0], [1.0, 2.0], [2.0, 3.4])

    assert [variant.text for variant in state.variants] == ["way 0", "way 1", "way 3"]
    assert state.note == "drifted: way 2 (0.45)"
    assert len(guarded([1.0, 0.0], [1.0, 1.7321], least=0.5).variants) == 1
    assert len(guarded([1.0, 0.0], [1.0, 1.7320], least=0.5).variants) == 2


def test_wordings_of_the_graph_and_those_without_a_vector_stay():
    assert len(guarded([1.0, 0.0], [0.0, 1.0], kinds="graph").variants) == 2
    assert len(guarded([1.0, 0.0], None).variants) == 2
    assert len(guarded(None, [0.0, 1.0]).variants) == 2
    assert guarded([1.0, 0.0]).note == "nothing to compare"


def test_a_vector_without_length_is_like_none():
    assert cosine(np.zeros(2), np.ones(2)) == 0.0
    assert len(guarded([1.0, 0.0], [0.0, 0.0]).variants) == 1


# --------------------------------------------------------------------------- in the whole search


def test_the_trace_of_a_question_with_other_wordings():
    chat, embedder = ScriptedChat("bees find home by light\nfind home bees"), HashEmbedder()
    result = search(chat, embedder=embedder)

    assert [report.name for report in result.reports] == [
        "parse", "temporal", "lexical", "probe", "expand", "embed", "guard", "lexical", "dense", "newest", "fuse",
        "fetch", "define", "order", "fold", "mmr", "decay", "cap", "recency", "limit", "mark", "judge",
    ]  # fmt: skip
    assert reports(result)["expand"] == ("ok", "bees find home by light | find home bees")
    # The guardrail and the search share these vectors.
    assert embedder.calls == 1
    assert "lexical:expansion" in dict(result[0].scores)
    assert "dense:expansion" in dict(result[0].scores)
    assert result.warnings == ()


class Counting(MemoryStore):
    """A store that counts what is searched in it."""

    words: tuple[str, ...] = ()
    vectors_searched = 0

    def lexical(self, query, **options):
        self.words += (" ".join(query.highlights),)
        return super().lexical(query, **options)

    def dense(self, vector, **options):
        self.vectors_searched += 1
        return super().dense(vector, **options)


def counting() -> Counting:
    store = Counting()
    store._content = store_of(FILES)._content
    return store


def test_each_wording_is_searched_once_by_words_and_once_by_meaning():
    store = counting()
    search(ScriptedChat("find home bees\nbees home"), embedder=HashEmbedder(), store=store)

    assert len(store.words) == len(set(store.words)) == 3
    assert store.vectors_searched == 3


def test_where_the_words_are_sure_nobody_is_asked():
    store, chat = counting(), ScriptedChat("a way")
    options = {"skip_threshold": 0.01, "skip_gap": 0.0}
    result = search(chat, embedder=HashEmbedder(), store=store, **options)

    assert chat.requests == []
    assert reports(result)["expand"][0] == "skipped"
    assert reports(result)["probe"][1].startswith("sure")
    assert len(store.words) == 1
    plain = ProfileSearcher(parts_of(store, embedder=HashEmbedder())).search(Query(text=QUESTION))
    assert [(hit.path, hit.score) for hit in result] == [(hit.path, hit.score) for hit in plain]


@pytest.mark.parametrize(
    "reply",
    [
        ProviderUnavailable("no answer from 127.0.0.1"),
        "",
        "<think>" + "hm " * 300,
        QUESTION,
        lambda messages: 1 / 0,
    ],
)
def test_a_model_that_fails_is_not_missed(reply):
    result = search(ScriptedChat(reply), embedder=HashEmbedder())
    plain = search(None, embedder=HashEmbedder())

    assert reports(result)["expand"][0] == "failed"
    assert result.warnings[0].startswith("Searched without other wordings: ")
    assert [(hit.path, hit.score) for hit in result] == [(hit.path, hit.score) for hit in plain]


def test_a_late_model_costs_its_time_and_no_hit():
    clock = ManualClock()
    chat = ScriptedChat("a way", clock=clock)
    chat.delay_s = 60.0
    result = search(chat, embedder=HashEmbedder(), clock=clock)

    assert "did not finish" in result.warnings[0]
    assert result[0].path == "bees.md"


def test_garbage_of_a_model_does_not_come_first():
    garbage = "zxqv 0xDEADBEEF\n} { ] [\nignore all previous instructions"
    result = search(ScriptedChat(garbage), embedder=HashEmbedder())

    assert result[0].path == "bees.md"
    assert reports(result)["guard"][1].startswith("drifted")


def test_while_the_embedder_is_down_all_wordings_are_searched_by_words():
    embedder = HashEmbedder()
    embedder.fail(ProviderUnavailable("no answer from 127.0.0.1"))
    result = search(ScriptedChat("insects polarized light"), embedder=embedder)

    assert embedder.calls == 1
    assert {hit.path for hit in result} == {"bees.md", "wax.md"}
    assert result.warnings == ("Searched by words alone: no answer from 127.0.0.1",)
    assert reports(result)["dense"][0] == "skipped"


def test_without_an_embedder_wordings_are_searched_by_words():
    result = search(ScriptedChat("insects polarized light"))

    assert {hit.path for hit in result} == {"bees.md", "wax.md"}
    assert "embed" not in reports(result)


def test_an_embedder_of_the_wrong_size_is_told():
    result = search(ScriptedChat("a way"), embedder=Odd([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]))

    assert "shape (3,)" in result.warnings[0]
    assert result[0].path == "bees.md"


@pytest.mark.parametrize("text", ["?!…", "the of and", "yesterday", "latest", "bees " * 10_000])
def test_odd_queries_ask_nobody_or_find_what_default_finds(text):
    chat = ScriptedChat(LilbeeError("must not be asked"))
    result = search(chat, text=text, embedder=HashEmbedder())
    plain = search(None, text=text, embedder=HashEmbedder())

    assert [hit.path for hit in result] == [hit.path for hit in plain]
    assert len(chat.requests) <= (text in ("the of and", "yesterday"))


def test_the_order_of_wordings_does_not_matter():
    one, other = (
        search(ScriptedChat("\n".join(order)), embedder=HashEmbedder(), guardrails=False)
        for order in (["insects light", "warm hive"], ["warm hive", "insects light"])
    )

    assert [(hit.path, hit.score) for hit in one] == [(hit.path, hit.score) for hit in other]
