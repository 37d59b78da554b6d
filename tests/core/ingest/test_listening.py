"""How changes become known, and whom they concern (R318)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from lilbee_core.errors import Cancelled
from lilbee_core.ingest import Found, Root, Walk, WalkOptions
from lilbee_core.ingest._concerned import Concerned
from lilbee_core.ingest._listening import Poll, SystemChanges, is_remote
from lilbee_core.testing import ManualClock


class Never:
    def check(self) -> None:
        return


class Now:
    def check(self) -> None:
        raise Cancelled("enough")


def _tree(root: Path) -> None:
    for name, text in {
        "a.md": "a", "b.swp": "b", "sub/c.txt": "c", "sub/deep/d.md": "d", "node_modules/x/e.js": "e",
        "build/f.txt": "f", "sub/build/g.txt": "g", "kept/build/h.txt": "h", "secret.log": "i", "sub/secret.log": "j",
        "sub/deep/fein.md": "k", "straße/ü.md": "l", ".lilbee/index/m": "m", "out/n.md": "n", "sub/out/o.md": "o",
        ".gitignore": "/build/\n*.log\nout\n", "sub/.lilbeeignore": "build/\n!secret.log\n/deep/fein.md\n",
        "sub/.gitignore": "",
    }.items():  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("include", "exclude", "options"),
    [
        ((), (), WalkOptions()),
        ((), (), WalkOptions(use_gitignore=False, default_ignores=False)),
        ((), ("sub/deep/", "*.txt"), WalkOptions(ignore=("straße/",))),
        (("*.md",), ("out/",), WalkOptions()),
        (("/a.md", "sub/**/*.md"), (), WalkOptions()),
    ],
)
def test_a_change_concerns_a_collection_if_its_walk_would_find_it(
    tmp_path: Path, include: tuple[str, ...], exclude: tuple[str, ...], options: WalkOptions
) -> None:
    _tree(tmp_path)
    root = Root(collection="all", folder=tmp_path, include=include, exclude=exclude, own=(tmp_path / ".lilbee",))
    found = {entry.raw for entry in Walk(root, options) if isinstance(entry, Found)}
    every = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    concerned = {raw for raw in every if Concerned([root], options).collections([str(tmp_path / raw)])}
    rules = {raw for raw in concerned if raw.rpartition("/")[2] in options.ignore_files}
    assert concerned - (rules - found) == found
    assert (".gitignore" in concerned) is (".gitignore" in found or options.use_gitignore), "it says what is read"
    shutil.rmtree(tmp_path / "sub")
    os.unlink(tmp_path / "a.md")
    gone = Concerned([root], options).collections([str(tmp_path / "sub"), str(tmp_path / "a.md")])
    assert gone == {"all"}, "of what is gone nobody knows what it was"


def test_each_collection_is_asked_for_itself(tmp_path: Path) -> None:
    _tree(tmp_path)
    outer = Root(collection="outer", folder=tmp_path, own=(tmp_path / ".lilbee", tmp_path / "sub"))
    inner = Root(collection="inner", folder=tmp_path / "sub")
    twin = Root(collection="twin", folder=tmp_path, include=("*.txt",))

    def concerned(*paths: str) -> frozenset[str]:
        return Concerned([outer, inner, twin], WalkOptions()).collections([str(tmp_path / path) for path in paths])

    assert concerned("a.md") == {"outer"}
    assert concerned("sub/c.txt") == {"inner", "twin"}
    assert concerned("a.md", "sub/deep/d.md") == {"outer", "inner"}
    assert concerned(".", "sub") == {"twin"}
    assert concerned(*(f"node_modules/{number}.js" for number in range(2000))) == frozenset()


def _save_in_place(file: Path) -> None:
    file.write_text("new", encoding="utf-8")


def _save_by_rename(file: Path) -> None:
    temporary = file.with_name(".tmp-1234")
    temporary.write_text("new", encoding="utf-8")
    temporary.replace(file)


def _save_with_backup(file: Path) -> None:
    file.rename(file.with_name(file.name + "~"))
    file.write_text("new", encoding="utf-8")


@pytest.mark.parametrize("save", [_save_in_place, _save_by_rename, _save_with_backup, Path.unlink])
def test_the_system_tells_of_whatever_an_editor_does(tmp_path: Path, save: Callable[[Path], None]) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    file = folder / "a.md"
    file.write_text("old", encoding="utf-8")
    source = SystemChanges([Path(os.path.realpath(folder))], recursive=True)
    try:
        save(file)
        told = source.wait(10.0)
        assert os.path.realpath(folder / "a.md") in told
        assert os.path.realpath(folder) not in told
        assert not source.wait(0.01)
    finally:
        source.close()


def test_a_folder_that_is_not_there_cannot_be_listened_to(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        SystemChanges([tmp_path / "nowhere"], recursive=True)


def test_a_look_sees_every_difference_that_a_walk_would(tmp_path: Path) -> None:
    _tree(tmp_path)
    clock = ManualClock()
    root = Root(collection="all", folder=tmp_path)
    poll = Poll(root, WalkOptions(), every_s=10.0, clock=clock)

    def after(change: Callable[[], object]) -> bool:
        change()
        clock.advance(10.0)
        return poll.changed(Never())

    file = tmp_path / "a.md"
    now = file.stat().st_mtime_ns
    assert not poll.changed(Never()), "the first look knows nothing"
    assert not after(lambda: None)
    assert after(lambda: os.utime(file, ns=(now, now + 1000))), "a microsecond later, of the same size"
    assert not after(lambda: (tmp_path / "node_modules" / "y.js").write_text("y"))
    assert after(lambda: (tmp_path / "sub").rename(tmp_path / "dub"))
    assert after(file.unlink)
    file.write_text("again", encoding="utf-8")
    assert not poll.changed(Never()), "it is not time yet"
    clock.advance(10.0)
    with pytest.raises(Cancelled):
        poll.changed(Now())
    assert poll.changed(Never())
    away = tmp_path.with_name("away")
    assert after(lambda: tmp_path.rename(away)), "gone"
    assert after(lambda: away.rename(tmp_path)), "back"


@pytest.mark.parametrize(
    ("folder", "remote"),
    [
        ("/home/bee/notes", False),
        ("/mnt/share/notes", True),
        ("/mnt/share", True),
        ("/mnt/shared", False),
        ("/mnt/share/disk/x", False),
        ("/mnt/c/Users", True),
        ("\\\\server\\share\\notes", True),
    ],
)
def test_shares_are_known_by_their_file_system(folder: str, remote: bool) -> None:
    mounts = [("/", "ext4"), ("/mnt/share", "nfs4"), ("/mnt/share/disk", "ext4"), ("/mnt/c", "9p")]
    assert is_remote(Path(folder), mounts) is remote


def test_the_mounts_of_this_machine_can_be_asked_for(tmp_path: Path) -> None:
    assert is_remote(tmp_path) in {True, False}
    assert not is_remote(tmp_path, [])
