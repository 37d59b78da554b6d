"""Clients of other makers, unmodified, against ``/v1`` on loopback: chat, streams, tools, vectors, errors (R259).

OpenAI's own client for Python is in `test_openai.py`. These need packages that the default environment leaves out;
`nox -s clients` installs them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import ProviderError
from lilbee_core.testing import HashEmbedder
from lilbee_core.types import ChatOptions, Delta, Message, ToolCall, Usage
from lilbee_server.app import create_app
from tests.server.conftest import TOKEN, serving

MODEL = HashEmbedder().model
TEXTS = ["The queen", "The ferry"]
QUESTION = "When does the queen lay eggs?"
SCRIPT = Path(__file__).parent / "clients" / "openai_client.mjs"
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}},
}


class Obliging:
    """A chat model that calls a tool if it may, cites a passage if it gets one, and says hello otherwise."""

    def chat(self, messages: Sequence[Message], options: ChatOptions = ChatOptions()) -> Iterator[Delta]:
        asked = messages[-1].content
        if "too long" in asked:
            raise ProviderError("no room", code="provider.context_overflow")
        if options.tools:
            yield Delta(kind="tool_call", tool_call=ToolCall(id="c1", name="weather", arguments='{"place": "Rome"}'))
            return
        for text in ("The queen lays eggs in spring [1].",) if "queen" in asked else ("Good", " ", "day"):
            yield Delta(kind="text", text=text)
        yield Delta(kind="usage", usage=Usage(prompt_tokens=5, completion_tokens=2))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("served") / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    with ExitStack() as stack:
        bee = stack.enter_context(
            Lilbee(root, embedder=HashEmbedder(), chat=Obliging(), overrides={"chat_rewrite": "rules"})
        )
        bee.sync()
        yield stack.enter_context(serving(create_app(bee, token=TOKEN)))


def says(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_litellm(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    litellm = pytest.importorskip("litellm", reason="litellm is not installed: nox -s clients")
    to: dict[str, Any] = {"api_base": f"{address}/v1", "api_key": TOKEN, "max_retries": 0}
    whole = litellm.completion(model="openai/given", messages=says("Hello"), **to)
    assert (whole.choices[0].message.content, whole.usage.total_tokens) == ("Good day", 7)
    pieces = litellm.completion(model="openai/given", messages=says("Hello"), stream=True, **to)
    assert "".join(one.choices[0].delta.content or "" for one in pieces) == "Good day"
    called = litellm.completion(model="openai/given", messages=says("Weather in Rome?"), tools=[TOOL], **to)
    (call,) = called.choices[0].message.tool_calls
    assert (call.function.name, json.loads(call.function.arguments)) == ("weather", {"place": "Rome"})
    cited = litellm.completion(model="openai/lilbee", messages=says(QUESTION), **to)
    assert cited.choices[0].message.content == "The queen lays eggs in spring [1]."
    got = litellm.embedding(model=f"openai/{MODEL}", input=TEXTS, **to)
    assert np.allclose([one["embedding"] for one in got.data], HashEmbedder().embed_batch(TEXTS))
    for model, text, key, kind in (
        ("gpt-9", "Hello", TOKEN, litellm.NotFoundError),
        ("given", "too long", TOKEN, litellm.ContextWindowExceededError),
        ("given", "Hello", "wrong", litellm.AuthenticationError),
    ):
        with pytest.raises(kind):
            litellm.completion(model=f"openai/{model}", messages=says(text), **{**to, "api_key": key})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_langchain(address: str) -> None:
    langchain = pytest.importorskip("langchain_openai", reason="langchain-openai is not installed: nox -s clients")
    import openai

    to: dict[str, Any] = {"base_url": f"{address}/v1", "api_key": TOKEN, "max_retries": 0}
    chat = langchain.ChatOpenAI(model="given", **to)
    whole = chat.invoke("Hello")
    assert (whole.content, whole.usage_metadata["total_tokens"]) == ("Good day", 7)
    assert "".join(one.content for one in chat.stream("Hello")) == "Good day"
    called = chat.bind_tools([TOOL]).invoke("Weather in Rome?")
    assert [(one["name"], one["args"]) for one in called.tool_calls] == [("weather", {"place": "Rome"})]
    assert langchain.ChatOpenAI(model="lilbee", **to).invoke(QUESTION).content == "The queen lays eggs in spring [1]."
    # By itself it cuts texts into token numbers of OpenAI's models, which no other model understands.
    embeddings = langchain.OpenAIEmbeddings(model=MODEL, check_embedding_ctx_length=False, **to)
    assert np.allclose(embeddings.embed_documents(TEXTS), HashEmbedder().embed_batch(TEXTS))
    with pytest.raises(openai.NotFoundError):
        langchain.ChatOpenAI(model="gpt-9", **to).invoke("Hello")
    with pytest.raises(openai.BadRequestError, match="no room"):
        chat.invoke("too long")
    with pytest.raises(openai.AuthenticationError):
        langchain.ChatOpenAI(model="given", **{**to, "api_key": "wrong"}).invoke("Hello")


@pytest.mark.slow
def test_openai_for_javascript(address: str, tmp_path: Path) -> None:
    modules = os.environ.get("NODE_CLIENTS_DIR", "")
    if not modules:
        pytest.skip("NODE_CLIENTS_DIR names no folder with node and openai of npm: nox -s clients")
    node = Path(modules) / "node_modules" / ".bin" / "node"
    script = Path(modules) / SCRIPT.name
    script.write_bytes(SCRIPT.read_bytes())  # it finds its modules beside itself
    command = [str(node), str(script), address, TOKEN, MODEL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert got["models"][:2] == ["lilbee", "given"]
    assert got["chat"] == ["Good day", "stop", 7]
    assert (got["streamed"], got["streamedTokens"]) == ("Good day", 7)
    assert got["tool"] == ["tool_calls", {"name": "weather", "arguments": '{"place": "Rome"}'}]
    assert got["cited"] == ["bees.md"]
    assert np.allclose(got["vectors"], HashEmbedder().embed_batch(TEXTS), atol=1e-6)
    assert got["errors"] == {
        "model": ["NotFoundError", 404, "model_not_found"],
        "context": ["BadRequestError", 400, "context_length_exceeded"],
        "key": ["AuthenticationError", 401, "invalid_api_key"],
    }
