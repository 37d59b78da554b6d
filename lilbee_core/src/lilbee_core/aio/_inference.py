"""The models of `AsyncLilbee`, asked by themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from lilbee_core.aio._threads import Threads
from lilbee_core.types import ChatOptions, Delta, Filter, Message, Vectors

if TYPE_CHECKING:
    from lilbee_core.library import Inference, InferenceModel


class AsyncInference:
    """Mirrors `Inference`."""

    def __init__(self, inference: Inference, threads: Threads) -> None:
        self._inner = inference
        self._threads = threads

    async def models(self) -> tuple[InferenceModel, ...]:
        """See `Inference.models`."""
        return await self._threads.run(self._inner.models)

    def chat(
        self, messages: Sequence[Message], options: ChatOptions | None = None, *, model: str | None = None
    ) -> AsyncIterator[Delta]:
        """See `Inference.chat`."""
        return self._threads.iterate(lambda: self._inner.chat(messages, options, model=model))

    def answer(self, messages: Sequence[Message], *, filters: Filter | None = None) -> AsyncIterator[Delta]:
        """See `Inference.answer`."""
        return self._threads.iterate(lambda: self._inner.answer(messages, filters=filters))

    async def embed(self, texts: Sequence[str], *, model: str | None = None, queries: bool = False) -> Vectors:
        """See `Inference.embed`."""
        return await self._threads.run(lambda: self._inner.embed(texts, model=model, queries=queries))

    async def count_tokens(self, text: str) -> int:
        """See `Inference.count_tokens`."""
        return await self._threads.run(lambda: self._inner.count_tokens(text))

    async def rerank(self, query: str, texts: Sequence[str], *, model: str | None = None) -> tuple[float, ...]:
        """See `Inference.rerank`."""
        return await self._threads.run(lambda: self._inner.rerank(query, texts, model=model))
