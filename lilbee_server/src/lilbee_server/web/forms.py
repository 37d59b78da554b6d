"""What people fill in: read without complaint, checked by the library, and given back where something is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from litestar import Request
from litestar.di import NamedDependency, Provide

from lilbee_core import LilbeeError
from lilbee_core.errors import InvalidArgument

_HIGHEST = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form. One that is not there, or was left blank, is an empty text."""

    fields: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    def __getitem__(self, name: str) -> str:
        """Return what a field says, without blanks around it. Templates fill fields in by it."""
        return self.raw(name).strip()

    def raw(self, name: str) -> str:
        """Return what a field says, blanks and line ends included."""
        found = self.fields.get(name, ())
        return found[0] if found else ""

    def several(self, name: str) -> tuple[str, ...]:
        """Return what all fields of a name say, each once."""
        return tuple(dict.fromkeys(one.strip() for one in self.fields.get(name, ()) if one.strip()))

    def lines(self, name: str) -> tuple[str, ...]:
        """Return the words of a field, parted by line ends, blanks or commas."""
        return tuple(self.raw(name).replace(",", " ").split())

    def ticked(self, name: str) -> bool:
        """Whether a box is ticked."""
        return bool(self[name])

    def number(self, name: str) -> int | None:
        """Return a whole number, None where nothing stands.

        Raises:
            InvalidArgument: If it is none.
        """
        text = self[name]
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and len(text) < 11 and int(text) <= _HIGHEST):
            raise InvalidArgument(f"{text[:40]!r} is no whole number", hint="Write digits alone, such as 2.")
        return int(text)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a form, and the field that it is about; none where it is about all of it."""

    error: LilbeeError
    field: str = ""

    @property
    def message(self) -> str:
        return self.error.message

    @property
    def hint(self) -> str:
        return self.error.hint


async def form_of(request: Request[Any, Any, Any]) -> Form:
    """Return what was filled in; files are not taken this way."""
    found = await request.form()
    fields: dict[str, list[str]] = {}
    for name, value in found.multi_items():
        if isinstance(value, str):
            fields.setdefault(name, []).append(value.replace("\r\n", "\n"))
    return Form(fields)


FORM = {"form": Provide(form_of)}
"""The dependency of handlers that take a form."""
Filled: TypeAlias = NamedDependency[Form]
"""What a handler with the dependency calls `form` to have it."""
