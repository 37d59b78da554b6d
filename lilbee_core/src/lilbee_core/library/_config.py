"""The settings of a library, for reading and for writing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from lilbee_core.arguments import checked
from lilbee_core.errors import SettingsError
from lilbee_core.library._assigning import check_assignment
from lilbee_core.library._parts import Parts
from lilbee_core.settings import (
    GATED,
    Settings,
    change_config,
    parse_value,
    read_config,
    user_config_dir,
    validated_profile,
)


@checked
class Config:
    """Reads settings with their origin, and writes the library's ``config.toml``."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @property
    def file(self) -> Path:
        """The library's own ``config.toml``."""
        return self._parts.home.config_file

    def items(self) -> Iterator[tuple[str, object, str]]:
        """Yield name, value and origin (``default``, ``user``, ``library``, ``environment``, ``argument``)."""
        yield from self._parts.settings.items()

    def get(self, name: str) -> object:
        """Return a value by its flat name.

        Raises:
            SettingsError: If there is no such setting.
        """
        return self._parts.settings.get(name)

    def set(self, name: str, value: object) -> None:
        """Check a value, write it to the library's file, and use it from now on.

        Keys, passwords and addresses go to the user's own file: a library may be handed on.

        Raises:
            SettingsError: If the name is unknown or the value not allowed; the file is not touched then.
        """
        self._parts.settings.get(name)
        if name in GATED:
            self._write(user_config_dir() / "config.toml", name, value)
            return
        self._parts.home.claim()
        self._write(self.file, name, value)

    def _write(self, file: Path, name: str, value: object) -> None:
        parsed = parse_value(name, value) if isinstance(value, str) else value
        check_assignment(self._parts, name, self._parts.settings.changed({name: parsed}))
        self._change(file, name, Settings().changed({name: parsed}, origin="library").get(name))

    def _change(self, file: Path, name: str, value: object) -> None:
        write_setting(self._parts, file, name, value)

    def unset(self, name: str) -> None:
        """Remove a value from the library's file.

        Raises:
            SettingsError: If there is no such setting.
        """
        self._parts.settings.get(name)
        file = user_config_dir() / "config.toml" if name in GATED else self.file
        if name in read_config(file):
            self._change(file, name, None)

    @property
    def profiles(self) -> Mapping[str, Mapping[str, object]]:
        """The profiles that were named here, each with the search settings that it changes."""
        return self._parts.settings.profiles

    def set_profile(self, name: str, values: Mapping[str, object]) -> None:
        """Name a profile: ``default`` with these search settings, for ``search(profile=name)``.

        Raises:
            SettingsError: If the name is taken or no name, or a value is not allowed; the file is not touched then.
        """
        checked = validated_profile(name, values)
        self._parts.home.claim()
        self._change_profiles({**self._written_profiles(), name: checked})

    def unset_profile(self, name: str) -> None:
        """Forget a profile that was named in this library.

        Raises:
            SettingsError: If there is none of this name in the library's file.
        """
        written = self._written_profiles()
        if name not in written:
            known = ", ".join(sorted(written)) or "none"
            raise SettingsError(f"this library names no profile {name!r}", hint=f"Profiles that it names: {known}.")
        self._change_profiles({key: one for key, one in written.items() if key != name})

    def _written_profiles(self) -> dict[str, object]:
        raw = read_config(self.file).get("profiles", {})
        return dict(cast("Mapping[str, object]", raw)) if isinstance(raw, Mapping) else {}

    def _change_profiles(self, wanted: Mapping[str, object]) -> None:
        with self._parts.store.writing():
            change_config(self.file, {"profiles": wanted or None})
        given = self._parts.given_settings
        self._parts.reconfigure(None if given is None else replace(given, profiles=_tables(wanted)))


def write_setting(parts: Parts, file: Path, name: str, value: object) -> None:
    """Write a value that was checked to one of the files, None to take it out, and use it from now on."""
    if file != parts.home.config_file:
        change_config(file, {name: value})
    else:
        with parts.store.writing():
            change_config(file, {name: value})
    given = parts.given_settings
    if given is not None:
        given = given.changed({name: Settings().get(name) if value is None else value}, origin="library")
    parts.reconfigure(given)


def _tables(raw: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    return {name: cast("Mapping[str, object]", one) for name, one in raw.items() if isinstance(one, Mapping)}
