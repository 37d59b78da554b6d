"""Which files are left out: built-in rules, settings, ``.gitignore`` and ``.lilbeeignore`` at every depth."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from lilbee_core.ingest._names import composed
from lilbee_core.ingest._patterns import Matcher, first_name, literal_prefix

IGNORE_FILES = (".gitignore", ".lilbeeignore")

DEFAULT_IGNORES = (
    ".git/", ".hg/", ".svn/", ".jj/", ".lilbee/", *IGNORE_FILES,
    "node_modules/", "bower_components/",
    "__pycache__/", "*.pyc", "*.pyo", ".mypy_cache/", ".ruff_cache/", ".pytest_cache/", ".hypothesis/", ".tox/",
    ".nox/", ".venv/", ".ipynb_checkpoints/", "*.egg-info/",
    ".DS_Store", "Thumbs.db", "desktop.ini", "$RECYCLE.BIN/", ".Trash*/", ".Spotlight-V100/", ".fseventsd/",
    "lost+found/", "~$*", ".~lock.*#", "*.swp", "*~", "*.part", "*.crdownload",
    "*.o", "*.so", "*.dylib", "*.dll", "*.exe", "*.class", "*.pyd", "*.a", "*.lib",
)  # fmt: skip
"""Left out everywhere unless ``default_ignores = false`` or an ignore file takes one back (``!venv/``)."""

BUILT_IN = "built in"
_MAX_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and where it comes from."""

    pattern: str
    origin: str

    def __str__(self) -> str:
        return f"{self.pattern} ({self.origin})"


@dataclass(frozen=True, slots=True)
class Layer:
    """The patterns of one ignore file; they hold below `folder`."""

    folder: str
    matcher: Matcher
    origin: str

    def match(self, path: str, name: str, is_folder: bool) -> tuple[bool, Rule] | None:
        """Return (ignored, rule) if a pattern decides about `path`, the last one winning."""
        relative = path[len(self.folder) + 1 :] if self.folder else path
        found = self.matcher.find(relative, name, is_folder)
        return None if found is None else (not found.negated, Rule(found.text, self.origin))


class IgnoreRules:
    """The layers that hold in one folder. Later layers (deeper files) override earlier ones, as in git."""

    __slots__ = ("_layers",)

    def __init__(self, layers: Sequence[Layer] = ()) -> None:
        self._layers = tuple(layers)

    @classmethod
    def base(cls, *, defaults: bool, extra: Sequence[str]) -> IgnoreRules:
        """Return the rules that hold at a collection's root."""
        layers = [_built_in()] if defaults else []
        if extra:
            layers.append(Layer("", Matcher(extra), "settings"))
        return cls(layers)

    def entered(self, directory: str, folder: str, names: Sequence[str]) -> IgnoreRules:
        """Return the rules inside `folder`, with the ignore files called `names` that lie there."""
        found: list[Layer] = []
        folder = composed(folder)
        for name in names:
            matcher = Matcher(_lines(os.path.join(directory, name)))
            if matcher:
                found.append(Layer(folder, matcher, f"{folder}/{name}" if folder else name))
        return IgnoreRules((*self._layers, *found)) if found else self

    def decide(self, path: str, name: str, *, is_folder: bool) -> Rule | None:
        """Return the rule that leaves the entry at `path` out, or None. Its folders are asked about before it."""
        if not path.isascii():
            path, name = composed(path), composed(name)
        for layer in reversed(self._layers):
            verdict = layer.match(path, name, is_folder)
            if verdict is not None:
                return verdict[1] if verdict[0] else None
        return None


class Globs:
    """Include and exclude globs of a collection, gitignore-style, relative to its root."""

    __slots__ = ("_exclude", "_include", "_prefixes", "_texts", "_wanted")

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = Matcher(include) if include else None
        self._exclude = Matcher(exclude) if exclude else None
        self._texts = (", ".join(include), ", ".join(exclude))
        self._wanted = [one for one in self._include or () if not one.negated]
        self._prefixes = [tuple(literal_prefix(one)) for one in self._wanted]

    def decide(self, path: str) -> Rule | None:
        """Return why the globs leave the file `path` out, or None."""
        path = composed(path)
        if self._exclude is not None and self._exclude.covers(path, is_folder=False):
            return Rule(self._texts[1], "exclude globs of the collection")
        if self._include is not None and not self._include.covers(path, is_folder=False):
            return Rule(self._texts[0], "include globs of the collection")
        return None

    def prunes(self, folder: str) -> Rule | None:
        """Return why nothing below `folder` can be wanted, or None."""
        folder = composed(folder)
        if self._exclude is not None and self._exclude.covers(folder, is_folder=True):
            return Rule(self._texts[1], "exclude globs of the collection")
        if self._include is not None and not self._may_hold(folder):
            return Rule(self._texts[0], "include globs of the collection")
        return None

    @property
    def choose(self) -> bool:
        """Whether only what the include globs name belongs to the collection."""
        return self._include is not None

    @property
    def entries(self) -> frozenset[str] | None:
        """The entries of the root that can hold anything wanted, where the include globs name them; None for all."""
        names = [first_name(one) for one in self._wanted]
        return None if self._include is None or None in names else frozenset(name for name in names if name)

    def _may_hold(self, folder: str) -> bool:
        """Say whether an include glob may fit something below `folder`."""
        parts = tuple(folder.split("/"))
        return any(prefix[: len(parts)] == parts[: len(prefix)] for prefix in self._prefixes)


@cache
def _built_in() -> Layer:
    return Layer("", Matcher(DEFAULT_IGNORES), BUILT_IN)


def _lines(file: str) -> list[str]:
    """Return the lines of an ignore file; none of one that cannot be read. Names are bytes, and so are patterns."""
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):
            return []
        with open(file, "rb") as handle:
            data = handle.read(_MAX_BYTES)
    except OSError:
        return []
    text = os.fsdecode(data.removeprefix(b"\xef\xbb\xbf"))
    return [line.removesuffix("\r") for line in text.split("\n")]
