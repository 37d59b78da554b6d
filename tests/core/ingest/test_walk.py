"""What a walk finds, and what it leaves out and why (R016)."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from lilbee_core.ingest import Found, LeftOut, Root, Walk, WalkOptions

DEFAULT = WalkOptions()


def walk(folder: Path, *, own: tuple[Path, ...] = (), options: WalkOptions = DEFAULT, **globs: tuple[str, ...]):
    root = Root(collection="notes", folder=folder, own=tuple(Path(os.path.realpath(one)) for one in own), **globs)
    entries = list(Walk(root, options))
    found = {one.path: one for one in entries if isinstance(one, Found)}
    left = {one.path: one for one in entries if isinstance(one, LeftOut)}
    assert len(found) + len(left) == len(entries), "a path came twice"
    return found, left


def make(folder: Path, *paths: str) -> None:
    for path in paths:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)


def codes(left: dict[str, LeftOut]) -> dict[str, str]:
    return {path: one.code for path, one in left.items()}


def test_every_regular_file_is_found_in_a_stable_order(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.md", "a/y/x.md", "Makefile", "README", "x.log", "x.srt", ".hidden/n.md")
    found, left = walk(tmp_path)
    assert list(found) == ["Makefile", "README", "b.md", "x.log", "x.srt", ".hidden/n.md", "a/z.md", "a/y/x.md"]
    assert left == {}
    one = found["a/y/x.md"]
    assert (one.raw, one.raw_path, one.size) == ("a/y/x.md", "", len("a/y/x.md"))
    assert one.file == str(tmp_path / "a/y/x.md")
    assert one.mtime_ns == (tmp_path / "a/y/x.md").stat().st_mtime_ns


def test_what_is_left_out_says_why(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "node_modules/x/y.js", "a.pyc", "notes~", "lib.so", "build/out.md", "keep.log", "x.log")
    (tmp_path / ".gitignore").write_text("build/\n*.log\n!keep.log\n")
    found, left = walk(tmp_path)
    assert list(found) == ["keep.log"]
    assert set(left) == {".gitignore", ".git/", "node_modules/", "a.pyc", "notes~", "lib.so", "build/", "x.log"}
    assert left["build/"].reason == "ignored by build/ (.gitignore)"
    assert left["node_modules/"].reason == "ignored by node_modules/ (built in)"
    assert set(codes(left).values()) == {"ignored"}


def test_ignore_files_can_be_switched_off(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "b.tmp", "node_modules/x.js", "c.old")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / ".lilbeeignore").write_text("*.tmp\n!node_modules/\n")
    found, _ = walk(tmp_path)
    assert set(found) == {"c.old", "node_modules/x.js"}
    found, left = walk(tmp_path, options=WalkOptions(use_gitignore=False, ignore=("*.old",)))
    assert set(found) == {"a.log", "node_modules/x.js"}
    assert left["c.old"].reason == "ignored by *.old (settings)"
    (tmp_path / ".lilbeeignore").unlink()
    found, _ = walk(tmp_path, options=WalkOptions(default_ignores=False))
    assert "node_modules/x.js" in found


def test_a_lilbeeignore_wins_over_a_gitignore(tmp_path: Path) -> None:
    make(tmp_path, "notes/a.log", "notes/deep/b.log")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "notes/.lilbeeignore").write_text("!*.log\n")
    (tmp_path / "notes/deep/.gitignore").write_text("b.log\n")
    found, left = walk(tmp_path)
    assert "notes/a.log" in found
    assert left["notes/deep/b.log"].reason == "ignored by b.log (notes/deep/.gitignore)"


def test_ignore_files_that_are_none(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "sub/b.md", "umlaut/\u00dcber.md")
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "sub/.gitignore").mkdir()
    (tmp_path / "umlaut/.gitignore").write_bytes("\ufeff\u00dcber.md\r\n\xff\n".encode("utf-8", "replace"))
    found, left = walk(tmp_path)
    assert {"a.md", "sub/b.md"} <= set(found)
    assert set(codes(left).values()) == {"ignored"}
    assert set(left) == {".gitignore", "sub/.gitignore/", "umlaut/.gitignore", "umlaut/\u00dcber.md"}


def test_ignore_files_are_no_documents_unless_asked_for(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "sub/.gitignore")
    (tmp_path / ".lilbeeignore").write_text("!/sub/.gitignore\n")
    found, left = walk(tmp_path)
    assert set(found) == {"a.md", "sub/.gitignore"}
    assert left[".lilbeeignore"].reason == "ignored by .lilbeeignore (built in)"
    found, left = walk(tmp_path, options=WalkOptions(default_ignores=False))
    assert set(found) == {"a.md", ".lilbeeignore", "sub/.gitignore"}
    assert left == {}


# ------------------------------------------------------------------ links


def test_a_link_inside_is_read_once(tmp_path: Path) -> None:
    make(tmp_path, "real/a.md")
    (tmp_path / "link.md").symlink_to(tmp_path / "real/a.md")
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    (tmp_path / "real/self").symlink_to(tmp_path)
    found, left = walk(tmp_path)
    assert list(found) == ["real/a.md"]
    assert codes(left) == dict.fromkeys(["link.md", "folder/", "real/self/"], "link.inside")


def test_links_that_leave_or_lead_nowhere_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "root/a.md", "outside/secret.md")
    root = tmp_path / "root"
    (root / "leak.md").symlink_to(tmp_path / "outside/secret.md")
    (root / "leaks").symlink_to(tmp_path / "outside")
    (root / "up").symlink_to("..")
    (root / "dangling.md").symlink_to("nowhere.md")
    (root / "loop").symlink_to("loop")
    found, left = walk(root)
    assert list(found) == ["a.md"]
    assert codes(left) == {
        "leak.md": "link.outside", "leaks/": "link.outside", "up/": "link.outside",
        "dangling.md": "link.dangling", "loop": "link.dangling",
    }  # fmt: skip


def test_a_link_to_what_is_read_nowhere_else_is_followed(tmp_path: Path) -> None:
    make(tmp_path, "data/mem/a.md", "data/mem/b.md", "data/other.md")
    (tmp_path / "memory").symlink_to("data/mem")
    (tmp_path / "again").symlink_to("data/mem")
    (tmp_path / "MEMORY.md").symlink_to("data/other.md")
    (tmp_path / "COPY.md").symlink_to("data/other.md")
    found, left = walk(tmp_path, include=("/MEMORY.md", "/COPY.md", "memory/**/*.md"))
    assert set(found) == {"COPY.md", "memory/a.md", "memory/b.md"}
    assert codes(left) == {"MEMORY.md": "link.inside"}


def test_a_link_to_what_is_ignored_is_ignored(tmp_path: Path) -> None:
    make(tmp_path, "build/a.md", "data/x.md", "nested/y.md", "b.md")
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "out").symlink_to("build")
    (tmp_path / "out.md").symlink_to("build/a.md")
    (tmp_path / "own").symlink_to("data")
    (tmp_path / "sub").symlink_to("nested/y.md")
    found, left = walk(tmp_path, own=(tmp_path / "data", tmp_path / "nested"))
    assert set(found) == {"b.md"}
    assert codes(left) == {
        "build/": "ignored", "out/": "link.inside", "out.md": "link.inside", "own/": "link.inside",
        "sub": "link.inside", ".gitignore": "ignored",
    }  # fmt: skip
    assert "ignored by build/" in left["out.md"].reason
    assert "another collection" in left["own/"].reason


def test_hard_links_are_two_files(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    os.link(tmp_path / "a.md", tmp_path / "b.md")
    found, _ = walk(tmp_path)
    assert set(found) == {"a.md", "b.md"}


# ------------------------------------------------------------------ things that are no documents


def test_special_files_are_named(tmp_path: Path) -> None:
    make(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe")
    place = os.getcwd()
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(tmp_path)  # the name of a socket may not be long
        try:
            server.bind("sock")
        finally:
            os.chdir(place)
        (tmp_path / "null").symlink_to("/dev/null")
        found, left = walk(tmp_path)
    assert list(found) == ["a.md"]
    assert codes(left) == {"null": "link.outside", "pipe": "special_file", "sock": "special_file"}
    assert left["pipe"].reason == "a pipe is not a document"


@pytest.mark.skipif(not hasattr(os, "mknod") or os.geteuid() != 0, reason="devices are made by root only")
def test_devices_are_named(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "null", 0o20666, os.makedev(1, 3))
    except OSError:
        pytest.skip("no devices here")
    _, left = walk(tmp_path)
    assert left["null"].reason == "a device is not a document"


def test_the_root_may_be_a_link(tmp_path: Path) -> None:
    make(tmp_path, "real/a.md")
    (tmp_path / "root").symlink_to("real")
    found, _ = walk(tmp_path / "root")
    assert list(found) == ["a.md"]


def test_a_root_that_is_none_raises(tmp_path: Path) -> None:
    make(tmp_path, "file")
    for root in ("nowhere", "file"):
        with pytest.raises(OSError, match=root):
            walk(tmp_path / root)


def test_what_belongs_to_others_is_not_there(tmp_path: Path) -> None:
    make(tmp_path, "a.md", ".lilbee/index/x.md", "nested/b.md", "nested/deep/c.md")
    walked = Walk(Root(collection="x", folder=tmp_path, own=(tmp_path / ".lilbee", tmp_path / "nested")), WalkOptions())
    assert [one.path for one in walked] == ["a.md"]
    assert walked.entries == 1


def test_entries_that_are_ignored_by_themselves_do_not_fill_a_folder(tmp_path: Path) -> None:
    make(tmp_path, ".DS_Store", "Thumbs.db", "lost+found/x")
    walked = Walk(Root(collection="x", folder=tmp_path), WalkOptions())
    assert [one.code for one in walked] == ["ignored"] * 3
    assert walked.entries == 0


# ------------------------------------------------------------------ globs


GLOBS = [
    (("MEMORY.md",), (), {"MEMORY.md", "sub/MEMORY.md"}),
    (("/MEMORY.md", "memory/**/*.md"), (), {"MEMORY.md", "memory/2026/x.md", "memory/a.md"}),
    (("memory/**/*.md", "!memory/2026/"), (), {"memory/a.md"}),
    (("*.md",), ("memory/",), {"MEMORY.md", "sub/MEMORY.md", ".dot/n.md"}),
    ((), ("*.md",), {"b.txt", "memory/c.txt"}),
    (("memory",), (), {"memory/2026/x.md", "memory/a.md", "memory/c.txt"}),
    (("/.dot",), (), {".dot/n.md"}),
    (("*.pdf",), (), set()),
]


@pytest.mark.parametrize(("include", "exclude", "expected"), GLOBS)
def test_globs_choose(tmp_path: Path, include: tuple[str, ...], exclude: tuple[str, ...], expected: set[str]) -> None:
    make(
        tmp_path,
        *("MEMORY.md", "sub/MEMORY.md", "memory/a.md", "memory/2026/x.md", "memory/c.txt", "b.txt", ".dot/n.md"),
    )
    found, left = walk(tmp_path, include=include, exclude=exclude)
    assert set(found) == expected
    if include:
        assert left == {}, "what no glob names is no part of the collection"


def test_folders_that_no_glob_can_want_are_not_entered(tmp_path: Path) -> None:
    make(tmp_path, "wanted/a.md", "unwanted/deep/b.md")
    (tmp_path / "unwanted/.gitignore").write_text("*\n")
    walked = Walk(Root(collection="x", folder=tmp_path, include=("/wanted/*.md",)), WalkOptions())
    assert [one.path for one in walked] == ["wanted/a.md"]
    assert walked.entries == 3, "it looked into a folder for nothing"


def test_an_excluded_file_says_by_what(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "sub/b.md", "c.txt")
    _, left = walk(tmp_path, exclude=("/sub", "c.*"))
    assert codes(left) == {"c.txt": "ignored", "sub/": "ignored"}
    assert left["c.txt"].reason == "ignored by /sub, c.* (exclude globs of the collection)"


# ------------------------------------------------------------------ trouble


class Unreadable:
    """Lets a call of the system fail for one path."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str, path: Path, error: OSError) -> None:
        real = getattr(os, name)

        def call(target: object, *arguments: object, **more: object) -> object:
            if os.fspath(target) == str(path):  # type: ignore[call-overload]
                raise error
            return real(target, *arguments, **more)

        monkeypatch.setattr(os, name, call)


@pytest.mark.parametrize(("number", "reason"), [(13, "Permission denied"), (5, "Input/output error")])
def test_a_folder_that_cannot_be_read_is_a_failure_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    make(tmp_path, "a.md", "closed/b.md")
    Unreadable(monkeypatch, "scandir", tmp_path / "closed", OSError(number, reason))
    found, left = walk(tmp_path)
    assert list(found) == ["a.md"]
    one = left["closed/"]
    assert (one.code, one.reason, one.failed) == ("extract.not_readable", f"cannot be read: {reason}", True)


def test_a_folder_that_vanishes_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.md", "gone/b.md")
    Unreadable(monkeypatch, "scandir", tmp_path / "gone", FileNotFoundError(2, "No such file"))
    found, left = walk(tmp_path)
    assert (list(found), left) == (["a.md"], {})


def test_documents_below_a_folder_that_cannot_be_read_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.support.ingesting import Shelf, counts

    shelf = Shelf(tmp_path / "root")
    shelf.write("a.md", "the heron")
    shelf.write("closed/b.md", "the godwit")
    shelf.write("closed/c.bin", b"\x00")
    shelf.sync()
    with monkeypatch.context() as patch:
        Unreadable(patch, "scandir", shelf.folder / "closed", PermissionError(13, "Permission denied"))
        report = shelf.sync()
    assert counts(report) == {"unchanged": 2, "failed": 1}
    assert set(shelf.indexed()) == {"a.md", "closed/b.md"}
    assert counts(shelf.sync()) == {"unchanged": 2, "skipped": 1}
    assert shelf.states() == {"a.md": "indexed", "closed/b.md": "indexed", "closed/c.bin": "skipped"}
