"""Conversations over a real library: search, memory, tools, attachments, and what other processes do meanwhile."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lilbee_core import Lilbee, Settings
from lilbee_core.errors import InvalidArgument, NotFound, StoreError
from lilbee_core.testing import HashEmbedder, ScriptedChat, open_test_library
from lilbee_core.types import Delta, ToolCall
from tests.support.openai_fake import FakeOpenAI

ROOT = Path(__file__).parents[3]
FILES = {
    "bridge.md": "# Avocet bridge\n\nThe Avocet bridge was built in 1911. It is painted grey every fifth year.\n",
    "notes/tower.md": "# Tower\n\nSwifts nest in the tower of the town hall. They come in May.\n",
}
ASK = "When was the Avocet bridge built?"
QUIET = {"query_expansion_count": 0, "chat_titles": False, "chat_rewrite": "rules"}


def quiet(**more: object) -> Settings:
    return Settings().changed({**QUIET, **more})


def told(chat: ScriptedChat) -> str:
    return "\n".join(one.content for one in chat.requests[-1].messages)


def call(name: str, /, **arguments: str) -> list[Delta]:
    return [Delta(kind="tool_call", tool_call=ToolCall(id="a1", name=name, arguments=json.dumps(arguments)))]


def test_without_a_chat_model_follow_ups_are_understood_and_answers_quoted() -> None:
    with open_test_library(files=FILES) as bee:
        conversation = bee.conversations.create()
        first = conversation.send(ASK)
        then = conversation.send("Is it painted?")
    assert "1911" in first.content
    assert first.model is None
    assert "Avocet bridge" in then.query
    assert "painted grey" in then.content
    assert [one.path for one in then.citations] == ["bridge.md"] * len(then.citations)


def test_a_conversation_searches_within_its_scope() -> None:
    """R363."""
    with open_test_library(files=FILES) as bee:
        bee.collections.add(bee.root / "notes", name="birds")
        bee.sync()
        conversation = bee.conversations.create(collections=("birds",))
        assert conversation.send("Where do swifts nest?").citations[0].path == "tower.md"
        assert not conversation.send("When was the Avocet bridge built in 1911?").citations
        conversation.set_scope(collections=())
        assert conversation.send(ASK).found
        with pytest.raises(NotFound, match="'fish'"):
            conversation.set_scope(collections=("fish",))
        with pytest.raises(InvalidArgument, match="'everything'"):
            bee.conversations.create(scope="everything")


def test_facts_are_told_within_a_budget_and_skills_where_tools_are() -> None:
    """R366, R367."""
    chat = ScriptedChat("It was built in 1911 [1].")
    with open_test_library(files=FILES, chat=chat, settings=quiet()) as bee:
        for at in range(60):
            bee.facts.add(f"Fact number {at} is about the bridge and its painters.")
        bee.skills.add("1. Look.\n2. Write.", name="report", description="When a report is asked for")
        bee.conversations.create().send(ASK)
        assert "Fact number 59 " in told(chat)
        assert "Fact number 0 " not in told(chat)
        assert "report: When" not in told(chat)
        bee.config.set("memory_tokens", 0)
        bee.conversations.create().send(ASK)
        assert "Fact number" not in told(chat)


def test_a_model_with_tools_reads_skills_and_searches() -> None:
    """R355, R357, R367: tools only where a setting says that the model can use them."""
    chat = ScriptedChat(call("read_skill", skill="report"), call("search_documents", query="swifts"), "Done.")
    with open_test_library(files=FILES, chat=chat, settings=quiet(chat_tools="read")) as bee:
        bee.skills.add("1. Look at the tower.", name="report", description="When a report is asked for")
        conversation = bee.conversations.create()
        reply = conversation.send("Write a report about the Avocet bridge.")
        assert [one.name for one in reply.tool_calls] == ["read_skill", "search_documents"]
        assert "report: When a report is asked for" in told(chat)
        assert "Look at the tower." in told(chat)
        assert "Swifts nest" in told(chat)
        offered = {tool.name for tool in chat.requests[0].options.tools}
        assert "write_note" not in offered
        assert len(conversation.requests) == 3
    with open_test_library(files=FILES, chat=chat, settings=quiet()) as bee:
        bee.conversations.create().send(ASK)
        assert chat.requests[-1].options.tools == ()


def test_what_a_model_writes_is_signed_and_can_be_undone() -> None:
    """R365, R367."""
    chat = ScriptedChat(
        call("write_skill", skill="report", description="For reports", text="Do evil."),
        call("write_note", name="Plan", text="Paint it."),
        call("remember_fact", fact="The user lives in Delft."),
        "Done.",
    )
    with open_test_library(files=FILES, chat=chat, settings=quiet(chat_tools="write")) as bee:
        bee.skills.add("Do good.", name="report", description="For reports")
        conversation = bee.conversations.create()
        conversation.send("Keep what I tell you about the Avocet bridge.")
        skill = bee.skills.require("report")
        assert (skill.text, skill.author.is_model, skill.author.conversation) == ("Do evil.", True, conversation.id)
        assert bee.skills.revert("report", 1).text == "Do good."
        assert [one.text for one in bee.skills.revisions("report")] == ["Do good.", "Do evil.", "Do good."]
        assert [one.name for one in bee.notes.list("paint")] == ["Plan"]
        assert bee.facts.list()[0].author.model == "given"


def test_tools_fail_by_words_not_by_ending_the_reply() -> None:
    chat = ScriptedChat(call("read_note", note="gone"), call("read_document", path="bridge.md", lines="3"), "Done.")
    with open_test_library(files=FILES, chat=chat, settings=quiet(chat_tools="read")) as bee:
        assert bee.conversations.create().send(ASK).content == "Done."
    assert "there is no note 'gone'" in told(chat)
    assert "built in 1911" in told(chat)


def test_wordings_of_the_library_hold_for_asking_too() -> None:
    """R383, R385: and the setting is the library's layer."""
    chat = ScriptedChat("It was built in 1911 [1].")
    with open_test_library(files=FILES, chat=chat, settings=quiet(system_prompt="Speak of {{library}}.")) as bee:
        bee.ask(ASK)
        assert chat.requests[-1].messages[0].content.startswith(f"Speak of {bee.root.name}.")
        bee.prompts.set("answer.system", "For this model.", model="given")
        bee.ask(ASK)
        assert chat.requests[-1].messages[0].content.startswith("For this model.")
        bee.prompts.set("answer.question", "{{passages}} NOW: {{question}}")
        bee.ask(ASK)
        assert f"NOW: {ASK}" in chat.requests[-1].messages[-1].content


def test_a_document_that_is_attached_stays_as_it_was(tmp_path: Path) -> None:
    """R369, R377, R378: text is read when it is attached; its type is told by its bytes, not by its name."""
    chat = ScriptedChat("Fine.")
    (tmp_path / "plan.md").write_text("<html><body><p>The tower is 40 m high.</p></body></html>", encoding="utf-8")
    with open_test_library(files=FILES, chat=chat, settings=quiet()) as bee:
        conversation = bee.conversations.create()
        conversation.send("How high?", attachments=["bridge.md", tmp_path / "plan.md"])
        (bee.root / "bridge.md").write_text("It is gone.\n", encoding="utf-8")
        bee.sync()
        (tmp_path / "plan.md").unlink()
        conversation.send("And how wide?")
        document, plan = conversation.messages[0].attachments
        assert (document.source.endswith("bridge.md"), plan.name) == (True, "plan.md")
        assert "built in 1911" in chat.requests[-1].messages[1].content
        assert "The tower is 40 m high." in chat.requests[-1].messages[1].content
        with pytest.raises(NotFound, match=r"'nowhere\.txt'"):
            conversation.send("x", attachments=["nowhere.txt"])
        assert len(conversation.messages) == 4
        first, second = (conversation.attachment(conversation.messages[0].id, at) for at in (1, 2))
        assert (first.name, b"built in 1911" in first.content) == ("bridge.md", True)
        assert (second.name, second.media_type) == ("plan.md", "text/markdown")
        assert second.content == b"<html><body><p>The tower is 40 m high.</p></body></html>"
        for message, number in ((conversation.messages[0].id, 3), (conversation.messages[1].id, 1), ("x", 1)):
            with pytest.raises(NotFound):
                conversation.attachment(message, number)


def test_bytes_of_attachments_go_with_their_conversation(tmp_path: Path) -> None:
    """R377: what another conversation was handed is its own; a record that was tampered with leads nowhere."""
    (tmp_path / "plan.txt").write_text("The tower is 40 m high.\n", encoding="utf-8")
    with open_test_library(files=FILES) as bee:
        first, second = bee.conversations.create(), bee.conversations.create()
        sent = first.post("x", attachments=[tmp_path / "plan.txt"])
        again = second.post("x", attachments=sent.attachments)
        edited = first.edit(sent.id, "When was the Avocet bridge built?").reply_to or ""
        assert first.attachment(edited).content == b"The tower is 40 m high.\n"
        kept = bee.data_dir / "attachments"
        assert len(list(kept.rglob("*.bin"))) == 2
        assert bee.conversations.delete(first.id)
        assert second.attachment(again.id).content == b"The tower is 40 m high.\n"
        (only,) = kept.rglob("*.bin")
        only.unlink()
        assert second.attachment(again.id).content == b"The tower is 40 m high.\n", "what was read in it is there"
        odd = replace(sent.attachments[0], file="../state.sqlite", text="", name="a/..\\con\x00:.sh.")
        moved = second.post("x", attachments=[odd])
        with pytest.raises(NotFound, match="is gone"):
            second.attachment(moved.id)
        blank = replace(odd, text="told")
        told = second.attachment(second.post("x", attachments=[blank]).id)
        assert (told.name, told.content) == ("con__.sh", b"told")


def test_images_go_only_to_models_that_see(tmp_path: Path) -> None:
    """R357, R377: copied under a random name."""
    picture = tmp_path / "photo.png"
    picture.write_bytes(_PNG)
    chat = ScriptedChat("A bridge.")
    with open_test_library(files=FILES, chat=chat, settings=quiet(chat_images=True)) as bee:
        conversation = bee.conversations.create()
        conversation.send("What is on it?", attachments=[picture])
        picture.unlink()
        assert chat.requests[-1].messages[-1].images == (_PNG,)
        (kept,) = (bee.data_dir / "attachments").glob("*/*")
        assert "photo" not in kept.name
        assert conversation.attachment(conversation.messages[0].id).media_type == "image/png"
        assert conversation.requests[-1].to_dict()["messages"][-1]["images"] == 1


_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001f61738"
    "550000000049454e44ae426082"
)


def test_a_rebuild_leaves_conversations_and_notes_alone() -> None:
    with open_test_library(files=FILES) as bee:
        conversation = bee.conversations.create()
        conversation.send(ASK)
        bee.notes.add("Paint it.")
        before = conversation.messages
        bee.rebuild()
        assert bee.conversations.require(conversation.id).messages == before
        assert len(bee.notes.list()) == 1


def test_one_damaged_conversation_is_told_of_and_the_others_work() -> None:
    with open_test_library(files=FILES) as bee:
        good, bad = bee.conversations.create("Good"), bee.conversations.create("Bad")
        for one in (good, bad):
            one.send(ASK)
        with sqlite3.connect(bee.data_dir / "state.sqlite") as writer:
            writer.execute("UPDATE state SET value = '{\"title' WHERE kind = 'conversation' AND key = ?", (bad.id,))
        writer.close()
        listed = bee.conversations.list()
        assert [(one.id, one.problem is None) for one in listed] == [(good.id, True), (bad.id, False)]
        assert len(bee.conversations.require(bad.id).messages) == 2
        assert good.send("And who built it?").content


def test_a_state_that_is_no_database_is_named_and_search_goes_on(tmp_path: Path) -> None:
    (tmp_path / "bridge.md").write_text(FILES["bridge.md"], encoding="utf-8")
    with Lilbee(tmp_path, Settings(), embedder=HashEmbedder()) as bee:
        bee.sync()
    for name in ("state.sqlite", "state.sqlite-wal", "state.sqlite-shm"):
        (tmp_path / ".lilbee" / name).unlink(missing_ok=True)
    (tmp_path / ".lilbee" / "state.sqlite").write_bytes(b"no database at all, but long enough to be read " * 50)
    with Lilbee(tmp_path, Settings(), embedder=HashEmbedder()) as bee:
        with pytest.raises(StoreError) as caught:
            bee.conversations.list()
        assert caught.value.code == "store.damaged"
        assert "state.sqlite" in caught.value.message
        assert bee.search("bridge").hits
        assert bee.ask(ASK).citations


_TALK = """
import sys
from lilbee_core import Lilbee, Settings
from lilbee_core.testing import HashEmbedder
with Lilbee(sys.argv[1], Settings(), embedder=HashEmbedder()) as bee:
    conversation = bee.conversations.require(sys.argv[2])
    for turn in range(int(sys.argv[4])):
        conversation.send(f"When was the Avocet bridge built, {sys.argv[3]}{turn}?")
"""


@pytest.mark.slow
def test_two_processes_in_one_conversation_lose_nothing(tmp_path: Path) -> None:
    (tmp_path / "bridge.md").write_text(FILES["bridge.md"], encoding="utf-8")
    with Lilbee(tmp_path, Settings(), embedder=HashEmbedder()) as bee:
        bee.sync()
        conversation = bee.conversations.create()
        conversation.send(ASK)
        arguments = [str(tmp_path), conversation.id]
        workers = [
            subprocess.Popen([sys.executable, "-c", _TALK, *arguments, name, "6"], cwd=ROOT, stderr=subprocess.PIPE)
            for name in ("alpha", "beta")
        ]
        for worker in workers:
            _, err = worker.communicate(timeout=120)
            assert worker.returncode == 0, err.decode()
        messages = conversation.messages
        asked = [one.content for one in messages if one.role == "user"][1:]
        assert sorted(asked) == sorted(
            f"When was the Avocet bridge built, {name}{turn}?" for name in ("alpha", "beta") for turn in range(6)
        )
        for question, reply in zip(messages[::2], messages[1::2], strict=True):
            assert reply.reply_to == question.id
            assert reply.content


_DIE = """
import os, signal, sys
from lilbee_core import Lilbee, Settings
from lilbee_core.testing import HashEmbedder
from lilbee_core.types import Delta
class Chat:
    def chat(self, messages, options=None):
        yield Delta(kind="text", text="It was built ")
        yield Delta(kind="text", text="in 1911 [1] and ")
        os.kill(os.getpid(), signal.SIGKILL)
quiet = {"query_expansion_count": 0, "chat_titles": False}
with Lilbee(sys.argv[1], Settings().changed(quiet), embedder=HashEmbedder(), chat=Chat()) as bee:
    bee.conversations.create("Mine").send("When was the Avocet bridge built?")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_in_the_midst_of_a_reply_what_arrived_is_kept(tmp_path: Path) -> None:
    """R393."""
    (tmp_path / "bridge.md").write_text(FILES["bridge.md"], encoding="utf-8")
    with Lilbee(tmp_path, Settings(), embedder=HashEmbedder()) as bee:
        bee.sync()
    done = subprocess.run([sys.executable, "-c", _DIE, str(tmp_path)], cwd=ROOT, timeout=120, check=False)
    assert done.returncode == -9
    chat = ScriptedChat("It was built in 1911 [1].")
    with Lilbee(tmp_path, quiet(), embedder=HashEmbedder(), chat=chat) as bee:
        conversation = bee.conversations.require("Mine")
        question, reply = conversation.messages
        assert question.content == ASK
        assert reply.content.startswith("It was built")
        assert str(reply.state) == "partial"
        assert conversation.regenerate().content == "It was built in 1911 [1]."
        assert len(conversation.messages) == 2


def test_the_server_says_how_much_its_model_reads() -> None:
    """R153: a setting says, else the server does, else a default holds; the server is asked once."""
    with FakeOpenAI(models=("talk",)) as server:
        server.models = ()

        def about(request: object) -> object:
            from tests.support.openai_fake import Answer

            body = json.dumps({"object": "list", "data": [{"id": "talk", "meta": {"n_ctx": 1500}}]})
            return Answer(body=body.encode())

        named = {**QUIET, "chat_model": "openai/talk", "openai_base_url": server.url, "chat_rewrite": "off"}
        with open_test_library(files=FILES, settings=Settings().changed(named)) as bee:
            server.models = ("talk",)
            server.answer(about)  # type: ignore[arg-type]
            conversation = bee.conversations.create()
            for _ in range(2):
                server.reply("It was built in 1911 [1].")
                reply = conversation.send(ASK)
            assert reply.context_tokens == 1500
            assert conversation.requests[-1].context_tokens == 1500
            assert [one.path for one in server.requests].count("/v1/models") == 1
            bee.config.set("num_ctx", 3000)
            server.reply("It was built in 1911 [1].")
            assert conversation.send(ASK).context_tokens == 3000
