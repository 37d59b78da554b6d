"""The configuration of a memory server: a JSON file, and four variables of the environment over it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import msgspec

from lilbee_core.errors import NotFound, SettingsError
from lilbee_core.settings import (
    CollectionSettings,
    Settings,
    environment,
    load_settings,
    user_data_dir,
    validated_collection,
)

PORT = 7420
EMBEDDING_MODEL = "text-embedding-qwen3-embedding-4b"
ENVIRONMENT = {
    "PORT": ("port",),
    "LMSTUDIO_URL": ("lmstudio", "baseUrl"),
    "EMBEDDING_MODEL": ("lmstudio", "embeddingModel"),
    "RERANKER_MODEL": ("models", "reranker"),
}
"""Which variable stands for which key of the file; a variable that is set counts more."""
_PREFIXES = ("builtin/", "ollama/", "lmstudio/", "openai/", "litellm/")
_WORDS = frozenset({"auto", "none"})

_WAIT_FOR_LOCK_S = 3600.0


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A part of the file. A key that is not known is refused: misspelled, it would be left out unnoticed."""


class _Collection(_Part, frozen=True):
    name: str
    path: str
    pattern: list[str] | str = []


class _LmStudio(_Part, frozen=True):
    base_url: str = "http://localhost:1234/v1"
    embedding_model: str = ""


class _Models(_Part, frozen=True):
    reranker: str = ""


class _File(_Part, frozen=True):
    collections: list[_Collection]
    port: int = PORT
    token: str = ""
    lmstudio: _LmStudio = _LmStudio()
    models: _Models = _Models()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig:
    """What a memory server serves, where, and with which models. `embedding` and `reranker` are empty if not named."""

    file: Path
    port: int
    token: str | None
    lm_studio_url: str
    embedding: str
    reranker: str
    collections: tuple[CollectionSettings, ...]

    @property
    def data_dir(self) -> Path:
        """Where the index lies unless somebody says otherwise: in the user's data, by the name of the file."""
        name = hashlib.sha256(str(self.file).encode("utf-8", "surrogateescape")).hexdigest()[:12]
        return user_data_dir() / "memory" / name

    @property
    def missing_reranker(self) -> str | None:
        """The model file that is named and not there."""
        is_file = bool(self.reranker) and not _is_ref(self.reranker)
        return self.reranker if is_file and not Path(self.reranker).is_file() else None

    def settings(self) -> Settings:
        """Return the settings of the library: the user's own, with what the configuration says on top."""
        known = load_settings()
        embedding = self.embedding
        if not embedding and known.origin("embedding_model") == "default":
            embedding = EMBEDDING_MODEL
        changes: dict[str, object] = {
            "lm_studio_base_url": self.lm_studio_url,
            "reranker_model": "" if self.missing_reranker else self.reranker,
            # What the globs name is read, whatever Git keeps.
            "use_gitignore": False,
            "concepts": False,
            # Models stay loaded, however long nobody asks.
            "engine_idle_ttl_minutes": 0,
            # A request to index waits for the indexing that is under way.
            "lock_timeout_s": _WAIT_FOR_LOCK_S,
        }
        if embedding:
            is_whole = _is_ref(embedding) or Path(embedding).is_absolute()
            changes["embedding_model"] = embedding if is_whole else f"lmstudio/{embedding}"
        return replace(known.changed(changes), collections=self.collections)


def load_config(path: str | Path, env: Mapping[str, str] | None = None) -> MemoryConfig:
    """Read the configuration of a memory server.

    Raises:
        NotFound: If there is no such file.
        SettingsError: If it cannot be read, or says something that is not allowed.
    """
    file = Path(path).expanduser().resolve()
    content = _read(file)
    for variable, keys in ENVIRONMENT.items():
        value = environment(env).get(variable)
        if value:
            _put(content, keys, value)
    try:
        found = msgspec.convert(content, _File, strict=False)
    except msgspec.ValidationError as error:
        variables = ", ".join(ENVIRONMENT)
        raise SettingsError(f"{file} is not allowed: {error}", hint=f"Correct it, or what {variables} say.") from error
    _check(found, file)
    return MemoryConfig(
        file=file,
        port=found.port,
        token=found.token or None,
        lm_studio_url=found.lmstudio.base_url,
        embedding=_model(found.lmstudio.embedding_model),
        reranker=_model(found.models.reranker),
        collections=tuple(_collection(one, file) for one in found.collections),
    )


def _read(file: Path) -> dict[str, Any]:
    try:
        content: object = json.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {file}", hint="Name the configuration of the memory server.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{file} cannot be read as JSON: {error}", hint="Mend it.") from error
    if not isinstance(content, dict):
        raise SettingsError(f"{file} holds no JSON object", hint='Write {"collections": [...]}.')
    return cast("dict[str, Any]", content)


def _put(content: dict[str, Any], keys: tuple[str, ...], value: str) -> None:
    for key in keys[:-1]:
        inner = content.get(key)
        if inner is None:
            inner = content[key] = {}
        if not isinstance(inner, dict):
            return  # what it is instead is refused below
        content = cast("dict[str, Any]", inner)
    content[keys[-1]] = value


def _check(found: _File, file: Path) -> None:
    names = [one.name for one in found.collections]
    if not names:
        raise SettingsError(f"{file} names no collection", hint="Name a folder: name, path, pattern.")
    if len(set(names)) < len(names):
        raise SettingsError(f"two collections in {file} have one name: {', '.join(names)}", hint="Rename one of them.")
    if not 0 <= found.port <= 65535:
        raise SettingsError(f"there is no port {found.port}", hint=f"Correct port in {file}, or the variable PORT.")


def _model(name: str) -> str:
    """Return a model's name, or the full path of its file."""
    if not name or _is_ref(name) or not name.lower().endswith(".gguf"):
        return name
    return str(Path(name).expanduser())


def _is_ref(name: str) -> bool:
    return name in _WORDS or name.startswith(_PREFIXES)


def _collection(one: _Collection, file: Path) -> CollectionSettings:
    patterns = [one.pattern] if isinstance(one.pattern, str) else one.pattern
    for pattern in patterns:
        if not pattern.strip() or ".." in pattern.replace("\\", "/").split("/"):
            told = f"the pattern {pattern!r} of {one.name} names nothing inside the collection"
            raise SettingsError(told, hint=f"Correct it in {file}.")
    path = file.parent / Path(one.path).expanduser()
    include = tuple(_anchored(pattern) for pattern in patterns)
    return validated_collection({"name": one.name, "path": str(path), "include": include}, str(file))


def _anchored(pattern: str) -> str:
    """Return a glob that holds from the collection's folder on; in lilbee's own, one without a slash fits anywhere."""
    negated, glob = ("!", pattern[1:]) if pattern.startswith("!") else ("", pattern)
    return f"{negated}/{glob.removeprefix('./').removeprefix('/')}"
