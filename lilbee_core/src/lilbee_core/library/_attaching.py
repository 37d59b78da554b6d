"""What is handed over with a message: read once and copied, so that it stays as it was."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lilbee_core.errors import InvalidArgument, LilbeeError, NotFound
from lilbee_core.library._texts import find, require
from lilbee_core.library._uploads import safe_name, upload_name
from lilbee_core.types import AttachedFile, Attachment, GivenFile, Source

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts

FOLDER = "attachments"
_HEAD = 4096
IMAGES = {"image/png": ".png", "image/jpeg": ".jpg"}
_LARGEST_MB = 50
_LARGEST_IMAGE_MB = 10


def attach(parts: Parts, source: str | Path | GivenFile | Attachment, *, to: str) -> Attachment:
    """Return a copy of a file, or of a document of the library; bytes are kept with the conversation `to`.

    Raises:
        NotFound: If it is neither.
        ExtractError: If it cannot be read.
    """
    if isinstance(source, Attachment):
        return _handed_on(parts, source, to)
    if isinstance(source, GivenFile):
        return _from_elsewhere(parts, source, to)
    file = Path(source).expanduser()
    if file.is_file():
        return _from_file(parts, file, to)
    if isinstance(source, str) and find(parts.store, source):
        return _from_library(parts, source)
    raise NotFound(f"there is no file and no document {str(source)!r}", hint="Check the path.")


def image_of(parts: Parts, attachment: Attachment) -> bytes | None:
    """Return the bytes of an attached image, None if it is none that models take or its bytes are gone."""
    if attachment.media_type not in IMAGES or attachment.size > _LARGEST_IMAGE_MB * 1_000_000:
        return None
    return _bytes(parts, attachment)


def file_of(parts: Parts, attachment: Attachment) -> AttachedFile:
    """Return what was attached as a file: its bytes, or the text where there are none.

    Raises:
        NotFound: If its bytes are gone, and nothing was read in it.
    """
    content = _bytes(parts, attachment)
    name = safe_name(attachment.name)
    if content is not None:
        return AttachedFile(name=name, media_type=attachment.media_type, content=content)
    if not attachment.text:
        raise NotFound(f"the file of {attachment.name} is gone", hint="Attach it again.")
    is_text = attachment.media_type.startswith("text/")
    return AttachedFile(
        name=name if is_text else f"{name}.txt", media_type="text/plain", content=attachment.text.encode()
    )


def forget(parts: Parts, conversation: str) -> None:
    """Delete the files that were attached in a conversation."""
    shutil.rmtree(_folder(parts, conversation), ignore_errors=True)


def _bytes(parts: Parts, attachment: Attachment) -> bytes | None:
    if attachment.file is None:
        return None
    conversation, _, name = attachment.file.rpartition("/")
    try:
        return (_folder(parts, conversation) / name).read_bytes()
    except OSError:
        return None


def _folder(parts: Parts, conversation: str) -> Path:
    """Return where the files of a conversation lie. A record that was tampered with leads nowhere else."""
    return parts.home.data_dir / FOLDER / (conversation if conversation.isalnum() else "-")


def _handed_on(parts: Parts, given: Attachment, to: str) -> Attachment:
    """Return it with bytes of its own: those of another conversation go when that is deleted."""
    if given.file is None or given.file.startswith(f"{to}/"):
        return given
    content = _bytes(parts, given)
    return replace(given, file=None if content is None else _kept(parts, content, given.media_type, to))


def _from_elsewhere(parts: Parts, given: GivenFile, to: str) -> Attachment:
    name = upload_name(given.name)
    with TemporaryDirectory(prefix="lilbee-") as folder:
        file = Path(folder) / name
        file.write_bytes(given.content)
        return replace(_from_file(parts, file, to), source=name)


def _from_library(parts: Parts, ref: str) -> Attachment:
    row = require(parts.store, ref)
    stored = parts.store.text(row.id)
    if stored is None:
        raise NotFound(f"there is no text of {row.ref}", hint="Run `lilbee sync`.")
    return Attachment(name=row.path, media_type=row.media_type, text=stored.text, source=row.ref, size=len(stored.text))


def _from_file(parts: Parts, file: Path, to: str) -> Attachment:
    size = file.stat().st_size
    if size > _LARGEST_MB * 1_000_000:
        raise InvalidArgument(
            f"{file.name} is too large to attach ({size // 1_000_000} MB)",
            hint=f"Add it to the library instead; at most {_LARGEST_MB} MB can be attached.",
        )
    content = file.read_bytes()
    media_type = parts.reader.media_type(file.name, content[:_HEAD])
    plain = Attachment(name=file.name, media_type=media_type, source=str(file), size=size)
    if not (media_type in IMAGES and parts.settings.chat.chat_images):
        plain = replace(plain, text=_text(parts, file, media_type, size))
    elif size > _LARGEST_IMAGE_MB * 1_000_000:
        raise InvalidArgument(
            f"{file.name} is too large for an image ({size // 1_000_000} MB)", hint="Attach a smaller one."
        )
    return replace(plain, file=_kept(parts, content, media_type, to))


def _kept(parts: Parts, content: bytes, media_type: str, to: str) -> str:
    """Keep bytes under a name of their own, which tells nothing and cannot lead anywhere."""
    parts.home.prepare()
    folder = _folder(parts, to)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{secrets.token_hex(16)}{IMAGES.get(media_type, '.bin')}"
    (folder / name).write_bytes(content)
    return f"{folder.name}/{name}"


def _text(parts: Parts, file: Path, media_type: str, size: int) -> str:
    source = Source(collection="", path=file.name, media_type=media_type, file=str(file.absolute()), size=size)
    for _, read in parts.reader.extract([source]):
        if isinstance(read, LilbeeError):
            raise read
        return read.text
    raise NotFound(f"{file.name} could not be read", hint="Check the file.")
