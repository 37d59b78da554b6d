"""Files that come with the page: style, scripts, pictures. Pinned by their hashes, and kept by browsers for good."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import PathParameter, QueryParameter

_FOLDER = Path(__file__).parent / "static"
_FOR_GOOD = "public, max-age=31536000, immutable"
_SUFFIXES = frozenset({".css", ".js", ".svg"})


@dataclass(frozen=True, slots=True)
class Asset:
    """A file with its type and hash."""

    name: str
    body: bytes
    media_type: str
    digest: bytes

    @property
    def version(self) -> str:
        """What the address ends with; another content has another address."""
        return self.digest.hex()[:16]

    @property
    def url(self) -> str:
        return f"/static/{self.name}?v={self.version}"

    @property
    def integrity(self) -> str:
        """What a browser compares before it runs or applies the file."""
        return f"sha256-{base64.b64encode(self.digest).decode()}"


@cache
def assets() -> Mapping[str, Asset]:
    """Return the files by name."""
    found: dict[str, Asset] = {}
    for file in sorted(_FOLDER.iterdir()):
        if file.suffix in _SUFFIXES:
            body = file.read_bytes()
            kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            kind = "text/javascript" if file.suffix == ".js" else kind
            found[file.name] = Asset(file.name, body, kind, hashlib.sha256(body).digest())
    return found


@get("/static/{name:str}", sync_to_thread=False)
def static(
    request: Request[Any, Any, Any],
    name: Annotated[str, PathParameter()],
    version: Annotated[str, QueryParameter(name="v")] = "",
) -> Response[bytes]:
    """Return a file. Under the address that names its version it never changes."""
    asset = assets().get(name)
    if asset is None:
        raise NotFoundException(name)
    tag = f'"{asset.version}"'
    headers = {
        "ETag": tag,
        "Cache-Control": _FOR_GOOD if version == asset.version else "no-cache",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if tag in request.headers.get("if-none-match", ""):
        return Response(b"", status_code=304, headers=headers, media_type=asset.media_type)
    return Response(asset.body, headers=headers, media_type=asset.media_type)
