"""Files that come from elsewhere, kept in a folder of the library, which is a collection like any other."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from lilbee_core.errors import InvalidArgument, NotFound, UnsupportedFormat

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts

_HEAD = 4096
_LONGEST_BYTES = 200
_RESERVED = frozenset({"con", "prn", "aux", "nul", *(f"{port}{at}" for port in ("com", "lpt") for at in range(1, 10))})
_SIGNS = frozenset('/\\:*?"<>|')


def upload_name(name: str) -> str:
    """Return a name under which a file can be kept on any system, in its own folder and nowhere else.

    Raises:
        InvalidArgument: If it is none.
    """
    plain = unicodedata.normalize("NFC", name).strip()
    odd = any(sign in _SIGNS or unicodedata.category(sign).startswith("C") for sign in plain)
    reserved = plain.partition(".")[0].strip().lower() in _RESERVED
    too_long = len(plain.encode("utf-8", "replace")) > _LONGEST_BYTES
    if not plain or odd or reserved or too_long or plain.startswith(".") or plain.endswith("."):
        raise InvalidArgument(
            f"{name[:80]!r} cannot be a file's name", hint="Name it by letters and digits, with its ending: report.pdf."
        )
    return plain


def safe_name(path: str) -> str:
    """Return the last part of a path as a name that a file may have on any system."""
    last = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    plain = "".join("_" if sign in _SIGNS or unicodedata.category(sign).startswith("C") else sign for sign in last)
    try:
        return upload_name(plain.lstrip(". ").rstrip("."))
    except InvalidArgument:
        return f"attachment{PurePosixPath(plain).suffix[:10].rstrip('.')}"


def keep_upload(parts: Parts, file: Path, name: str) -> Path:
    """Move a file into the folder of uploads, in place of an earlier one of this name, and return where it is.

    Raises:
        InvalidArgument: If the name is none.
        NotFound: If there is no such file, or it cannot be read.
        UnsupportedFormat: If nothing here reads such a file.
    """
    plain = upload_name(name)
    try:
        with file.open("rb") as handle:
            head = handle.read(_HEAD)
    except (OSError, ValueError) as error:
        raise NotFound(f"there is no file {str(file)!r} that can be read", hint="Check the path.") from error
    media_type = parts.reader.media_type(plain, head)
    if parts.reader.version(plain, media_type) is None:
        raise UnsupportedFormat(f"{plain} is {media_type}, which nothing here reads", hint="Upload another format.")
    folder = parts.home.uploads_dir
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / plain
    os.replace(file, target)
    return target


def remove_upload(parts: Parts, name: str) -> None:
    """Delete a file that was uploaded.

    Raises:
        NotFound: If there is none of this name.
    """
    target = parts.home.uploads_dir / upload_name(name)
    if not target.is_file():
        raise NotFound(f"no file {name!r} was uploaded", hint="GET /api/documents lists those of the collection.")
    target.unlink()
