"""An embedder and a chat model that are given are used, whatever the settings name (R083)."""

from __future__ import annotations

from pathlib import Path

from lilbee_core import Lilbee, Settings
from lilbee_core.testing import HashEmbedder, ScriptedChat
from tests.support.openai_fake import FakeOpenAI

QUESTION = "When does the queen lay eggs?"


def test_given_models_bypass_the_settings(tmp_path: Path) -> None:
    (tmp_path / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    with FakeOpenAI(models=("embed", "talk")) as server:
        named: dict[str, object] = {
            "embedding_model": "openai/embed",
            "chat_model": "openai/talk",
            "openai_base_url": server.url,
        }
        named |= {"query_expansion_count": 0}
        embedder, chat = HashEmbedder(), ScriptedChat("In spring [1].")
        with Lilbee(tmp_path, Settings().changed(named), embedder=embedder, chat=chat) as bee:
            bee.sync()
            assert bee.search("vec: queen eggs spring")[0].path == "bees.md"
            answer = bee.ask(QUESTION)
            assert bee.status().embedder == embedder.model
        assert server.requests == []
    assert answer.text.startswith("In spring")
    assert [citation.path for citation in answer.citations] == ["bees.md"]
    assert len(chat.requests) == 1
    assert embedder.texts
