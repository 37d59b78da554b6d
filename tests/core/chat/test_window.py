"""What of a request fits a chat model (R153-R158)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.chat import ToolBox, ToolLoop, Window, WindowedChat, message_tokens
from lilbee_core.errors import ProviderError
from lilbee_core.testing import ScriptedChat, open_test_library
from lilbee_core.testing.contracts import ChatProviderContract
from lilbee_core.types import AssembledRequest, ChatOptions, Delta, Message, Tool, ToolCall


class TestWindowedContract(ChatProviderContract):
    def make(self) -> WindowedChat:
        return WindowedChat(ScriptedChat("Bees make it."), context=lambda: 4096)


class TestToolLoopContract(ChatProviderContract):
    def make(self) -> ToolLoop:
        return ToolLoop(ScriptedChat("Bees make it."), ToolBox(run={}))


SYSTEM = Message(role="system", content="Be brief.")


def user(text: str) -> Message:
    return Message(role="user", content=text)


def assistant(text: str) -> Message:
    return Message(role="assistant", content=text)


def test_the_budget_is_what_is_served_less_the_reply_and_a_margin() -> None:
    """R153."""
    window = Window(context_tokens=4000, reserve_tokens=700, margin_tokens=50)
    assert window.budget() == 4000 - 700 - 50
    assert window.budget(300) == 4000 - 300 - 50
    assert window.budget(10_000) == 4000 - 2000 - 50, "the reply never gets more than half"


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog, and nobody knows why it does so every morning.",
        "def weigh(hive):\n    return sum(frame.weight for frame in hive.frames if frame is not None)\n",
        "Die Bienenkönigin verlässt im Mai den Stock und nimmt die Hälfte des Volkes mit.",
        "蜂王在五月离开蜂箱，带走一半的蜂群。",
        "Пчелиная матка покидает улей в мае.",
        "2026-03-14,17.5,Avocet,1911,grey,(1) [2] {3}\n" * 5,
    ],
)
def test_a_message_is_taken_for_longer_than_it_is(text: str) -> None:
    """R156: three characters a token and more for other scripts; real tokenizers need less."""
    from lilbee_core.embed import MiniLM

    assert message_tokens(user(text)) >= MiniLM.load().count_tokens(text) + 4
    assert message_tokens(user("x" * 300)) >= 100 + 1


def test_the_oldest_turns_leave_first_and_the_newest_stays() -> None:
    """R154."""
    turns = [one for at in range(10) for one in (user(f"question {at} " + "x" * 300), assistant(f"answer {at}"))]
    messages = [SYSTEM, *turns, user("newest")]
    request = Window(context_tokens=1024, reserve_tokens=200).fit(messages)
    assert request.tokens <= request.budget
    assert request.messages[0] == SYSTEM
    assert request.messages[-1].content == "newest"
    assert request.messages[1].role == "user"
    assert (*request.dropped, *request.messages[1:]) == (*turns, user("newest")), "what left is not what was oldest"
    assert Window(context_tokens=100_000).fit(messages).dropped == ()


def test_pinned_messages_stay() -> None:
    pinned = Message(role="user", content="a summary", pinned=True)
    turns = [one for at in range(9) for one in (user("x" * 300), assistant("y" * 300))]
    request = Window(context_tokens=800, reserve_tokens=100).fit([SYSTEM, pinned, *turns, user("newest")])
    assert request.dropped
    assert request.messages[:2] == (SYSTEM, pinned)


def test_results_of_tools_leave_with_their_calls() -> None:
    """R155."""
    call = ToolCall(id="a", name="search")
    turn = [
        user("first " + "x" * 600),
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", content="y" * 600, tool_call_id="a"),
        assistant("done"),
    ]
    request = Window(context_tokens=500, reserve_tokens=100).fit([*turn, user("newest")])
    assert [one.role for one in request.messages] == ["user"]
    in_the_midst = [SYSTEM, *turn, user("now"), turn[1], turn[2]]
    kept = Window(context_tokens=600, reserve_tokens=100).fit(in_the_midst)
    assert [one.role for one in kept.messages] == ["system", "user", "assistant", "tool"]
    assert kept.dropped == tuple(turn)


def fitted(window: Window, messages: list[Message]) -> AssembledRequest | None:
    try:
        return window.fit(messages)
    except ProviderError as error:
        if error.code != "provider.context_overflow":
            raise
        return None


MESSAGES = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["user", "assistant", "tool", "system"]),
        content=st.text(max_size=400),
        pinned=st.booleans(),
    ),
    max_size=30,
)


@given(messages=MESSAGES, context=st.integers(min_value=64, max_value=4000))
def test_whatever_is_asked_fits_or_is_refused(messages: list[Message], context: int) -> None:
    """R154, R155, R157: nothing is changed or moved, and a result of a tool never comes without what was before it."""
    window = Window(context_tokens=context, reserve_tokens=context // 4)
    newest = next((at for at in reversed(range(len(messages))) if messages[at].role == "user"), None)
    request = fitted(window, messages)
    if request is None:
        return
    assert sum(map(message_tokens, request.messages)) == request.tokens <= request.budget
    left = iter(messages)
    assert all(any(one is kept for one in left) for kept in request.messages), "the order is another one"
    assert all(one in request.messages for one in messages if one.role == "system" or one.pinned)
    if newest is not None:
        assert all(one in request.messages for one in messages[newest:])
    loose = [one for one in request.messages if one.role != "system" and not one.pinned]
    if request.dropped and loose:
        assert loose[0].role == "user", "a turn was cut in two"


def test_what_can_never_fit_is_refused() -> None:
    """R157."""
    window = Window(context_tokens=512, reserve_tokens=100)
    tool = Tool(name="search", description="x" * 3000)
    for messages, options in (
        ([user("x" * 3000)], ChatOptions()),
        ([Message(role="system", content="x" * 3000), user("hello")], ChatOptions()),
        ([user("hello")], ChatOptions(tools=(tool,))),
    ):
        with pytest.raises(ProviderError, match="CONTEXT_OVERFLOW") as caught:
            window.fit(messages, options)
        assert caught.value.code == "provider.context_overflow"
        assert "512" in caught.value.message


def test_a_chat_model_is_sent_what_fits_and_its_requests_are_recorded() -> None:
    """R158, R338."""
    inner, seen = ScriptedChat("Yes."), list[AssembledRequest]()
    chat = WindowedChat(inner, context=lambda: 600, reserve_tokens=100).recording(seen.append)
    turns = [one for at in range(5) for one in (user("x" * 500), assistant("y"))]
    assert "".join(one.text for one in chat.chat([*turns, user("newest")])) == "Yes."
    (request,) = seen
    assert inner.requests[0].messages == request.messages
    assert request.dropped
    assert request.context_tokens == 600
    assert request.to_dict()["tokens"] == request.tokens


def test_where_nobody_knows_how_much_is_read_a_default_holds() -> None:
    assert WindowedChat(ScriptedChat(), context=lambda: None, default_context=2000).window().context_tokens == 2000


def test_a_reply_without_end_is_ended() -> None:
    class Endless:
        closed = False
        pieces = 0

        def chat(self, messages: object, options: object = None) -> object:
            try:
                for _ in range(100_000):
                    self.pieces += 1
                    yield Delta(kind="text", text="and on ")
            finally:
                self.closed = True

    inner = Endless()
    chat = WindowedChat(inner, context=lambda: 1000)  # type: ignore[arg-type]
    pieces: list[Delta] = []
    with pytest.raises(ProviderError) as caught:
        pieces.extend(chat.chat([user("go")], ChatOptions(max_tokens=50)))
    assert caught.value.code == "provider.endless_reply"
    assert inner.closed
    assert inner.pieces * len("and on ") <= 50 * 12 + 20


def test_every_chat_call_of_a_library_is_windowed() -> None:
    """R158: asking and searching with rewordings, not conversations alone."""
    chat = ScriptedChat("Bees build with wax [1].")
    files = {f"bees-{at}.md": f"Bees {at} build combs with wax. " + "Wax is soft and yellow. " * 60 for at in range(6)}
    with open_test_library(files=files, chat=chat) as bee:
        bee.config.set("num_ctx", 2048)
        answer = bee.ask("What do bees build combs with?")
    assert answer.citations
    for request in chat.requests:
        assert sum(map(message_tokens, request.messages)) <= 2048
    assert any("did not fit" in warning for warning in answer.warnings)


def test_a_question_that_is_too_long_says_so() -> None:
    with open_test_library(files={"bees.md": "Bees build combs with wax."}, chat=ScriptedChat("x")) as bee:
        bee.config.set("num_ctx", 512)
        bee.config.set("query_expansion_count", 0)
        with pytest.raises(ProviderError):
            bee.ask("What do bees build? " + "combs wax bees " * 400)
