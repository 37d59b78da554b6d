"""What all readers of text files share: the bytes of a source, its text, and errors that name the file."""

from __future__ import annotations

import os
import stat

from lilbee_core.errors import EncryptedDocument, ExtractError, LimitExceeded, NoText, NotReadable, UnsupportedFormat
from lilbee_core.extract._decode import Decoded, NotText, decode
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Source


def read_bytes(source: Source) -> bytes:
    """Return the bytes of a source, as they stood at one moment.

    Raises:
        NotReadable: If the file is gone, may not be read, is no regular file or changes while it is read.
    """
    if source.data is not None:
        return source.data
    try:
        return _read_file(source)
    except OSError as error:
        raise not_readable(source, error) from error


def _read_file(source: Source) -> bytes:
    if source.file is None:
        raise FileNotFoundError(f"{source.path} has neither a file nor data")
    # Opening a pipe without O_NONBLOCK would wait for somebody to write into it.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    with open(os.open(source.file, flags), "rb") as handle:
        before = os.fstat(handle.fileno())
        if not stat.S_ISREG(before.st_mode):
            raise NotReadable(f"{source.path} is not a regular file", hint="Remove it from the collection.")
        data = handle.read()
        after = os.fstat(handle.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns) or len(data) != after.st_size:
        raise NotReadable(
            f"{source.path} changed while it was read", hint="Sync again when the program that writes it is done."
        )
    return data


def not_readable(source: Source, error: OSError) -> NotReadable:
    """Return the error for a file that cannot be opened."""
    match error:
        case FileNotFoundError():
            reason = "it is gone"
        case PermissionError():
            reason = "permission denied"
        case _:
            reason = (error.strerror or type(error).__name__).lower()
    return NotReadable(f"{source.path} cannot be read: {reason}", hint="Check that the file exists and may be read.")


def read_text(source: Source, context: ExtractContext) -> Decoded:
    """Return the text of a source.

    Raises:
        NotReadable: If the file cannot be read.
        UnsupportedFormat: If it holds no text.
        LimitExceeded: If the text is longer than the context allows.
    """
    data = read_bytes(source)
    context.check()
    try:
        decoded = decode(data)
    except NotText as error:
        raise UnsupportedFormat(
            f"{source.path} holds binary data, not text: {error}",
            hint="Give the file the ending of its real format, or ignore it.",
        ) from error
    check_length(source, decoded.text, context)
    return decoded


def check_length(source: Source, text: str, context: ExtractContext) -> None:
    """Refuse a text that is longer than the context allows."""
    if len(text) > context.max_chars:
        raise LimitExceeded(
            f"{source.path} holds {len(text)} characters, more than the limit of {context.max_chars}",
            hint="Raise max_text_chars, or split the file.",
        )


def split_passwords(passwords: str | None) -> list[str]:
    """Return the passwords to try, which are given one a line."""
    return [line for line in (passwords or "").split("\n") if line]


def locked(source: Source, passwords: str | None) -> EncryptedDocument:
    """Return the error for a file that none of the passwords opens, if any were given."""
    what = "the given password does not open it" if passwords else "it is protected by a password"
    return EncryptedDocument(f"{source.path} cannot be read: {what}", hint="Set extract_password to its password.")


def damaged(source: Source, why: str) -> ExtractError:
    """Return the error for a file that is broken."""
    return ExtractError(
        f"{source.path} is damaged: {why}",
        hint="Open the file in its own program and save it again, or replace it.",
        code="extract.damaged",
    )


def no_text(source: Source) -> NoText:
    """Return the error for a file from which no text came."""
    return NoText(
        f"{source.path} holds no text that can be read", hint="If it is a scan, switch text recognition on and retry."
    )
