"""Where things lie: user folders, the library of a path. The only reader of the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lilbee_core.errors import LibraryError, NotFound

DATA_FOLDER = ".lilbee"
RESERVED = frozenset(
    {
        "LILBEE_LIBRARY",
        "LILBEE_CONFIG_DIR",
        "LILBEE_CACHE_DIR",
        "LILBEE_DATA_DIR",
        "LILBEE_EVAL_DIR",
        "LILBEE_CASES_DIR",
        "LILBEE_MINILM_SOURCE",
        "LILBEE_BENCH_PEER",
        "LILBEE_BENCH_QUICK",
        "LILBEE_COMPLETE",
        "LILBEE_TOKEN",
        "LILBEE_CLIENT_CONFIG",
    }
)
"""Variables that start with LILBEE_ and are no settings."""


def environment(env: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """Return `env`, or the process environment."""
    return os.environ if env is None else env


def user_config_dir(env: Mapping[str, str] | None = None) -> Path:
    """The folder of the user's own configuration (``LILBEE_CONFIG_DIR`` moves it)."""
    return _user_dir("LILBEE_CONFIG_DIR", "user_config_path", env)


def user_cache_dir(env: Mapping[str, str] | None = None) -> Path:
    """The folder for things that can be made again (``LILBEE_CACHE_DIR`` moves it)."""
    return _user_dir("LILBEE_CACHE_DIR", "user_cache_path", env)


def user_data_dir(env: Mapping[str, str] | None = None) -> Path:
    """The folder of the library that has no folder of its own (``LILBEE_DATA_DIR`` moves it)."""
    return _user_dir("LILBEE_DATA_DIR", "user_data_path", env)


def _user_dir(variable: str, function: str, env: Mapping[str, str] | None) -> Path:
    value = environment(env).get(variable)
    if value:
        return Path(value).expanduser()
    import platformdirs

    found: Path = getattr(platformdirs, function)("lilbee", appauthor=False)
    return found


def find_library(
    explicit: str | Path | None = None, *, start: Path | None = None, env: Mapping[str, str] | None = None
) -> Path | None:
    """Return the library's folder: `explicit` > ``LILBEE_LIBRARY`` > nearest parent with ``.lilbee/``.

    None means that there is none, and the user's data folder serves.

    Raises:
        NotFound: If a named library does not exist.
        LibraryError: If it is a file.
    """
    named = explicit or environment(env).get("LILBEE_LIBRARY")
    if named:
        path = Path(named).expanduser()
        if path.is_file():
            raise LibraryError(f"{path} is a file, not a library", hint="Name the folder that holds the documents.")
        if not path.is_dir():
            raise NotFound(f"there is no folder {path}", hint=f"Create it, or run `lilbee init {path}`.")
        return path.resolve()
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / DATA_FOLDER).is_dir():
            return folder
    return None
