"""Walks a collection: every file it should hold, and every file it leaves out, with the reason."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lilbee_core.ingest._ignore import BUILT_IN, IGNORE_FILES, Globs, IgnoreRules, Rule
from lilbee_core.ingest._names import escaped, shown_apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A regular file. `raw` is its name on disk relative to the root; `path` is what people see."""

    path: str
    raw: str
    file: str
    size: int
    mtime_ns: int
    inode: int = 0

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
    raw_path: str = ""
    rule: Rule | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A collection to walk. Nothing in or below the folders `own` belongs to it."""

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

    @property
    def ignore_files(self) -> tuple[str, ...]:
        """The names of ignore files that count."""
        return IGNORE_FILES if self.use_gitignore else tuple(name for name in IGNORE_FILES if name != ".gitignore")

    def rules(self) -> IgnoreRules:
        """Return the rules that hold at a collection's root."""
        return IgnoreRules.base(defaults=self.default_ignores, extra=self.ignore)


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder to walk: where it is on disk, its name from the root on, and the rules that hold above it."""

    directory: str
    folder: str
    rules: IgnoreRules


@dataclass(frozen=True, slots=True)
class _Link:
    """A link that stays inside the root; whether it is followed is known when everything else was seen."""

    raw: str
    file: str
    target: str
    rules: IgnoreRules
    info: os.stat_result


_LARGEST = (1 << 63) - 1
_KINDS = (
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISBLK, "device"),
    (stat.S_ISCHR, "device"),
)


@dataclass(slots=True)
class Walk:
    """One walk over a root. Iterate once; afterwards `entries` says how many entries were seen.

    What a link inside the root leads to is read once: under its own name where that is read, else under the link's.
    Links that leave the root, dangle or lead to what is ignored are left out, so a loop has no end to reach.
    """

    root: Root
    options: WalkOptions
    entries: int = 0
    _real_root: str = ""
    _own: frozenset[str] = frozenset()
    _globs: Globs = field(default_factory=lambda: Globs((), ()))
    _paths: set[str] = field(default_factory=set[str])
    _entered: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    _read: set[str] = field(default_factory=set[str])
    _links: list[_Link] = field(default_factory=list[_Link])
    _stack: list[_Place] = field(default_factory=list[_Place])

    def __iter__(self) -> Iterator[Found | LeftOut]:
        """Yield files in a stable order.

        Raises:
            OSError: If the root itself cannot be read.
        """
        self._globs = Globs(self.root.include, self.root.exclude)
        self._real_root = os.path.realpath(self.root.folder)
        self._own = frozenset(str(own) for own in self.root.own)
        yield from self._folder(_Place(self._real_root, "", self.options.rules()), is_root=True)
        yield from self._below()
        while self._links:
            links, self._links = self._links, []
            for link in links:
                yield from self._follow(link)

    # ------------------------------------------------------------------ folders

    def _below(self) -> Iterator[Found | LeftOut]:
        while self._stack:
            yield from self._folder(self._stack.pop())

    def _folder(self, place: _Place, *, is_root: bool = False) -> Iterator[Found | LeftOut]:
        try:
            identity = _identity(os.stat(place.directory))
            if identity in self._entered:
                return
            with os.scandir(place.directory) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            if is_root:
                raise
            return  # it vanished since its own folder was listed: then it is gone
        except OSError as error:
            if is_root:
                raise
            yield self._left(
                place.folder, code="extract.not_readable", reason=_reason(error), is_folder=True, failed=True
            )
            return
        self._entered.add(identity)
        names = {entry.name for entry in entries}
        present = [name for name in self.options.ignore_files if name in names]
        rules = place.rules.entered(place.directory, place.folder, present)
        prefix = f"{place.folder}/" if place.folder else ""
        folders: list[_Place] = []
        for entry in entries:
            yield from self._entry(entry, prefix + entry.name, rules, folders)
        self._stack += reversed(folders)

    def _entry(
        self, entry: os.DirEntry[str], raw: str, rules: IgnoreRules, folders: list[_Place]
    ) -> Iterator[Found | LeftOut]:
        if entry.path in self._own:
            return
        try:
            is_link = entry.is_symlink()
            info = None if not is_link and entry.is_dir(follow_symlinks=False) else entry.stat()
        except OSError as error:
            yield from self._unreadable(entry, raw, rules, error)
            return
        is_folder = info is None or stat.S_ISDIR(info.st_mode)
        rule = rules.decide(raw, entry.name, is_folder=is_folder)
        self.entries += rule is None or rule.origin != BUILT_IN
        if rule is not None:
            yield self._left(raw, code="ignored", reason=f"ignored by {rule}", is_folder=is_folder, rule=rule)
        elif is_link:
            yield from self._link(entry, raw, rules, info)
        elif info is None:
            yield from self._enter(_Place(entry.path, raw, rules), folders)
        else:
            yield from self._file(entry.path, raw, info)

    def _enter(self, place: _Place, folders: list[_Place]) -> Iterator[LeftOut]:
        rule = self._globs.prunes(place.folder)
        if rule is None:
            folders.append(place)
        elif not self._globs.choose:
            yield self._left(place.folder, code="ignored", reason=f"ignored by {rule}", is_folder=True, rule=rule)

    # ------------------------------------------------------------------ files

    def _file(self, file: str, raw: str, info: os.stat_result) -> Iterator[Found | LeftOut]:
        rule = self._globs.decide(raw)
        if rule is not None:
            if not self._globs.choose:
                yield self._left(raw, code="ignored", reason=f"ignored by {rule}", rule=rule)
            return
        if not stat.S_ISREG(info.st_mode):
            kind = next((kind for test, kind in _KINDS if test(info.st_mode)), "special file")
            yield self._left(raw, code="special_file", reason=f"a {kind} is not a document")
            return
        if info.st_size > self.options.max_bytes:
            size = f"{info.st_size / 1e6:.0f} MB is over the limit of {self.options.max_bytes / 1e6:.0f} MB"
            yield self._left(raw, code="extract.limit", reason=size, failed=True)
            return
        self._read.add(file)
        yield Found(
            path=self._name(raw),
            raw=raw,
            file=file,
            size=info.st_size,
            mtime_ns=info.st_mtime_ns,
            inode=info.st_ino & _LARGEST,
        )

    def _unreadable(self, entry: os.DirEntry[str], raw: str, rules: IgnoreRules, error: OSError) -> Iterator[LeftOut]:
        rule = rules.decide(raw, entry.name, is_folder=False)
        self.entries += rule is None or rule.origin != BUILT_IN
        if rule is not None:
            yield self._left(raw, code="ignored", reason=f"ignored by {rule}", rule=rule)
        elif self._globs.decide(raw) is not None:
            return
        elif entry.is_symlink():
            yield self._left(raw, code="link.dangling", reason="the link points to nothing that can be read")
        elif not isinstance(error, FileNotFoundError):
            yield self._left(raw, code="extract.not_readable", reason=_reason(error), failed=True)

    # ------------------------------------------------------------------ links

    def _link(
        self, entry: os.DirEntry[str], raw: str, rules: IgnoreRules, info: os.stat_result | None
    ) -> Iterator[LeftOut]:
        target = os.path.realpath(entry.path)
        if info is None:
            return
        if is_below(target, self._real_root):
            self._links.append(_Link(raw, entry.path, target, rules, info))
        elif not self._globs.choose or self._globs.decide(raw) is None:
            is_folder = stat.S_ISDIR(info.st_mode)
            yield self._left(raw, code="link.outside", reason="the link leaves the collection", is_folder=is_folder)

    def _follow(self, link: _Link) -> Iterator[Found | LeftOut]:
        """Read what a link leads to, unless it is read under another name, or unwanted."""
        is_folder = stat.S_ISDIR(link.info.st_mode)
        reason = self._why_not(link)
        if reason is not None:
            if not self._globs.choose or self._globs.decide(link.raw) is None:
                yield self._left(link.raw, code="link.inside", reason=reason, is_folder=is_folder)
        elif is_folder:
            folders: list[_Place] = []
            yield from self._enter(_Place(link.file, link.raw, link.rules), folders)
            self._stack += folders
            yield from self._below()
        else:
            yield from self._file(link.file, link.raw, link.info)
            self._read.add(link.target)

    def _why_not(self, link: _Link) -> str | None:
        if link.target in self._read or _identity(link.info) in self._entered:
            return "the link's target is read under its own name"
        if any(is_below(link.target, own) for own in self._own):
            return "the link leads into another collection, or into lilbee's own data"
        relative = os.path.relpath(link.target, self._real_root).replace(os.sep, "/")
        decided = ignored_by(relative, self._real_root, self.options, is_folder=stat.S_ISDIR(link.info.st_mode))
        return f"the link's target is ignored by {decided[0]}" if decided else None

    # ------------------------------------------------------------------ names

    def _name(self, raw: str) -> str:
        name = raw if raw.isascii() and raw not in self._paths else shown_apart(raw, self._paths)
        self._paths.add(name)
        return name

    def _left(
        self,
        raw: str,
        *,
        code: str,
        reason: str,
        is_folder: bool = False,
        rule: Rule | None = None,
        failed: bool = False,
    ) -> LeftOut:
        raw = raw + "/" if is_folder else raw
        path = self._name(raw)
        raw_path = escaped(raw) if raw != path else ""
        return LeftOut(path=path, code=code, reason=reason, raw_path=raw_path, rule=rule, failed=failed)


def ignored_by(raw: str, folder: str, options: WalkOptions, *, is_folder: bool) -> tuple[Rule, str] | None:
    """Return the ignore rule that leaves the entry at `raw` or one of its folders out, and which of them it fits."""
    rules = options.rules()
    parent = ""
    parts = raw.split("/")
    for depth, part in enumerate(parts):
        rules = rules.entered(os.path.join(folder, parent), parent, options.ignore_files)
        current = f"{parent}/{part}" if parent else part
        inner = depth < len(parts) - 1
        rule = rules.decide(current, part, is_folder=inner or is_folder)
        if rule is not None:
            return rule, current + ("/" if inner or is_folder else "")
        parent = current
    return None


def is_below(path: str, folder: str) -> bool:
    """Say whether a path is the folder or lies in it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _identity(info: os.stat_result) -> tuple[int, int]:
    return info.st_dev, info.st_ino


def _reason(error: OSError) -> str:
    return f"cannot be read: {error.strerror or type(error).__name__}"
