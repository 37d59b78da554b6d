"""The protocol over standard input and output: every line is answered, also one that is no message."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any, cast

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError


async def serve_stdio(server: Server[Any]) -> None:
    """Speak until the client closes its end.

    The SDK moves the protocol to a private descriptor, so that nothing printed by a library lands in it.
    """
    async with stdio_server() as (lines, answers):
        send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

        async def relay() -> None:
            async with send:
                await pass_on(lines, send.send, answers.send)

        async with anyio.create_task_group() as group:
            group.start_soon(relay)
            await server.run(receive, answers, server.create_initialization_options())


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
        id_: Any = cast("dict[str, Any]", given).get("id") if isinstance(given, dict) else None
        if isinstance(id_, str | int) and not isinstance(id_, bool):
            return id_
    return None
