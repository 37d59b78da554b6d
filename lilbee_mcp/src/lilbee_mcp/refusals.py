"""Calls and lines that cannot be taken as they are, refused in words that an agent can act on."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, CallToolResult, ErrorData, InputRequiredResult, JSONRPCError
from pydantic import ValidationError

_WANTED = {
    "int": "a whole number",
    "string": "a text",
    "bool": "true or false",
    "float": "a number",
    "list": "a list",
    "dict": "an object",
}
_LONGEST = 80


class PlainServer(MCPServer):
    """An MCP server whose refusals name the code, what is wrong and what to do, and that answers every line."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        known = {tool.name for tool in await self.list_tools()}
        if name not in known:
            raise ToolError(f"argument.invalid: there is no tool {name!r}. Call one of {', '.join(sorted(known))}.")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError):
                raise ToolError(f"argument.invalid: {_wrong(cause)}. Correct the arguments of {name}.") from cause
            if isinstance(cause, ToolError):
                raise cause from None
            raise

    async def run_stdio_async(self) -> None:
        """Speak over standard input and output; a line that is no message of the protocol is answered as well."""
        async with stdio_server() as (lines, answers):
            send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

            async def relay() -> None:
                async with send:
                    await pass_on(lines, send.send, answers.send)

            async with anyio.create_task_group() as group:
                group.start_soon(relay)
                await self._lowlevel_server.run(receive, answers, self._lowlevel_server.create_initialization_options())


async def pass_on(
    lines: AsyncIterable[SessionMessage | Exception],
    send: Callable[[SessionMessage], Awaitable[None]],
    answer: Callable[[SessionMessage], Awaitable[None]],
) -> None:
    """Pass messages on, and answer what is none."""
    async for line in lines:
        if not isinstance(line, Exception):
            await send(line)
        elif (refused := refusal(line)) is not None:
            await answer(SessionMessage(refused))


def refusal(error: Exception) -> JSONRPCError | None:
    """Return the answer to a line that is no message; None for a blank one."""
    details: list[Any] = list(error.errors(include_url=False)) if isinstance(error, ValidationError) else []
    first: dict[str, Any] = details[0] if details else {}
    if first.get("type") != "json_invalid":
        return _error(INVALID_REQUEST, "this is no JSON-RPC 2.0 message", _id_of(details))
    if not str(first.get("input", "")).strip():
        return None
    reason = first.get("ctx", {}).get("error", "it cannot be read")
    return _error(PARSE_ERROR, f"this line is no JSON: {reason}", None)


def _error(code: int, message: str, id_: str | int | None) -> JSONRPCError:
    hint = "Send one JSON-RPC 2.0 message a line: an object with jsonrpc, method and, for a request, id."
    return JSONRPCError(jsonrpc="2.0", id=id_, error=ErrorData(code=code, message=f"{message}. {hint}"))


def _id_of(details: list[Any]) -> str | int | None:
    """Return the id of a request that is wrong otherwise."""
    for one in details:
        given = one.get("input")
        id_ = given.get("id") if isinstance(given, dict) else None
        if isinstance(id_, str | int) and not isinstance(id_, bool):
            return id_
    return None


def _wrong(error: ValidationError) -> str:
    """Say which arguments are wrong, and what they must be."""
    return "; ".join(dict.fromkeys(_told(one) for one in error.errors(include_url=False)))


def _told(detail: Any) -> str:
    name = ".".join(str(part) for part in detail["loc"]) or "the arguments"
    kind = str(detail["type"])
    if kind == "missing":
        return f"{name} is missing"
    wanted = next((words for start, words in _WANTED.items() if kind.startswith(start)), None)
    shown = repr(detail["input"])
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
    return f"{name} must be {wanted or 'something else'}, got {shown}"
