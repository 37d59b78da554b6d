"""The settings by section: what each is, what it does, where its value comes from, and who may change it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args, get_origin

from lilbee_core.settings import GATED, Settings, sections
from lilbee_server.web.shown.lists import address

PATH = "/settings"
ORIGINS = {
    "default": "default",
    "user": "your own settings",
    "library": "this library",
    "environment": "the environment",
    "argument": "how the server was started",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A setting. `choices` are all values that it can have, where these are few."""

    name: str
    value: str
    default: str
    origin: str
    about: str
    choices: tuple[str, ...]
    changeable: bool
    is_set_here: bool
    is_overruled: bool

    @property
    def url(self) -> str:
        """Where it is changed."""
        return f"{address(PATH, edit=self.name)}#{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Settings that belong together."""

    name: str
    about: str
    settings: tuple[Setting, ...]


def found(items: Iterable[tuple[str, object, str]], words: str = "") -> tuple[Section, ...]:
    """Return the settings that hold all of the words in their name or description, by section.

    Args:
        items: Name, value and origin of each, as the library's configuration yields them.
        words: What is looked for; nothing is all.
    """
    values = {name: (value, origin) for name, value, origin in items}
    return tuple(one for one in _sections(values, words.casefold().split()) if one.settings)


def plain(value: object) -> str:
    """Return a value as it is typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(map(str, cast("tuple[object, ...]", value)))
    return "" if value is None else str(value)


def choices(kind: Any) -> tuple[str, ...]:
    """Return all values of a type, where these are few."""
    if kind is bool:
        return ("true", "false")
    return tuple(map(plain, get_args(kind))) if get_origin(kind) is Literal else ()


def _sections(values: Mapping[str, tuple[object, str]], words: list[str]) -> Iterator[Section]:
    defaults = Settings().to_dict()
    for name, kind in sections().items():
        about = " ".join((kind.__doc__ or "").split("\n\n")[0].replace("``", "").split())
        listed = [
            _setting(field, *values[field], default=defaults[field], kind=info.annotation, about=info.description or "")
            for field, info in kind.model_fields.items()
            if field in values and all(word in f"{field} {info.description}".casefold() for word in words)
        ]
        yield Section(name=name, about=about, settings=tuple(listed))


def _setting(name: str, value: object, origin: str, *, default: object, kind: Any, about: str) -> Setting:
    shown = plain(tuple(cast("list[object]", default)) if isinstance(default, list) else default)
    return Setting(
        name=name,
        value=plain(value),
        default=shown,
        origin=ORIGINS.get(origin, origin),
        about=about,
        choices=choices(kind),
        changeable=name not in GATED,
        is_set_here=origin == "library",
        is_overruled=origin in ("environment", "argument"),
    )
