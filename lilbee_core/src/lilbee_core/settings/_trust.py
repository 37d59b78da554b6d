"""Which libraries may set things that run or leak. A library somebody else made is data.

`init` and `add` record (absolute path, random library id) in the user's config folder; only such a
library's gated keys count. One that was copied or moved is not trusted until `lilbee trust`.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from pathlib import Path

from filelock import FileLock, Timeout

from lilbee_core.errors import SettingsError
from lilbee_core.settings._places import user_config_dir
from lilbee_core.settings._toml import as_table, write_atomically

_FILE = "trusted.json"
_LOCK_S = 10.0


def new_library_id() -> str:
    """Return a random id for a new library."""
    return secrets.token_hex(16)


def is_trusted(data_dir: Path, library_id: str, env: Mapping[str, str] | None = None) -> bool:
    """Say whether this very library, at this very place, was made or trusted by the user."""
    return bool(library_id) and _load(env).get(str(data_dir.resolve())) == library_id


def trust(data_dir: Path, library_id: str, env: Mapping[str, str] | None = None) -> None:
    """Record the library as the user's own.

    Raises:
        SettingsError: If the user's config folder cannot be written.
    """
    folder = user_config_dir(env)
    place = str(data_dir.resolve())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Two commands at once must not lose each other's entry.
        with FileLock(folder / f"{_FILE}.lock", timeout=_LOCK_S):
            known = _load(env)
            if known.get(place) != library_id:
                write_atomically(folder / _FILE, json.dumps({**known, place: library_id}, indent=1, sort_keys=True))
    except (OSError, Timeout) as error:
        raise SettingsError(
            f"cannot record in {folder} that the library is yours: {error}",
            hint="Make the folder writable, or choose another one with LILBEE_CONFIG_DIR.",
        ) from error


def _load(env: Mapping[str, str] | None) -> dict[str, str]:
    try:
        raw: object = json.loads((user_config_dir(env) / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: str(value) for key, value in (as_table(raw) or {}).items()}
