"""What is offered to agents: tools, with what they take and what they change."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from mcp.types import Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict

from lilbee_core import Lilbee
from lilbee_core.aio import Threads
from lilbee_core.tokens import Grant
from lilbee_core.types import Delta
from lilbee_mcp.failures import Forbidden

RESULT_CHARS = 24_000
"""Most characters of one result, so that it fits the context of a small model."""

T = TypeVar("T")
A = TypeVar("A", bound="Arguments")
Writer = Callable[[Callable[[], Iterator[Delta]]], AsyncGenerator[Delta]]
"""Has a reply written, one at a time, and yields its pieces."""


class Teller(Protocol):
    """Tells the client how far its call is."""

    async def __call__(self, progress: float, total: float | None = None, message: str | None = None) -> None: ...


class Arguments(BaseModel):
    """What a tool takes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a tool is given beside its arguments: the library, what the client may see, and the way back to it.

    A client is `remote` that came over HTTP.
    """

    library: Lilbee
    grant: Grant
    tell: Teller
    write: Writer
    threads: Threads
    remote: bool = False

    async def run(self, function: Callable[..., T], *args: object, **named: object) -> T:
        """Call a function of the library in a thread, so that one slow call delays no other."""
        return await self.threads.run(partial(function, *args, **named))


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer(Generic[A]):
    """A tool.

    `reads` changes nothing; `destroys` may lose what was there; `repeats` does nothing more when it is called again;
    `outside` reaches beyond the library; `scoped` keeps to the collections of a grant, others are closed to such.
    """

    name: str
    title: str
    about: str
    takes: type[A]
    run: Callable[[Call, A], Awaitable[Mapping[str, Any]]]
    reads: bool = False
    destroys: bool = False
    repeats: bool = False
    outside: bool = False
    scoped: bool = False

    def is_open_to(self, grant: Grant) -> bool:
        """Whether somebody may call it."""
        return (self.reads or not grant.read_only) and (self.scoped or grant.collections is None)

    def check(self, grant: Grant) -> None:
        """Make sure that somebody may call it.

        Raises:
            Forbidden: If not.
        """
        if self.is_open_to(grant):
            return
        why = "this token only reads" if not self.reads and grant.read_only else "this token sees single collections"
        raise Forbidden(f"{why}, so {self.name} is not for it", hint="Use another token.")

    def described(self) -> Tool:
        """Return it as the protocol tells it."""
        changes: dict[str, Any] = {"read_only_hint": True}
        if not self.reads:
            # What the protocol takes for granted is left out: a list of tools is read by a model, each time.
            changes = {"destructive_hint": self.destroys, **({"idempotent_hint": True} if self.repeats else {})}
        return Tool(
            name=self.name,
            title=self.title,
            description=self.about,
            input_schema=schema_of(self.takes),
            annotations=ToolAnnotations(open_world_hint=self.outside, **changes),
        )


def offer(
    takes: type[A],
    title: str,
    *,
    reads: bool = False,
    destroys: bool = False,
    repeats: bool = False,
    outside: bool = False,
    scoped: bool = False,
) -> Callable[[Callable[[Call, A], Awaitable[Mapping[str, Any]]]], Offer[A]]:
    """Offer a function as a tool: its name is the tool's, its docstring what agents are told."""

    def made(function: Callable[[Call, A], Awaitable[Mapping[str, Any]]]) -> Offer[A]:
        return Offer(
            name=function.__name__,
            title=title,
            about=" ".join(inspect.cleandoc(function.__doc__ or "").split()),
            takes=takes,
            run=function,
            reads=reads,
            destroys=destroys,
            repeats=repeats,
            outside=outside,
            scoped=scoped,
        )

    return made


def schema_of(takes: type[Arguments]) -> dict[str, Any]:
    """Return the JSON schema of arguments without what tells an agent nothing: titles, null, empty defaults."""
    schema = takes.model_json_schema()
    shown: dict[str, Any] = {"type": "object", "properties": {}}
    for name, value in schema.get("properties", {}).items():
        shown["properties"][name] = _plain(value)
    if "required" in schema:
        shown["required"] = schema["required"]
    return {**shown, "additionalProperties": False}


_UNTOLD = frozenset({"title", "maxLength", "maxItems"})


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in value:
        kinds = [one for one in value["anyOf"] if one.get("type") != "null"]
        rest = {key: one for key, one in value.items() if key != "anyOf"}
        value = {**kinds[0], **rest} if len(kinds) == 1 else {**rest, "anyOf": kinds}
    kept = {key: one for key, one in value.items() if key not in _UNTOLD}
    if kept.get("default", 0) in (None, [], ()):
        del kept["default"]
    if isinstance(kept.get("items"), dict):
        kept["items"] = _plain(kept["items"])
    return kept


def fitting(rows: Iterable[T], *, chars: int = RESULT_CHARS) -> list[T]:
    """Return as many of the rows, from the first, as fit a result; at least one if there is any."""
    kept: list[T] = []
    left = chars
    for row in rows:
        left -= len(json.dumps(row, ensure_ascii=False))
        if left < 0 and kept:
            break
        kept.append(row)
    return kept


def without_blanks(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the named fields of a value that say something."""
    return {name: row[name] for name in names if row[name] not in (None, False, "", [], {})}
