"""What is handed over with a message: read once and copied, so that it stays as it was."""

from __future__ import annotations

import secrets
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lilbee_core.errors import InvalidArgument, LilbeeError, NotFound
from lilbee_core.library._texts import find, require
from lilbee_core.library._uploads import upload_name
from lilbee_core.types import Attachment, GivenFile, Source

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts

FOLDER = "attachments"
_HEAD = 4096
_IMAGES = {"image/png": ".png", "image/jpeg": ".jpg"}
_LARGEST_MB = 50
_LARGEST_IMAGE_MB = 10


def attach(parts: Parts, source: str | Path | GivenFile | Attachment) -> Attachment:
    """Return a copy of a file, or of a document of the library.

    Raises:
        NotFound: If it is neither.
        ExtractError: If it cannot be read.
    """
    if isinstance(source, Attachment):
        return source
    if isinstance(source, GivenFile):
        return _from_elsewhere(parts, source)
    file = Path(source).expanduser()
    if file.is_file():
        return _from_file(parts, file)
    if isinstance(source, str) and find(parts.store, source):
        return _from_library(parts, source)
    raise NotFound(f"there is no file and no document {str(source)!r}", hint="Check the path.")


def image_of(parts: Parts, attachment: Attachment) -> bytes | None:
    """Return the bytes of an attached image, None if it has none or they are gone."""
    if attachment.file is None:
        return None
    try:
        return (parts.home.data_dir / FOLDER / Path(attachment.file).name).read_bytes()
    except OSError:
        return None


def _from_elsewhere(parts: Parts, given: GivenFile) -> Attachment:
    name = upload_name(given.name)
    with TemporaryDirectory(prefix="lilbee-") as folder:
        file = Path(folder) / name
        file.write_bytes(given.content)
        return replace(_from_file(parts, file), source=name)


def _from_library(parts: Parts, ref: str) -> Attachment:
    row = require(parts.store, ref)
    stored = parts.store.text(row.id)
    if stored is None:
        raise NotFound(f"there is no text of {row.ref}", hint="Run `lilbee sync`.")
    return Attachment(name=row.path, media_type=row.media_type, text=stored.text, source=row.ref, size=len(stored.text))


def _from_file(parts: Parts, file: Path) -> Attachment:
    size = file.stat().st_size
    if size > _LARGEST_MB * 1_000_000:
        raise InvalidArgument(
            f"{file.name} is too large to attach ({size // 1_000_000} MB)",
            hint=f"Add it to the library instead; at most {_LARGEST_MB} MB can be attached.",
        )
    with file.open("rb") as handle:
        head = handle.read(_HEAD)
    media_type = parts.reader.media_type(file.name, head)
    plain = Attachment(name=file.name, media_type=media_type, source=str(file), size=size)
    if media_type in _IMAGES and parts.settings.chat.chat_images:
        return replace(plain, file=_kept(parts, file, media_type, size))
    return replace(plain, text=_text(parts, file, media_type, size))


def _kept(parts: Parts, file: Path, media_type: str, size: int) -> str:
    """Copy an image under a name of its own, which tells nothing and cannot lead anywhere."""
    if size > _LARGEST_IMAGE_MB * 1_000_000:
        raise InvalidArgument(
            f"{file.name} is too large for an image ({size // 1_000_000} MB)", hint="Attach a smaller one."
        )
    parts.home.prepare()
    folder = parts.home.data_dir / FOLDER
    folder.mkdir(exist_ok=True)
    name = f"{secrets.token_hex(16)}{_IMAGES[media_type]}"
    (folder / name).write_bytes(file.read_bytes())
    return name


def _text(parts: Parts, file: Path, media_type: str, size: int) -> str:
    source = Source(collection="", path=file.name, media_type=media_type, file=str(file.absolute()), size=size)
    for _, read in parts.reader.extract([source]):
        if isinstance(read, LilbeeError):
            raise read
        return read.text
    raise NotFound(f"{file.name} could not be read", hint="Check the file.")
