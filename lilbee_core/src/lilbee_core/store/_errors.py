"""Failures of the database, said in plain words. Its own texts name Rust sources and never reach a message."""

from __future__ import annotations

import errno
import logging
import re
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from lilbee_core.errors import LilbeeError, StoreError

log = logging.getLogger(__name__)

_FULL = re.compile(
    r"no space left|storagefull|quota exceeded|os error (27|28|122)\b|disk full|database or disk is full", re.IGNORECASE
)
_FORBIDDEN = re.compile(
    r"permission denied|read-only file system|readonlyfilesystem|permissiondenied|"
    r"os error (13|30|1)\b|readonly database",
    re.IGNORECASE,
)
_DAMAGED = re.compile(
    r"not found|notfound|no such file|corrupt|malformed|not a database|unexpected eof|invalid magic|magic number|"
    r"does not exist|out of range|invalid range|protobuf|decode|invalid footer|panic|invalidinput|"
    r"file size is too small|failed to fill whole buffer|incompatible|footer|manifest|index proto",
    re.IGNORECASE,
)
# Mistakes of ours are not dressed up as failures of the database.
_BUGS = (AssertionError, AttributeError, ImportError, NameError, NotImplementedError)
_LEAST_FREE = 65_536
_CODES_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CODES_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextmanager
def engine_errors(doing: str, place: Path) -> Generator[None]:
    """Turn every failure of the database inside the block into a `StoreError` about `doing` at `place`."""
    try:
        yield
    except (LilbeeError, *_BUGS):
        raise
    except Exception as error:
        raise translate(error, doing, place) from error
    except BaseException as error:
        # A panic of the native library is not an Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise damaged(doing, place) from error


def translate(error: Exception, doing: str, place: Path) -> StoreError:
    """Return what `error` means for a person."""
    text = str(error)
    code = error.errno if isinstance(error, OSError) else None
    log.debug("store: %s failed: %s", doing, text)
    if code in _CODES_FULL or _FULL.search(text):
        return full(doing, place)
    if code in _CODES_FORBIDDEN or _FORBIDDEN.search(text):
        return read_only(doing, place)
    if _DAMAGED.search(text):
        return damaged(doing, place)
    if _no_space(place):
        return full(doing, place)
    return StoreError(f"could not {doing} in {place}", hint="run `lilbee doctor` to see what is wrong")


def gone(place: Path) -> StoreError:
    """The folder of the index is not where it was."""
    return StoreError(f"the index is not there any more: {place}", hint="Bring it back.", code="library.gone")


def full(doing: str, place: Path) -> StoreError:
    """There is no room to write."""
    return StoreError(
        f"the disk is full: could not {doing} in {place}",
        hint="free some disk space, then run the command again; what was committed is intact",
        code="store.full",
    )


def _no_space(place: Path) -> bool:
    """Say whether the disk is full: some failures of a full disk name another reason."""
    with suppress(OSError):
        existing = next(one for one in (place, *place.absolute().parents) if one.exists())
        return shutil.disk_usage(existing).free < _LEAST_FREE
    return False


def read_only(doing: str, place: Path) -> StoreError:
    """The index may not be written."""
    return StoreError(
        f"no permission to {doing} in {place}",
        hint="make the folder writable, or choose another one with `--library` or `data_dir`",
        code="store.read_only",
    )


def lost(place: Path) -> StoreError:
    """There was an index, and there is none."""
    return StoreError(
        f"the index in {place} is gone",
        hint="run `lilbee sync` to build it again from your files; documents from memory have to be given again",
        code="store.damaged",
    )


def moved(place: Path) -> StoreError:
    """The folder of an open library is not there any more."""
    return StoreError(
        f"the library in {place} is gone: its folder was moved or deleted while it was open",
        hint="open it again where it is now, or bring the folder back",
        code="store.damaged",
    )


def unfinished(place: Path) -> StoreError:
    """A rebuild has emptied the index and not filled it yet."""
    return StoreError(
        f"the index in {place} is being built anew, or that was stopped",
        hint="wait for it, or run `lilbee sync` to go on",
        code="store.damaged",
    )


def damaged(doing: str, place: Path) -> StoreError:
    """Files of the index are missing or broken."""
    return StoreError(
        f"the index in {place} is damaged: could not {doing}",
        hint=(
            "run `lilbee rebuild` to build it again from your files; documents from memory that cannot be read any "
            "more would have to be given again, so keep a copy of this folder if you have no other copy of them"
        ),
        code="store.damaged",
    )
