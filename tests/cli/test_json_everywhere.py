"""`--json` on every command: one document on stdout, nothing else there, also when it fails (R243)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import click
import pytest

from lilbee_cli.main import COMMANDS
from tests.cli.conftest import Run

PRINTS_A_SCRIPT = {"completion"}
"""Its output is the script itself, for a shell to read."""

# By command: how to call it so that it has something to say, in the order in which they are run.
CALLS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "init": ((),),
    "sync": ((), ("--dry-run",), ("--retry",), ("--prune",)),
    "watch": (),  # has no end of its own, and prints a line for each event: test_watch.py
    "jobs": (("list",),),  # show and cancel need one: test_jobs.py
    "status": ((), ("--skipped",)),
    "search": (("queen eggs",), ("queen", "--explain"), ("xylophone",)),
    "ask": (("When does the queen lay eggs?",),),
    "chat": (("--continue", "When does the queen lay eggs?"), ("--continue", "And where?")),
    "tui": ((),),
    "conversation": (("list",), ("show", "When does the queen lay eggs?"), ("export", "When does the queen lay eggs?"),
                     ("rename", "When does the queen lay eggs?", "Eggs"), ("delete", "Eggs")),
    "topics": ((), ("bees",)),
    "related": (("bees",),),
    "graph": (("export",), ("export", "graph.html"), ("merge", "plums", "bees"), ("decisions",), ("restore", "plums"),
              ("forbid", "bees")),
    "wiki": (("build", "--dry-run"), ("build",), ("list",), ("synthesize", "--dry-run"), ("lint",), ("prune",),
             ("links",), ("drafts", "list")),
    "show": (("bees.md",), ("garden/plums.txt:2",)),
    "documents": ((), ("--state", "failed")),
    "explain": (("bees.md",), ("--document", "bees.md", "queen eggs")),
    "remove": (("garden/plums.txt",),),
    "add": (("garden/plums.txt",),),
    "crawl": (("--list",),),
    "rebuild": ((),),
    "index": (),  # needs vectors: test_commands.py
    "use-embedder": (),  # needs vectors: test_use_embedder.py
    "collection": (("list",), ("add", "../more", "--name", "more"), ("rename", "more", "birds"), ("remove", "birds")),
    "note": (("add", "Plums", "--name", "plums"), ("list",), ("edit", "plums", "More plums"), ("show", "plums"),
             ("show", "plums", "--revisions"), ("revert", "plums", "1"), ("delete", "plums")),
    "fact": (("add", "I keep bees."), ("list",)),
    "skill": (("add", "Weigh it.", "--name", "weigh", "--description", "To weigh hives"), ("list", "hives")),
    "prompt": (("list",), ("show", "answer.system"), ("set", "answer.system", "Be brief."), ("unset", "answer.system"),
               ("preview", "When does the queen lay eggs?")),
    "agent-config": (("claude",), ("claude", "--write")),
    "launch": (),  # its output is the client's: test_agents.py
    "token": (("create", "phone", "--read-only"), ("list",), ("revoke", "phone")),
    "config": ((), ("get", "top_k"), ("set", "top_k", "5"), ("unset", "top_k")),
    "trust": ((),),
    "plugins": ((),),
    "eval": (("../judged",), ("../judged", "--compare", "default,keyword"), ("../drafts", "--draft")),
    "tune": (("../many", "--dry-run"),),
    "model": (("list",), ("list", "--task", "embedding"), ("catalog",), ("catalog", "--task", "vision"),
              ("show", "builtin/all-MiniLM-L6-v2")),
    "placement": (("clear",),),  # the others need an engine: test_placement.py
    "engine": (("status",), ("stop",)),
    "doctor": ((),),
    "version": ((),),
}  # fmt: skip


@pytest.fixture
def prepared(lilbee: Run, folder: Path) -> Run:
    (folder.parent / "more").mkdir()
    judged = folder.parent / "judged"
    judged.mkdir()
    (judged / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "The queen lays eggs."}\n', "utf-8")
    (judged / "queries.jsonl").write_text('{"_id": "q1", "text": "queen"}\n', "utf-8")
    (judged / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", "utf-8")
    many = folder.parent / "many"
    many.mkdir()
    names = [f"q{number}" for number in range(40)]
    (many / "queries.jsonl").write_text("".join(f'{{"_id": "{name}", "text": "queen eggs"}}\n' for name in names))
    (many / "qrels.tsv").write_text("".join(f"{name}\tbees.md\t1\n" for name in names))
    return lilbee


def every_command() -> dict[str, click.Command]:
    """All commands that come with the command line, those inside groups too."""
    found: dict[str, click.Command] = {}
    for name, (module, _) in COMMANDS.items():
        command: click.Command = import_module(module).command
        found[name] = command
        if isinstance(command, click.Group):
            found.update({f"{name} {inner}": one for inner, one in command.commands.items()})
    return found


def test_every_command_has_the_option() -> None:
    without = {
        name
        for name, command in every_command().items()
        if not any({"--json", "-j"} <= set(parameter.opts) for parameter in command.params)
    }
    assert {name for name in without if not isinstance(every_command()[name], click.Group)} == PRINTS_A_SCRIPT


@pytest.mark.slow
def test_every_command_prints_one_document(prepared: Run) -> None:
    assert set(CALLS) == set(COMMANDS) - PRINTS_A_SCRIPT, "a command without a call here"
    for name, calls in CALLS.items():
        for arguments in calls:
            for flag in ("--json", "-j"):
                done = prepared(name, *arguments, flag)
                if flag == "-j" and done.code != 0:
                    # What was taken away or made by the first call is not there for the second.
                    assert set(done.json()) == {"error"}, (name, arguments)
                    continue
                assert done.code == 0, (name, arguments, done.out, done.err)
                value = done.json()
                assert isinstance(value, dict), (name, arguments)
                assert "error" not in value, (name, arguments)


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - PRINTS_A_SCRIPT))
def test_a_failure_is_a_document_too(lilbee: Run, name: str) -> None:
    done = lilbee(name, "--no-such-option", "--json")
    assert done.code == 2
    assert set(json.loads(done.out)["error"]) == {"code", "message", "hint"}
    assert done.err == ""
