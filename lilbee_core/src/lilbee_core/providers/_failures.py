"""What a failed request means: one table from status and text to our errors, for every provider."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import cast

from lilbee_core.errors import InputTooLong, ModelNotFound, ProviderError, ProviderUnavailable

_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window)|exceed_context|maximum context|too (?:long|large|many tokens)|"
    r"(?:exceeds?|larger than|longer than|more than)\b.{0,60}\b(?:tokens?|context|limit|batch size|maximum)|"
    r"tokens?.{0,40}\bexceeds?\b|maximum (?:input|sequence|number of tokens)|string_above_max_length",
    re.IGNORECASE | re.DOTALL,
)
_NO_MODEL = re.compile(
    r"model_not_found|no such model|unknown model|invalid model|model\b.{0,120}\b(?:not found|does not exist|not exist|"
    r"is not loaded|not available|no longer available)|try pulling it",
    re.IGNORECASE | re.DOTALL,
)
_NOT_SUPPORTED = re.compile(r"not_supported|not supported|does not support|unsupported|not implemented", re.IGNORECASE)
_TITLE = re.compile(rb"<title[^>]*>(.{0,200}?)</title>", re.IGNORECASE | re.DOTALL)
_HTML = re.compile(rb"\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_MESSAGE_CHARS = 400
_BUSY = frozenset({429, 502, 503, 504, 529})


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A model server as errors name it: what it is called, where it is, and which settings say so."""

    name: str
    url: str
    url_setting: str = ""
    key_setting: str = ""
    pull_command: str = ""

    def __str__(self) -> str:
        return f"{self.name} at {self.url}" if self.url else self.name

    @property
    def inside(self) -> str:
        """The server as it is named within a sentence."""
        return f"the {str(self)[4:]}" if str(self).startswith("The ") else str(self)

    @property
    def url_hint(self) -> str:
        """How to correct the address, as the start of a sentence."""
        if not self.url_setting:
            return "check its address"
        return f"set {self.url_setting} (LILBEE_{self.url_setting.upper()}) to its address"


def is_html(body: bytes) -> bool:
    """Say whether an answer is a web page."""
    return _HTML.match(body[:2048]) is not None


def said(body: bytes, secret: str = "") -> str:
    """Return what an error answer says, in one line, without the key."""
    text = _said_in_json(body)
    if text is None and is_html(body):
        title = _TITLE.search(body)
        text = f"a web page titled {_line(title[1].decode('utf-8', 'replace'))!r}" if title else "a web page"
    if text is None:
        text = body[: 4 * _MESSAGE_CHARS].decode("utf-8", "replace")
    if secret:
        text = text.replace(secret, "***")
    return _line(text)


def _said_in_json(body: bytes) -> str | None:
    try:
        answer: object = json.loads(body)
    except ValueError:
        return None
    if isinstance(answer, list) and answer:
        answer = cast("list[object]", answer)[0]
    if not isinstance(answer, dict):
        return None
    values = cast("dict[str, object]", answer)
    value = next((values[key] for key in ("error", "detail", "message", "msg") if values.get(key)), None)
    if isinstance(value, dict):
        inner = cast("dict[str, object]", value)
        return ", ".join(str(inner[one]) for one in ("message", "code", "type") if inner.get(one)) or None
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value) if value else None


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MESSAGE_CHARS else f"{line[:_MESSAGE_CHARS]}…"


def failure(status: int, message: str, *, server: Server, model: str = "") -> ProviderError:
    """Return the error that an answer with this status and message stands for."""
    what = f"the model {model!r} of {server.inside}" if model else str(server)
    if status in {401, 403}:
        return _refused(status, message, server)
    if _NO_MODEL.search(message) or (status == 404 and model and "model" in message.lower()):
        return model_not_found(model, server, message)
    if status == 413 or (status in {400, 422, 500} and _TOO_LONG.search(message)):
        return InputTooLong(
            f"The input does not fit {what}: {message or 'the request is too large'}",
            hint="Choose a smaller chunk_size, or a model that reads longer texts.",
        )
    if status == 404 or 300 <= status < 400 or status in _BUSY:
        return _not_there(status, message, server)
    hint = "See the server's log."
    if status == 501 or _NOT_SUPPORTED.search(message):
        hint = "Choose a model that was made for this role."
    return ProviderError(f"{what} failed (HTTP {status}): {message or 'it gave no reason'}", hint=hint)


def _not_there(status: int, message: str, server: Server) -> ProviderUnavailable:
    if status in _BUSY:
        return ProviderUnavailable(
            f"{server} is too busy or not ready (HTTP {status}): {message or 'it gave no reason'}",
            hint="Try again in a while, or lower embed_concurrency.",
        )
    return ProviderUnavailable(
        f"{server} has no such address (HTTP {status}): {message or 'nothing is there'}",
        hint=f"If this is not an OpenAI-style server, {server.url_hint}; it usually ends in /v1.",
    )


def model_not_found(model: str, server: Server, message: str = "") -> ModelNotFound:
    """Return the error for a model that the server does not have."""
    pull = f"Run `{server.pull_command} {model}`, or choose" if server.pull_command else "Load it there, or choose"
    reason = f": {message}" if message else ""
    return ModelNotFound(f"{server} does not have the model {model!r}{reason}", hint=f"{pull} another model.")


def _refused(status: int, message: str, server: Server) -> ProviderError:
    key = server.key_setting
    hint = f"Set {key} (LILBEE_{key.upper()}) to a valid key." if key else "Check the key of the server."
    return ProviderError(f"{server} refused the request (HTTP {status}): {message or 'no reason given'}", hint=hint)


def web_page(server: Server, message: str) -> ProviderUnavailable:
    """Return the error for an address that answers with a web page."""
    return ProviderUnavailable(
        f"{server} answered with {message or 'a web page'}, not as a model server",
        hint=f"If that is another program, {server.url_hint}; it usually ends in /v1.",
    )


def unreadable(server: Server, why: str) -> ProviderError:
    """Return the error for an answer that makes no sense."""
    return ProviderError(
        f"{server} gave an answer that cannot be read: {why}", hint="Check that it is an OpenAI-style server."
    )


def broke_off(server: Server, why: str = "the connection was closed") -> ProviderUnavailable:
    """Return the error for an answer that stops in the middle."""
    return ProviderUnavailable(f"{server} broke off in the middle of its answer: {why}", hint="Try again.")
