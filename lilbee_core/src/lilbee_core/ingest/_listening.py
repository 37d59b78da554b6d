"""How changes of files become known: the system tells them, or somebody looks from time to time."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from lilbee_core.ingest._walk import Found, Root, Walk, WalkOptions, is_below
from lilbee_core.protocols import CancelToken, Clock

_GROUP_MS = 200
_STEP_MS = 50
_MODIFIED = 2
_CHECK_EVERY = 512
_SHARE = 10
REMOTE = frozenset(
    {
        "9p", "afpfs", "afs", "ceph", "cifs", "davfs", "drvfs", "fakeowner", "gfs2", "glusterfs", "lustre", "ncpfs",
        "nfs", "nfs4", "ocfs2", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "webdav",
        "fuse.ceph-fuse", "fuse.davfs2", "fuse.gcsfuse", "fuse.glusterfs", "fuse.grpcfuse", "fuse.osxfs",
        "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "fuse.vmhgfs-fuse",
    }
)  # fmt: skip
"""File systems on which others change files without this system being told."""


class ChangeSource(Protocol):
    """Tells which paths changed. Changes that come while nobody waits are told at the next call."""

    def wait(self, timeout_s: float) -> Collection[str]:
        """Return the paths that changed, as soon as there are some; none after `timeout_s`.

        Raises:
            OSError: If it can tell nothing any more.
        """
        ...

    def close(self) -> None: ...


class Listen(Protocol):
    """Makes a source for folders, with all that is below them if `recursive`."""

    def __call__(self, folders: Sequence[Path], *, recursive: bool) -> ChangeSource:
        """Begin to listen.

        Raises:
            OSError: If the system cannot tell of them.
        """
        ...


class SystemChanges:
    """What the system tells.

    Raises:
        OSError: If it does not: a folder is not there, or more is to be watched than it allows.
    """

    def __init__(self, folders: Sequence[Path], *, recursive: bool) -> None:
        from watchfiles._rust_notify import RustNotify

        paths = [str(folder) for folder in folders]
        try:
            try:
                self._notify = RustNotify(paths, False, False, 0, recursive, False)
            except PermissionError:
                # What may not be entered is not read either. Asked to overlook that, it overlooks other errors, too.
                self._notify = RustNotify(paths, False, False, 0, recursive, True)
        except (RuntimeError, OSError) as error:
            raise OSError(f"{', '.join(paths)} cannot be listened to: {error}") from error

    def wait(self, timeout_s: float) -> Collection[str]:
        try:
            told = self._notify.watch(_GROUP_MS, _STEP_MS, max(1, round(timeout_s * 1000)), None)
        except RuntimeError as error:
            raise OSError(f"changes are not told any more: {error}") from error
        if told == "signal":
            raise KeyboardInterrupt
        if isinstance(told, str):
            return ()
        # That a folder was modified says only that something in it was, which is told by itself.
        return {path for kind, path in told if kind != _MODIFIED or not os.path.isdir(path)}

    def close(self) -> None:
        self._notify.close()


class Poll:
    """Looks at a collection from time to time, at what a walk finds, and says whether that differs.

    No look takes more than a tenth of the time, however large the collection is.
    """

    def __init__(self, root: Root, options: WalkOptions, *, every_s: float, clock: Clock) -> None:
        self._root = root
        self._options = options
        self._every_s = every_s
        self._clock = clock
        self._due = clock.monotonic()
        self._seen: bytes | None = None

    def changed(self, cancel: CancelToken) -> bool:
        """Look, if it is time to, and say whether anything differs from the look before; the first one knows nothing.

        Raises:
            Cancelled: When `cancel` says so.
        """
        started = self._clock.monotonic()
        if started < self._due:
            return False
        seen = self._look(cancel)
        now = self._clock.monotonic()
        self._due = now + max(self._every_s, _SHARE * (now - started))
        before, self._seen = self._seen, seen
        return before is not None and before != seen

    def _look(self, cancel: CancelToken) -> bytes:
        digest = blake2b(digest_size=16)
        try:
            for number, entry in enumerate(Walk(self._root, self._options)):
                if number % _CHECK_EVERY == 0:
                    cancel.check()
                state = (entry.size, entry.mtime_ns, entry.inode) if isinstance(entry, Found) else entry.code
                digest.update(f"{entry.path}\0{state}\n".encode("utf-8", "surrogateescape"))
        except OSError:
            return b""
        return digest.digest()


def is_remote(folder: Path, mounts: Iterable[tuple[str, str]] | None = None) -> bool:
    """Say whether a folder lies where others change files without this system being told: on a share, say.

    `mounts` are mount points with the kind of their file system, those of this machine if not given.
    """
    if str(folder).startswith("\\\\"):
        return True
    known = _mounts() if mounts is None else mounts
    holding = [(point, kind) for point, kind in known if is_below(str(folder), point)]
    return bool(holding) and max(holding, key=lambda one: len(one[0]))[1] in REMOTE


def _mounts() -> list[tuple[str, str]]:
    import psutil

    found: list[tuple[str, str]] = []
    for one in psutil.disk_partitions(all=True):
        is_share = os.name == "nt" and "remote" in one.opts
        found.append((one.mountpoint, "smbfs" if is_share else one.fstype.lower()))
    return found
