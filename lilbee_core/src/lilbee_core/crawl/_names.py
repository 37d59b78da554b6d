"""Names of the files under which pages are kept: readable, and safe on every system."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from urllib.parse import unquote

from lilbee_core.crawl._urls import parse

_UNSAFE = re.compile(r"[^\w.~+,=@()!-]+")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?$", re.IGNORECASE)
_MAX_PART_BYTES = 100
_MAX_PARTS = 12


def file_name(url: str, ending: str) -> str:
    """Return the relative path for a page: ``example.org/guide/install.md``."""
    address = parse(url)
    host = _part(address.netloc.replace(":", "_").strip("[]"))
    parts = [_part(unquote(part)) for part in address.path.split("/") if part]
    is_folder = address.path.endswith("/") or not parts
    if is_folder and not parts:
        parts = ["index"]
    stem = parts[-1]
    if ending != "md" and stem.lower().endswith(f".{ending}"):
        stem = stem[: -len(ending) - 1]
    elif ending == "md":
        stem = re.sub(r"\.(?:html?|xhtml|php|aspx?|jsp)$", "", stem, flags=re.IGNORECASE) or "index"
    if address.query:
        stem = f"{_cut(stem, _MAX_PART_BYTES - 12)}~{_short(address.query)}"
    folders = parts[:-1]
    if len(folders) > _MAX_PARTS:
        folders = [*folders[: _MAX_PARTS - 1], _short("/".join(folders))]
    return "/".join([host, *folders, f"{_part(stem)}.{ending}"])


def other_name(name: str, url: str) -> str:
    """Return another name for a page whose usual one is taken by another page."""
    stem, _, ending = name.rpartition(".")
    return f"{stem}~{_short(url)}.{ending}"


def _part(text: str) -> str:
    text = unicodedata.normalize("NFC", text)
    text = _UNSAFE.sub("_", text).strip(". ") or "_"
    if _RESERVED.match(text):
        text = f"_{text}"
    # Ignore rules leave these out, and a leading dot hides a file.
    text = text.replace("~$", "_")
    if len(text.encode()) <= _MAX_PART_BYTES:
        return text
    return f"{_cut(text, _MAX_PART_BYTES - 12)}~{_short(text)}"


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode("utf-8", "ignore")


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
