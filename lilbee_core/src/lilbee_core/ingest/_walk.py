"""Walks a collection: every file it should hold, and every file it leaves out, with the reason."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lilbee_core.ingest._ignore import IGNORE_FILES, Globs, IgnoreRules, Rule
from lilbee_core.ingest._names import escaped, shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A regular file. `raw` is its name on disk relative to the root; `path` is what people see."""

    path: str
    raw: str
    file: str
    size: int
    mtime_ns: int

    @property
    def raw_path(self) -> str:
        """The exact name, escaped, where it differs from `path`."""
        return escaped(self.raw) if self.raw != self.path else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A file or folder (`path` ends in ``/``) that is not read."""

    path: str
    code: str
    reason: str
    rule: Rule | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A collection to walk. `only` limits the walk to these relative paths (one-file collections)."""

    collection: str
    folder: Path
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    own: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkOptions:
    """What is left out everywhere, and how big a file may be (bytes)."""

    default_ignores: bool = True
    use_gitignore: bool = True
    ignore: tuple[str, ...] = ()
    max_bytes: int = 512_000_000


_KINDS = (
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISBLK, "device"),
    (stat.S_ISCHR, "device"),
)


@dataclass(slots=True)
class Walk:
    """One walk over a root. Iterate once; afterwards `entries` says how many entries were seen.

    Links inside the root are followed once; those that leave it, loop or dangle are left out.
    """

    root: Root
    options: WalkOptions
    entries: int = 0
    _real_root: str = ""
    _globs: Globs = field(default_factory=lambda: Globs((), ()))
    _seen_dirs: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    _seen_links: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    _paths: set[str] = field(default_factory=set[str])

    def __iter__(self) -> Iterator[Found | LeftOut]:
        """Yield files in a stable order.

        Raises:
            OSError: If the root itself cannot be read.
        """
        self._globs = Globs(self.root.include, self.root.exclude)
        self._real_root = os.path.realpath(self.root.folder)
        rules = IgnoreRules.base(defaults=self.options.default_ignores, extra=self.options.ignore)
        yield from self._folder(self._real_root, "", rules, is_root=True)

    def _folder(
        self, directory: str, folder: str, rules: IgnoreRules, *, is_root: bool = False
    ) -> Iterator[Found | LeftOut]:
        try:
            info = os.stat(directory)
            with os.scandir(directory) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError as error:
            if is_root:
                raise
            yield LeftOut(path=shown(folder) + "/", code="extract.not_readable", reason=_reason(error), failed=True)
            return
        identity = (info.st_dev, info.st_ino)
        if info.st_ino and identity in self._seen_dirs:
            return
        self._seen_dirs.add(identity)
        names = [entry.name for entry in entries if self.options.use_gitignore or entry.name != ".gitignore"]
        rules = rules.entered(Path(directory), folder, [name for name in IGNORE_FILES if name in names])
        for entry in entries:
            yield from self._entry(entry, folder, rules)

    def _entry(self, entry: os.DirEntry[str], folder: str, rules: IgnoreRules) -> Iterator[Found | LeftOut]:
        raw = f"{folder}/{entry.name}" if folder else entry.name
        if any(entry.path == str(own) for own in self.root.own):
            return
        self.entries += 1
        try:
            is_link = entry.is_symlink()
            info = entry.stat(follow_symlinks=True)
        except OSError as error:
            yield self._unreadable(entry, raw, rules, error)
            return
        is_dir = stat.S_ISDIR(info.st_mode)
        rule = rules.decide(raw, is_dir=is_dir) or (self._globs.prunes(raw) if is_dir else self._globs.decide(raw))
        if rule is not None:
            name = shown(raw) + ("/" if is_dir else "")
            yield LeftOut(path=name, code="ignored", reason=f"ignored by {rule}", rule=rule)
            return
        if is_link:
            left = self._link(entry, raw, info, is_dir=is_dir)
            if left is not None:
                yield left
                return
        if is_dir:
            yield from self._folder(entry.path, raw, rules)
        else:
            yield self._file(entry, raw, info)

    def _link(self, entry: os.DirEntry[str], raw: str, info: os.stat_result, *, is_dir: bool) -> LeftOut | None:
        """Return why a link is not followed. A target inside the root is found by its own name instead."""
        target = os.path.realpath(entry.path)
        inside = target == self._real_root or target.startswith(self._real_root + os.sep)
        name = shown(raw) + ("/" if is_dir else "")
        if not inside:
            return LeftOut(path=name, code="link.outside", reason="the link leaves the collection")
        if is_dir or stat.S_ISREG(info.st_mode):
            return LeftOut(path=name, code="link.inside", reason="the link's target is read under its own name")
        return None

    def _file(self, entry: os.DirEntry[str], raw: str, info: os.stat_result) -> Found | LeftOut:
        for test, kind in _KINDS:
            if test(info.st_mode):
                return LeftOut(path=shown(raw), code="special_file", reason=f"a {kind} is not a document")
        if info.st_size > self.options.max_bytes:
            size = f"{info.st_size / 1e6:.0f} MB is over the limit of {self.options.max_bytes / 1e6:.0f} MB"
            return LeftOut(path=shown(raw), code="extract.limit", reason=size, failed=True)
        path = shown(raw)
        if path in self._paths:
            # Twins such as one name in NFC and in NFD: the later one is shown with its exact bytes.
            path = escaped(raw)
        self._paths.add(path)
        return Found(path=path, raw=raw, file=entry.path, size=info.st_size, mtime_ns=info.st_mtime_ns)

    def _unreadable(self, entry: os.DirEntry[str], raw: str, rules: IgnoreRules, error: OSError) -> LeftOut:
        rule = rules.decide(raw, is_dir=False)
        if rule is not None:
            return LeftOut(path=shown(raw), code="ignored", reason=f"ignored by {rule}", rule=rule)
        if entry.is_symlink():
            return LeftOut(path=shown(raw), code="link.dangling", reason="the link points to nothing")
        return LeftOut(path=shown(raw), code="extract.not_readable", reason=_reason(error), failed=True)


def _reason(error: OSError) -> str:
    return f"cannot be read: {error.strerror or type(error).__name__}"
