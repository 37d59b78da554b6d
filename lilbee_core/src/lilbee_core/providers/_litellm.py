"""Hosted services through litellm, which is imported when the first model of it is used."""

from __future__ import annotations

import base64
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from lilbee_core.errors import EmptyReply, ExtraMissing, ProviderError
from lilbee_core.plugins.specs import ProviderServices
from lilbee_core.providers._failures import Server, broke_off, failure, unreadable
from lilbee_core.providers._thinking import ThinkSplitter
from lilbee_core.providers._vision import PROMPT
from lilbee_core.types import ChatOptions, Delta, Message

if TYPE_CHECKING:
    from lilbee_core.types import Vectors


class LiteLlm(Protocol):
    """What is used of the package."""

    def completion(self, **request: Any) -> Any: ...

    def embedding(self, **request: Any) -> Any: ...

    def rerank(self, **request: Any) -> Any: ...


def load_litellm() -> LiteLlm:
    """Import litellm so that it calls nobody: by default it fetches a list of prices at import.

    Raises:
        ExtraMissing: If it is not installed.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # noqa: TID251 - read by the library at its import
    try:
        litellm: object = import_module("litellm")
    except ModuleNotFoundError as error:
        raise ExtraMissing(
            "Models of litellm/ need a package that is not installed", hint="Run: pip install 'lilbee-core[litellm]'"
        ) from error
    return cast("LiteLlm", litellm)


def litellm_model(role: str, name: str, services: ProviderServices) -> object:
    """Return the model of a role."""
    kinds = {"chat": LiteLlmChat, "embed": LiteLlmEmbedding, "rerank": LiteLlmRerank, "vision": LiteLlmVision}
    return kinds[role](name, services)


class _LiteLlmModel:
    """What the roles share: the request's common part, and errors of our own."""

    def __init__(self, model: str, services: ProviderServices) -> None:
        self.model = model
        self._server = Server(name="litellm", url="")
        self._common: dict[str, Any] = {
            "model": model,
            "timeout": services.request_timeout_s,
            "num_retries": services.retries,
        }
        if services.base_url:
            self._common["api_base"] = services.base_url
        if services.api_key:
            self._common["api_key"] = services.api_key
        self._secret = services.api_key

    def _failed(self, error: Exception) -> ProviderError:
        """Return our error for one of litellm's, whose classes follow OpenAI's and carry a status."""
        status = getattr(error, "status_code", None)
        text = " ".join(str(error).split())[:400]
        if self._secret:
            text = text.replace(self._secret, "***")
        return failure(status if isinstance(status, int) else 500, text, server=self._server, model=self.model)


class LiteLlmChat(_LiteLlmModel):
    """A chat model behind litellm. Threads may share it."""

    def chat(self, messages: Sequence[Message], options: ChatOptions | None = None) -> Generator[Delta]:
        """Yield the reply piece by piece; closing the iterator closes the request.

        Raises:
            ExtraMissing: If litellm is not installed.
            EmptyReply: If the model says nothing.
            ProviderError: If the service fails.
        """
        sent = [{"role": one.role, "content": one.content} for one in messages]
        spoke = False
        for delta in self._deltas(sent, options or ChatOptions()):
            spoke = spoke or (delta.kind == "text" and bool(delta.text.strip()))
            yield delta
        if not spoke:
            raise EmptyReply(f"The model {self.model!r} answered nothing", hint="Ask again, or choose another model.")

    def _deltas(self, sent: list[dict[str, Any]], options: ChatOptions) -> Generator[Delta]:
        request: dict[str, Any] = {**self._common, "messages": sent, "stream": True, "drop_params": True}
        if options.temperature is not None:
            request["temperature"] = options.temperature
        if options.max_tokens is not None:
            request["max_tokens"] = options.max_tokens
        if options.stop:
            request["stop"] = list(options.stop)
        reply: Any = None
        started = False
        splitter = ThinkSplitter()
        litellm = load_litellm()
        try:
            reply = litellm.completion(**request)
            for chunk in cast("Iterable[object]", reply):
                started = True
                yield from self._pieces(chunk, splitter)
        except Exception as error:
            raise (broke_off(self._server, str(error)) if started else self._failed(error)) from error
        finally:
            close = getattr(reply, "close", None)
            if callable(close):
                close()
        yield from (Delta(kind=kind, text=text) for kind, text in splitter.end())

    def _pieces(self, chunk: object, splitter: ThinkSplitter) -> Generator[Delta]:
        for choice in _field(chunk, "choices"):
            delta = getattr(choice, "delta", None)
            reasoning, text = getattr(delta, "reasoning_content", None), getattr(delta, "content", None)
            if reasoning:
                yield Delta(kind="reasoning", text=str(reasoning))
            if text:
                yield from (Delta(kind=kind, text=piece) for kind, piece in splitter.feed(str(text)))


class LiteLlmVision(LiteLlmChat):
    """A vision model behind litellm. Threads may share it."""

    def read(self, image: bytes, *, prompt: str = "") -> str:
        """Return the text on a page image (PNG)."""
        url = f"data:image/png;base64,{base64.b64encode(image).decode('ascii')}"
        content = [{"type": "text", "text": prompt or PROMPT}, {"type": "image_url", "image_url": {"url": url}}]
        deltas = self._deltas([{"role": "user", "content": content}], ChatOptions())
        return "".join(one.text for one in deltas if one.kind == "text").strip()


class LiteLlmEmbedding(_LiteLlmModel):
    """An embedding model behind litellm. Threads may share it."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return a row for each text, in order."""
        import numpy as np

        if not texts:
            return np.empty((0, 0), np.float32)
        litellm = load_litellm()
        try:
            answer = litellm.embedding(**self._common, input=[text or " " for text in texts])
        except Exception as error:
            raise self._failed(error) from error
        entries = [_plain(one) for one in _field(answer, "data")]
        entries.sort(key=lambda one: one.get("index", 0))
        try:
            rows = np.asarray([one["embedding"] for one in entries], np.float32)
        except (KeyError, ValueError, TypeError) as error:
            raise unreadable(self._server, "it holds no vectors") from error
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise unreadable(self._server, f"{len(texts)} texts gave vectors of the shape {rows.shape}")
        return rows


class LiteLlmRerank(_LiteLlmModel):
    """A reranker behind litellm. Threads may share it."""

    def rank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return the score of each text, in order."""
        if not texts:
            return ()
        litellm = load_litellm()
        try:
            answer = litellm.rerank(**self._common, query=query, documents=list(texts), top_n=len(texts))
        except Exception as error:
            raise self._failed(error) from error
        scores = {one.get("index"): one.get("relevance_score") for one in map(_plain, _field(answer, "results"))}
        if set(scores) != set(range(len(texts))):
            raise unreadable(self._server, f"{len(texts)} texts were sent, {len(scores)} scores came back")
        return tuple(float(cast("float", scores[place])) for place in range(len(texts)))


def _field(answer: object, name: str) -> list[object]:
    if isinstance(answer, dict):
        return list(cast("dict[str, Iterable[object]]", answer).get(name) or ())
    return list(cast("Iterable[object]", getattr(answer, name, None) or ()))


def _plain(entry: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", entry if isinstance(entry, dict) else vars(entry))
