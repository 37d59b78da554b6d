"""`lilbee chat` and what belongs to it (R234, R244)."""

from __future__ import annotations

import io
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome, Run
from tests.support.openai_fake import Answer, FakeOpenAI


@pytest.fixture
def chat(synced: Run, monkeypatch: pytest.MonkeyPatch):
    def talk(*lines: str, options: tuple[str, ...] = ()) -> Outcome:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return synced("chat", *options)

    return talk


def test_lines_are_answered_without_a_chat_model(chat, synced: Run) -> None:
    done = chat("When does the queen lay eggs?", "", "And where does she lay them?")
    assert done.code == 0
    assert "The queen lays eggs in spring." in done.out
    assert "bees.md:6" in done.out
    assert "Searching:" in done.err
    (info,) = synced("conversation", "list", "--json").json()["conversations"]
    assert (info["messages"], info["title"]) == (4, "When does the queen lay eggs?")


def test_one_message_as_an_argument(synced: Run) -> None:
    assert "spring" in synced("chat", "When", "does", "the", "queen", "lay", "eggs?").out
    replies = synced("chat", "--continue", "--json", "And where?").json()["replies"]
    assert [one["role"] for one in replies] == ["assistant"]
    assert len(synced("conversation", "list", "--json").json()["conversations"]) == 1


def test_commands_of_a_conversation(chat, synced: Run, folder: Path) -> None:
    """R244: settings can be changed, too."""
    done = chat(
        "When does the queen lay eggs?",
        "/sources",
        "/title On queens",
        "/scope none",
        "/scope raw notes",
        "/set top_k 3",
        "/history 1",
        "/remember I keep bees.",
        "/save talk.md",
        "/rewind",
        "/new Another",
        "Where is the plum tree?",
        "/regenerate",
        "/open",
        "/request",
        "/attach bees.md",
        "/help",
        "/quit",
        "never asked",
    )
    assert done.code == 0, done.err
    for told in ("On queens", "Nothing is searched.", "Searched: raw, notes", "top_k = 3", "Remembered: I keep bees."):
        assert told in done.out
    assert "Taken back: 2 messages" in done.out
    assert "damsons" in done.out
    assert "The chat model was not asked yet." in done.out
    assert "never asked" not in done.out
    assert (folder / "talk.md").read_text("utf-8").startswith("# On queens")
    assert synced("config", "get", "top_k", "--json").json()["value"] == 3
    assert synced("fact", "list", "--json").json()["facts"][0]["text"] == "I keep bees."


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("/sorces", "Did you mean /sources?"),
        ("/rewind x", "takes a number"),
        ("/rewind 5", "cannot take back 5"),
        ("/compact", "no chat model"),
        ("/scope raw fish", "'fish'"),
        ("/set nosuch 3", "nosuch"),
        ("/open nothing like it", "there is no conversation"),
        ("/regenerate", "no reply to write anew"),
        ("/save", "name the file"),
        ("/save /nowhere/at/all.md", "/nowhere/at/all.md"),
        ("/attach bees.md nowhere.pdf", "'nowhere.pdf'"),
    ],
)
def test_what_goes_wrong_is_told_and_the_next_line_taken(chat, line: str, told: str) -> None:
    done = chat(line, "When does the queen lay eggs?")
    assert done.code != 0
    assert told in done.err
    assert "spring" in done.out


def test_lines_can_be_joined(chat, synced: Run) -> None:
    chat("When does the queen \\", "lay eggs?")
    (info,) = synced("conversation", "list", "--json").json()["conversations"]
    assert info["messages"] == 2


def test_conversations_are_shown_exported_renamed_and_deleted(chat, synced: Run, folder: Path) -> None:
    chat("When does the queen lay eggs?", options=("--title", "Queens"))
    assert "lilbee:" in synced("conversation", "show", "queens").out
    assert synced("conversation", "show", "queens", "--json").json()["turns"][1]["found"] is True
    assert synced("conversation", "export", "queens").out.startswith("# Queens")
    assert synced("conversation", "export", "queens", "--json").json()["conversation"]["title"] == "Queens"
    assert synced("conversation", "export", "queens", "--format", "json", "--out", "q.json").code == 0
    assert (folder / "q.json").is_file()
    assert synced("conversation", "rename", "queens", "On eggs").code == 0
    assert synced("conversation", "list", "EGGS").out.strip().endswith("On eggs")
    assert synced("conversation", "compact", "On eggs").code == 2
    assert synced("conversation", "delete", "On eggs").code == 0
    assert "no conversations" in synced("conversation", "list").out
    assert synced("conversation", "show", "On eggs").code == 4


def test_attachments_are_listed_and_written_to_files(synced: Run, chat, folder: Path) -> None:
    """R377."""
    (folder / "plan.html").write_bytes(b"<p>The hive stands in the garden.</p>")
    chat("/attach plan.html bees.md", "/title Plans", "When does the queen lay eggs?")
    (folder / "plan.html").unlink()
    (latest,) = synced("conversation", "list", "--json").json()["conversations"]
    rows = synced("conversation", "attachments", latest["id"], "--json").json()["attachments"]
    assert [(one["number"], one["name"]) for one in rows] == [(1, "plan.html"), (2, "bees.md")]
    assert "plan.html" in synced("conversation", "attachments", latest["id"]).out
    for _ in range(2):
        done = synced("conversation", "attachments", latest["id"], "--out", "kept")
        assert done.code == 0, done.err
    names = sorted(one.name for one in (folder / "kept").iterdir())
    assert names == ["bees (2).md", "bees.md", "plan (2).html", "plan.html"]
    assert (folder / "kept" / "plan (2).html").read_bytes() == b"<p>The hive stands in the garden.</p>"


def test_with_a_chat_model(chat, monkeypatch: pytest.MonkeyPatch, synced: Run) -> None:
    with FakeOpenAI(models=("talk",)) as server:
        monkeypatch.setenv("LILBEE_OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("LILBEE_CHAT_MODEL", "openai/talk")
        monkeypatch.setenv("LILBEE_QUERY_EXPANSION_COUNT", "0")
        monkeypatch.setenv("LILBEE_CHAT_TITLES", "false")
        monkeypatch.setenv("LILBEE_CHAT_REWRITE", "rules")
        server.reply("In ", "spring [1].")
        server.reply("In the hive [1].")
        server.reply("They spoke of eggs.")
        done = chat("When does the queen lay eggs?", "And where?", "/compact", "/request", options=("-v",))
        assert done.code == 0, done.err
        assert "In spring [1]." in done.out
        assert "bees.md" in done.out
        assert "tokens" in done.err
        assert "── system ──" in done.out
        server.reply("They spoke of eggs.")
        monkeypatch.setenv("LILBEE_COMPACT_KEEP_TURNS", "0")
        (info,) = synced("conversation", "list", "--json").json()["conversations"]
        assert "They spoke of eggs." in synced("conversation", "compact", info["id"]).out
        preview = synced("prompt", "preview", "-r", info["id"], "And now?", "--json").json()["request"]
        assert [one["role"] for one in preview["messages"]] == ["system", "user", "assistant", "user"]
        server.fail(500, "broken", times=9)
        failed = chat("And now?", options=("--continue", "--json"))
        assert failed.code == 1
        assert "error" in failed.json()["replies"][0]


class BreakingOff(FakeOpenAI):
    """Says some words of every reply, and closes the connection."""

    said = ("In ", "spring [1]. And")

    def _chat(self, body: dict[str, object]) -> Answer:
        lines = [json.dumps({"choices": [{"delta": {"content": one}}]}) for one in self.said]
        text = "".join(f"data: {line}\n\n" for line in lines)
        return Answer(body=text.encode(), content_type="text/event-stream", cut=True)


def test_an_answer_that_is_broken_off_is_told_as_such(monkeypatch: pytest.MonkeyPatch, synced: Run) -> None:
    """What came is kept, the reason follows once on a line of its own, and the exit code says it too."""
    with BreakingOff(models=("talk",)) as server:
        monkeypatch.setenv("LILBEE_OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("LILBEE_CHAT_MODEL", "openai/talk")
        monkeypatch.setenv("LILBEE_QUERY_EXPANSION_COUNT", "0")
        monkeypatch.setenv("LILBEE_CHAT_TITLES", "false")
        for arguments in (("ask",), ("ask", "--no-stream"), ("ask", "--json"), ("chat",), ("chat", "--json")):
            done = synced(*arguments, "When does the queen lay eggs?")
            assert done.code == 1, arguments
            if "--json" in arguments:
                told = done.json()
                answer = told["replies"][0] if "replies" in told else told
                assert answer.get("answer", answer.get("content")) == "In spring [1]. And"
                assert "broke off" in (answer.get("broken_off") or answer["warnings"][0])
                assert answer.get("state", "partial") == "partial"
                continue
            assert done.out.startswith("In spring [1]. And\n")
            assert "[1] bees.md" in done.out
            (error,) = [one for one in done.err.splitlines() if "broke off" in one]
            assert error.startswith("error: The answer is not whole: The OpenAI-style server at http")
            assert error.endswith("the connection was closed. Try again.")


def test_asking_shows_the_passages_on_request(synced: Run) -> None:
    done = synced("ask", "When does the queen lay eggs?", "--show-context")
    assert "Passages:" in done.out
    assert "The queen lays eggs in spring." in done.out.partition("Passages:")[2]
    assert (
        synced("ask", "When does the queen lay eggs?", "--show-context", "--json").json()["context"][0]["path"]
        == "bees.md"
    )
    assert "context" not in synced("ask", "When does the queen lay eggs?", "--json").json()


def test_notes_are_kept_on_the_command_line(synced: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert synced("note", "add", "Feed the bees", "--name", "plan").code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("Feed them twice\n"))
    assert synced("note", "edit", "plan", "-").code == 0
    assert "Feed them twice" in synced("note", "show", "plan").out
    revisions = synced("note", "show", "plan", "--revisions", "--json").json()["revisions"]
    assert [one["text"] for one in revisions] == ["Feed the bees", "Feed them twice"]
    assert synced("note", "revert", "plan", "1").code == 0
    assert "Feed the bees" in synced("note", "show", "plan").out
    assert synced("note", "list", "bees").out.count("plan") == 1
    assert synced("note", "delete", "plan").code == 0
    assert synced("note", "show", "plan").code == 4
    assert synced("skill", "add", "Weigh it.", "--name", "weigh").code == 2


def test_damaged_notes_are_told_and_stay(synced: Run, folder: Path) -> None:
    synced("fact", "add", "I keep bees.")
    with closing(sqlite3.connect(folder / ".lilbee" / "state.sqlite")) as state, state:
        state.execute("INSERT INTO state VALUES ('fact', 'beefbeef', '{broken')")
    listed = synced("fact", "list")
    assert "I keep bees." in listed.out
    assert "the record of the fact beefbeef is damaged" in listed.err
    assert len(synced("fact", "list", "--json").json()["facts"]) == 1
    assert synced("fact", "delete", "beefbeef").code == 0
    assert "damaged" not in synced("fact", "list").err


def test_who_reads_the_lines_may_go_away(
    chat, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def gone(*args: object, **options: object) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("lilbee_cli.render.talk.delta", gone)
    for name in ("stdout", "stderr"):  # click wraps both
        monkeypatch.setattr(sys, name, getattr(sys, name))
    with pytest.raises(SystemExit):
        chat("When does the queen lay eggs?")
    assert "Broken" not in capsys.readouterr().err


def test_wordings_are_changed_on_the_command_line(synced: Run) -> None:
    assert "instance" in synced("prompt", "set", "answer.system", "Be brief.").out
    assert synced("prompt", "show", "answer.system").out.strip() == "Be brief."
    assert "passages" in synced("prompt", "show", "answer.system", "--default").out
    assert synced("prompt", "unset", "answer.system").code == 0
    assert synced("prompt", "show", "no.such").code == 4
    assert "task.compact" in synced("prompt", "list").out
