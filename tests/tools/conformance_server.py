"""Serves what the official conformance suite of MCP looks for, through lilbee's own server and gate.

The suite calls tools, resources and prompts by names of its own. Here these are offered beside lilbee's, so that what
is measured is lilbee's dispatch, results, errors, progress and transport. ``python -m tests.tools.conformance_server
COMMAND…`` runs a command with ``--url ADDRESS`` behind it, as `nox -s conformance` does.
"""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcp.server import Server
from mcp.types import (
    AudioContent,
    EmbeddedResource,
    GetPromptRequestParams,
    ImageContent,
    ReadResourceRequestParams,
    TextContent,
    TextResourceContents,
)

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument
from lilbee_core.testing import HashEmbedder
from lilbee_core.tokens import Access
from lilbee_mcp.http import Gate, Sessions
from lilbee_mcp.offers import Arguments, Call, Offer, offer
from lilbee_mcp.prompts import Job, written
from lilbee_mcp.server import build_server
from tests.support.listening import listening

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = base64.b64encode(b"RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00").decode()


class Nothing(Arguments):
    """No arguments."""


IMAGE = ImageContent(type="image", data=PIXEL, mime_type="image/png")
AUDIO = AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")
RESOURCE = EmbeddedResource(
    type="resource",
    resource=TextResourceContents(
        uri="test://embedded-resource", mime_type="text/plain", text="This is an embedded resource content."
    ),
)


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


@offer(Nothing, "Text", reads=True)
async def test_simple_text(call: Call, asked: Nothing) -> dict[str, Any]:
    """Return text."""
    return {"content": [text("This is a simple text response for testing.")]}


@offer(Nothing, "Image", reads=True)
async def test_image_content(call: Call, asked: Nothing) -> dict[str, Any]:
    """Return an image."""
    return {"content": [IMAGE]}


@offer(Nothing, "Audio", reads=True)
async def test_audio_content(call: Call, asked: Nothing) -> dict[str, Any]:
    """Return sound."""
    return {"content": [AUDIO]}


@offer(Nothing, "Resource", reads=True)
async def test_embedded_resource(call: Call, asked: Nothing) -> dict[str, Any]:
    """Return a resource."""
    return {"content": [RESOURCE]}


@offer(Nothing, "Mixed", reads=True)
async def test_multiple_content_types(call: Call, asked: Nothing) -> dict[str, Any]:
    """Return several things."""
    return {"content": [text("Multiple content types test:"), IMAGE, RESOURCE]}


@offer(Nothing, "Error", reads=True)
async def test_error_handling(call: Call, asked: Nothing) -> dict[str, Any]:
    """Fail."""
    raise InvalidArgument("this tool intentionally returns an error for testing", hint="Expect it.")


@offer(Nothing, "Progress", reads=True)
async def test_tool_with_progress(call: Call, asked: Nothing) -> dict[str, Any]:
    """Tell how far it is."""
    for done in (0, 50, 100):
        await call.tell(done, 100, f"{done} of 100")
    return {"content": [text("done")]}


OFFERS: tuple[Offer[Any], ...] = (
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
)


ADDRESSES = {
    "test://static-text": "lilbee://document/notes/static.txt",
    "test://template/123/data": "lilbee://document/notes/template/123.txt",
}
"""Addresses of the suite, and the documents that are read for them."""
FILES = {
    "bees.md": "# Bees\n\nThe queen lays eggs in spring.\n",
    "static.txt": "This is the content of the static text resource.\n",
    "template/123.txt": '{"id": "123", "templateTest": true, "data": "Data for ID: 123"}\n',
}
PROMPTS = (
    Job(
        name="test_simple_prompt",
        title="",
        about="No arguments.",
        takes={},
        text="This is a simple prompt for testing.",
    ),
    Job(
        name="test_prompt_with_arguments",
        title="",
        about="Two arguments.",
        takes={"arg1": "One.", "arg2": "Another."},
        text="Prompt with arguments: arg1='{arg1}', arg2='{arg2}'",
    ),
)


def translated(server: Server[Any]) -> None:
    """Let the server know the names of the suite; what they mean goes the way of every other."""
    read, get = server.get_request_handler("resources/read"), server.get_request_handler("prompts/get")
    assert read is not None
    assert get is not None

    async def read_resource(ctx: Any, params: ReadResourceRequestParams) -> Any:
        ours = ADDRESSES.get(params.uri, params.uri)
        result: Any = await read.handler(ctx, params.model_copy(update={"uri": ours}))
        told = [one.model_copy(update={"uri": params.uri}) for one in result.contents]
        return result.model_copy(update={"contents": told})

    async def get_prompt(ctx: Any, params: GetPromptRequestParams) -> Any:
        if params.name in {job.name for job in PROMPTS}:
            return written(params.name, params.arguments or {}, jobs=PROMPTS)
        return await get.handler(ctx, params)

    server.add_request_handler("resources/read", ReadResourceRequestParams, read_resource)
    server.add_request_handler("prompts/get", GetPromptRequestParams, get_prompt)


@contextmanager
def serving() -> Generator[str]:
    """Serve on loopback; gives the address."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "notes"
        for name, words in FILES.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(words, encoding="utf-8")
        with Lilbee(root, embedder=HashEmbedder()) as bee:
            bee.sync()
            server = build_server(bee, more=OFFERS)
            translated(server)
            gate = Gate(Sessions(lambda: server), Access(token=None, check=bee.tokens.check))
            with listening(gate) as address:
                yield f"{address}/mcp"


def main(command: list[str]) -> int:
    """Run a command with the address behind it and return its exit code."""
    with serving() as url:
        return subprocess.run([*command, "--url", url], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
