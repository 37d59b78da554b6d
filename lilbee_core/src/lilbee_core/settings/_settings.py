"""Settings as one frozen value that knows where each part came from."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import ValidationError

from lilbee_core.errors import SettingsError
from lilbee_core.settings._sections import (
    SECTIONS,
    AnswerSettings,
    ChatSettings,
    ChunkSettings,
    CollectionSettings,
    ConceptSettings,
    CrawlSettings,
    FleetSettings,
    IngestSettings,
    ModelSettings,
    PluginSettings,
    SearchSettings,
    Section,
    ServerSettings,
    StoreSettings,
    WatchSettings,
    WikiSettings,
    field_homes,
    secret_names,
)
from lilbee_core.settings._toml import as_list

BUILT_IN_PROFILES = frozenset({"default", "full", "keyword", "semantic", "hyde", "memory"})
"""Names that no other profile may take; `term` and `vec` are prefixes that name two of them."""

_PROFILE_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_OF_A_QUERY = frozenset({"profile", "top_k"})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings. ``Settings()`` is pure defaults and touches nothing.

    `profiles` are lists of stages that a user named: ``default`` with other values of search settings.
    `origins` says which layer gave a value that is not a default: ``user``, ``library``,
    ``environment`` or ``argument``.
    """

    models: ModelSettings = field(default_factory=ModelSettings)
    chunks: ChunkSettings = field(default_factory=ChunkSettings)
    ingest: IngestSettings = field(default_factory=IngestSettings)
    watch: WatchSettings = field(default_factory=WatchSettings)
    store: StoreSettings = field(default_factory=StoreSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
    concepts: ConceptSettings = field(default_factory=ConceptSettings)
    wiki: WikiSettings = field(default_factory=WikiSettings)
    crawl: CrawlSettings = field(default_factory=CrawlSettings)
    fleet: FleetSettings = field(default_factory=FleetSettings)
    server: ServerSettings = field(default_factory=ServerSettings)
    plugins: PluginSettings = field(default_factory=PluginSettings)
    collections: tuple[CollectionSettings, ...] = ()
    plugin_options: Mapping[str, Mapping[str, object]] = field(default_factory=dict[str, Mapping[str, object]])
    profiles: Mapping[str, Mapping[str, object]] = field(default_factory=dict[str, Mapping[str, object]])
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    warnings: tuple[str, ...] = ()

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """All flat setting names, in the order of the sections."""
        return tuple(field_homes())

    def get(self, name: str) -> Any:
        """Return a value by its flat name.

        Raises:
            SettingsError: If there is no such setting.
        """
        return getattr(getattr(self, _home(name)), name)

    def origin(self, name: str) -> str:
        """Return the layer that gave the value (``default`` if none did)."""
        _home(name)
        return self.origins.get(name, "default")

    def changed(self, values: Mapping[str, object], *, origin: str = "argument") -> Settings:
        """Return settings with these flat values on top.

        Raises:
            SettingsError: If a name is unknown or a value is not allowed.
        """
        sections: dict[str, dict[str, object]] = {}
        for name, value in values.items():
            sections.setdefault(_home(name), {})[name] = value
        updated: dict[str, Any] = {}
        for section, fresh in sections.items():
            current: Section = getattr(self, section)
            merged = {**{key: getattr(current, key) for key in SECTIONS[section].model_fields}, **fresh}
            updated[section] = _validated(SECTIONS[section], merged, origin)
        origins = {**self.origins, **dict.fromkeys(values, origin)}
        return replace(self, origins=origins, **updated)

    def items(self, *, secrets: bool = False) -> Iterator[tuple[str, Any, str]]:
        """Yield name, value and origin of every setting; secrets are masked unless asked for."""
        hidden = frozenset[str]() if secrets else secret_names()
        for name in self.names():
            value = self.get(name)
            yield name, ("********" if name in hidden and value else value), self.origin(name)

    def to_dict(self) -> dict[str, object]:
        """Return the flat values, secrets masked."""
        return {name: value if (listed := as_list(value)) is None else listed for name, value, _ in self.items()}


def _home(name: str) -> str:
    homes = field_homes()
    if name not in homes:
        raise unknown_setting(name, homes)
    return homes[name]


def unknown_setting(name: str, known: Mapping[str, str] | None = None, *, where: str = "") -> SettingsError:
    """Return the error for a misspelled setting, with the nearest name as hint."""
    near = difflib.get_close_matches(name, list(known or field_homes()), n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}?" if near else "Run `lilbee config` to see all settings."
    place = f" in {where}" if where else ""
    return SettingsError(f"there is no setting {name!r}{place}", hint=hint, code="settings.unknown")


def _validated(kind: Any, values: Mapping[str, object], origin: str) -> Any:
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "settings"
        shown = "" if name in secret_names() else f" {first.get('input')!r}"
        said = first["msg"].removeprefix("Value error, ")
        message = f"{name}{shown} is not allowed ({origin}): {said}"
        raise SettingsError(message, hint=f"Change {name}, or remove it to use the default.") from error


def validated_collection(values: Mapping[str, object], origin: str = "argument") -> CollectionSettings:
    """Return a collection from plain values.

    Raises:
        SettingsError: If a value is not allowed.
    """
    result: CollectionSettings = _validated(CollectionSettings, values, origin)
    return result


def validated_profile(name: str, values: Mapping[str, object], where: str = "argument") -> dict[str, object]:
    """Return the values of a named profile as settings hold them.

    Raises:
        SettingsError: If the name cannot be a profile's, or a value is no search setting or not allowed.
    """
    if not _PROFILE_NAME.fullmatch(name) or name in BUILT_IN_PROFILES:
        taken = f"{name!r} is built in" if name in BUILT_IN_PROFILES else f"{name!r} cannot be a profile's name"
        raise SettingsError(f"{taken} ({where})", hint="Use small letters, digits, - and _, at most 40, such as tuned.")
    known = {one: "search" for one in SECTIONS["search"].model_fields if one not in _OF_A_QUERY}
    for key in values:
        if key not in known:
            raise unknown_setting(key, known, where=f"the profile {name} ({where})")
    checked = Settings().changed(values, origin=where)
    return {key: checked.get(key) for key in values}
