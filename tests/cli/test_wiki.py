"""`lilbee wiki`: what a build would cost, pages, and drafts looked at, taken, changed and refused (R238, R224)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.testing import ScriptedChat
from lilbee_core.types import Message
from tests.cli.conftest import Run

TRUE = "The queen lays eggs in spring."
LIES = [f"The queen never lays {what} at all." for what in ("stones", "bricks", "tiles")]


def reply(asked: Sequence[Message]) -> str:
    if "queen" not in asked[0].content:
        said = [{"text": "The plum tree bears damsons.", "passages": [1]}]
        return json.dumps({"pages": [{"title": "Plum tree", "sentences": said}]})
    said = [{"text": text, "passages": [1]} for text in (TRUE, *LIES)]
    return json.dumps({"pages": [{"title": "Queen", "sentences": said}, {"title": "Unicorn", "sentences": said}]})


@pytest.fixture
def written(lilbee: Run, folder: Path) -> Run:
    """A command line over a library whose wiki a chat model has written."""
    with Lilbee(folder, chat=ScriptedChat(reply)) as bee:
        bee.init()
        bee.sync()
        bee.wiki.build()
    return lilbee


def test_a_dry_run_says_what_a_build_would_cost(lilbee: Run, folder: Path) -> None:
    with Lilbee(folder, chat=ScriptedChat(reply)) as bee:
        bee.sync()
        plan = bee.wiki.plan()
    assert [one.about for one in plan.asks] == ["notes/bees.md", "notes/garden/plums.txt"]
    assert (plan.calls, plan.reply_tokens, plan.to_dict()["tokens"]) == (2, 4000, plan.tokens)


def test_drafts_are_reviewed(written: Run, folder: Path) -> None:
    assert written("wiki", "list").out == "plum-tree  Plum tree\n"
    assert (
        "queen  Queen  (3 of 4 sentences are not borne out by the documents)" in written("wiki", "drafts", "list").out
    )
    diff = written("wiki", "drafts", "diff", "queen").out
    assert f"+{TRUE} [^1]" in diff
    assert "left out, not borne out: The queen never lays bricks at all." in diff
    assert written("wiki", "drafts", "diff", "queen", "--json").json()["is_new"] is True
    pending = written("wiki", "drafts", "accept", "unicorn", "--json")
    assert (pending.code, pending.json()["error"]["code"]) == (1, "wiki.pending")

    (folder / "new.txt").write_text("# Queen\n\nShe lays eggs.\n", encoding="utf-8")
    assert written("wiki", "drafts", "edit", "queen", "--file", str(folder / "new.txt")).code == 0
    assert "published queen" in written("wiki", "drafts", "accept", "queen").out
    assert written("wiki", "show", "queen").out == "# Queen\n\nShe lays eggs.\n"
    assert written("wiki", "drafts", "reject", "unicorn").out == "rejected unicorn\n"
    assert written("wiki", "drafts", "list").out == ""
    assert written("wiki", "drafts", "diff", "unicorn").code == 4
    again = written("wiki", "build", "--json").json()
    assert (again["calls"], again["pages"], again["removed"]) == (0, [], [])


def test_pages_are_checked_and_their_citations_and_links_shown(written: Run, folder: Path) -> None:
    assert "plum-tree  orphan: no page links to it" in written("wiki", "lint").out
    assert "garden/plums.txt, lines 1-2: line one" in written("wiki", "citations", "plum-tree").out
    assert "No chat model is set" in written("wiki", "synthesize").err
    assert written("wiki", "links", "plum-tree").out == "plum-tree <- -\n"
    assert written("wiki", "links", "--json").json() == {"links": {"plum-tree": []}, "backlinks": {"plum-tree": []}}
    assert "concepts/plum-tree.md" in written("search", "plum", "--scope", "wiki").out
    assert "concepts/plum-tree.md" not in written("search", "plum").out
    (folder / "garden" / "plums.txt").unlink()
    written("sync")
    assert "plum-tree  (archived)" in written("wiki", "prune").out
    assert written("wiki", "prune", "--json").json()["removed"] == []
