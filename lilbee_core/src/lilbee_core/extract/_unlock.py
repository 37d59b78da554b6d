"""Office files under a password: opened with one of the configured passwords, or refused in plain words."""

from __future__ import annotations

from io import BytesIO
from typing import IO, Protocol, cast

from lilbee_core.extract._reading import damaged, locked, split_passwords
from lilbee_core.types import Source

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of the older Office formats, and of newer ones under a password."""
_PACKED_MARK = "EncryptedPackage".encode("utf-16-le")
_EVERYBODYS = "VelvetSweatshop"
"""Excel opens workbooks under this password without asking."""


class _Locked(Protocol):
    def is_encrypted(self) -> bool: ...

    def load_key(self, *, password: str, **more: bool) -> None: ...

    def decrypt(self, outfile: IO[bytes]) -> None: ...


class _Unlocker(Protocol):
    def OfficeFile(self, file: IO[bytes]) -> _Locked: ...  # noqa: N802 - the library's name


def unlocked(source: Source, data: bytes, passwords: str | None) -> bytes:
    """Return an Office file without its password; one without a password comes back as it is.

    Raises:
        EncryptedDocument: If none of the passwords opens it.
    """
    if not data.startswith(OLE):
        return data
    if _opened(data) is None:
        if _PACKED_MARK in data:
            raise damaged(source, "its content does not follow its format")
        return data
    for password in (*split_passwords(passwords), _EVERYBODYS):
        opened = _try(data, password)
        if opened is not None:
            return opened
    raise locked(source, passwords)


def _opened(data: bytes) -> _Locked | None:
    """Return the file if it is under a password, as far as can be told."""
    import msoffcrypto

    try:
        file = cast("_Unlocker", msoffcrypto).OfficeFile(BytesIO(data))
        return file if file.is_encrypted() else None
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - the library raises what it likes on broken files
        return None


def _try(data: bytes, password: str) -> bytes | None:
    file, out = _opened(data), BytesIO()
    if file is None:
        return None
    try:
        # The older formats always verify, the newer ones when they are asked to.
        more = {"verify_password": True} if _PACKED_MARK in data else {}
        file.load_key(password=password, **more)
        file.decrypt(out)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a wrong password shows in several ways
        return None
    return out.getvalue() or None
