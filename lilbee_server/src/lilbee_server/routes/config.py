"""The settings: what holds and where that comes from, and a change of those that requests may change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from litestar import Router, get, patch
from litestar.datastructures import State
from litestar.params import JSONBody

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument
from lilbee_core.settings import GATED, Settings, parse_value
from lilbee_server.bodies import Body
from lilbee_server.library import library_of
from lilbee_server.problems import Forbidden

SETTINGS = {"settings": dict[str, dict[str, Any]]}


class Changes(Body):
    """Settings by name; null goes back to what holds without the library's own value."""

    settings: dict[str, Any]


@get(sync_to_thread=True, opt={"gives": SETTINGS})
def show(state: State) -> dict[str, Any]:
    """Return all settings: the value, masked where it is secret, its origin, and whether requests may change it."""
    bee = library_of(state)
    return _told(bee, bee.settings.names())


@get("/defaults", sync_to_thread=True, opt={"gives": {"defaults": dict[str, Any]}})
def defaults(state: State) -> dict[str, Any]:
    """Return what every setting is as long as nobody changes it."""
    return {"defaults": Settings().to_dict()}


@patch(sync_to_thread=True, opt={"gives": SETTINGS})
def change(state: State, data: JSONBody[Changes]) -> dict[str, Any]:
    """Change settings in the library's own file, all of them or, if one cannot be, none; return those.

    What could run a program, reach out or let more in is not changed over HTTP: it is the operator's to say.
    """
    bee = library_of(state)
    change_settings(bee, data.settings)
    return _told(bee, data.settings)


def change_settings(bee: Lilbee, values: Mapping[str, object]) -> None:
    """Change settings, all of them or, if one cannot be, none; None goes back to what holds without it.

    Raises:
        InvalidArgument: If none is named.
        SettingsError: If there is no such setting, or it cannot have this value.
        Forbidden: If it is the operator's to change.
    """
    if not values:
        raise InvalidArgument("settings names nothing", hint="Name at least one setting.")
    for name in values:
        bee.settings.get(name)
        if name in GATED:
            raise Forbidden(
                f"{name} is not changed over HTTP", hint=f"Run `lilbee config set {name}` where the server runs."
            )
    given = {name: _parsed(name, value) for name, value in values.items() if value is not None}
    bee.settings.changed(given)
    for name, value in values.items():
        if value is None:
            bee.config.unset(name)
        else:
            bee.config.set(name, given[name])


def _parsed(name: str, value: object) -> object:
    return parse_value(name, value) if isinstance(value, str) else value


def _told(bee: Lilbee, names: Iterable[str]) -> dict[str, Any]:
    wanted = frozenset(names)
    return {
        "settings": {
            name: {"value": _plain(value), "origin": origin, "changeable": name not in GATED}
            for name, value, origin in bee.config.items()
            if name in wanted
        }
    }


def _plain(value: object) -> object:
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


router = Router("/api/config", route_handlers=[show, defaults, change])
