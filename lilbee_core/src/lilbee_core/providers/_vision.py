"""Vision models of OpenAI-style servers: page images to markdown."""

from __future__ import annotations

import base64
from typing import Any

from lilbee_core.providers._chat import OpenAIChat
from lilbee_core.providers._client import OpenAIClient

PROMPT = (
    "Transcribe all text on this page as Markdown, in reading order and in its own language. Keep headings, lists and "
    "tables. Add nothing, explain nothing. If there is no text, answer with nothing."
)
_MOST_TOKENS = 4096


class OpenAIVision:
    """A vision model behind ``/v1/chat/completions``. Threads may share it."""

    def __init__(self, client: OpenAIClient, model: str, *, owns_client: bool = False) -> None:
        self.model = model
        self._chat = OpenAIChat(client, model, owns_client=owns_client)

    def read(self, image: bytes, *, prompt: str = "") -> str:
        """Return the text on a page image (PNG); an empty page gives an empty text.

        Raises:
            ProviderError: If the server fails.
        """
        url = f"data:image/png;base64,{base64.b64encode(image).decode('ascii')}"
        content: list[dict[str, Any]] = [
            {"type": "text", "text": prompt or PROMPT},
            {"type": "image_url", "image_url": {"url": url}},
        ]
        payload = {
            "model": self.model,
            "messages": [{"role": "user", "content": content}],
            "temperature": 0.0,
            "max_tokens": _MOST_TOKENS,
            "stream": True,
        }
        return _without_fence(self._chat.ask(payload))

    def close(self) -> None:
        """Close the client, if it is this model's own."""
        self._chat.close()


def _without_fence(text: str) -> str:
    """Return markdown without the code fence that models like to put around all of it."""
    first, _, rest = text.partition("\n")
    if first.strip().lower() in {"```", "```markdown", "```md"} and rest.rstrip().endswith("```"):
        return rest.rstrip().removesuffix("```").strip()
    return text
