"""Layers of settings: defaults < user config < library config < environment < arguments."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import get_origin

from lilbee_core.errors import SettingsError
from lilbee_core.settings._places import RESERVED, environment, user_config_dir
from lilbee_core.settings._sections import GATED, SECTIONS, CollectionSettings, field_homes, secret_names
from lilbee_core.settings._settings import Settings, unknown_setting, validated_collection, validated_profile
from lilbee_core.settings._toml import as_list, as_table, read_config

_PREFIX = "LILBEE_"
_TABLES = frozenset({"collections", "plugins", "library_id", "profiles"})


def load_settings(
    path: Path | None = None,
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
    *,
    trusted: bool = True,
) -> Settings:
    """Merge all layers into frozen settings.

    Args:
        path: The library's ``config.toml``, if there is one.
        env: Environment variables; the process's own when None.
        overrides: Flat names from arguments or flags.
        trusted: Whether keys of the library that could run or leak something count.

    Raises:
        SettingsError: If a file cannot be read, a name is unknown or a value is not allowed.
    """
    settings = Settings()
    user_file = user_config_dir(env) / "config.toml"
    settings = _apply_file(settings, user_file, "user", trusted=True)
    if path is not None:
        settings = _apply_file(settings, path, "library", trusted=trusted)
    settings = settings.changed(_from_environment(environment(env)), origin="environment")
    return settings.changed(overrides or {}, origin="argument")


def _apply_file(settings: Settings, path: Path, origin: str, *, trusted: bool) -> Settings:
    content = read_config(path)
    homes, secrets = field_homes(), secret_names()
    values: dict[str, object] = {}
    warnings: list[str] = []
    for key, value in content.items():
        if key in _TABLES:
            continue
        if key not in homes:
            raise unknown_setting(key, homes, where=str(path))
        if origin == "library" and key in secrets:
            warnings.append(
                f"{key} in {path} is ignored, since a library may be handed on: run `lilbee config set {key} …`, which "
                "keeps it with your own settings, and take it out there"
            )
            continue
        if key in GATED and not trusted:
            warnings.append(f"{key} in {path} is ignored: run `lilbee trust` if this library is yours")
            continue
        values[key] = value
    options = content.get("plugins", {})
    if options and not trusted:
        warnings.append(f"[plugins] in {path} is ignored: run `lilbee trust` if this library is yours")
        options = dict[str, object]()
    collections, more = _collections(content.get("collections", []), path, origin, trusted=trusted)
    changed = settings.changed(values, origin=origin)
    merged = {**changed.plugin_options, **_plugin_options(options, path)}
    return replace(
        changed,
        collections=collections or changed.collections,
        plugin_options=merged,
        profiles={**changed.profiles, **_profiles(content.get("profiles", {}), path)},
        warnings=(*changed.warnings, *warnings, *more),
    )


def _collections(
    raw: object, path: Path, origin: str, *, trusted: bool
) -> tuple[tuple[CollectionSettings, ...], list[str]]:
    tables = [as_table(one) for one in as_list(raw) or ()]
    if as_list(raw) is None or None in tables:
        raise SettingsError(f"collections in {path} is not a list of tables", hint="Write [[collections]] blocks.")
    found: list[CollectionSettings] = []
    warnings: list[str] = []
    root = path.parent.parent.resolve()
    for table in tables:
        one = validated_collection(table or {}, origin)
        if any(one.name == other.name for other in found):
            raise SettingsError(f"two collections in {path} are called {one.name!r}", hint="Rename one of them.")
        inside = (root / one.path).resolve().is_relative_to(root)
        if not inside and not trusted:
            warnings.append(f"collection {one.name!r} in {path} lies outside the library and is ignored")
            continue
        found.append(one)
    return tuple(found), warnings


def _plugin_options(raw: object, path: Path) -> dict[str, dict[str, object]]:
    tables = {name: as_table(one) for name, one in (as_table(raw) or {}).items()}
    if as_table(raw) is None or None in tables.values():
        raise SettingsError(f"[plugins] in {path} must hold one table per plugin", hint="Write [plugins.NAME].")
    return {name: dict(table or {}) for name, table in tables.items()}


def _profiles(raw: object, path: Path) -> dict[str, dict[str, object]]:
    tables = {name: as_table(one) for name, one in (as_table(raw) or {}).items()}
    if as_table(raw) is None or None in tables.values():
        raise SettingsError(f"[profiles] in {path} must hold one table per profile", hint="Write [profiles.NAME].")
    return {name: validated_profile(name, table or {}, str(path)) for name, table in tables.items()}


def _from_environment(env: Mapping[str, str]) -> dict[str, object]:
    homes = field_homes()
    values: dict[str, object] = {}
    for variable, text in env.items():
        if not variable.startswith(_PREFIX) or variable in RESERVED or variable.startswith("_"):
            continue
        name = variable.removeprefix(_PREFIX).lower()
        if name not in homes:
            known = [_PREFIX + one.upper() for one in homes]
            near = difflib.get_close_matches(variable, [*known, *RESERVED], n=1, cutoff=0.5)
            hint = f"Did you mean {near[0]}?" if near else "Unset it."
            raise SettingsError(
                f"the environment variable {variable} is no setting", hint=hint, code="settings.unknown"
            )
        values[name] = parse_value(name, text)
    return values


def parse_value(name: str, text: str) -> object:
    """Turn the text of a variable or flag into a value: lists are comma-separated or JSON."""
    kind = SECTIONS[field_homes()[name]].model_fields[name].annotation
    if get_origin(kind) is tuple:
        if text.strip().startswith("["):
            try:
                return json.loads(text)
            except ValueError as error:
                raise SettingsError(f"{name} is not a JSON list: {text!r}", hint="Write a,b,c instead.") from error
        return [part.strip() for part in text.split(",") if part.strip()]
    return text
