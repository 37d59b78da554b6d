"""The settings of a library, for reading and for writing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lilbee_core.library._parts import Parts
from lilbee_core.settings import GATED, Settings, change_config, parse_value, read_config, user_config_dir


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
        self._change(file, name, Settings().changed({name: parsed}, origin="library").get(name))

    def _change(self, file: Path, name: str, value: object) -> None:
        if file != self.file:
            change_config(file, {name: value})
        else:
            with self._parts.store.writing():
                change_config(file, {name: value})
        given = self._parts.given_settings
        if given is not None:
            given = given.changed({name: Settings().get(name) if value is None else value}, origin="library")
        self._parts.reconfigure(given)

    def unset(self, name: str) -> None:
        """Remove a value from the library's file.

        Raises:
            SettingsError: If there is no such setting.
        """
        self._parts.settings.get(name)
        file = user_config_dir() / "config.toml" if name in GATED else self.file
        if name in read_config(file):
            self._change(file, name, None)
