"""The wiki for agents: only where it is enabled; built as a job, checked, drafts shown (R268, R273)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder, ScriptedChat
from lilbee_core.types import Message
from tests.mcp.conftest import call, fill


def reply(asked: Sequence[Message]) -> str:
    true = {"text": "The queen lays eggs in spring.", "passages": [1]}
    false = [{"text": f"The queen never lays {what} at all.", "passages": [1]} for what in ("stones", "bricks")]
    pages = [{"title": "Eggs", "sentences": [true]}, {"title": "Queen", "sentences": [true, *false]}]
    return json.dumps({"pages": pages if "queen" in asked[0].content else []})


def told(bee: Lilbee, name: str, arguments: dict[str, object]) -> Any:
    result = call(bee, name, arguments, enable=("wiki",))
    assert not result.is_error, result.content[0].text
    return result.structured_content


def test_an_agent_builds_reads_and_checks_the_wiki(tmp_path: Path) -> None:
    fill(tmp_path)
    root, overrides = tmp_path / "notes", {"wiki_min_faithfulness": 0.0}
    with Lilbee(root, embedder=HashEmbedder(), chat=ScriptedChat(reply), overrides=overrides) as bee:
        bee.sync()
        plan = told(bee, "wiki_status", {})
        done = told(bee, "wiki_build", {"wait_s": 30})
        pages = told(bee, "wiki_list", {})
        cited = told(bee, "wiki_citations", {"slug": "eggs"})
        drafts = told(bee, "wiki_drafts_list", {})
        diff = told(bee, "wiki_drafts_diff", {"slug": "queen"})
        found = told(bee, "wiki_lint", {})
        pruned = told(bee, "wiki_prune", {})

    assert plan["calls"] == 3
    assert (done["state"], done["pages_count"]) == ("done", len(done["pages"]))
    assert {one["slug"] for one in pages["pages"]} >= {"eggs"}
    assert cited["citations"][0]["quote"] == "The queen lays eggs in spring."
    assert "queen" in {one["slug"] for one in drafts["pages"]}
    assert "+The queen lays [[eggs]] in spring. [^1]" in diff["diff"]
    assert found["problems_count"] == len(found["problems"])
    assert pruned == {"removed": [], "removed_count": 0}
