"""The tokens of `AsyncLilbee`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lilbee_core.aio._threads import Threads

if TYPE_CHECKING:
    from lilbee_core.tokens import NewToken, TokenInfo, Tokens


class AsyncTokens:
    """Mirrors `Tokens`."""

    def __init__(self, tokens: Tokens, threads: Threads) -> None:
        self._inner = tokens
        self._threads = threads

    async def create(self, name: str, *, read_only: bool = False, collections: Sequence[str] = ()) -> NewToken:
        """See `Tokens.create`."""
        return await self._threads.run(lambda: self._inner.create(name, read_only=read_only, collections=collections))

    async def list(self) -> tuple[TokenInfo, ...]:
        """See `Tokens.list`."""
        return await self._threads.run(self._inner.list)

    async def revoke(self, ref: str) -> TokenInfo:
        """See `Tokens.revoke`."""
        return await self._threads.run(lambda: self._inner.revoke(ref))

    async def check(self, secret: str) -> TokenInfo | None:
        """See `Tokens.check`."""
        return await self._threads.run(lambda: self._inner.check(secret))
