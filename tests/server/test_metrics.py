"""What a reply took, told over HTTP while it is written and kept with it (R335)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_server.app import create_app
from tests.server.conftest import TOKEN
from tests.support.openai_fake import FakeOpenAI

SAID = '{"choices": [{"index": 0, "delta": {"content": "The queen lays eggs in spring [1]."}}]}'
END = '{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}'
USAGE = '{"choices": [], "usage": {"prompt_tokens": 321, "completion_tokens": 12}}'


@pytest.mark.parametrize("counted", [True, False], ids=["usage", "no usage"])
def test_what_a_reply_took_is_told_and_kept(tmp_path: Path, counted: bool) -> None:
    """R335: an endpoint that counts its tokens, and one that does not, whose numbers are marked as estimated."""
    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    with FakeOpenAI() as endpoint:
        overrides: dict[str, object] = {
            "chat_model": "openai/fake", "openai_base_url": endpoint.url, "chat_rewrite": "off", "chat_titles": False,
            "query_expansion_count": 0, "chat_tools": "off", "num_ctx": 4096,
        }  # fmt: skip
        with Lilbee(root, embedder=HashEmbedder(), overrides=overrides) as bee:
            bee.sync()
            app = create_app(bee, token=TOKEN, hosts=("testserver.local",))
            with TestClient(app, base_url="http://testserver.local") as client:
                client.headers["Authorization"] = f"Bearer {TOKEN}"
                endpoint.events(SAID, END, *([USAGE] if counted else []))
                streamed = client.post("/api/chat/stream", json={"message": "When does the queen lay eggs?"})
                name = streamed.headers["x-conversation"]
                kept = client.get(f"/api/conversations/{name}").json()["turns"][-1]
    told = [part for part in streamed.text.replace("\r", "").split("\n\n") if "event: usage" in part]
    live = json.loads(told[0].partition("data: ")[2])
    assert len(told) == 1
    assert streamed.text.index("event: usage") < streamed.text.index("event: done")
    assert live == kept["usage"]
    assert live["estimated"] is not counted
    if counted:
        assert (live["prompt_tokens"], live["completion_tokens"]) == (321, 12)
    else:
        assert live["prompt_tokens"] > 0
        assert live["completion_tokens"] > 0
    assert (
        kept["context_percent"] == 100 * (live["prompt_tokens"] + live["completion_tokens"]) // kept["context_tokens"]
    )
    assert kept["tokens_per_s"] == pytest.approx(live["completion_tokens"] / kept["seconds"], rel=0.01, abs=0.06)
