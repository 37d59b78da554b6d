"""Which libraries may set things that run or leak. A library somebody else made is data.

`init` and `add` record (absolute path, random library id) in the user's config folder; only such a
library's gated keys count. One that was copied or moved is not trusted until `lilbee trust`.
"""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path

from lilbee_core.settings._places import user_config_dir

_FILE = "trusted.json"


def new_library_id() -> str:
    """Return a random id for a new library."""
    return secrets.token_hex(16)


def is_trusted(data_dir: Path, library_id: str, env: Mapping[str, str] | None = None) -> bool:
    """Say whether this very library, at this very place, was made or trusted by the user."""
    return bool(library_id) and _load(env).get(str(data_dir.resolve())) == library_id


def trust(data_dir: Path, library_id: str, env: Mapping[str, str] | None = None) -> None:
    """Record the library as the user's own."""
    known = {**_load(env), str(data_dir.resolve()): library_id}
    folder = user_config_dir(env)
    folder.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=folder, prefix=_FILE)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        json.dump(known, out, indent=1, sort_keys=True)
    Path(name).replace(folder / _FILE)


def _load(env: Mapping[str, str] | None) -> dict[str, str]:
    try:
        raw = json.loads((user_config_dir(env) / _FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(key): str(value) for key, value in raw.items()} if isinstance(raw, dict) else {}
