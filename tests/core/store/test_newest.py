"""The newest commit by the stamp of a folder: never an older one, whatever the clock and the file system do."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from lilbee_core.store import Store, _newest
from lilbee_core.store._engine import newest_version
from lilbee_core.store._newest import SETTLED_AFTER_S, NewestVersion, is_local
from tests.core.store._build import a_document

_LAST = 2**64 - 1
TICK_NS = 2_000_000_000


def _without_changes(path: str) -> os.stat_result:
    """Leave out when the entry itself changed: the clock of that is not ours to set."""
    found = os.stat(path)
    times = {"st_mtime_ns": found.st_mtime_ns, "st_ctime_ns": found.st_mtime_ns}
    return os.stat_result((*found[:10],), times)


class _Folder:
    """A folder of commits whose file system keeps times in steps; the clock of the process goes its own way."""

    def __init__(self, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.versions = table / "_versions"
        self.versions.mkdir(parents=True)
        self.now = 1_000.0
        self.listings = 0
        self._ahead = 0.0
        self.stamp()
        self.newest = NewestVersion(table, monotonic=lambda: self.now, local=lambda device: True, stat=_without_changes)
        list_folder = newest_version

        def listed(folder: Path) -> int | None:
            self.listings += 1
            return list_folder(folder)

        monkeypatch.setattr(_newest, "newest_version", listed)

    def stamp(self, *, behind_s: float = 0.0) -> None:
        told = int((self.now - behind_s) * 1e9) // TICK_NS * TICK_NS
        os.utime(self.versions, ns=(told, told))

    def commit(self, number: int, **clock: float) -> None:
        (self.versions / f"{_LAST - number:020}.manifest").touch()
        self.stamp(**clock)


@pytest.mark.parametrize("behind_s", [0.0, 3_600.0, -3_600.0])
def test_no_commit_is_missed_whatever_the_distance_between_commits_and_reads(
    behind_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _Folder(tmp_path / "chunks.lance", monkeypatch)
    for number in range(1, 60):
        folder.commit(number, behind_s=behind_s)
        # From a commit within the tick to one long after the stamp has settled, with reads on the way.
        for step in range(number % 7):
            assert folder.newest.read() == number
            folder.now += (0.0, 0.001, 0.4, 1.999, SETTLED_AFTER_S, 11.0)[(number + step) % 6]
        assert folder.newest.read() == number


@pytest.mark.parametrize("within_s", [0.0, 0.5, 1.6, 1.999])
def test_two_commits_of_one_tick_are_two(within_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _Folder(tmp_path / "chunks.lance", monkeypatch)
    folder.commit(1)
    assert folder.newest.read() == 1
    folder.now += within_s
    assert folder.newest.read() == 1
    before = os.stat(folder.versions).st_mtime_ns
    folder.commit(2)
    assert os.stat(folder.versions).st_mtime_ns == before
    assert folder.newest.read() == 2


def test_a_folder_that_rests_is_listed_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _Folder(tmp_path / "chunks.lance", monkeypatch)
    folder.commit(7)
    for _ in range(2):
        assert folder.newest.read() == 7
        folder.now += SETTLED_AFTER_S + 0.1
    before = folder.listings
    assert [folder.newest.read() for _ in range(20)] == [7] * 20
    assert folder.listings == before
    folder.commit(8)
    assert folder.newest.read() == 8
    assert folder.listings == before + 1


def test_another_folder_in_its_place_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _Folder(tmp_path / "chunks.lance", monkeypatch)
    folder.commit(7)
    for _ in range(3):
        assert folder.newest.read() == 7
        folder.now += 10
    told = folder.versions.stat().st_mtime_ns
    kept = folder.versions.rename(tmp_path / "kept")
    assert folder.newest.read() is None
    shutil.copytree(kept, folder.versions)
    (folder.versions / f"{_LAST - 7:020}.manifest").rename(folder.versions / f"{_LAST - 3:020}.manifest")
    os.utime(folder.versions, ns=(told, told))
    assert folder.newest.read() == 3


def test_times_that_are_set_back_do_not_hide_a_commit(tmp_path: Path) -> None:
    (tmp_path / "_versions").mkdir()
    times = iter(range(0, 1_000, 10))
    newest = NewestVersion(tmp_path, monotonic=lambda: float(next(times)), local=lambda device: True)
    for number in range(1, 5):
        (tmp_path / "_versions" / f"{_LAST - number:020}.manifest").touch()
        os.utime(tmp_path / "_versions", ns=(5, 5))
        assert [newest.read() for _ in range(3)] == [number] * 3


def test_where_the_file_system_is_not_known_every_read_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _Folder(tmp_path / "chunks.lance", monkeypatch)
    newest = NewestVersion(
        tmp_path / "chunks.lance", monotonic=lambda: folder.now, local=lambda device: False, stat=_without_changes
    )
    for number in range(1, 4):
        folder.now += 60
        (folder.versions / f"{_LAST - number:020}.manifest").touch()
        os.utime(folder.versions, ns=(5, 5))
        assert newest.read() == number
        folder.now += 60
        assert newest.read() == number


@pytest.mark.skipif(sys.platform != "linux", reason="the list of mounts is Linux's")
@pytest.mark.parametrize(
    ("mounts", "local"),
    [
        ("27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n", True),
        ("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n28 1 254:1 / /mnt rw - fuse.rclone remote rw\n", True),
        ("28 1 254:0 / /mnt rw - fuse.sshfs host: rw\n", False),
        ("28 1 254:0 / /mnt rw - nfs4 host:/ rw\n", False),
        ("28 1 254:0 / /mnt rw - vfat /dev/sdb1 rw\n", False),
        ("27 1 254:1 / / rw,relatime - ext4 /dev/vda rw\n", False),
        ("not a mount\n", False),
        ("27 1 254:0 / /\n", False),
        (None, False),
    ],
)
def test_only_file_systems_of_the_kernel_are_trusted(
    mounts: str | None, local: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_newest, "_MOUNTS", tmp_path / "mountinfo")
    if mounts is not None:
        (tmp_path / "mountinfo").write_text(mounts)
    assert is_local(os.makedev(254, 0)) is local


def test_a_store_sees_what_another_one_commits_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_newest, "SETTLED_AFTER_S", 0.05)
    with Store.open(tmp_path) as writer, Store.open(tmp_path, read_only=True) as reader:
        versions: list[int] = []
        for number in range(8):
            writer.put([a_document(f"doc{number}")])
            versions.append(reader.version)
            assert reader.version == writer.version
            assert len(reader.get([a_document(f"doc{number}").chunks[0].id])) == 1
        assert versions == sorted(set(versions))
