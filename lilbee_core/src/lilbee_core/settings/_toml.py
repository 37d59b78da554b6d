"""Reading and writing ``config.toml``. What a person wrote beside the values stays when one value changes."""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from pathlib import Path
from typing import cast

from lilbee_core.errors import SettingsError

_HEADER = re.compile(r"\s*\[")
_COLLECTIONS = re.compile(r"\s*\[\[\s*collections\s*\]\]")


def read_config(path: Path) -> dict[str, object]:
    """Return the content of a ``config.toml``; empty when there is none.

    Raises:
        SettingsError: If it cannot be read or is not TOML.
    """
    return _parsed(_text_of(path), path)


def change_config(path: Path, changes: Mapping[str, object]) -> None:
    """Set values of a ``config.toml``, or remove those that are None, in one step.

    Comments, order and spelling of everything else stay, as far as the file is simple enough to be edited.

    Raises:
        SettingsError: If it cannot be read or written.
    """
    text = _text_of(path)
    wanted = {**_parsed(text, path), **changes}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    edited = text
    for name, value in changes.items():
        edited = _edited(edited, name, value)
    _write(path, edited if _says(edited, wanted) else to_toml(wanted))


def to_toml(content: Mapping[str, object]) -> str:
    """Return TOML for flat values, lists of tables and tables of tables."""
    lines: list[str] = []
    tables: list[str] = []
    for key, value in content.items():
        many = _tables(value)
        table = as_table(value)
        if many is not None:
            for one in many:
                tables += ["", f"[[{_key(key)}]]", *_pairs(one)]
        elif table is not None and all(as_table(one) is not None for one in table.values()):
            for name, inner in table.items():
                tables += ["", f"[{_key(key)}.{_key(name)}]", *_pairs(as_table(inner) or {})]
        else:
            lines.append(f"{_key(key)} = {_value(value)}")
    return "\n".join([*lines, *tables]).lstrip("\n") + "\n"


def as_table(value: object) -> Mapping[str, object] | None:
    """Return `value` if it is a table."""
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else None


def as_list(value: object) -> list[object] | None:
    """Return `value` if it is a list."""
    return list(cast("Iterable[object]", value)) if isinstance(value, list | tuple) else None


# --------------------------------------------------------------------------- values


def _tables(value: object) -> list[Mapping[str, object]] | None:
    """Return `value` if it is a list of tables that is not empty."""
    items = as_list(value) or []
    tables = [table for one in items if (table := as_table(one)) is not None]
    return tables if tables and len(tables) == len(items) else None


def _pairs(table: Mapping[str, object]) -> list[str]:
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items() if value is not None]


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _quoted(name)


def _value(value: object) -> str:
    items, table = as_list(value), as_table(value)
    if items is not None:
        return "[" + ", ".join(_value(one) for one in items) + "]"
    if table is not None:
        return "{" + ", ".join(_pairs(table)) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    # Python writes numbers as TOML does: 1, 1.5, 1e+100, inf, nan.
    return repr(value) if isinstance(value, int | float) else _quoted(str(value))


def _quoted(text: str) -> str:
    # JSON escapes are TOML escapes, except that TOML wants DEL escaped too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# --------------------------------------------------------------------------- editing


def _edited(text: str, name: str, value: object) -> str:
    """Return the text with one value changed, as well as lines tell; the caller checks what it says."""
    lines = text.split("\n")
    if name == "collections":
        kept = _without_collections(lines)
        return _joined(kept, to_toml({name: value})) if value else _joined(kept, "")
    head = next((at for at, line in enumerate(lines) if _HEADER.match(line)), len(lines))
    own = re.compile(rf"\s*(?:{re.escape(name)}|\"{re.escape(name)}\"|'{re.escape(name)}')\s*=")
    found = next((at for at, line in enumerate(lines[:head]) if own.match(line)), None)
    new = [] if value is None else [f"{_key(name)} = {_value(value)}"]
    if found is not None:
        lines[found : found + 1] = new
        return "\n".join(lines)
    while head > 0 and not lines[head - 1].strip():
        head -= 1
    lines[head:head] = new
    return "\n".join(lines)


def _without_collections(lines: list[str]) -> list[str]:
    kept: list[str] = []
    inside = False
    for line in lines:
        if _HEADER.match(line):
            inside = _COLLECTIONS.match(line) is not None
        if not inside:
            kept.append(line)
    return kept


def _joined(lines: list[str], more: str) -> str:
    text = "\n".join(lines).rstrip("\n")
    parts = [part for part in (text, more.rstrip("\n")) if part]
    return "\n\n".join(parts) + "\n" if parts else ""


def _says(text: str, wanted: Mapping[str, object]) -> bool:
    """Say whether the text means exactly this."""
    try:
        return tomllib.loads(text) == tomllib.loads(to_toml(wanted))
    except tomllib.TOMLDecodeError:
        return False


# --------------------------------------------------------------------------- files


def _text_of(path: Path) -> str:
    try:
        # TOML forbids lone carriage returns; those of a file from another system are no part of any value.
        return path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read {path}: {error}", hint="Check the file and its permissions.") from error


def _parsed(text: str, path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}", hint="Fix the line named in the message.") from error


def _write(path: Path, text: str) -> None:
    try:
        write_atomically(path, text)
    except OSError as error:
        raise SettingsError(
            f"cannot write {path}: {error.strerror or error}", hint="Check that the folder can be written."
        ) from error


def write_atomically(path: Path, text: str) -> None:
    """Replace a file in one step; only its owner may read a new one, since it may hold keys.

    Raises:
        OSError: If it cannot be written; then it is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
