"""Answers requests: finds the tool, the resource or the prompt, holds to the grant, and tells errors."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from functools import cached_property
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    ContentBlock,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceResult,
    ResourceTemplateReference,
    TextContent,
)
from pydantic import ValidationError

from lilbee_core import Lilbee
from lilbee_core.aio import Threads
from lilbee_core.errors import InvalidArgument
from lilbee_core.tokens import OWNER, Grant
from lilbee_core.types import Delta
from lilbee_mcp import prompts
from lilbee_mcp.failures import Busy, failed, refused, wrong_arguments
from lilbee_mcp.offers import Call, Offer, Writer
from lilbee_mcp.resources import Resources
from lilbee_mcp.tools import offers_of

WAIT_S = 50.0
"""How long a question waits for those before it: many clients give up on a call after a minute."""
_THREADS = 16
_CONTENT = "content"
_Context = ServerRequestContext[Any, Any]


class Desk:
    """Everything that a server answers, over a library that is opened when it is needed. Used from one event loop."""

    def __init__(
        self,
        library: Lilbee | Callable[[], Lilbee],
        *,
        enable: Sequence[str],
        write: Writer | None,
        record: Callable[[str, str, bool], None] | None,
        more: Sequence[Offer[Any]],
    ) -> None:
        self._given = library
        self._enable = enable
        self._more = more
        self._record = record
        self._threads = Threads(_THREADS)
        self._write = write or Replies(self._threads)

    @cached_property
    def _library(self) -> Lilbee:
        return self._given() if callable(self._given) else self._given

    @cached_property
    def _enabled(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._enable, *self._library.settings.server.mcp_tools)))

    @cached_property
    def _offers(self) -> dict[str, Offer[Any]]:
        return {one.name: one for one in (*offers_of(self._enabled), *self._more)}

    @cached_property
    def _resources(self) -> Resources:
        return Resources(self._library, wiki="wiki" in self._enabled)

    # ------------------------------------------------------------------ tools

    async def list_tools(self, ctx: _Context) -> ListToolsResult:
        grant = grant_of(ctx)
        return ListToolsResult(tools=[one.described() for one in self._offers.values() if one.is_open_to(grant)])

    async def call_tool(self, ctx: _Context, params: CallToolRequestParams) -> CallToolResult:
        name, grant = params.name, grant_of(ctx)
        tool: Offer[Any] | None = None
        try:
            tool = self._tool(name, grant)
            result = result_of(await tool.run(self._call(ctx, grant), self._arguments(tool, params)))
        except Exception as error:  # noqa: BLE001 - told to the client; what is a bug goes to the log
            result = failed(error, f"the tool {name!r}")
        if self._record is not None and tool is not None and not tool.reads:
            await self._threads.run(lambda: self._recorded(grant.name, name, result))
        return result

    def _tool(self, name: str, grant: Grant) -> Offer[Any]:
        tool = self._offers.get(name)
        if tool is None:
            known = ", ".join(sorted(one.name for one in self._offers.values() if one.is_open_to(grant)))
            raise InvalidArgument(f"there is no tool {name[:80]!r}", hint=f"Call one of {known}.")
        tool.check(grant)
        return tool

    @staticmethod
    def _arguments(tool: Offer[Any], params: CallToolRequestParams) -> Any:
        try:
            return tool.takes.model_validate(params.arguments or {})
        except ValidationError as error:
            raise wrong_arguments(error, tool.name, dict(tool.takes.model_fields)) from error

    def _recorded(self, who: str, name: str, result: CallToolResult) -> None:
        if self._record is not None:
            self._record(who, name, bool(result.is_error))

    def _call(self, ctx: _Context, grant: Grant) -> Call:
        return Call(
            library=self._library,
            grant=grant,
            tell=ctx.session.report_progress,
            write=self._write,
            threads=self._threads,
            remote=ctx.request is not None,
        )

    # ------------------------------------------------------------------ resources

    async def list_resources(self, ctx: _Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        cursor = params.cursor if params is not None else None
        grant = grant_of(ctx)
        try:
            return await self._threads.run(lambda: self._resources.page(grant, cursor))
        except Exception as error:
            raise refused(error, "resources/list") from error

    async def list_templates(self, ctx: _Context) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=self._resources.templates(grant_of(ctx)))

    async def read_resource(self, ctx: _Context, uri: str) -> ReadResourceResult:
        grant = grant_of(ctx)
        try:
            return await self._threads.run(lambda: self._resources.read(grant, uri))
        except Exception as error:
            raise refused(error, uri) from error

    # ------------------------------------------------------------------ prompts, and what can be named in both

    def list_prompts(self) -> ListPromptsResult:
        return ListPromptsResult(prompts=prompts.described())

    def get_prompt(self, params: GetPromptRequestParams) -> GetPromptResult:
        try:
            return prompts.written(params.name, params.arguments or {})
        except Exception as error:
            raise refused(error, params.name) from error

    async def complete(self, ctx: _Context, params: CompleteRequestParams) -> CompleteResult:
        grant, begun = grant_of(ctx), params.argument
        template = params.ref.uri if isinstance(params.ref, ResourceTemplateReference) else None
        context = (params.context.arguments if params.context is not None else None) or {}
        try:
            found = await self._threads.run(
                lambda: self._resources.begun_by(grant, template, begun.name, begun.value, context)
            )
        except Exception as error:
            raise refused(error, "completion/complete") from error
        return CompleteResult(completion=Completion(values=found.values, has_more=found.more))


class Replies:
    """Writes replies one at a time: a model that writes two at once takes more than twice as long for both (R272)."""

    def __init__(self, threads: Threads, *, wait_s: float = WAIT_S) -> None:
        self._threads = threads
        self._wait_s = wait_s
        self._turn = anyio.Semaphore(1)

    async def __call__(self, start: Callable[[], Iterator[Delta]]) -> AsyncGenerator[Delta]:
        """Yield the pieces of a reply when its turn comes.

        Raises:
            Busy: If the turn does not come in time.
        """
        try:
            with anyio.fail_after(self._wait_s):
                await self._turn.acquire()
        except TimeoutError as error:
            said = f"other replies were being written for {self._wait_s:g} s"
            raise Busy(said, hint="Try again in a moment.") from error
        try:
            async with aclosing(self._threads.iterate(start)) as deltas:
                async for delta in deltas:
                    yield delta
        finally:
            self._turn.release()


def result_of(value: Any) -> CallToolResult:
    """Return what a tool gave as the protocol has it: structured, and as text for clients that read no structure."""
    blocks: list[ContentBlock] | None = value.get(_CONTENT) if isinstance(value.get(_CONTENT), list) else None
    if blocks is not None:
        return CallToolResult(content=blocks)
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=value)


def grant_of(ctx: _Context) -> Grant:
    """Return what the client may see and do: over a pipe everything, over HTTP what its token allows."""
    if ctx.request is None:
        return OWNER
    grant: Grant = ctx.request.scope["state"]["grant"]
    return grant
