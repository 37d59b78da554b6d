"""Long conversations are summarized, and lose nothing (R339-R354)."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta, timezone

import pytest

from lilbee_core.chat import moment, next_cutoff
from lilbee_core.conversations import SUMMARIZING
from lilbee_core.errors import EmptyReply, InvalidArgument, ProviderUnavailable
from lilbee_core.testing import ScriptedChat
from lilbee_core.types import Compaction, ConversationMessage, Delta, Message, ReplyState, Usage
from tests.core.conversations._world import World, check_alternation, is_summary_request

SUMMARY = "SUMMARY: they spoke of the bridge."


def says(messages: list[Message]) -> str:
    return SUMMARY if is_summary_request(messages) else "It was built in 1911 [1]."


def a_world(**more: object) -> tuple[World, ScriptedChat]:
    chat = ScriptedChat(says)  # type: ignore[arg-type]
    return World(chat, **more), chat  # type: ignore[arg-type]


def talk(world: World, turns: int, size: int = 0) -> object:
    conversation = world.create()
    for at in range(turns):
        conversation.send(f"When was the Avocet bridge number {at} built? " + "x " * size)
    return conversation


def summaries(chat: ScriptedChat) -> list[str]:
    return [one.messages[0].content for one in chat.requests if is_summary_request(one.messages)]


def test_the_summary_is_sent_instead_and_the_messages_are_kept() -> None:
    """R339, R341: the summary stands beside the messages, which stay as they were."""
    world, chat = a_world(percent=0)
    conversation = talk(world, 4)
    before = conversation.messages
    compaction = conversation.compact()
    assert compaction.summary == SUMMARY
    assert conversation.messages == before
    conversation.send("And the tower?")
    sent = chat.requests[-1].messages
    assert any(SUMMARY in one.content for one in sent)
    assert not any("number 0 built" in one.content for one in sent), "a summarized turn is sent as well"
    assert any("number 3 built" in one.content for one in sent), "the latest turn was to be left as it is"
    assert all(one.role in ("user", "assistant") for one in conversation.messages)


def test_kept_messages_stand_behind_a_divider() -> None:
    """R340."""
    world, _ = a_world(percent=0)
    conversation = talk(world, 4)
    conversation.compact()
    assert conversation.summarized == 6
    assert conversation.to_dict()["summarized"] == 6
    transcript = conversation.export()
    above, _, below = transcript.partition(SUMMARY)
    assert all(f"number {at} built" in above for at in range(3))
    assert "number 3 built" in below


def test_a_summary_goes_out_as_two_turns() -> None:
    """R342: one turn alone breaks templates that want roles to take turns, or the user to begin."""
    world, chat = a_world(percent=0)
    conversation = talk(world, 3)
    conversation.compact()
    conversation.send("And the tower?")
    sent = chat.requests[-1].messages
    check_alternation(sent)
    assert [(one.role, one.pinned) for one in sent[1:3]] == [("user", True), ("assistant", True)]
    assert SUMMARY in sent[1].content


def message(id_: str, role: str, state: ReplyState = ReplyState.DONE) -> ConversationMessage:
    return ConversationMessage(id=id_, role=role, content=id_, created_at="2026-03-14T12:00:00+00:00", state=state)


def test_the_end_lies_behind_a_finished_reply() -> None:
    """R343: what is kept begins with what the user says."""
    turns = [message("1", "user"), message("2", "assistant"), message("3", "user"), message("4", "assistant")]
    assert next_cutoff(turns, start=0, keep_turns=0) == 4
    assert next_cutoff(turns, start=0, keep_turns=1) == 2
    assert next_cutoff(turns, start=2, keep_turns=1) == 2, "there is nothing new"
    unanswered = [*turns, message("5", "user")]
    assert next_cutoff(unanswered, start=0, keep_turns=0) == 4
    being_written = [*unanswered, message("6", "assistant", ReplyState.PARTIAL)]
    assert next_cutoff(being_written, start=0, keep_turns=0) == 4


def test_an_end_that_names_no_message_stands_for_nothing() -> None:
    """R344: the id is checked on every read."""
    world, chat = a_world(percent=0)
    conversation = talk(world, 3)
    compaction = conversation.compact()
    journal = conversation._journal
    for bad in ("gone", "", conversation.messages[0].id):
        broken = Compaction(summary=SUMMARY, through_id=bad)
        journal.change(conversation.id, lambda info, broken=broken: _with(info, broken))
        assert conversation.summarized == 0
        conversation.send("And the tower?")
        sent = chat.requests[-1].messages
        assert not any(SUMMARY in one.content for one in sent)
        assert any("number 0 built" in one.content for one in sent)
    journal.change(conversation.id, lambda info: _with(info, compaction))
    assert conversation.summarized == 4


def _with(info: object, compaction: Compaction) -> object:
    from dataclasses import replace

    return replace(info, compaction=compaction)  # type: ignore[type-var]


def test_taking_back_what_was_summarized_takes_the_summary_too() -> None:
    """R345."""
    world, chat = a_world(percent=0)
    conversation = talk(world, 4)
    conversation.compact()
    conversation.rewind(1)
    assert conversation.info.compaction is not None, "the end is still there"
    assert conversation.summarized == 6
    conversation.rewind(conversation.messages[4].id)
    assert conversation.info.compaction is None
    conversation.send("And the tower?")
    assert any("number 0 built" in one.content for one in chat.requests[-1].messages)


def test_compacting_again_sums_up_only_what_is_new() -> None:
    """R346."""
    world, chat = a_world(percent=0)
    conversation = talk(world, 3)
    conversation.compact()
    conversation.send("When was the Avocet bridge number 3 built?")
    conversation.send("When was the Avocet bridge number 4 built?")
    conversation.compact()
    first, second = summaries(chat)
    assert "number 0 built" in first
    assert "number 1 built" in first
    assert SUMMARY in second
    assert "number 0 built" not in second
    assert "number 1 built" not in second
    assert "number 2 built" in second
    assert "number 3 built" in second
    assert "number 4 built" not in second
    assert conversation.compact() is None, "nothing is new"


def test_it_runs_when_the_reply_is_written_not_when_the_message_is_posted() -> None:
    """R347, R351: posting returns at once, a status tells of the pause, the request is put together afterwards."""
    world, chat = a_world(context=2048, percent=10)
    conversation = talk(world, 3, size=60)
    asked = len(chat.requests)
    posted = conversation.post("And the tower? " + "x " * 200)
    assert len(chat.requests) == asked
    deltas = list(conversation.run(posted))
    kinds = ["summary" if is_summary_request(one.messages) else "reply" for one in chat.requests[asked:]]
    assert kinds == ["summary", "reply"]
    assert SUMMARY in chat.requests[-1].messages[1].content
    assert deltas[0] == Delta(kind="status", text=SUMMARIZING)


def test_it_is_due_by_the_last_count_and_what_is_new() -> None:
    """R348: fifty thousand pasted characters are due although the last reply left the context nearly empty."""
    usage = Usage(prompt_tokens=1500, completion_tokens=100)
    chat = ScriptedChat([Delta(kind="text", text="Built in 1911 [1]."), Delta(kind="usage", usage=usage)])
    world = World(chat, context=100_000, percent=15, keep_turns=0)
    conversation = talk(world, 3)
    engine = world.of(conversation.info)
    assert conversation.messages[-1].usage.prompt_tokens == 1500
    assert not engine.is_due(conversation.messages, None, new_tokens=100)
    assert engine.is_due(conversation.messages, None, new_tokens=50_000 // 3)
    world.percent = 90
    assert not world.of(conversation.info).is_due(conversation.messages, None, new_tokens=50_000 // 3)
    world.percent = 0
    assert not world.of(conversation.info).is_due(conversation.messages, None, new_tokens=1_000_000)


def test_passages_of_one_turn_do_not_count_for_the_next() -> None:
    world, _ = a_world(percent=0)
    conversation = talk(world, 1)
    usage = conversation.messages[-1].usage
    assert usage.passing_tokens > 0
    assert usage.lasting_tokens < usage.prompt_tokens


def test_it_never_happens_where_nobody_knows_how_much_is_read() -> None:
    """R349: and it does where tokens are estimated, since nothing is lost by it."""
    world, chat = a_world(context=None, percent=1)
    conversation = talk(world, 4, size=200)
    assert summaries(chat) == []
    assert conversation.messages[-1].usage.estimated
    world.context = 4000
    conversation.send("And the tower?")
    assert len(summaries(chat)) == 1


@pytest.mark.parametrize(
    "failure", [ProviderUnavailable("down", hint=""), EmptyReply("nothing", hint=""), "", ValueError("a bug")]
)
def test_a_summary_that_fails_does_not_cost_the_reply(failure: object, caplog: pytest.LogCaptureFixture) -> None:
    """R350: it is logged, and the request goes out with the turns as they are."""

    def reply(messages: list[Message]) -> str:
        if not is_summary_request(messages):
            return "It was built in 1911 [1]."
        if isinstance(failure, Exception):
            raise failure
        return str(failure)

    chat = ScriptedChat(reply)  # type: ignore[arg-type]
    world = World(chat, context=4096, percent=1)
    conversation = talk(world, 3, size=60)
    with caplog.at_level(logging.WARNING):
        answer = conversation.send("And the tower?")
    assert answer.content.startswith("It was built")
    assert conversation.info.compaction is None
    assert any("number 0 built" in one.content for one in chat.requests[-1].messages)
    assert "could not be summarized" in caplog.text


def test_the_wording_is_three_texts_and_a_blank_one_switches_it_off() -> None:
    """R352."""
    world, chat = a_world(context=2048, percent=1)
    world.wording = {"compact.summary": "Before: {{summary}}", "compact.reply": "Go on."}
    conversation = talk(world, 3, size=60)
    conversation.send("And the tower?")
    sent = chat.requests[-1].messages
    assert (sent[1].content, sent[2].content) == (f"Before: {SUMMARY}", "Go on.")
    asked = len(summaries(chat))
    world.wording["task.compact"] = " "
    for at in range(3):
        conversation.send(f"And now, tower {at}?")
    assert len(summaries(chat)) == asked


def test_times_with_and_without_a_zone_can_be_compared() -> None:
    """R353."""
    naive, aware = datetime(2026, 3, 14, 12, 0), datetime(2026, 3, 14, 12, 0, tzinfo=UTC)  # noqa: DTZ001
    assert moment(naive) == moment(aware) == moment("2026-03-14T12:00:00") == moment("2026-03-14T12:00:00+00:00")
    later = datetime(2026, 3, 14, 13, 30, tzinfo=timezone(timedelta(hours=1)))
    assert moment(naive) < moment(later)


def test_it_can_be_asked_for() -> None:
    """R354: by hand as well as by itself; by hand it may fail, and says why."""
    world, chat = a_world(percent=0)
    conversation = talk(world, 3)
    assert summaries(chat) == []
    assert conversation.compact().through_id == conversation.messages[3].id
    chat.fail(ProviderUnavailable("down", hint=""))
    conversation.rewind(2)
    with pytest.raises(InvalidArgument):
        conversation.rewind(99)


def test_what_is_longer_than_the_model_reads_is_summed_up_in_parts() -> None:
    world, chat = a_world(percent=0, context=2048)
    conversation = talk(world, 6, size=400)
    compaction = conversation.compact()
    asked = summaries(chat)
    assert compaction.summary == SUMMARY
    assert len(asked) > 1
    assert SUMMARY not in asked[0]
    assert all(SUMMARY in one for one in asked[1:])
    for at in range(5):
        assert sum(f"number {at} built" in one for one in asked) == 1


def test_one_message_that_is_far_too_long_is_shortened_for_the_summary_alone() -> None:
    world, chat = a_world(percent=0, context=8192, keep_turns=0)
    conversation = world.create()
    conversation.send("Start. " + "tower " * 1500 + "The end.")
    world.context = 2048
    conversation.compact()
    (asked,) = summaries(chat)
    assert "Start." in asked
    assert "The end." in asked
    assert len(asked) < 2048 * 3
    assert len(conversation.messages[0].content) > 9000
