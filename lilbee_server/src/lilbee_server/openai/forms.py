"""What is answered in OpenAI's form, for the description of the routes."""

from __future__ import annotations

from typing import Any

from lilbee_core.types import Citation

MODEL: dict[str, Any] = {"id": str, "object": str, "created": int, "owned_by": str, "role": str, "from_documents": bool}
LISTED: dict[str, Any] = {"object": str, "data": [MODEL]}
_CALL: dict[str, Any] = {"id": str, "type": str, "function": {"name": str, "arguments": str}}
_MESSAGE: dict[str, Any] = {
    "role": str,
    "content": str | None,
    "reasoning_content?": str,
    "tool_calls?": [_CALL],
}
_CHOICE: dict[str, Any] = {"index": int, "message": _MESSAGE, "finish_reason": str, "logprobs": type(None)}
_SOURCES: dict[str, Any] = {
    "found": bool,
    "citations": [Citation],
    "rejected": [Citation],
    "warnings": [str],
    "broken_off": str | None,
}
COMPLETION: dict[str, Any] = {
    "id": str,
    "object": str,
    "created": int,
    "model": str,
    "choices": [_CHOICE],
    "usage": {"prompt_tokens": int, "completion_tokens": int, "total_tokens": int},
    "lilbee?": _SOURCES,
}
VECTORS: dict[str, Any] = {
    "object": str,
    "data": [{"object": str, "index": int, "embedding": list[float] | str}],
    "model": str,
    "usage": {"prompt_tokens": int, "total_tokens": int},
}
ORDER: dict[str, Any] = {
    "object": str,
    "model": str,
    "results": [{"index": int, "relevance_score": float, "document?": {"text": str}}],
}
