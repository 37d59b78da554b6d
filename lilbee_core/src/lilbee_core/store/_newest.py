"""The number of the newest commit of a table, without listing its folder where that cannot have changed.

A search asks for it some twenty times, and a listing goes through the operating system once for every name.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from lilbee_core.store._engine import newest_version

SETTLED_AFTER_S = 2.5
"""How long a folder must have had a stamp before the stamp says that no other change came: no file system here keeps
times in steps of more than two seconds."""
_LOCAL = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "f2fs", "bcachefs"})
_MOUNTS = Path("/proc/self/mountinfo")

Stamp: TypeAlias = tuple[int, int, int, int, int]


class _Seen(NamedTuple):
    """What a listing found. `since` is when the folder was first seen with this stamp."""

    stamp: Stamp
    since: float
    settled: bool
    version: int | None


def is_local(device: int) -> bool:
    """Say whether a file system stamps its folders with every change: those of the kernel do, remote ones may not."""
    if sys.platform != "linux":
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = [line.split() for line in _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()]
        kinds = {line[line.index("-") + 1] for line in lines if line[2] == number}
    except (OSError, ValueError, IndexError):
        return False
    return bool(kinds) and kinds <= _LOCAL


class NewestVersion:
    """Tells the newest commit of the table in a folder. Threads may share it.

    Two commits may bear one stamp where they come within one tick of the clock. So a listing is only kept if it was
    made when the folder had had its stamp for longer than a tick: whatever comes later bears a later one. Both times
    are those of this process, since the clock of the file system may differ from ours.
    """

    def __init__(
        self,
        folder: Path,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        local: Callable[[int], bool] = is_local,
        stat: Callable[[str], os.stat_result] = os.stat,
    ) -> None:
        self._folder = folder
        self._listed = os.path.join(folder, "_versions")
        self._monotonic = monotonic
        self._local = local
        self._stat = stat
        self._seen: _Seen | None = None

    def read(self) -> int | None:
        """Return its number, None where the names in the folder do not tell."""
        # In this order: what changes after the stamp was read gives the folder another one.
        now, stamp = self._monotonic(), self._stamp()
        seen = self._seen
        same = stamp is not None and seen is not None and seen.stamp == stamp
        if same and seen is not None and seen.settled:
            return seen.version
        version = newest_version(self._folder)
        since = seen.since if same and seen is not None else now
        if stamp is not None:
            settled = now - since > SETTLED_AFTER_S and self._local(stamp[0])
            self._seen = _Seen(stamp, since, settled, version)
        return version

    def _stamp(self) -> Stamp | None:
        try:
            found = self._stat(self._listed)
        except OSError:
            return None
        # The time of the last change of its own entry tells where somebody set the other one back.
        return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size
