"""Whether what a plugin returned makes sense. Every check gives a message and a hint, or None."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from lilbee_core.plugins.specs import (
    HOOK_API,
    ChunkerSpec,
    ExtractorSpec,
    FetcherSpec,
    OcrSpec,
    PluginSpec,
    ProviderSpec,
    StagePlace,
    StageSpec,
)

if TYPE_CHECKING:
    from pydantic import BaseModel

Spec: TypeAlias = ExtractorSpec | ChunkerSpec | ProviderSpec | StageSpec | FetcherSpec | OcrSpec
SpecT = TypeVar("SpecT", bound=Spec)
SpecT_co = TypeVar("SpecT_co", bound=Spec, covariant=True)
Problem: TypeAlias = tuple[str, str] | None

KINDS: Mapping[str, type[Spec]] = {
    "lilbee_extractors": ExtractorSpec,
    "lilbee_chunkers": ChunkerSpec,
    "lilbee_providers": ProviderSpec,
    "lilbee_search_stages": StageSpec,
    "lilbee_fetchers": FetcherSpec,
    "lilbee_ocr_engines": OcrSpec,
}
"""What each hook that offers parts returns."""

ROLES = frozenset({"chat", "embed", "rerank", "vision"})
_NAME = re.compile(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")
_METHODS: Mapping[type[Spec], tuple[str, ...]] = {
    ExtractorSpec: ("name", "version", "in_process", "extract"),
    ChunkerSpec: ("fingerprint", "split"),
    StageSpec: ("name", "reads", "writes", "run"),
    FetcherSpec: ("fetch",),
    OcrSpec: ("name", "recognize"),
}
_ROLE_METHODS = ("embed", "rank", "chat", "read")


def identity_problem(spec: object) -> Problem:
    """Check what `lilbee_plugin` returned."""
    if not isinstance(spec, PluginSpec):
        return (
            f"lilbee_plugin returned {_article(spec)} instead of a PluginSpec",
            "Return PluginSpec(name=…, version=…).",
        )
    if not _is_name(spec.name):
        return f"{spec.name!r} cannot be a plugin's name", "Use lower-case letters and digits, joined by hyphens."
    if spec.api != HOOK_API:
        return (
            f"it is written for version {spec.api!r} of the hooks, and this is version {HOOK_API!r}",
            "Install a version of the plugin that fits this version of lilbee.",
        )
    return None


def spec_problem(spec: object, hook: str) -> Problem:
    """Check one of the specs that `hook` returned."""
    kind = KINDS[hook]
    if not isinstance(spec, kind):
        return f"{hook} returned {_article(spec)} where {named(kind)} belongs", f"Return a list of {kind.__name__}."
    if not _is_name(spec.name):
        return f"{spec.name!r} cannot be a name", "Use lower-case letters and digits, joined by hyphens."
    build = _untrusted(spec.build)
    if not callable(build):
        return "build is not callable", "Give a function that builds the part."
    if spec.options is not None and not _is_model(spec.options):
        return "options is not a pydantic model", "Give a subclass of pydantic.BaseModel, the class itself."
    return _MORE[kind](spec)


def prefix_problem(name: str, plugin: str) -> Problem:
    """Check that a third-party name says whose it is."""
    if name.startswith(f"{plugin}-") and len(name) > len(plugin) + 1:
        return None
    return f"the name {name!r} does not start with {plugin + '-'!r}", f"Call it {plugin + '-' + name!r}."


def shape_problem(made: object, kind: type[Spec]) -> Problem:
    """Check that what `build` made has the methods of its protocol."""
    if kind is ProviderSpec:
        if any(callable(getattr(made, name, None)) for name in _ROLE_METHODS):
            return None
        return f"build made {_article(made)} without embed, rank, chat or read", "Implement the method of its role."
    missing = [name for name in _METHODS[kind] if not hasattr(made, name)]
    if missing:
        return f"build made {_article(made)} without {', '.join(missing)}", "Implement the whole protocol."
    return None


def _extractor_problem(spec: ExtractorSpec) -> Problem:
    if not _strings(spec.media_types) or not all("/" in one for one in spec.media_types):
        return "media_types is not a tuple of media types", "Write media_types=('text/calendar',)."
    if not _strings(spec.suffixes) or not all(one.startswith(".") for one in spec.suffixes):
        return "suffixes is not a tuple of file name endings", "Write suffixes=('.ics',)."
    if not spec.media_types and not spec.suffixes:
        return "it reads no media type and no file name ending", "Name what it reads in media_types or suffixes."
    return _priority_problem(spec)


def _chunker_problem(spec: ChunkerSpec) -> Problem:
    if not _strings(spec.media_types) or not all("/" in one for one in spec.media_types) or not spec.media_types:
        return "media_types is not a tuple of media types", "Write media_types=('text/calendar',)."
    return _priority_problem(spec)


def _priority_problem(spec: ExtractorSpec | ChunkerSpec | FetcherSpec | OcrSpec) -> Problem:
    priority = _untrusted(spec.priority)
    return None if isinstance(priority, int) else ("priority is not a whole number", "Write priority=10.")


def _provider_problem(spec: ProviderSpec) -> Problem:
    prefix = _untrusted(spec.prefix)
    # References are lower-cased before the slash, and `gguf` names files.
    if not isinstance(prefix, str) or not _NAME.fullmatch(prefix) or prefix == "gguf":
        return f"{prefix!r} cannot start model references", "Use lower-case letters and digits, such as 'acme'."
    roles = _untrusted(spec.roles)
    if not isinstance(roles, frozenset) or not roles or not roles <= ROLES:
        return "roles is not a frozenset of roles", f"Use some of {', '.join(sorted(ROLES))}."
    return None


def _stage_problem(spec: StageSpec) -> Problem:
    place = _untrusted(spec.place)
    hint = "Write place=before('limit'), after('fuse') or replaces('fuse')."
    if not isinstance(place, StagePlace) or place.relation not in {"before", "after", "replaces"}:
        return "place is none of before, after and replaces", hint
    return None if _is_name(place.stage) else (f"place names no stage, but {place.stage!r}", hint)


_MORE: Mapping[type[Spec], Callable[..., Problem]] = {
    ExtractorSpec: _extractor_problem,
    ChunkerSpec: _chunker_problem,
    ProviderSpec: _provider_problem,
    StageSpec: _stage_problem,
    FetcherSpec: _priority_problem,
    OcrSpec: _priority_problem,
}


def _untrusted(value: object) -> object:
    """Forget the declared type: what a plugin sets may be anything."""
    return value


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _is_model(value: object) -> bool:
    from pydantic import BaseModel

    return isinstance(value, type) and issubclass(value, BaseModel)


def _strings(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in cast("tuple[object, ...]", value))


def named(kind: type) -> str:
    """Return a type's name with its article."""
    return f"{'an' if kind.__name__[0] in 'AEIOaeio' else 'a'} {kind.__name__}"


def _article(value: object) -> str:
    # Not its repr: a broken plugin may have a broken one.
    return "None" if value is None else named(type(value))


def options_of(model: type[BaseModel] | None, values: Mapping[str, object]) -> dict[str, object]:
    """Return the options that `model` makes of a settings table; keys of other parts are left alone.

    Raises:
        pydantic.ValidationError: If a value is not allowed.
    """
    if model is None:
        return {}
    mine = {key: value for key, value in values.items() if takes_any(model) or key in option_names(model)}
    return model.model_validate(mine).model_dump()


def takes_any(model: type[BaseModel]) -> bool:
    """Say whether the model takes options that it does not name."""
    return model.model_config.get("extra") == "allow"


def option_names(model: type[BaseModel]) -> frozenset[str]:
    """Return the keys that the model reads from a settings table."""
    aliases = {one.alias for one in model.model_fields.values() if one.alias}
    return frozenset({*model.model_fields, *aliases})


def options_problem(error: BaseException, plugin: str, model: type[BaseModel] | None) -> tuple[str, str]:
    """Say which option of ``[plugins.<name>]`` is wrong; a secret value stays untold."""
    from pydantic import ValidationError

    if model is None or not isinstance(error, ValidationError):
        return f"its options cannot be read: {error}", f"Look at [plugins.{plugin}] in the settings."
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    if not name:
        return f"its options do not go together: {first['msg']}", f"Change [plugins.{plugin}]."
    if first["type"] == "missing":
        return f"the option {name} is missing", f"Set {name} in [plugins.{plugin}]."
    shown = "" if _is_secret(model, first["loc"]) else f" {first.get('input')!r}"
    return f"the option {name}{shown} is not allowed: {first['msg']}", f"Change {name} in [plugins.{plugin}]."


def _is_secret(model: type[BaseModel], place: tuple[int | str, ...]) -> bool:
    field = model.model_fields.get(str(place[0]))
    if field is None:  # an alias, of a field that may be anything
        return True
    extra: object = field.json_schema_extra
    marked = isinstance(extra, dict) and bool(cast("dict[str, object]", extra).get("secret"))
    return marked or "Secret" in str(field.annotation)
